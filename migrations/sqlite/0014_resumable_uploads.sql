-- Uploads that go on after a lost connection: what has arrived lies beside the zones of the tenant,
-- under the id.
CREATE TABLE resumable_uploads (
    id TEXT PRIMARY KEY,              -- 128 random bits, in hexadecimal
    sender TEXT NOT NULL,             -- the tenant of who sends it: 'shared', 'users/<namespace>'
    home TEXT NOT NULL,               -- the tenant whose zone it goes to
    zone TEXT NOT NULL,
    group_id TEXT,                    -- in a group's zone
    chat TEXT NOT NULL,               -- the conversation that it was begun in
    directory TEXT NOT NULL,          -- as it was named
    name TEXT NOT NULL,               -- as it was sent
    overwrite INTEGER NOT NULL,
    message TEXT,                     -- of the commit
    length INTEGER NOT NULL,          -- bytes of the whole file
    reserved INTEGER NOT NULL,        -- bytes that count for the quota while it arrives
    complete INTEGER NOT NULL,        -- 1: it is stored
    expires_at INTEGER NOT NULL       -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX resumable_uploads_sender ON resumable_uploads(sender, complete);
CREATE INDEX resumable_uploads_home ON resumable_uploads(home);
CREATE INDEX resumable_uploads_end ON resumable_uploads(expires_at);
