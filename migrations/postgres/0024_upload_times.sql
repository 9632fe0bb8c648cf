-- When the file was changed where it comes from.
ALTER TABLE resumable_uploads ADD COLUMN modified BIGINT;  -- Unix seconds
