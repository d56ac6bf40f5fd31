-- Tracepoints report some of their hits: every so many, and so many at the most. 0 is no bound.

ALTER TABLE breakpoints ADD COLUMN hit_count_multiple INTEGER NOT NULL DEFAULT 0;
ALTER TABLE breakpoints ADD COLUMN max_notifications INTEGER NOT NULL DEFAULT 0;
