-- What was changed, by whom, in which answer, and what takes it back. A row is written in the
-- transaction that ends the intent of its change.
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,   -- in the order of the changes
    home TEXT NOT NULL,               -- 'shared', 'users/<namespace>', 'groups/<id>'
    zone TEXT NOT NULL,
    changed_at INTEGER NOT NULL,      -- Unix seconds
    actor TEXT NOT NULL,              -- the tenant of whoever made it
    author TEXT NOT NULL,             -- their name
    chat TEXT NOT NULL,
    answer TEXT NOT NULL,             -- id of the message, else of the call
    operation TEXT NOT NULL,
    steps TEXT NOT NULL,              -- JSON: what it did to which path; in zones with history the commit has it
    before_id TEXT,                   -- the commit before it, unless that is the parent of its commit
    commit_id TEXT,
    undoes TEXT,                      -- the numbers of the changes that it takes back
    undone_by INTEGER                 -- the number of the change that took it back
);
CREATE INDEX changes_home ON changes(home, number);
CREATE INDEX changes_actor ON changes(actor, number);

-- The same, of a change that is under way: JSON.
ALTER TABLE intents ADD COLUMN change TEXT;

-- What the entry will be, once it is in the bin: 0 for any.
ALTER TABLE bin ADD COLUMN inode INTEGER NOT NULL DEFAULT 0;
-- 1 if something took the place of the entry, which was not deleted.
ALTER TABLE bin ADD COLUMN is_replaced INTEGER NOT NULL DEFAULT 0;
