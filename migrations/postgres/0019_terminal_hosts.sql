-- Where the other servers reach an instance, as host:port; empty where it takes no calls.
ALTER TABLE instances ADD COLUMN address TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Which instance has the background processes and the shells of a user. It holds as long as that lives.
CREATE TABLE terminal_hosts (
    tenant TEXT COLLATE "C" PRIMARY KEY,
    instance TEXT COLLATE "C" NOT NULL
);
CREATE INDEX terminal_hosts_by_instance ON terminal_hosts (instance);
