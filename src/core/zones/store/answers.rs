//! Attribution of a call to an answer, if the call cannot name the answer.

use super::Store;
use fileshed_types::{Caller, Channel, Chat};

impl Store {
    /// Attributes a model's call of a terminal to the answer that its conversation named last. Calls of
    /// people there belong to no answer, and neither do calls with a personal token.
    pub fn settle_answer(&self, caller: &mut Caller) {
        if caller.token.is_some() || caller.chat == Chat::default() {
            return;
        }
        let conversation = (caller.user.clone(), caller.chat.clone());
        match caller.message.clone() {
            Some(message) => self.answers.remember(conversation, message),
            None if caller.channel == Some(Channel::Terminal) => {
                caller.message = self.answers.recall(&conversation);
            }
            None => {}
        }
    }
}
