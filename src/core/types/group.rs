//! Groups by id and name, and why one cannot be had.

use serde::{Deserialize, Serialize};

use crate::identifier::{is_placeholder, is_plain_name};
use crate::nearest::nearest;
use crate::{Hint, NextCall, Repeat, diagnostics};

/// Longest id of a group, in bytes.
const ID_MAX_BYTES: usize = 64;

/// Longest name of a group, in bytes.
pub const NAME_MAX_BYTES: usize = 256;

/// Identifies a group for good, and names its directory: a UUID, or 1 to 64 of
/// `A-Z a-z 0-9 . _ -` not beginning with a dot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct GroupId(String);

impl GroupId {
    /// Takes an id that can name a directory and is no [placeholder](is_placeholder).
    pub fn parse(text: &str) -> Result<Self, GroupError> {
        if !is_placeholder(text) && is_plain_name(text, ID_MAX_BYTES, b"._-") {
            Ok(Self(text.to_owned()))
        } else {
            Err(GroupError::invalid_id(text))
        }
    }

    /// Returns the id as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Group {
    /// Id of the group.
    #[schema(value_type = String)]
    pub id: GroupId,
    /// Name of the group, also accepted in the parameter `group`.
    pub name: String,
    /// Its purpose, as its administrator wrote it.
    pub description: String,
    /// Members of the group.
    pub member_count: u64,
}

/// A member of the group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, utoipa::ToSchema)]
pub struct Member {
    /// Id of the user.
    pub id: String,
    /// Name of the user; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl std::fmt::Display for Member {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) if *name != self.id => write!(formatter, "{name} ({})", self.id),
            _ => formatter.write_str(&self.id),
        }
    }
}

/// Groups that a refusal names.
const LISTED: usize = 20;

diagnostics! {
    /// Why a group cannot be had. Names only groups of the caller.
    #[derive(Debug, thiserror::Error)]
    pub enum GroupError {
        /// One person alone has no groups.
        #[error("groups are not available without users")]
        Unavailable => {
            code: GroupNotAvailable,
            hint: "name documents in `zone` for versioned files of your own",
        },
        /// Groups are somewhere else, and there is no credential to ask for them with.
        #[error("your groups are not known: the server cannot read them")]
        Unasked => {
            code: GroupNotAvailable,
            hint: "tell the user: an administrator must set `openwebui_admin_key`, or connect with \
                   the users' own sessions; use a zone of your own until then",
            details: { "missing_setting": "openwebui_admin_key" },
        },
        /// None was named.
        #[error("parameter `group` is required for zone \"group\"")]
        Missing => {
            code: MissingParameter,
            hint: list(),
            details: { "parameter": "group" },
        },
        /// Neither an id nor a name.
        #[error("parameter `group` cannot be the id or name of a group: `{0}`")]
        InvalidId(text: String = "a/b".into()) => {
            code: InvalidGroupId,
            hint: list(),
            details: { "parameter": "group", "received": text },
        },
        /// No group of the caller has this name or id; the message does not tell whether others have
        /// such a group.
        #[error("parameter `group`: you are in no group `{text}`")]
        Unknown {
            /// The value received.
            text: String => ["teams".into(), "sales".into()],
            /// The groups of the caller.
            own: Vec<String> = vec!["team".into()],
        } => {
            code: GroupNotFound,
            hint: meant(text, own),
            details: { "parameter": "group", "received": text, "your_groups": listed(own) },
        },
        /// Several groups of the caller have the name.
        #[error("parameter `group`: several of your groups are called `{text}`")]
        Ambiguous {
            /// The value received.
            text: String = "team".into(),
            /// Their ids.
            own: Vec<String> = vec!["a1".into(), "b2".into()],
        } => {
            code: InvalidParameter,
            hint: format!("give the id of one in `group`: {}", own.join(", ")),
            details: { "parameter": "group", "received": text, "your_groups": listed(own) },
        },
    }
}

impl GroupError {
    /// Returns the failure for a text that is neither an id nor a name.
    pub fn invalid_id(text: &str) -> Self {
        let text = text.chars().take(NAME_MAX_BYTES / 4).collect();
        Self::InvalidId(text)
    }

    /// Returns the failure for an id or name of no group of the caller; `groups` are the caller's.
    pub fn unknown(text: &str, groups: &[Group]) -> Self {
        Self::Unknown {
            text: text.to_owned(),
            own: names(groups),
        }
    }

    /// Returns the failure for a name of several of the caller's `groups`.
    pub fn ambiguous(text: &str, groups: &[Group]) -> Self {
        let same = groups.iter().filter(|group| group.name == text);
        Self::Ambiguous {
            text: text.to_owned(),
            own: same.map(|group| group.id.as_str().to_owned()).collect(),
        }
    }
}

fn names(groups: &[Group]) -> Vec<String> {
    groups.iter().map(|group| group.name.clone()).collect()
}

fn listed(own: &[String]) -> &[String] {
    &own[..own.len().min(LISTED)]
}

fn list() -> Hint {
    Hint::from(NextCall::new("shed_group_list"))
        .say(" shows your groups; give the name or id of one in `group`")
        .instead("ask the user for the name of the group and give it in `group`")
}

/// Returns the group that was probably meant.
fn meant(text: &str, own: &[String]) -> Hint {
    match nearest(text, own.iter().map(String::as_str)) {
        Some(meant) => Repeat::with("group", meant).into(),
        None => list(),
    }
}
