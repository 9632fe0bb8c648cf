-- Files that were put into Open WebUI: one row is one file of its user over there, a copy of what
-- was at a path.
CREATE TABLE published (
    id TEXT NOT NULL,                 -- as Open WebUI has it
    home TEXT NOT NULL,               -- 'users/<namespace>'
    zone TEXT NOT NULL,
    group_id TEXT,                    -- of a file of a group
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,            -- bytes
    created_at INTEGER NOT NULL,      -- Unix seconds
    PRIMARY KEY (home, id)
);
CREATE INDEX published_home ON published(home, created_at);
