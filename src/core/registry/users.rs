//! Users and tenants: those that the server has seen, their credentials, decisions of an administrator
//! about one, numbers of all, and their removal.

use std::collections::HashMap;

use super::database::{Executor, Statements as _};
use super::rows::{Entity as _, row};
use super::{Registry, Result};

/// The tables with rows of a tenant, which go with it.
const TABLES_OF_TENANTS: [&str; 17] = [
    "usage",
    "locks",
    "intents",
    "statements",
    "links",
    "published",
    "resumable_uploads",
    "bin",
    "changes",
    "attachments",
    "working_directories",
    "file_metadata",
    "client_locks",
    "dead_properties",
    "tenant_quotas",
    "last_calls",
    "placements",
];

/// The tables with rows of a user outside the own tenant, which go with the user.
const TABLES_OF_USERS: [&str; 7] = [
    "tokens",
    "links",
    "page_sessions",
    "sign_in_links",
    "locks",
    "local_group_members",
    "group_sightings",
];

/// Seconds for which it is kept that all was ended that a user had: what was begun before has seen it.
const ENDED_SECONDS: i64 = 24 * 60 * 60;

/// Removes the rows of these tables in which a column has a value.
fn forget(transaction: &Executor<'_>, tables: &[&str], column: &str, value: &str) -> Result<()> {
    tables.iter().try_for_each(|table| {
        transaction.run(&format!("DELETE FROM {table} WHERE {column} = ?1"), [value])
    })
}

/// Credentials that work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Personal tokens.
    pub tokens: u64,
    /// Links, those into groups too.
    pub links: u64,
    /// Browsers that are signed in.
    pub sessions: u64,
}

row! {
    /// The record of a user who was here.
    #[derive(Default)]
    pub struct Standing in "users" {
        /// As it was sent last; empty if none was.
        name: String = "name",
        /// Unix seconds of the suspension, while it holds.
        suspended_at: Option<i64> = "suspended_at",
    }
}

impl Registry {
    /// Returns the record of a user; `None` if the user was never here.
    pub fn standing(&self, user: &str) -> Result<Option<Standing>> {
        Standing::first(self, "WHERE id = ?1", [user])
    }

    /// Notes a user; a name that is empty leaves the one that is known.
    pub fn meet(&self, user: &str, name: &str, now: i64) -> Result<()> {
        self.run(
            "INSERT INTO users (id, name, met_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE excluded.name <> ''",
            (user, name, now),
        )
    }

    /// Suspends a user; returns `false` if that was done before.
    pub fn suspend(&self, user: &str, now: i64) -> Result<bool> {
        self.changes(
            "INSERT INTO users (id, name, met_at, suspended_at) VALUES (?1, '', ?2, ?2)
             ON CONFLICT (id) DO UPDATE SET suspended_at = ?2 WHERE users.suspended_at IS NULL",
            (user, now),
        )
    }

    /// Ends a suspension; returns `false` if there is none.
    pub fn resume(&self, user: &str) -> Result<bool> {
        self.changes(
            "UPDATE users SET suspended_at = NULL WHERE id = ?1 AND suspended_at IS NOT NULL",
            [user],
        )
    }

    /// Returns the number of files of groups that a user owns.
    pub fn owned_files(&self, user: &str) -> Result<u64> {
        let count = "SELECT count(*) FROM file_ownership WHERE owner_id = ?1";
        self.value(count, [user])
    }

    /// Gives the files of groups that one user owns to another.
    pub fn give_files(&self, from: &str, to: &str) -> Result<()> {
        self.run(
            "UPDATE file_ownership SET owner_id = ?2, updated_at = CURRENT_TIMESTAMP
             WHERE owner_id = ?1",
            [from, to],
        )
    }

    /// Returns every user that a row names.
    pub fn known_users(&self) -> Result<Vec<String>> {
        self.all(
            "SELECT id FROM users
             UNION SELECT user_id FROM tokens
             UNION SELECT user_id FROM links WHERE user_id IS NOT NULL
             UNION SELECT user_id FROM local_group_members
             UNION SELECT user_id FROM group_sightings
             UNION SELECT owner_id FROM file_ownership
             UNION SELECT user_id FROM locks WHERE user_id <> ''
             UNION SELECT user_id FROM page_sessions
             UNION SELECT user_id FROM sign_in_links
             ORDER BY 1",
            (),
        )
    }

