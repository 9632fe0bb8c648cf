-- What an administrator decides about one user or group, and what is shown of them.
CREATE TABLE tenant_quotas (
    home TEXT PRIMARY KEY,            -- 'shared', 'users/<namespace>', 'groups/<id>'
    bytes INTEGER NOT NULL,           -- instead of the quota of all users or groups
    set_at INTEGER NOT NULL           -- Unix seconds
) WITHOUT ROWID;

-- When a credential of a user was accepted last, up to a minute late.
CREATE TABLE last_calls (
    home TEXT PRIMARY KEY,            -- 'shared', 'users/<namespace>'
    at INTEGER NOT NULL               -- Unix seconds
) WITHOUT ROWID;

-- 1: the token administers this server, too.
ALTER TABLE tokens ADD COLUMN administers INTEGER NOT NULL DEFAULT 0;
