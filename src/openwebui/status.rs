//! What takes long shows in the conversation.

use fileshed_core::Caller;
use fileshed_core::frontend::Line;

use super::OpenWebUi;

impl OpenWebUi {
    pub(super) fn status_line(&self, _caller: &Caller, _text: String) -> Option<Box<dyn Line>> {
        None
    }
}
