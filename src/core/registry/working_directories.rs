//! Where a user works in a conversation.

use super::database::{Connection, Statements as _};

use super::{Registry, RegistryError};

/// Conversations of one tenant whose directory is known; older ones are forgotten.
const CHATS_MAX: i64 = 1000;

/// The directory of a conversation of a tenant.
const WORKING_DIRECTORY: &str =
    "SELECT path FROM working_directories WHERE home = ?1 AND chat = ?2";

impl Registry {
    /// The directory that was said last for a conversation of a tenant.
    pub fn working_directory(
        &self,
        tenant: &str,
        chat: &str,
    ) -> Result<Option<String>, RegistryError> {
        self.answer(WORKING_DIRECTORY, [tenant, chat], |connection| {
            known_directory(connection, tenant, chat)
        })
    }

    /// [`Self::working_directory`] for who cannot wait: fails where it would have to.
    pub fn working_directory_at_once(
        &self,
        tenant: &str,
        chat: &str,
    ) -> Result<Option<String>, RegistryError> {
        self.answer_at_once(WORKING_DIRECTORY, [tenant, chat], |connection| {
            known_directory(connection, tenant, chat)
        })
    }

    /// Remembers the directory of a conversation.
    pub fn set_working_directory(
        &self,
        tenant: &str,
        chat: &str,
        path: &str,
        now: i64,
    ) -> Result<(), RegistryError> {
        self.transact(&[tenant], |transaction| {
            transaction.execute(
            "INSERT INTO working_directories (home, chat, path, changed_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (home, chat) DO UPDATE SET path = ?3, changed_at = ?4",
            (tenant, chat, path, now),
        )?;
            transaction.execute(
                "DELETE FROM working_directories WHERE home = ?1 AND chat NOT IN (
                 SELECT chat FROM working_directories WHERE home = ?1
                 ORDER BY changed_at DESC, chat LIMIT ?2)",
                (tenant, CHATS_MAX),
            )?;
            Ok(())
        })
    }
}

fn known_directory(
    connection: &Connection<'_>,
    tenant: &str,
    chat: &str,
) -> Result<Option<String>, RegistryError> {
    Ok(connection.first(WORKING_DIRECTORY, [tenant, chat], |row| row.get(0))?)
}
