-- An undo looks for what its changes took back: without this it would read the whole list for each of them.
CREATE INDEX changes_undone_by ON changes(undone_by) WHERE undone_by IS NOT NULL;
