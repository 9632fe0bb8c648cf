//! Files that a person attaches to a conversation before there is one.
//!
//! The application gives a conversation its id with the first message, and a terminal connection
//! brings what is attached to that message before. Such a file waits in the uploads of calls that
//! name no conversation, under a name that no other waiting one has, and comes into the
//! conversation whose messages have it. Where nobody can be asked which one that is, it comes into
//! the first that names it. It never leaves its user, and never goes to two conversations.

use std::io::Read as _;

use crate::transfer::Transfer;
use crate::{OnConflict, Upload};
use fileshed_storage::{DiskError, Kind};
use fileshed_types::caller::Scope;
use fileshed_types::{Caller, Chat, Error, ZoneName, ZonePath};
use fileshed_zones::chat_host::Attachment;
use fileshed_zones::zone::portable_name;

/// The operation in intents and logs.
const OPERATION: &str = "terminal/attach";

/// Prefix of the ids of waiting files among the attachments of calls without a conversation.
const MARK: &str = "waiting:";

/// Bytes that are copied at once.
const PIECE: usize = 256 * 1024;

impl Transfer {
    /// Notes where a terminal brought a file of the uploads: it waits for a conversation where the
    /// call named none, and none that waits under the same path is meant by this conversation.
    pub fn uploaded_by_terminal(&self, caller: &Caller, path: &ZonePath) -> Result<(), Error> {
        let (tenant, chat) = self.store.conversation(caller)?;
        let path = path.as_str();
        let id = if caller.chat == Chat::default() {
            format!("{MARK}{path}")
        } else {
            shown(path)
        };
        Ok(self.store.registry.add_attachment(&tenant, &chat, &id)?)
    }

    /// Brings the waiting files that `is_named` names by their paths into the caller's conversation, if
    /// nobody can be asked whose they are. A file that fails waits on.
    ///
    /// Returns `true` if any came.
    pub fn claim_named(&self, caller: &Caller, is_named: &dyn Fn(&str) -> bool) -> bool {
        if caller.chat == Chat::default()
            || caller.scope == Scope::Read
            || self.knows_attachments(caller)
        {
            return false;
        }
        let waiting = self.waiting(caller).unwrap_or_default();
        let mut came = false;
        for path in waiting.iter().filter(|path| is_named(path)) {
            match self.take_waiting(caller, path) {
                Ok(()) => came = true,
                Err(error) => {
                    tracing::debug!(
                        %error,
                        "a waiting file could not be moved to its conversation"
                    );
                }
            }
        }
        came
    }

    /// Brings a waiting file into the conversation of the caller, whose message names it. Does nothing if the
    /// file does not wait.
    pub(crate) fn bring_waiting(&self, caller: &Caller, file: &Attachment) -> Result<(), Error> {
        let Some(path) = &file.waiting else {
            return Ok(());
        };
        if self.waiting(caller)?.contains(path) {
            self.take_waiting(caller, path)?;
        }
        // A later file under this path belongs to another conversation.
        let (tenant, chat) = self.store.conversation(caller)?;
        let registry = &self.store.registry;
        Ok(registry.add_attachment(&tenant, &chat, &file.id)?)
    }

    /// The paths of the caller's waiting files.
    fn waiting(&self, caller: &Caller) -> Result<Vec<String>, Error> {
        let (tenant, chat) = self.store.conversation(&unsaid(caller))?;
        let marks = self.store.registry.attachments(&tenant, &chat)?;
        let paths = marks.iter().filter_map(|id| id.strip_prefix(MARK));
        let mut paths: Vec<String> = paths.map(str::to_owned).collect();
        paths.sort();
        Ok(paths)
    }

    fn take_waiting(&self, caller: &Caller, path: &str) -> Result<(), Error> {
        let before = unsaid(caller);
        let path = ZonePath::parse("path", path)?;
        let from = self.store.zone_as_it_is(&before, ZoneName::Uploads)?;
        let (tenant, chat) = self.store.conversation(&before)?;
        let forget = || {
            let id = format!("{MARK}{}", path.as_str());
            self.store.registry.remove_attachment(&tenant, &chat, &id)
        };
        let entry = match from.data.entry(&path) {
            Ok(entry) if entry.kind() == Kind::File => entry,
            // Deleted, or something else by now.
            _ => return Ok(forget()?),
        };
        let zone = self.store.zone_as_it_is(caller, ZoneName::Uploads)?;
        let zone = zone.made()?;
        let permit = self.permit(caller)?;
        let directory = path.parent().unwrap_or_else(ZonePath::root);
        let upload =
            Upload::into_directory(&zone, directory, OnConflict::RenameUnlessSame, permit)?;
        let mut incoming = upload.file(&portable_name(path.name().unwrap_or_default()))?;
        let mut content = entry.open()?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = content.read(&mut piece);
            match read.map_err(|error| DiskError::of("read", &path, error))? {
                0 => break,
                read => incoming.write(&piece[..read])?,
            }
        }
        incoming.finish()?.store(OPERATION, None)?;
        self.uploaded_by_terminal(caller, &path)?;
        forget()?;
        let writer = fileshed_changes::remover(&from, OPERATION)?;
        let entry = from.entry_itself(&path)?;
        writer
            .remove_moved(&entry)?
            .commit(None, &format!("Move {path}"))?;
        Ok(())
    }
}

/// A path of the uploads as terminals show it, which is what messages have.
fn shown(path: &str) -> String {
    format!("/uploads/{path}")
}

/// The same caller in calls that name no conversation.
fn unsaid(caller: &Caller) -> Caller {
    Caller {
        chat: Chat::default(),
        message: None,
        ..caller.clone()
    }
}
