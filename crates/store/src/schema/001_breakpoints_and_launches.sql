-- Ids are AUTOINCREMENT: agents remember them, so none is ever given twice.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) WITHOUT ROWID;

INSERT INTO meta VALUES ('created_at', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));

CREATE TABLE breakpoints (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    kind          TEXT NOT NULL,
    file          TEXT,
    line          INTEGER,
    "column"      INTEGER,
    function      TEXT,
    condition     TEXT,
    hit_condition TEXT,
    log_message   TEXT,
    enabled       INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    created_at    TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

-- What identifies one. NULLs are all different to SQLite, and to us the same.
CREATE UNIQUE INDEX breakpoints_identity ON breakpoints (
    kind, ifnull(file, ''), ifnull(line, 0), ifnull("column", 0), ifnull(function, '')
);

CREATE TABLE launches (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL,
    language   TEXT NOT NULL,
    spec       TEXT NOT NULL,
    cwd        TEXT NOT NULL,
    owner      TEXT,
    started_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    ended_at   TEXT,
    exit       TEXT
);
