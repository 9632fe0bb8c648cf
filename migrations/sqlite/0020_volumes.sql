-- Directories of data besides the one that has this registry, and which tenant lies where.

-- One row for each directory, by the name that is written in it.
CREATE TABLE volumes (
    name TEXT PRIMARY KEY,
    identity TEXT NOT NULL            -- what the directory itself says that it is
) WITHOUT ROWID;

-- Who has no row lies where the directory is found.
CREATE TABLE placements (
    home TEXT PRIMARY KEY,            -- 'shared', 'users/<namespace>', 'groups/<id>'
    volume TEXT NOT NULL,
    moves INTEGER NOT NULL,           -- one more with each move: what was opened before it is of before it
    placed_at INTEGER NOT NULL        -- Unix seconds
) WITHOUT ROWID;

-- Shells and background processes, which have the directories of tenants open as long as they run.
CREATE TABLE occupants (
    id INTEGER PRIMARY KEY,
    home TEXT NOT NULL,
    instance TEXT NOT NULL,
    what TEXT NOT NULL
);
