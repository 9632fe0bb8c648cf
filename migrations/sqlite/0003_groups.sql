-- Groups that this server keeps itself, and what a change does to ownership.

CREATE TABLE local_groups (
    id TEXT PRIMARY KEY,              -- a directory name: groups/<id>
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    created_at INTEGER NOT NULL       -- Unix seconds
);
CREATE TABLE local_group_members (
    group_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX local_group_members_user ON local_group_members(user_id);

-- Who used a group, under which name: a gateway names only the groups of its caller, and a local
-- group knows only ids.
CREATE TABLE group_sightings (
    group_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,               -- '' where none was sent
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_sightings_user ON group_sightings(user_id);

-- JSON: what the change does to the records of file_ownership; NULL outside groups.
ALTER TABLE intents ADD COLUMN deed TEXT;
