-- The registry: what must be true across processes and crashes. Append only: later changes are
-- new files. `IF NOT EXISTS` lets a database of the original Fileshed open and keep its rows.

-- File ownership in group spaces
CREATE TABLE IF NOT EXISTS file_ownership (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id TEXT NOT NULL,
    file_path TEXT NOT NULL,          -- Relative path in data/
    owner_id TEXT NOT NULL,           -- Who created/uploaded
    write_access TEXT NOT NULL        -- 'owner' | 'group' | 'owner_ro'
        CHECK(write_access IN ('owner', 'group', 'owner_ro')),
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    UNIQUE(group_id, file_path)
);
CREATE INDEX IF NOT EXISTS idx_file_ownership_group ON file_ownership(group_id);
CREATE INDEX IF NOT EXISTS idx_file_ownership_owner ON file_ownership(owner_id);

-- Locked edits. A lock belongs to one user and one conversation.
CREATE TABLE locks (
    home TEXT NOT NULL,               -- 'shared', 'users/<namespace>', 'groups/<id>'
    zone TEXT NOT NULL,               -- 'storage' | 'documents' | 'group'
    path TEXT NOT NULL,               -- NFC, relative to the zone's root
    user_id TEXT NOT NULL,            -- '' in shared mode
    chat TEXT NOT NULL,
    working_copy TEXT NOT NULL,       -- directory name below the zone's editzone
    opened_at INTEGER NOT NULL,       -- Unix seconds
    PRIMARY KEY (home, zone, path)
) WITHOUT ROWID;

-- Personal tokens: only a hash is kept.
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,        -- SHA-256 of the secret
    user_id TEXT NOT NULL,
    scope TEXT NOT NULL CHECK(scope IN ('read', 'write')),
    label TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
);

-- Space used, one row a measured zone; the quota is checked against the sum of a home.
CREATE TABLE usage (
    home TEXT NOT NULL,
    zone TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    files INTEGER NOT NULL,
    PRIMARY KEY (home, zone)
) WITHOUT ROWID;

-- Changes under way. One that outlives its process marks a zone to repair.
CREATE TABLE intents (
    id INTEGER PRIMARY KEY,
    home TEXT NOT NULL,
    zone TEXT NOT NULL,
    instance TEXT NOT NULL,           -- '' once its process is known to be gone
    operation TEXT NOT NULL,
    author_name TEXT NOT NULL,
    author_email TEXT NOT NULL
);
CREATE INDEX intents_home ON intents(home, instance);
