-- 1: what the change did so far may be taken back, with one of another server.
ALTER TABLE intents ADD COLUMN undone BIGINT NOT NULL DEFAULT 0;
