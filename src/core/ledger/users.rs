//! What the registry knows of users: whom it has met, their credentials, and how they are forgotten.

use rusqlite::TransactionBehavior;

use super::{Ledger, LedgerError};

/// Credentials that work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Personal tokens.
    pub tokens: u64,
    /// Links, those into groups too.
    pub links: u64,
}

impl Ledger {
    /// Every user that a row names.
    pub(crate) fn known_users(&self) -> Result<Vec<String>, LedgerError> {
        let connection = self.connection();
        let mut statement = connection.prepare(
            "SELECT user_id FROM tokens
             UNION SELECT user_id FROM links WHERE user_id IS NOT NULL
             UNION SELECT user_id FROM local_group_members
             UNION SELECT user_id FROM group_sightings
             UNION SELECT owner_id FROM file_ownership
             UNION SELECT user_id FROM locks WHERE user_id <> ''
             ORDER BY 1",
        )?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The credentials of a user that work now.
    pub(crate) fn credentials(&self, user: &str, now: i64) -> Result<Credentials, LedgerError> {
        let connection = self.connection();
        let count = |sql| connection.query_row(sql, (user, now), |row| row.get::<_, i64>(0));
        let tokens = count(
            "SELECT count(*) FROM tokens WHERE user_id = ?1 AND revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > ?2)",
        )?;
        let links = count("SELECT count(*) FROM links WHERE user_id = ?1 AND expires_at > ?2")?;
        Ok(Credentials {
            tokens: tokens as u64,
            links: links as u64,
        })
    }

    /// Ends every credential of a user. How many worked until now is what [`Ledger::credentials`]
    /// said before.
    pub(crate) fn end_credentials(&self, user: &str, now: i64) -> Result<(), LedgerError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(
            "UPDATE tokens SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL",
            (user, now),
        )?;
        transaction.execute("DELETE FROM links WHERE user_id = ?1", [user])?;
        transaction.commit()?;
        Ok(())
    }

    /// Forgets everything about a home that is gone, and that its user was in groups. Whose the
    /// files of groups are stays.
    pub(crate) fn forget_home(&self, home: &str, user: &str) -> Result<(), LedgerError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for table in [
            "usage",
            "locks",
            "intents",
            "statements",
            "links",
            "published",
            "attachments",
        ] {
            transaction.execute(&format!("DELETE FROM {table} WHERE home = ?1"), [home])?;
        }
        for table in ["local_group_members", "group_sightings"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE user_id = ?1"), [user])?;
        }
        transaction.commit()?;
        Ok(())
    }
}
