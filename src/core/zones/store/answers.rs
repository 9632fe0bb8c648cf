//! The answer that a call belongs to, where the call cannot name it.

use super::Store;
use fileshed_types::{Caller, Channel, Chat};

impl Store {
    /// Has a model's call of a terminal belong to the answer that its conversation named last. What a
    /// person does there belongs to none, and neither does a call by somebody's own token.
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
