-- Files of conversations that came into their uploads: one row is one file as Open WebUI has it.
-- What is deleted afterwards, or moved away, does not come a second time.
CREATE TABLE attachments (
    home TEXT NOT NULL,               -- 'users/<namespace>'
    chat TEXT NOT NULL,               -- the directory of the conversation below Uploads
    id TEXT NOT NULL,                 -- as Open WebUI has it
    PRIMARY KEY (home, chat, id)
) WITHOUT ROWID;
