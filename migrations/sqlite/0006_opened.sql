-- Locked edits remember what they opened: whoever saves sees whether the file changed meanwhile.
ALTER TABLE locks ADD COLUMN opened BLOB;   -- SHA-256 of the content; NULL where it is not known
