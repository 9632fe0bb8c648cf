-- What is known of files that were written through the file tools, where the file itself does not
-- tell it: its file system keeps no extended attributes, or a program wrote it anew under its name.
CREATE TABLE file_metadata (
    home TEXT NOT NULL,               -- 'shared', 'users/<namespace>', 'groups/<id>'
    zone TEXT NOT NULL,
    directory TEXT NOT NULL,          -- '' for the root of the zone
    name TEXT NOT NULL,
    inode INTEGER NOT NULL,           -- finds it under another name,
    born TEXT,                        -- if it was made then: inodes are used again
    created_at TEXT NOT NULL,         -- RFC 3339, to the nanosecond
    mime_type TEXT,                   -- NULL: the one of its name
    write_id TEXT NOT NULL,           -- no other write has it
    PRIMARY KEY (home, zone, directory, name)
) WITHOUT ROWID;
CREATE INDEX file_metadata_inode ON file_metadata(home, zone, inode);
