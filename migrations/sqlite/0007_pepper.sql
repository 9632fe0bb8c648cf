-- Which pepper the registry belongs to: what it says of users' directories holds only with that
-- one. At most one row, which tells nothing of the pepper itself.
CREATE TABLE pepper (
    id INTEGER PRIMARY KEY CHECK(id = 1),
    fingerprint TEXT NOT NULL
);
