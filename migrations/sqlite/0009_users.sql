-- Users who were here: whose a directory is, and whom an administrator suspended.
CREATE TABLE users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,               -- as it was sent last; '' where none was
    met_at INTEGER NOT NULL,          -- Unix seconds, of the first call or of the suspension
    suspended_at INTEGER              -- NULL: not suspended
) WITHOUT ROWID;
