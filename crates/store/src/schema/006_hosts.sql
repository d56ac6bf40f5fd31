-- A process number means something on one machine only. What was kept before names none: it is of the machine that
-- the file lies on. Calls and live objects name the app that they are of by its process, and lie where it does.

ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE launches ADD COLUMN host TEXT NOT NULL DEFAULT '';

CREATE TABLE apps_of_hosts (
    host       TEXT NOT NULL,
    process    TEXT NOT NULL,
    pid        INTEGER NOT NULL,
    started_at REAL NOT NULL,
    page_url   TEXT,
    about      TEXT,
    seen_at    REAL NOT NULL,
    PRIMARY KEY (host, process)
) WITHOUT ROWID;

INSERT INTO apps_of_hosts SELECT '', process, pid, started_at, page_url, about, seen_at FROM apps;
DROP TABLE apps;
ALTER TABLE apps_of_hosts RENAME TO apps;
