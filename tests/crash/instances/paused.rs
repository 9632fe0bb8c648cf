//! A server whose changes are done but not final for as long as a test wants: it waits in the database,
//! before the statement that makes a change final.

use fileshed_test_servers::{Postgres, Session};
use fileshed_test_support::Server;

/// The lock that the statement waits for, of the database.
const LOCK: u32 = 1;

/// Name of that server in the registry.
const NAME: &str = "paused";

/// A database in which the changes of one of its users can be paused.
pub(super) struct Paused<'p> {
    postgres: &'p Postgres,
    database: String,
    /// Address of the database for the server whose changes are paused.
    address: String,
}

impl<'p> Paused<'p> {
    /// Prepares the database at an address, which has a registry by now.
    pub(super) fn prepare(postgres: &'p Postgres, address: &str) -> Self {
        let database = address.rsplit('/').next().unwrap().to_owned();
        let user = format!("{NAME}_{database}");
        // Others may change the rows meanwhile, which a trigger for each row would have locked.
        let sql = format!(
            "CREATE ROLE {user} SUPERUSER LOGIN;
             CREATE FUNCTION fileshed.pause() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 IF session_user = '{user}' THEN
                     PERFORM pg_advisory_lock_shared({LOCK});
                     PERFORM pg_advisory_unlock_shared({LOCK});
                 END IF;
                 RETURN NULL;
             END $$;
             CREATE TRIGGER pause BEFORE DELETE ON fileshed.intents
             FOR EACH STATEMENT EXECUTE FUNCTION fileshed.pause()"
        );
        postgres.run(&database, &sql);
        Self {
            postgres,
            database,
            address: address.replace("fileshed@", &format!("{user}@")),
        }
    }

    /// Starts another server on the data of one, which is the one that can be paused.
    pub(super) fn start(&self, beside: &Server) -> Server {
        let setup = beside.setup().clone().env("FILESHED_INSTANCE_NAME", NAME);
        setup.env("FILESHED_REGISTRY", &self.address).start()
    }

    /// From now on no change of that server becomes final, until the value is dropped.
    pub(super) fn pause(&self) -> Session {
        let lock = format!("SELECT pg_advisory_lock({LOCK})");
        self.postgres.hold(&self.database, &lock)
    }

    /// Returns `true` if exactly so many changes are in progress.
    pub(super) fn has_under_way(&self, number: usize) -> bool {
        let count = "SELECT count(*) FROM fileshed.intents";
        self.postgres.run(&self.database, count) == number.to_string()
    }

    /// Waits until the others have taken over from that server, which cannot renew its lease.
    pub(super) fn wait_for_takeover(&self) {
        wait_for_takeover(self.postgres, &self.database, NAME);
    }
}

/// Waits until others have taken a server for dead: by its process, or at the end of its lease. By then
/// it is over by its own clock, too, which a change of its row would not move.
pub(super) fn wait_for_takeover(postgres: &Postgres, database: &str, label: &str) {
    let of_it = format!("SELECT 1 FROM fileshed.instances WHERE label = '{label}'");
    postgres.wait_until(database, &format!("NOT EXISTS ({of_it})"));
}
