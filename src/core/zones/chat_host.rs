//! The application that people chat in, as far as this server may use it.
//!
//! The core knows no HTTP: this trait declares its requests, and the server implements them for the
//! application that it is connected to. Without a connection everything else works; operations that need
//! one fail and name the missing setting. Every request is made for one caller, with that caller's own
//! credential if there is one, so that the application itself decides what is allowed.

mod task;

use std::collections::HashMap;
use std::fmt::Debug;
use std::io::Read;
use std::sync::Arc;

use fileshed_types::group::{Group, Member};
use fileshed_types::{Caller, Chat, Error, UserId};
pub use task::{Task, TaskEnd, counted};

/// The files that are attached to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attached {
    /// The attached files.
    Files(Vec<Attachment>),
    /// Unknown, because there is no credential to ask with.
    NoCredential,
    /// Unknown, because the application does not keep this conversation.
    NotKept,
}

/// A file that somebody attached to the conversation.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Identifies it in the application.
    pub id: String,
    /// Its name there, whatever it holds.
    pub name: String,
    /// Its content, if the conversation itself has it.
    pub content: Option<Arc<[u8]>>,
    /// Its path in the uploads, if a terminal uploaded it before the conversation existed.
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
    /// The source of the file: zone and path.
    pub source: &'a str,
    /// Its text, which the application shows beside the file.
    pub text: Option<String>,
}

/// A file in the application, which the caller can open there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Identifies it in the application.
    pub id: String,
    /// `true` if it is attached to the message that is being written.
    pub attached: bool,
}

/// A status line in the conversation about running work. If it is dropped before
/// [`ChatStatusLine::end`], it shows that the work was stopped, so that no line looks as if the work
/// still ran.
pub trait ChatStatusLine: Debug + Send {
    /// Shows how the work ended, before the call returns anything else.
    fn end(self: Box<Self>, ending: TaskEnd);
}

/// Takes the bytes of a file, piece by piece.
pub type ByteSink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Error>;

/// Requests of the core to the application. All methods block, for bounded times.
pub trait ChatHost: Debug + Send + Sync {
    /// Returns `true` if the application has an active account of this user. `None` if the application
    /// cannot be asked, does not answer, or has no accounts of such ids.
    fn has_account(&self, user: &UserId) -> Option<bool>;

    /// Returns those of this user's conversations that the application reports as deleted. A
    /// conversation is left out if the application cannot be asked about it or does not answer clearly.
    fn gone_conversations(&self, user: &UserId, conversations: Vec<Chat>) -> Vec<Chat>;

    /// Returns the titles of the caller's conversations, as far as the application tells them.
    fn titles(&self, caller: &Caller, conversations: &[Chat]) -> HashMap<Chat, String>;

    /// Returns the groups of the caller, by name; `None` if there is no credential to ask with.
    fn groups(&self, caller: &Caller) -> Result<Option<Vec<Group>>, Error>;

    /// Requests the groups of the caller again, unless those that are cached are fresh. Returns `true`
    /// if it did.
    fn forget_groups(&self, caller: &Caller) -> bool;

    /// Returns the members of a group, by id; `None` if there is no credential to ask with.
    fn members(&self, group: &Group) -> Result<Option<Vec<Member>>, Error>;

    /// Returns the files that are attached to the caller's conversation.
    fn attachments(&self, caller: &Caller) -> Result<Attached, Error>;

    /// Passes the content of an attached file to `sink`. Fails if the caller may not open the file.
    fn fetch(&self, caller: &Caller, file: &Attachment, sink: ByteSink<'_>) -> Result<(), Error>;

    /// Returns `true` if files of this caller can be published in the application at all.
    fn can_publish(&self, caller: &Caller) -> bool;

    /// Publishes a file in the application as the caller's, and attaches it to the message that is being
    /// written, if that is known.
    fn publish(
        &self,
        caller: &Caller,
        file: &Publication<'_>,
        content: &mut (dyn Read + Send),
    ) -> Result<Published, Error>;

    /// Attaches a file of the caller that [`ChatHost::publish`] published to the message that is being
    /// written. Returns `true` if it is attached now, also if it was before. `None` if the file is gone,
    /// or if its content does not have this SHA-256, in hexadecimal.
    fn publish_again(&self, caller: &Caller, id: &str, sha256: &str)
    -> Result<Option<bool>, Error>;

    /// Shows a page at the message that is being written, in place of an earlier page from the same
    /// `source`. Returns `true` if it shows.
    fn show_page(&self, caller: &Caller, source: &str, html: &str) -> bool;

    /// Returns `true` if a file of the caller that [`ChatHost::publish`] published still exists.
    fn is_published(&self, caller: &Caller, id: &str) -> Result<bool, Error>;

    /// Returns the URL at which the caller's browser opens such a file.
    fn address(&self, id: &str) -> String;

    /// Deletes a file of the caller that [`ChatHost::publish`] published. Returns `false` if there is no
    /// such file; refuses other files.
    fn withdraw(&self, caller: &Caller, id: &str) -> Result<bool, Error>;

    /// Tells the caller's conversation that files of these names were uploaded to `place`. Does not wait.
    fn arrived(&self, caller: &Caller, place: &str, names: Vec<String>);

    /// Links the message that is being written to the list of its changes, once for each message. Does
    /// not wait.
    fn changed(&self, caller: &Caller);

    /// Shows running work in the caller's conversation once it has taken a while.
    fn line(&self, caller: &Caller, task: Task) -> Option<Box<dyn ChatStatusLine>>;
}
