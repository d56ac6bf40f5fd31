-- Calls and live objects name the machine of their app too: its process number means something there only. What was
-- kept before names none, and is of the machine that the file lies on.

ALTER TABLE calls ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE snapshots ADD COLUMN host TEXT NOT NULL DEFAULT '';

DROP INDEX calls_by_process;
CREATE INDEX calls_by_app ON calls (process, started_at, host);
DROP INDEX snapshots_by_object;
CREATE INDEX snapshots_by_object ON snapshots (process, client_ref, host, id);
