//! Caller: the only form in which an identity reaches the core.
//!
//! A transport reads headers, tokens or a configuration and makes a [`Caller`]; no layer below sees a
//! header again. A caller without a user exists only in shared mode (one person, one workspace). If a
//! user is needed and missing, the transport refuses the call before a `Caller` exists.

use std::sync::{Arc, OnceLock};

use crate::cancellation::Cancellation;
use crate::client::Client;
use crate::fair::CallSlot;
use crate::group::GroupId;
use crate::identifier::is_short_text;
use crate::user_id::UserId;
pub use crate::user_id::{CallerError, USER_ID_MAX_BYTES};
use crate::{BinNotes, Channel, Error, Secret, names, random};

/// A conversation. Uploads are kept apart by it, and a locked edit belongs to one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chat(String);

impl Chat {
    /// The conversation of calls that name none.
    pub const DEFAULT: &'static str = "default";

    /// Takes any identifier that the client sends; an empty one is the default conversation.
    pub fn new(id: &str) -> Self {
        Self(if id.is_empty() { Self::DEFAULT } else { id }.to_owned())
    }

    /// Parses an identifier from a URL; `None` if the text is too long or has control characters.
    pub fn parse(id: &str) -> Option<Self> {
        is_short_text(id).then(|| Self::new(id))
    }

    /// Returns the identifier as the client sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Chat {
    fn default() -> Self {
        Self::new(Self::DEFAULT)
    }
}

names! {
    /// The rights of a credential.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Scope {
        /// Everything that reads; a change is `ACCESS_DENIED`.
        Read = "read",
        /// Everything.
        #[default]
        Write = "write",
    }

    /// The rights of a user beyond the own workspace.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Role {
        /// None.
        #[default]
        User = "user",
        /// Clean up for everybody.
        Admin = "admin",
    }
}

/// A group that a gateway says its caller is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupClaim {
    /// The id.
    pub id: GroupId,
    /// The name, if it was sent.
    pub name: Option<String>,
}

/// One caller of one call.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The user; `None` is the one person of shared mode.
    pub user: Option<UserId>,
    /// Display name, for the author line of commits.
    pub name: Option<String>,
    /// Mail address, for the author line of commits.
    pub email: Option<String>,
    /// The conversation.
    pub chat: Chat,
    /// The message that is being written there.
    pub message: Option<String>,
    /// The rights of the credential.
    pub scope: Scope,
    /// The rights of the user beyond the own workspace.
    pub role: Role,
    /// The id of the personal token or of the page session that authenticates the call. Credentials that
    /// the call creates end with it.
    pub token: Option<String>,
    /// `true` if the call was made in a session that was opened by an operation's link.
    pub delegated: bool,
    /// The secret of the page session in which the call was made. Never stored.
    pub session: Option<Secret>,
    /// The credential of the call, if the chat application issued it. Never stored.
    pub credential: Option<Secret>,
    /// The groups that a trusted gateway names; used only if the setting `groups` is `headers`.
    pub groups: Vec<GroupClaim>,
    /// `true` if this call cannot name groups: for a while, the groups count that the same user's last
    /// call named.
    pub recalls_groups: bool,
    /// The program that makes the call.
    pub client: Client,
    /// The channel through which the call came; `None` if the server itself makes it.
    pub channel: Option<Channel>,
    /// `true` if a path of this call may begin with the name of a zone even if no directory has this
    /// name. Other calls are refused then, with a hint.
    pub names_zones: bool,
    /// `true` if the changes of this call may join the commit of the same caller's changes just before.
    pub joins_commits: bool,
    /// The tokens of the locks that the call may pass.
    pub lock_tokens: Vec<String>,
    /// The numbers of the changes that the call undoes, separated by commas.
    pub undoes: Option<String>,
    /// The id of a call that names no message: generated on first use.
    pub call_id: Arc<OnceLock<String>>,
    /// Notes for the response on what the call did to the bin.
    pub bin_notes: BinNotes,
    /// Set when the client hangs up.
    pub cancellation: Cancellation,
    /// The permit of the call, one of those that run at the same time.
    pub place: CallSlot,
}

impl Caller {
    /// Returns the caller of shared mode, who has no user.
    pub fn shared(chat: Chat) -> Self {
        Self {
            chat,
            ..Self::default()
        }
    }

    /// Returns the caller for a known user.
    pub fn known(user: UserId, chat: Chat) -> Self {
        Self {
            user: Some(user),
            chat,
            ..Self::default()
        }
    }

    /// Returns the id of the answer that the call belongs to: of the message that is being written, else
    /// of the call itself.
    pub fn answer(&self) -> Result<&str, Error> {
        if let Some(message) = &self.message {
            return Ok(message);
        }
        if self.call_id.get().is_none() {
            self.set_call(&format!("{:016x}", u64::from_be_bytes(random::bytes()?)));
        }
        Ok(self.call_id.get().map(String::as_str).unwrap_or_default())
    }

    /// Sets the id of a call that has none yet, with its maker in front: `model`, `person` or `server`.
    pub fn set_call(&self, id: &str) {
        let by = self.channel.map_or("server", Channel::by);
        let _ = self.call_id.set(format!("{by}-{id}"));
    }

    /// Puts a caller without a conversation into this one. Returns `true` if the caller is in it now; a
    /// caller in another one stays there.
    pub fn enter(&mut self, chat: Chat) -> bool {
        if self.chat == Chat::default() {
            self.chat = chat;
            return true;
        }
        self.chat == chat
    }
}
