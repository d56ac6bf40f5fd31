-- A run is one server's life. Its events are numbered from 1, so run and number name an event,
-- whichever servers share the file. Run ids are AUTOINCREMENT: agents remember them.

CREATE TABLE runs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    pid        INTEGER NOT NULL,
    version    TEXT NOT NULL,
    started_at TEXT NOT NULL,
    -- Of the events that are kept: how many, and when the newest was.
    events     INTEGER NOT NULL DEFAULT 0,
    last_at    TEXT
);

CREATE TABLE timeline (
    run     INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    at      TEXT NOT NULL,
    kind    TEXT NOT NULL,
    session TEXT,
    text    TEXT NOT NULL,
    data    TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;
