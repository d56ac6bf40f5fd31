-- A tracepoint that reported all it was to has disabled itself, which is not the same as being disabled.

ALTER TABLE breakpoints ADD COLUMN spent INTEGER NOT NULL DEFAULT 0 CHECK (spent IN (0, 1));
