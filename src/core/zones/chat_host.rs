//! The application that people chat in, as far as this server may use it.
//!
//! The core knows no HTTP: it says here what it would like to ask, and the server answers with what
//! it is connected to. Without a connection everything else works; what needs one says which
//! setting is missing. Every question is asked in the name of one caller, with that caller's own
//! credential where there is one, so that the application itself decides what is allowed.

mod task;

use std::collections::HashMap;
use std::fmt::Debug;
use std::io::Read;
use std::sync::Arc;

use fileshed_types::group::{Group, Member};
use fileshed_types::{Caller, Chat, Error, UserId};
pub use task::{Task, TaskEnd, counted};

/// What a conversation has of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attached {
    /// These.
    Files(Vec<Attachment>),
    /// Nobody knows: there is no credential to ask with.
    NoCredential,
    /// Nobody knows: the application does not keep this conversation.
    NotKept,
}

/// A file that somebody attached to the conversation.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Identifies it in the application.
    pub id: String,
    /// Its name there, whatever it holds.
    pub name: String,
    /// Its content, where the conversation itself has it.
    pub content: Option<Arc<[u8]>>,
    /// Its path in the uploads, where a terminal brought it before there was a conversation.
    pub waiting: Option<String>,
}

impl Debug for Attachment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Attachment");
        shown.field("id", &self.id).field("name", &self.name);
        shown.finish_non_exhaustive()
    }
}

/// A file on its way to the application.
#[derive(Debug)]
pub struct Publication<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its media type.
    pub content_type: &'a str,
    /// Its size in bytes.
    pub size: u64,
    /// Where it comes from: zone and path.
    pub source: &'a str,
    /// Its text, which the application shows beside the file.
    pub text: Option<String>,
}

/// A file in the application, where the caller may open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Identifies it in the application.
    pub id: String,
    /// Whether it hangs on the message that is being written.
    pub attached: bool,
}

/// A line in the conversation that says what is going on. Dropped without an end, it says that the
/// work was stopped: none is left as if it still went on.
pub trait ChatStatusLine: Debug + Send {
    /// Says how it ended, before anything else of the call is told.
    fn end(self: Box<Self>, ending: TaskEnd);
}

/// Takes the bytes of a file, piece by piece.
pub type ByteSink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Error>;

/// The questions that the core asks the application. All methods block, for bounded times.
pub trait ChatHost: Debug + Send + Sync {
    /// Whether the application has an active account of this user; nothing where it cannot be asked, does
    /// not answer, or has no accounts of such ids.
    fn has_account(&self, user: &UserId) -> Option<bool>;

    /// Those of this user's conversations that the application says it has no more. What it cannot
    /// be asked about, or does not answer clearly, is not among them.
    fn gone_conversations(&self, user: &UserId, conversations: Vec<Chat>) -> Vec<Chat>;

    /// What the caller's conversations are called, as far as the application says it.
    fn titles(&self, caller: &Caller, conversations: &[Chat]) -> HashMap<Chat, String>;

    /// The groups of the caller, by name; nothing where there is no credential to ask with.
    fn groups(&self, caller: &Caller) -> Result<Option<Vec<Group>>, Error>;

    /// Asks anew for the groups of the caller, if what is known of them is not fresh; whether it
    /// was asked.
    fn forget_groups(&self, caller: &Caller) -> bool;

    /// The members of a group, by id; nothing where there is no credential to ask with.
    fn members(&self, group: &Group) -> Result<Option<Vec<Member>>, Error>;

    /// The files that are attached to the caller's conversation.
    fn attachments(&self, caller: &Caller) -> Result<Attached, Error>;

    /// Gives the content of an attached file to `sink`. A file that the caller may not open is
    /// none.
    fn fetch(&self, caller: &Caller, file: &Attachment, sink: ByteSink<'_>) -> Result<(), Error>;

    /// Whether files of this caller can be put into the application at all.
    fn can_publish(&self, caller: &Caller) -> bool;

    /// Puts a file into the application as the caller's, and onto the message that is being
    /// written, if it is known.
    fn publish(
        &self,
        caller: &Caller,
        file: &Publication<'_>,
        content: &mut (dyn Read + Send),
    ) -> Result<Published, Error>;

    /// Puts a file of the caller that [`ChatHost::publish`] put there onto the message that is being
    /// written, unless it hangs there already; whether it hangs there now. Nothing where it is not
    /// there any more, or has other content than this SHA-256, in hexadecimal.
    fn publish_again(&self, caller: &Caller, id: &str, sha256: &str)
    -> Result<Option<bool>, Error>;

    /// Shows a page at the message that is being written, in place of what came from the same
    /// `source` before; whether it shows.
    fn show_page(&self, caller: &Caller, source: &str, html: &str) -> bool;

    /// Whether a file of the caller that [`ChatHost::publish`] put there is still there.
    fn is_published(&self, caller: &Caller, id: &str) -> Result<bool, Error>;

    /// Where the caller's browser opens such a file.
    fn address(&self, id: &str) -> String;

    /// Takes a file of the caller back that [`ChatHost::publish`] put there; false where there is
    /// no such file. Others are refused.
    fn withdraw(&self, caller: &Caller, id: &str) -> Result<bool, Error>;

    /// Says in the caller's conversation that somebody brought files of these names to `place`. Does
    /// not wait for it.
    fn arrived(&self, caller: &Caller, place: &str, names: Vec<String>);

    /// Links the message that is being written to the list of what it changed, once a message. Does not
    /// wait for it.
    fn changed(&self, caller: &Caller);

    /// Shows in the caller's conversation what is going on, as soon as it lasts.
    fn line(&self, caller: &Caller, task: Task) -> Option<Box<dyn ChatStatusLine>>;
}
