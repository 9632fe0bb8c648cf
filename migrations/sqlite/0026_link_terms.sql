-- Terms of links. The zone of a link with a password or a limit begins with a mark, so that servers of
-- the release before, which do not know these columns, do not open it without them.
ALTER TABLE links ADD COLUMN password TEXT;           -- argon2id, as a PHC string; NULL if there is none
ALTER TABLE links ADD COLUMN downloads_max INTEGER;   -- NULL for any number
ALTER TABLE links ADD COLUMN downloads INTEGER NOT NULL DEFAULT 0;   -- counted if there is a limit
ALTER TABLE links ADD COLUMN signed_until INTEGER;    -- the end in its token, if it has been given another one
