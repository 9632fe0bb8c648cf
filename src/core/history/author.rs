//! Author of a commit, and the way by which the change came.
//!
//! The latter stands in lines of the commit's own header. No message can forge these, and git shows them only
//! when commits are printed as they are stored.

use git2::{Signature, Time};
use jiff::Timestamp;

use super::{HistoryError, Result};
use fileshed_types::{Caller, Channel, Chat, UserId};

/// The name and address of the server in every commit.
const COMMITTER: (&str, &str) = ("fileshed", "fileshed@localhost");

/// Whose change a commit is. Any text may be in it; what git cannot hold is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Name of a person or an account.
    pub name: String,
    /// Mail address.
    pub email: String,
    /// By which way the change came, where that is known.
    pub channel: Option<Channel>,
    /// The conversation that it was made in, where the history says so.
    pub chat: Option<String>,
}

impl Author {
    /// The caller, or whoever works here where nobody is named.
    pub fn of(caller: &Caller) -> Self {
        let user = caller.user.as_ref().map(UserId::as_str);
        let name = caller.name.as_deref().or(user);
        Self {
            name: name.unwrap_or(COMMITTER.0).to_owned(),
            email: match &caller.email {
                Some(email) => email.clone(),
                None => format!("{}@localhost", user.unwrap_or(COMMITTER.0)),
            },
            channel: caller.channel,
            chat: None,
        }
    }

    /// Somebody of whose change nothing else is known.
    #[must_use]
    pub fn named(name: String, email: String) -> Self {
        Self {
            name,
            email,
            channel: None,
            chat: None,
        }
    }

    /// The same, in a conversation: for a history that nobody else reads.
    #[must_use]
    pub fn in_chat(self, chat: &Chat) -> Self {
        let is_known = *chat != Chat::default();
        Self {
            chat: is_known.then(|| chat.as_str().to_owned()),
            ..self
        }
    }

    /// The server itself, for what it did not see happen.
    #[must_use]
    pub fn server() -> Self {
        Self::named(COMMITTER.0.to_owned(), COMMITTER.1.to_owned())
    }

    /// The lines of a commit that say by which way it came.
    pub(super) fn marks(&self) -> String {
        let Some(channel) = self.channel else {
            return String::new();
        };
        let chat = self.chat.as_deref().unwrap_or_default();
        let chat = match chat.replace(char::is_control, "").trim() {
            "" => String::new(),
            chat => format!("fileshed-chat {chat}\n"),
        };
        format!("fileshed-by {} {}\n{chat}", channel.by(), channel.as_str())
    }

    pub(super) fn signature(&self, when: Timestamp) -> Result<Signature<'static>> {
        sign(
            &plain(&self.name, "unknown"),
            &plain(&self.email, "unknown@localhost"),
            when,
        )
    }
}

/// The server's own signature.
pub(super) fn committer(when: Timestamp) -> Result<Signature<'static>> {
    sign(COMMITTER.0, COMMITTER.1, when)
}

fn sign(name: &str, email: &str, when: Timestamp) -> Result<Signature<'static>> {
    Signature::new(name, email, &Time::new(when.as_second(), 0)).map_err(HistoryError::git("sign"))
}

/// git's own rule: no line breaks and angle brackets, and no punctuation at the ends.
fn plain(text: &str, otherwise: &str) -> String {
    let text = text.replace(|c: char| c.is_control() || matches!(c, '<' | '>'), "");
    let text = text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | '"' | '\'' | '\\')
    });
    if text.is_empty() {
        otherwise.to_owned()
    } else {
        text.to_owned()
    }
}
