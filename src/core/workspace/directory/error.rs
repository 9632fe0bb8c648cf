//! A group that cannot be had.

use serde_json::{Map, Value};

use super::{Group, NAME_MAX_BYTES};
use crate::nearest::nearest;
use crate::{Call, Code, Diagnostic, Hint, Repeat};

/// Groups that a refusal names.
const LISTED: usize = 20;

/// Why a group cannot be had. Names only groups of the caller.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// One person alone has no groups.
    #[error("groups are not available without users")]
    Unavailable,
    /// Groups are somewhere else, and there is no credential to ask for them with.
    #[error("your groups are not known: the server has no access to them")]
    Unasked,
    /// None was named.
    #[error("parameter `group` is required for zone \"group\"")]
    Missing,
    /// Neither an id nor a name.
    #[error("parameter `group` cannot be the id or name of a group: `{text}`")]
    InvalidId {
        /// What was sent.
        text: String,
    },
    /// No group of the caller; whether there is one of others is not said.
    #[error("parameter `group`: you are in no group `{text}`")]
    Unknown {
        /// What was sent.
        text: String,
        /// The groups of the caller.
        own: Vec<String>,
    },
    /// Several groups of the caller have the name.
    #[error("parameter `group`: several of your groups are called `{text}`")]
    Ambiguous {
        /// What was sent.
        text: String,
        /// Their ids.
        own: Vec<String>,
    },
    /// A group that the caller may know of and is not in.
    #[error("parameter `group`: you are not a member of `{text}`")]
    NotIn {
        /// What was sent.
        text: String,
        /// The groups of the caller.
        own: Vec<String>,
    },
}

impl GroupError {
    pub(super) fn invalid_id(text: &str) -> Self {
        let text = text.chars().take(NAME_MAX_BYTES / 4).collect();
        Self::InvalidId { text }
    }

    pub(super) fn unknown(text: &str, groups: &[Group]) -> Self {
        Self::Unknown {
            text: text.to_owned(),
            own: names(groups),
        }
    }

    pub(super) fn not_in(text: &str, groups: &[Group]) -> Self {
        Self::NotIn {
            text: text.to_owned(),
            own: names(groups),
        }
    }

    pub(super) fn ambiguous(text: &str, groups: &[Group]) -> Self {
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

impl Diagnostic for GroupError {
    fn code(&self) -> Code {
        match self {
            Self::Unavailable | Self::Unasked => Code::GroupNotAvailable,
            Self::Missing => Code::MissingParameter,
            Self::InvalidId { .. } => Code::InvalidGroupId,
            Self::Unknown { .. } => Code::GroupNotFound,
            Self::Ambiguous { .. } => Code::InvalidParameter,
            Self::NotIn { .. } => Code::GroupAccessDenied,
        }
    }

    fn hint(&self) -> Hint {
        let list = || {
            Hint::of(Call::new("shed_group_list"))
                .say(" shows your groups; give the name or id of one in `group`")
                .instead("ask the user for the name of the group and give it in `group`")
        };
        match self {
            Self::Unavailable => {
                "name documents in `zone` for versioned files of your own".into()
            }
            Self::Unasked => {
                "tell the user: an administrator has to set `openwebui_admin_key`, or to use the users' own sessions; zones of your own work".into()
            }
            Self::Missing | Self::InvalidId { .. } => list(),
            Self::Unknown { text, own } | Self::NotIn { text, own } => {
                match nearest(text, own.iter().map(String::as_str)) {
                    Some(meant) => Hint::repeat(Repeat::with("group", meant)),
                    None => list(),
                }
            }
            Self::Ambiguous { own, .. } => Hint::from(format!(
                "give the id of one in `group`: {}",
                own.join(", ")
            )),
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        details.insert("parameter".to_owned(), "group".into());
        match self {
            Self::Unavailable => details.clear(),
            Self::Unasked => {
                details.clear();
                details.insert("missing_setting".to_owned(), "openwebui_admin_key".into());
            }
            Self::Missing => {}
            Self::InvalidId { text } => {
                details.insert("received".to_owned(), text.as_str().into());
            }
            Self::Unknown { text, own }
            | Self::NotIn { text, own }
            | Self::Ambiguous { text, own } => {
                details.insert("received".to_owned(), text.as_str().into());
                let own = &own[..own.len().min(LISTED)];
                details.insert("your_groups".to_owned(), own.into());
            }
        }
        details
    }
}
