//! Which files of a conversation came into its uploads.

use std::collections::HashSet;

use super::database::Statements as _;
use super::{Registry, RegistryError};

impl Registry {
    /// The ids of all that came into the uploads of one conversation, whatever became of them.
    pub fn attachments(&self, tenant: &str, chat: &str) -> Result<HashSet<String>, RegistryError> {
        Ok(self.connection()?.all(
            "SELECT id FROM attachments WHERE home = ?1 AND chat = ?2",
            [tenant, chat],
            |row| row.get(0),
        )?)
    }

    /// Remembers that a file came in.
    pub fn add_attachment(&self, tenant: &str, chat: &str, id: &str) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "INSERT INTO attachments (home, chat, id) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO NOTHING",
            [tenant, chat, id],
        )?;
        Ok(())
    }

    /// Forgets that a file came in.
    pub fn remove_attachment(
        &self,
        tenant: &str,
        chat: &str,
        id: &str,
    ) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "DELETE FROM attachments WHERE home = ?1 AND chat = ?2 AND id = ?3",
            [tenant, chat, id],
        )?;
        Ok(())
    }
}
