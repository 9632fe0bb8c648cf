//! What the registry knows of users: whom it has met, their credentials, and how they are forgotten.

use super::database::{DatabaseError, Statements as _, Transaction};

use super::{Registry, RegistryError};

/// The tables with rows of a tenant, which go with it.
const TABLES_OF_TENANTS: [&str; 16] = [
    "usage",
    "locks",
    "intents",
    "statements",
    "links",
    "published",
    "resumable_uploads",
    "bin",
    "attachments",
    "working_directories",
    "file_metadata",
    "client_locks",
    "dead_properties",
    "tenant_quotas",
    "last_calls",
    "placements",
];

/// Seconds for which it is kept that all was ended that a user had: what was begun before has seen it.
const ENDED_SECONDS: i64 = 24 * 60 * 60;

/// Removes the rows of a tenant.
pub(super) fn forget_rows(
    transaction: &Transaction<'_>,
    tenant: &str,
) -> Result<(), DatabaseError> {
    for table in TABLES_OF_TENANTS {
        transaction.execute(&format!("DELETE FROM {table} WHERE home = ?1"), [tenant])?;
    }
    Ok(())
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

/// What is kept of a user who was here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// As it was sent last; empty where none was.
    pub name: String,
    /// Unix seconds of the suspension, while it holds.
    pub suspended_at: Option<i64>,
}

impl Registry {
    /// What is kept of a user; nothing of one who was never here.
    pub fn standing(&self, user: &str) -> Result<Option<Standing>, RegistryError> {
        Ok(self.connection()?.first(
            "SELECT name, suspended_at FROM users WHERE id = ?1",
            [user],
            |row| {
                Ok(Standing {
                    name: row.get(0)?,
                    suspended_at: row.get(1)?,
                })
            },
        )?)
    }

    /// Notes a user; a name that is empty leaves the one that is known.
    pub fn meet(&self, user: &str, name: &str, now: i64) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "INSERT INTO users (id, name, met_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE excluded.name <> ''",
            (user, name, now),
        )?;
        Ok(())
    }

    /// Suspends a user; false where that was done before.
    pub fn suspend(&self, user: &str, now: i64) -> Result<bool, RegistryError> {
        let changed = self.connection()?.execute(
            "INSERT INTO users (id, name, met_at, suspended_at) VALUES (?1, '', ?2, ?2)
             ON CONFLICT (id) DO UPDATE SET suspended_at = ?2 WHERE users.suspended_at IS NULL",
            (user, now),
        )?;
        Ok(changed == 1)
    }

    /// Ends a suspension; false where there is none.
    pub fn resume(&self, user: &str) -> Result<bool, RegistryError> {
        let changed = self.connection()?.execute(
            "UPDATE users SET suspended_at = NULL WHERE id = ?1 AND suspended_at IS NOT NULL",
            [user],
        )?;
        Ok(changed == 1)
    }

    /// Files of groups that a user owns.
    pub fn owned_files(&self, user: &str) -> Result<u64, RegistryError> {
        let connection = self.connection()?;
        let sql = "SELECT count(*) FROM file_ownership WHERE owner_id = ?1";
        let count: i64 = connection.value(sql, [user])?;
        Ok(count as u64)
    }

    /// Gives the files of groups that one user owns to another.
    pub fn give_files(&self, from: &str, to: &str) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "UPDATE file_ownership SET owner_id = ?2, updated_at = CURRENT_TIMESTAMP
             WHERE owner_id = ?1",
            (from, to),
        )?;
        Ok(())
    }

    /// Every user that a row names.
    pub fn known_users(&self) -> Result<Vec<String>, RegistryError> {
        Ok(self.connection()?.all(
            "SELECT id FROM users
             UNION SELECT user_id FROM tokens
             UNION SELECT user_id FROM links WHERE user_id IS NOT NULL
             UNION SELECT user_id FROM local_group_members
             UNION SELECT user_id FROM group_sightings
             UNION SELECT owner_id FROM file_ownership
             UNION SELECT user_id FROM locks WHERE user_id <> ''
             ORDER BY 1",
            (),
            |row| row.get(0),
        )?)
    }

    /// The credentials of a user that work now.
    pub fn credentials(&self, user: &str, now: i64) -> Result<Credentials, RegistryError> {
        let connection = self.connection()?;
        let count = |sql| connection.value::<i64>(sql, (user, now));
        let tokens = count(
            "SELECT count(*) FROM tokens WHERE user_id = ?1 AND revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > ?2)",
        )?;
        let links = count("SELECT count(*) FROM links WHERE user_id = ?1 AND expires_at > ?2")?;
        let sessions =
            count("SELECT count(*) FROM page_sessions WHERE user_id = ?1 AND expires_at > ?2")?;
        Ok(Credentials {
            tokens: tokens as u64,
            links: links as u64,
            sessions: sessions as u64,
        })
    }

    /// Unix second at which all was ended that a user had, if that was lately.
    pub fn user_ended_at(&self, user: &str) -> Result<Option<i64>, RegistryError> {
        let sql = "SELECT ended_at FROM ended_users WHERE user_id = ?1";
        Ok(self.connection()?.first(sql, [user], |row| row.get(0))?)
    }

    /// Ends every credential of a user, and what was begun until now. How many credentials worked is
    /// what [`Registry::credentials`] said before.
    pub fn end_credentials(&self, user: &str, now: i64) -> Result<(), RegistryError> {
        self.transact(&[user], |transaction| {
            transaction.execute(
                "DELETE FROM ended_users WHERE ended_at <= ?1",
                [now.saturating_sub(ENDED_SECONDS)],
            )?;
            transaction.execute(
                "INSERT INTO ended_users (user_id, ended_at) VALUES (?1, ?2)
                 ON CONFLICT (user_id) DO UPDATE SET ended_at = excluded.ended_at",
                (user, now),
            )?;
            transaction.execute(
                "UPDATE tokens SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL",
                (user, now),
            )?;
            for table in ["links", "page_sessions", "sign_in_links"] {
                transaction.execute(&format!("DELETE FROM {table} WHERE user_id = ?1"), [user])?;
            }
            Ok(())
        })
    }

    /// Forgets everything about a tenant that is gone, and about its user: tokens, links, locked
    /// edits in groups, and being in them. Whose the files of groups are stays, and so does a
    /// suspension.
    pub fn forget_home(&self, tenant: &str, user: &str) -> Result<(), RegistryError> {
        self.transact(&[tenant, user], |transaction| {
            forget_rows(transaction, tenant)?;
            for table in [
                "tokens",
                "links",
                "page_sessions",
                "sign_in_links",
                "locks",
                "local_group_members",
                "group_sightings",
            ] {
                transaction.execute(&format!("DELETE FROM {table} WHERE user_id = ?1"), [user])?;
            }
            transaction.execute(
                "DELETE FROM users WHERE id = ?1 AND suspended_at IS NULL",
                [user],
            )?;
            transaction.execute("UPDATE users SET name = '' WHERE id = ?1", [user])?;
            Ok(())
        })
    }
}
