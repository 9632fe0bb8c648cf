-- Where a user works in a conversation, as terminals and file browsers said last.
CREATE TABLE working_directories (
    home TEXT NOT NULL,
    chat TEXT NOT NULL,
    path TEXT NOT NULL,               -- absolute, in the tree of the user's zones
    changed_at INTEGER NOT NULL,      -- Unix seconds
    PRIMARY KEY (home, chat)
) WITHOUT ROWID;
