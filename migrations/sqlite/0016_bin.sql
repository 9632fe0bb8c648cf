-- What was deleted in storage and uploads and may come back: it lies beside the zones of the tenant,
-- under the id.
CREATE TABLE bin (
    number INTEGER PRIMARY KEY AUTOINCREMENT,   -- in the order of the deletions
    id TEXT NOT NULL UNIQUE,          -- 128 random bits, in hexadecimal
    home TEXT NOT NULL,               -- 'shared', 'users/<namespace>'
    zone TEXT NOT NULL,               -- 'storage' | 'uploads'
    path TEXT NOT NULL,               -- where it was, relative to the zone's root
    is_directory INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    files INTEGER NOT NULL,
    chat TEXT NOT NULL,               -- the conversation that deleted it
    deleted_at INTEGER NOT NULL,      -- Unix seconds
    ends_at INTEGER NOT NULL,         -- Unix seconds
    state TEXT NOT NULL               -- under way into the bin, in it, under way out of it
        CHECK(state IN ('arriving', 'kept', 'leaving'))
);
CREATE INDEX bin_home ON bin(home, zone);
CREATE INDEX bin_end ON bin(ends_at);
