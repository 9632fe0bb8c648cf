//! The files that are attached to a conversation.

use fileshed_core::frontend::{Attachment, Sink};
use fileshed_core::{Caller, Error};

use super::OpenWebUi;

impl OpenWebUi {
    pub(super) fn attachments_of(&self, _caller: &Caller) -> Result<Vec<Attachment>, Error> {
        Ok(Vec::new())
    }

    pub(super) fn fetch_file(
        &self,
        _caller: &Caller,
        _file: &Attachment,
        _sink: Sink<'_>,
    ) -> Result<(), Error> {
        Ok(())
    }
}
