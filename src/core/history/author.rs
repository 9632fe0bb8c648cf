//! Who a commit names.

use git2::{Signature, Time};
use jiff::Timestamp;

use super::HistoryError;
use fileshed_types::{Caller, UserId};

/// The name and address of the server in every commit.
const COMMITTER: (&str, &str) = ("fileshed", "fileshed@localhost");

/// Whose change a commit is. Any text may be in it; what git cannot hold is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Name of a person or an account.
    pub name: String,
    /// Mail address.
    pub email: String,
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
        }
    }

    /// The server itself, for what it did not see happen.
    #[must_use]
    pub fn server() -> Self {
        Self {
            name: COMMITTER.0.to_owned(),
            email: COMMITTER.1.to_owned(),
        }
    }

    pub(super) fn signature(&self, when: Timestamp) -> Result<Signature<'static>, HistoryError> {
        sign(
            &plain(&self.name, "unknown"),
            &plain(&self.email, "unknown@localhost"),
            when,
        )
    }
}

/// The server's own signature.
pub(super) fn committer(when: Timestamp) -> Result<Signature<'static>, HistoryError> {
    sign(COMMITTER.0, COMMITTER.1, when)
}

fn sign(name: &str, email: &str, when: Timestamp) -> Result<Signature<'static>, HistoryError> {
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
