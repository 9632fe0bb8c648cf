-- Databases of users that a statement may be changing. What SQLite keeps beside a database is
-- played into it only where a statement of this server left it there.
CREATE TABLE statements (
    id INTEGER PRIMARY KEY,
    home TEXT NOT NULL,               -- 'shared', 'users/<namespace>', 'groups/<id>'
    zone TEXT NOT NULL,
    path TEXT NOT NULL,               -- of the database, as it is spelled on disk
    instance TEXT NOT NULL            -- '' once the statement was cut off
);
CREATE INDEX statements_place ON statements(home, zone, path);