    /// Returns the numbers of a user's credentials that work now.
    pub fn credentials(&self, user: &str, now: i64) -> Result<Credentials> {
        let (tokens, links, sessions) = self.value(
            "SELECT (SELECT count(*) FROM tokens WHERE user_id = ?1 AND revoked_at IS NULL
                     AND (expires_at IS NULL OR expires_at > ?2)),
                    (SELECT count(*) FROM links WHERE user_id = ?1 AND expires_at > ?2),
                    (SELECT count(*) FROM page_sessions WHERE user_id = ?1 AND expires_at > ?2)",
            (user, now),
        )?;
        Ok(Credentials {
            tokens,
            links,
            sessions,
        })
    }

    /// Returns the Unix second at which all was ended that a user had, if that was lately.
    pub fn user_ended_at(&self, user: &str) -> Result<Option<i64>> {
        self.first(
            "SELECT ended_at FROM ended_users WHERE user_id = ?1",
            [user],
        )
    }

    /// Ends every credential of a user, and what was begun until now. How many credentials worked is
    /// what [`Registry::credentials`] said before.
    pub fn end_credentials(&self, user: &str, now: i64) -> Result<()> {
        self.transact(&[user], |transaction| {
            transaction.run(
                "DELETE FROM ended_users WHERE ended_at <= ?1",
                [now.saturating_sub(ENDED_SECONDS)],
            )?;
            transaction.run(
                "INSERT INTO ended_users (user_id, ended_at) VALUES (?1, ?2)
                 ON CONFLICT (user_id) DO UPDATE SET ended_at = excluded.ended_at",
                (user, now),
            )?;
            transaction.run(
                "UPDATE tokens SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL",
                (user, now),
            )?;
            let tables = ["links", "page_sessions", "sign_in_links"];
            forget(transaction, &tables, "user_id", user)
        })
    }

    /// Forgets everything about a tenant that is gone, and about its user: tokens, links, locked
    /// edits in groups, and being in them. The owners of the files of groups stay, and so does a
    /// suspension.
    pub fn forget_home(&self, tenant: &str, user: &str) -> Result<()> {
        self.transact(&[tenant, user], |transaction| {
            forget(transaction, &TABLES_OF_TENANTS, "home", tenant)?;
            forget(transaction, &TABLES_OF_USERS, "user_id", user)?;
            let forget = "DELETE FROM users WHERE id = ?1 AND suspended_at IS NULL";
            transaction.run(forget, [user])?;
            transaction.run("UPDATE users SET name = '' WHERE id = ?1", [user])
        })
    }

    /// Returns the quota of one tenant, if it has one of its own.
    pub fn tenant_quota(&self, tenant: &str) -> Result<Option<u64>> {
        let quota = "SELECT bytes FROM tenant_quotas WHERE home = ?1";
        self.first(quota, [tenant])
    }

    /// Gives a tenant a quota of its own, or the one of all others again.
    pub fn set_tenant_quota(&self, tenant: &str, bytes: Option<u64>, now: i64) -> Result<()> {
        match bytes {
            Some(bytes) => self.run(
                "INSERT INTO tenant_quotas (home, bytes, set_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (home) DO UPDATE SET bytes = ?2, set_at = ?3",
                (tenant, i64::try_from(bytes).unwrap_or(i64::MAX), now),
            ),
            None => self.run("DELETE FROM tenant_quotas WHERE home = ?1", [tenant]),
        }
    }

    /// Records when tenants called last; the later time counts.
    pub fn record_calls<'a>(&self, calls: impl IntoIterator<Item = (&'a str, i64)>) -> Result<()> {
        self.transact(&["last_calls"], |transaction| {
            calls.into_iter().try_for_each(|call| {
                transaction.run(
                    "INSERT INTO last_calls (home, at) VALUES (?1, ?2)
                     ON CONFLICT (home) DO UPDATE SET at = excluded.at
                     WHERE last_calls.at < excluded.at",
                    call,
                )
            })
        })
    }

    /// Returns when tenants called last, as far as it is recorded.
    pub fn recorded_calls(&self) -> Result<HashMap<String, i64>> {
        self.all("SELECT home, at FROM last_calls", ())
    }

    /// Returns the number of locks in the zones of each tenant.
    pub fn lock_counts(&self, now: i64) -> Result<HashMap<String, u64>> {
        self.all(
            "SELECT home, count(*) FROM (
                 SELECT home FROM locks
                 UNION ALL SELECT home FROM client_locks WHERE expires_at > ?1
             ) AS counted GROUP BY home",
            [now],
        )
    }

    /// Returns the number of links into the zones of each tenant.
    pub fn link_counts(&self, now: i64) -> Result<HashMap<String, u64>> {
        self.all(
            "SELECT home, count(*) FROM links WHERE expires_at > ?1 GROUP BY home",
            [now],
        )
    }

    /// Forgets everything about the tenant of a group whose files are gone. The members of the group
    /// are decided by its directory, and stay.
    pub fn forget_group(&self, tenant: &str, group: &str) -> Result<()> {
        self.transact(&[tenant], |transaction| {
            forget(transaction, &TABLES_OF_TENANTS, "home", tenant)?;
            transaction.run("DELETE FROM links WHERE group_id = ?1", [group])?;
            transaction.run("DELETE FROM file_ownership WHERE group_id = ?1", [group])
        })
    }
}
