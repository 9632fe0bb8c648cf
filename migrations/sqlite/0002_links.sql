-- Links: one row is one path that whoever has the link may fetch, or one directory that they may
-- bring files to. The secret of a link is a signature that nobody stores.
CREATE TABLE links (
    id TEXT PRIMARY KEY,
    home TEXT NOT NULL,               -- 'shared', 'users/<namespace>'
    user_id TEXT,                     -- NULL in shared mode
    chat TEXT NOT NULL,               -- the conversation, for uploads
    zone TEXT NOT NULL,
    group_id TEXT,                    -- of a link into a group
    path TEXT NOT NULL,               -- '' is the zone's root
    purpose TEXT NOT NULL CHECK(purpose IN ('download', 'upload')),
    created_at INTEGER NOT NULL,      -- Unix seconds
    expires_at INTEGER NOT NULL
);
CREATE INDEX links_home ON links(home, created_at);
