//! The conversations of a caller in a tree whose `/uploads` has a directory for each.

use super::{View, ViewPath};
use crate::chats::ChatUploads;
use crate::{Caller, Chat, Error};

impl View<'_> {
    /// The conversations with uploads that the caller can open, in the order of
    /// [`Store::chats_with_uploads`](crate::Store::chats_with_uploads). Each is named as its directory.
    pub fn chats(&self) -> Result<Vec<ChatUploads>, Error> {
        let mut chats = self.store.all_chats_with_uploads(self.caller)?;
        if self.caller.chat != Chat::default() {
            chats.retain(|uploads| uploads.chat == self.caller.chat);
        }
        Ok(chats)
    }
}

impl ViewPath {
    /// The caller as who opens what is at this path: in the conversation whose uploads hold it, as
    /// far as the caller [can go there](Caller::enter).
    #[must_use]
    pub fn opener(&self, caller: &Caller) -> Caller {
        let mut caller = caller.clone();
        if let Some(chat) = self.chat().and_then(Chat::parse) {
            caller.enter(chat);
        }
        caller
    }
}
