//! Conversations: the files that came into their uploads, and the directories in which users work.

use std::collections::HashSet;

use super::database::{Connection, Statements as _};
use super::{Registry, Result};

/// Conversations of one tenant whose directory is known; older ones are forgotten.
const CHATS_MAX: i64 = 1000;

/// The directory of a conversation of a tenant.
const WORKING_DIRECTORY: &str =
    "SELECT path FROM working_directories WHERE home = ?1 AND chat = ?2";

impl Registry {
    /// Returns the ids of all that came into the uploads of one conversation, whatever became of them.
    pub fn attachments(&self, tenant: &str, chat: &str) -> Result<HashSet<String>> {
        let ids = "SELECT id FROM attachments WHERE home = ?1 AND chat = ?2";
        self.all(ids, [tenant, chat])
    }

    /// Remembers that a file came in.
    pub fn add_attachment(&self, tenant: &str, chat: &str, id: &str) -> Result<()> {
        self.run(
            "INSERT INTO attachments (home, chat, id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            [tenant, chat, id],
        )
    }

    /// Forgets that a file came in.
    pub fn remove_attachment(&self, tenant: &str, chat: &str, id: &str) -> Result<()> {
        self.run(
            "DELETE FROM attachments WHERE home = ?1 AND chat = ?2 AND id = ?3",
            [tenant, chat, id],
        )
    }

    /// Returns the directory that was set last for a conversation of a tenant.
    pub fn working_directory(&self, tenant: &str, chat: &str) -> Result<Option<String>> {
        self.answer(WORKING_DIRECTORY, [tenant, chat], ask)
    }

    /// Returns the same for callers that cannot wait: fails if it would have to.
    pub fn working_directory_at_once(&self, tenant: &str, chat: &str) -> Result<Option<String>> {
        self.answer_at_once(WORKING_DIRECTORY, [tenant, chat], ask)
    }

    /// Remembers the directory of a conversation.
    pub fn set_working_directory(
        &self,
        tenant: &str,
        chat: &str,
        path: &str,
        now: i64,
    ) -> Result<()> {
        self.transact(&[tenant], |transaction| {
            transaction.run(
                "INSERT INTO working_directories (home, chat, path, changed_at)
                 VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (home, chat) DO UPDATE SET path = ?3, changed_at = ?4",
                (tenant, chat, path, now),
            )?;
            transaction.run(
                "DELETE FROM working_directories WHERE home = ?1 AND chat NOT IN (
                 SELECT chat FROM working_directories WHERE home = ?1
                 ORDER BY changed_at DESC, chat LIMIT ?2)",
                (tenant, CHATS_MAX),
            )
        })
    }
}

fn ask(
    connection: &Connection<'_>,
    statement: &'static str,
    values: [&str; 2],
) -> Result<Option<String>> {
    connection.first(statement, values)
}
