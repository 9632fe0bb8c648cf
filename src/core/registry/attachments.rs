//! Which files of a conversation came into its uploads.

use std::collections::HashSet;

use super::{Registry, RegistryError};

impl Registry {
    /// The ids of all that came into the uploads of one conversation, whatever became of them.
    pub fn attachments(&self, tenant: &str, chat: &str) -> Result<HashSet<String>, RegistryError> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached("SELECT id FROM attachments WHERE home = ?1 AND chat = ?2")?;
        let ids = statement.query_map([tenant, chat], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Remembers that a file came in.
    pub fn add_attachment(&self, tenant: &str, chat: &str, id: &str) -> Result<(), RegistryError> {
        self.connection()
            .prepare_cached(
                "INSERT OR IGNORE INTO attachments (home, chat, id) VALUES (?1, ?2, ?3)",
            )?
            .execute([tenant, chat, id])?;
        Ok(())
    }

    /// Forgets that a file came in.
    pub fn remove_attachment(
        &self,
        tenant: &str,
        chat: &str,
        id: &str,
    ) -> Result<(), RegistryError> {
        self.connection()
            .prepare_cached("DELETE FROM attachments WHERE home = ?1 AND chat = ?2 AND id = ?3")?
            .execute([tenant, chat, id])?;
        Ok(())
    }
}
