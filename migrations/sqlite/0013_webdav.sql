-- Locks that programs take over WebDAV, until they release them or the time is over.
CREATE TABLE client_locks (
    token TEXT PRIMARY KEY,           -- urn:uuid:…
    home TEXT NOT NULL,               -- 'shared', 'users/<namespace>', 'groups/<id>'
    zone TEXT NOT NULL,
    path TEXT NOT NULL,               -- as names are compared
    spelled TEXT NOT NULL,            -- as it was named
    user_id TEXT NOT NULL,            -- '' in shared mode
    owner TEXT NOT NULL,              -- what the program says of itself: XML, or ''
    shared INTEGER NOT NULL,
    deep INTEGER NOT NULL,            -- 1: all that is below, too
    seconds INTEGER NOT NULL,         -- for which it was asked
    expires_at INTEGER NOT NULL       -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX client_locks_zone ON client_locks(home, zone);

-- Properties that programs keep with files and directories over WebDAV.
CREATE TABLE dead_properties (
    home TEXT NOT NULL,
    zone TEXT NOT NULL,
    path TEXT NOT NULL,               -- '' for the root of the zone
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    xml BLOB NOT NULL,                -- the whole element
    PRIMARY KEY (home, zone, path, namespace, name)
) WITHOUT ROWID;
