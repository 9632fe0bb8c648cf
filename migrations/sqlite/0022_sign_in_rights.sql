-- What a sign-in allows, and for how long. Roles that no personal token gives are asked for again.
ALTER TABLE page_sessions ADD COLUMN role_ends_at INTEGER;  -- Unix seconds; without it, with the session
ALTER TABLE page_sessions ADD COLUMN delegated INTEGER NOT NULL DEFAULT 0;  -- 1: makes no tokens
ALTER TABLE sign_in_links ADD COLUMN role_ends_at INTEGER;
ALTER TABLE sign_in_links ADD COLUMN delegated INTEGER NOT NULL DEFAULT 0;
UPDATE page_sessions SET role = 'user' WHERE token_id IS NULL;
UPDATE sign_in_links SET role = 'user' WHERE token_id IS NULL;
