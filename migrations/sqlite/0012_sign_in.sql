-- Browsers that are signed in on the page, and links that sign one in. Of a secret only a digest is
-- kept.
CREATE TABLE page_sessions (
    digest BLOB PRIMARY KEY,          -- SHA-256 of the secret in the cookie
    user_id TEXT NOT NULL,
    name TEXT,                        -- for commits
    email TEXT,
    role TEXT NOT NULL CHECK(role IN ('user', 'admin')),
    scope TEXT NOT NULL CHECK(scope IN ('read', 'write')),
    token_id TEXT,                    -- the personal token behind it, with which it ends
    used_at INTEGER NOT NULL,         -- Unix seconds, to the minute
    expires_at INTEGER NOT NULL       -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX page_sessions_user ON page_sessions(user_id, used_at);

CREATE TABLE sign_in_links (
    digest BLOB PRIMARY KEY,          -- SHA-256 of the secret in the address
    user_id TEXT NOT NULL,
    name TEXT,
    email TEXT,
    role TEXT NOT NULL CHECK(role IN ('user', 'admin')),
    scope TEXT NOT NULL CHECK(scope IN ('read', 'write')),
    token_id TEXT,
    expires_at INTEGER NOT NULL       -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX sign_in_links_user ON sign_in_links(user_id, expires_at);
