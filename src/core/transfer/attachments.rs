//! Files that a person attached to the conversation: they come into its uploads by themselves.
//!
//! A caller that opens the uploads finds the attached files there, if the chat application can be asked for
//! them. It is asked once for a message, and again after a while. A file that came in once is remembered, so
//! that it does not come back when it is deleted or moved away. A failure here does not fail the call: it is
//! reported when the missing file is asked for.

use std::time::Duration;

use crate::attachment_cache::{ChatAttachments, Refused};
use crate::transfer::Transfer;
use crate::{OnConflict, Upload};
use fileshed_storage::DiskError;
use fileshed_types::caller::Scope;
use fileshed_types::{Caller, Code, Error, ZoneName, ZonePath};
use fileshed_zones::chat_host::{Attached, Attachment, ChatHost, Task};
use fileshed_zones::zone::portable_name;

/// The operation that a file comes in with, to history and logs.
const OPERATION: &str = "shed_import";

/// Progress of an import.
enum ImportOutcome {
    /// Whatever can come in is there.
    All,
    /// The next call goes on.
    Some,
}

impl Transfer {
    /// Brings the attachments of the caller's conversation into its uploads, as far as that is possible now.
    /// A caller that comes while they are brought waits until they are there.
    pub fn bring_attachments(&self, caller: &Caller) {
        let Some(chat_host) = self.store.chat_host() else {
            return;
        };
        if caller.scope == Scope::Read || caller.user.is_none() {
            return;
        }
        let Ok((tenant, chat)) = self.store.conversation(caller) else {
            return;
        };
        let conversation = self.attachments.conversation(&tenant, &chat);
        let mut conversation = conversation.lock();
        if conversation.is_fresh(caller.message.as_ref(), &self.store.clock) {
            return;
        }
        let came = self.bring(chat_host, caller, (&tenant, &chat), &mut conversation);
        let timings = &self.store.settings.timings.attachments;
        let counts = match (&came, &caller.message) {
            (Ok(ImportOutcome::All), Some(_)) => timings.message,
            (Ok(ImportOutcome::Some), _) => Duration::ZERO,
            _ => timings.moment,
        };
        conversation.asked = Some((self.store.clock.instant(), caller.message.clone(), counts));
        conversation.unknown = came.err().map(|error| {
            tracing::debug!(%error, "attached files could not be imported");
            error.message().to_owned()
        });
    }

    /// Returns `true` if the application says what is attached to the caller's conversation.
    pub(crate) fn knows_attachments(&self, caller: &Caller) -> bool {
        let Ok((tenant, chat)) = self.store.conversation(caller) else {
            return false;
        };
        let conversation = self.attachments.conversation(&tenant, &chat);
        let conversation = conversation.lock();
        conversation.is_known
    }

    /// Fails where another call should try again soon.
    fn bring(
        &self,
        chat_host: &dyn ChatHost,
        caller: &Caller,
        (tenant, chat): (&str, &str),
        conversation: &mut ChatAttachments,
    ) -> Result<ImportOutcome, Error> {
        let files = match chat_host.attachments(caller)? {
            Attached::Files(files) => files,
            Attached::NoCredential | Attached::NotKept => return Ok(ImportOutcome::All),
        };
        conversation.is_known = true;
        let (clock, timings) = (&self.store.clock, &self.store.settings.timings.attachments);
        let begun = clock.instant();
        let known = self.store.registry.attachments(tenant, chat)?;
        conversation
            .refused
            .retain(|_, refused| clock.elapsed(refused.at) < timings.refused);
        for file in files.iter().filter(|file| !known.contains(&file.id)) {
            if conversation.refused.contains_key(&file.id) {
                continue;
            }
            if clock.elapsed(begun) > timings.patience || caller.cancellation.is_cancelled() {
                return Ok(ImportOutcome::Some);
            }
            let brought = match file.waiting {
                Some(_) => self.bring_waiting(caller, file),
                None => self
                    .fetch_attachment(caller, &ZonePath::root(), file)
                    .map(drop),
            };
            let Err(error) = brought else {
                continue;
            };
            if error.retry_after().is_some() || error.code() == Code::OpenwebuiApiUnavailable {
                return Err(error);
            }
            tracing::debug!(%error, "an attached file could not be imported");
            let refused = Refused {
                name: file.name.clone(),
                reason: error.message().to_owned(),
                at: clock.instant(),
            };
            conversation.refused.insert(file.id.clone(), refused);
        }
        Ok(ImportOutcome::All)
    }

    /// Fetches one attached file into a directory of the uploads, unless the same content is there
    /// under its name already.
    pub fn fetch_attachment(
        &self,
        caller: &Caller,
        directory: &ZonePath,
        file: &Attachment,
    ) -> Result<ZonePath, Error> {
        let name = portable_name(&file.name);
        let task = Task::new("Importing", &name);
        let fetch = || self.fetch(caller, directory, file, &name);
        self.store.shown(caller, Some(task), |_| None, fetch)
    }

    fn fetch(
        &self,
        caller: &Caller,
        directory: &ZonePath,
        file: &Attachment,
        name: &str,
    ) -> Result<ZonePath, Error> {
        let zone = self.store.zone_as_it_is(caller, ZoneName::Uploads)?;
        let zone = &zone.made()?;
        let transfer_permit = self.permit(caller)?;
        let upload = Upload::into_directory(
            zone,
            directory.clone(),
            OnConflict::RenameUnlessSame,
            transfer_permit,
        )?;
        let mut incoming = upload.file(name)?;
        match (&file.content, self.store.chat_host()) {
            (Some(content), _) => incoming.write(content)?,
            (None, Some(chat_host)) => {
                chat_host.fetch(caller, file, &mut |piece| incoming.write(piece))?;
            }
            (None, None) => {
                let path = directory.join(name);
                return Err(DiskError::NotFound { path }.into());
            }
        }
        let stored = incoming.finish()?.store(OPERATION, None)?;
        self.store.registry.add_attachment(
            &zone.tenant.key,
            &self.store.pepper.chat_directory(&caller.chat),
            &file.id,
        )?;
        let path = stored.into_iter().next().map(|stored| stored.path);
        Ok(path.unwrap_or_else(|| directory.join(name)))
    }

    /// Why a file of this name that was attached to the conversation is not in its uploads, where
    /// that is known.
    pub fn attachment_refused(&self, caller: &Caller, name: &str) -> Option<String> {
        let (tenant, chat) = self.store.conversation(caller).ok()?;
        let conversation = self.attachments.conversation(&tenant, &chat);
        let conversation = conversation.lock();
        let is_meant = |refused: &&Refused| {
            refused.name.eq_ignore_ascii_case(name)
                || portable_name(&refused.name).eq_ignore_ascii_case(name)
        };
        let refused = conversation.refused.values().find(is_meant);
        let refused = refused.map(|Refused { name, reason, .. }| {
            format!("`{name}` is attached to the conversation but could not be imported: {reason}")
        });
        let unknown = conversation.unknown.as_ref();
        refused.or_else(|| {
            unknown.map(|reason| {
                format!("the attachments of the conversation could not be listed: {reason}")
            })
        })
    }
}
