-- Intercepted calls, their values, and what was asked for about functions.
-- `era` is a slot of ten seconds: what is dropped by age or size is dropped by era.

CREATE TABLE calls (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    era          INTEGER NOT NULL,
    call_id      TEXT NOT NULL,
    process      TEXT NOT NULL,
    name         TEXT NOT NULL,
    kind         TEXT NOT NULL,
    status       TEXT NOT NULL,
    thread       TEXT,
    started_at   REAL NOT NULL,
    completed_at REAL NOT NULL,
    -- One line that a person recognises and a search finds.
    line         TEXT NOT NULL,
    -- 64 bytes each; the body names them by their place.
    cids         BLOB NOT NULL,
    body         TEXT NOT NULL
);

CREATE INDEX calls_by_call_id ON calls (call_id);
CREATE INDEX calls_by_name ON calls (name, id);
CREATE INDEX calls_by_process ON calls (process, started_at);
CREATE INDEX calls_by_completion ON calls (completed_at);

-- `head` is the first eight bytes of the CID: a quarter of an index over the whole.
CREATE TABLE captured (
    id     INTEGER PRIMARY KEY,
    head   INTEGER NOT NULL,
    cid    BLOB NOT NULL,
    era    INTEGER NOT NULL,
    format TEXT NOT NULL,
    size   INTEGER NOT NULL,
    pretty TEXT,
    -- NULL when it lies in a file of its own, beside the database.
    data   BLOB
);

CREATE INDEX captured_by_cid ON captured (head);
CREATE INDEX captured_by_era ON captured (era);

CREATE TABLE snapshots (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    era        INTEGER NOT NULL,
    process    TEXT NOT NULL,
    client_ref TEXT NOT NULL,
    at         REAL NOT NULL,
    call_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL,
    place      TEXT,
    cid        BLOB NOT NULL
);

CREATE INDEX snapshots_by_object ON snapshots (process, client_ref, id);

CREATE TABLE apps (
    process    TEXT PRIMARY KEY NOT NULL,
    pid        INTEGER NOT NULL,
    started_at REAL NOT NULL,
    page_url   TEXT,
    about      TEXT,
    seen_at    REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE callpoints (
    name        TEXT PRIMARY KEY NOT NULL,
    before      TEXT NOT NULL,
    after       TEXT NOT NULL,
    replacement TEXT
) WITHOUT ROWID;

CREATE TABLE functions (
    name      TEXT PRIMARY KEY NOT NULL,
    listed    INTEGER NOT NULL,
    signature TEXT,
    metadata  TEXT
) WITHOUT ROWID;

CREATE TABLE repl_sessions (
    session_id    TEXT PRIMARY KEY NOT NULL,
    started_at    REAL NOT NULL,
    closed_at     REAL,
    function_name TEXT NOT NULL,
    body          TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX repl_by_start ON repl_sessions (started_at);
