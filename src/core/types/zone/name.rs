//! The four zones.

use serde::Deserialize;

use crate::nearest::nearest;
use crate::{Hint, Repeat, diagnostics};

/// The name of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ZoneName {
    /// Files uploaded in a conversation: can be read and deleted.
    Uploads,
    /// Files that can be changed freely.
    Storage,
    /// Files of which every change is a commit.
    Documents,
    /// Files shared with a group; every change is a commit.
    Group,
}

impl ZoneName {
    /// The personal zones, whose space counts together.
    pub const PERSONAL: [Self; 3] = [Self::Uploads, Self::Storage, Self::Documents];

    /// The only zone of a group.
    pub const SHARED: [Self; 1] = [Self::Group];

    /// All of them.
    pub const ALL: [Self; 4] = [Self::Uploads, Self::Storage, Self::Documents, Self::Group];

    /// Reads the value of the parameter `zone`, in any case.
    pub fn parse(text: &str) -> Result<Self, ZoneError> {
        Self::parse_parameter("zone", text)
    }

    /// Reads the value of a parameter of another name.
    pub fn parse_parameter(parameter: &'static str, text: &str) -> Result<Self, ZoneError> {
        let name = text.trim();
        let mut zones = Self::ALL.into_iter();
        match zones.find(|zone| zone.as_str().eq_ignore_ascii_case(name)) {
            Some(zone) => Ok(zone),
            None if name.is_empty() => Err(ZoneError::Missing(parameter)),
            None => Err(ZoneError::Unknown {
                parameter,
                zone: text.chars().take(80).collect(),
            }),
        }
    }

    /// Returns the name in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uploads => "uploads",
            Self::Storage => "storage",
            Self::Documents => "documents",
            Self::Group => "group",
        }
    }

    /// Returns the name in the registry for the space of its working copies.
    pub fn edits(self) -> &'static str {
        match self {
            Self::Uploads => "uploads/edits",
            Self::Storage => "storage/edits",
            Self::Documents => "documents/edits",
            Self::Group => "group/edits",
        }
    }

    /// Returns the directory of a tenant that holds everything of the zone; `None` for a group, whose
    /// own directory is its zone.
    pub fn directory(self) -> Option<&'static str> {
        match self {
            Self::Uploads => Some("Uploads"),
            Self::Storage => Some("Storage"),
            Self::Documents => Some("Documents"),
            Self::Group => None,
        }
    }

    /// Returns `true` if changes are commits.
    pub fn is_versioned(self) -> bool {
        matches!(self, Self::Documents | Self::Group)
    }

    /// Returns `true` if files can be created and changed.
    pub fn is_writable(self) -> bool {
        self != Self::Uploads
    }
}

impl std::fmt::Display for ZoneName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

diagnostics! {
    /// A zone that cannot be had.
    #[derive(Debug, thiserror::Error)]
    pub enum ZoneError {
        /// Empty.
        #[error("parameter `{0}` is required, got an empty string")]
        Missing(parameter: &'static str = "zone") => {
            code: MissingParameter,
            hint: ZONES,
        },
        /// A group's zone instead of one of the caller's own.
        #[error("the zone group is not one of your own")]
        NotPersonal => {
            code: ZoneForbidden,
            hint: ZONES,
        },
        /// A value that is no zone.
        #[error("parameter `{parameter}` must be uploads, storage, documents or group, got: `{zone}`")]
        Unknown {
            /// The parameter at fault.
            parameter: &'static str = "zone",
            /// The value received.
            zone: String => ["storag".into(), "home".into()],
        } => {
            code: InvalidZone,
            hint: meant(parameter, zone),
            details: { "parameter": parameter, "received": zone },
        },
        /// A change in a zone that only reads and deletes.
        #[error("the zone uploads is read-only")]
        Readonly => {
            code: ZoneReadonly,
            hint: "uploads can be read and deleted; shed_copy copies a file to storage, where it \
                   can be changed; put new files into storage or documents, named in `zone`",
            details: { "zone": "uploads" },
        },
        /// The credential only reads.
        #[error("this token may only read")]
        ReadOnlyScope => {
            code: AccessDenied,
            hint: "use a token made with: fileshed token create --scope write",
        },
    }
}

const ZONES: &str = "give `zone`: storage for free work, documents for versioned files, uploads \
                     for files of this conversation, group for files of a group, named in `group`";

/// Returns the zone that was probably meant.
fn meant(parameter: &str, zone: &str) -> Hint {
    match nearest(zone, ["uploads", "storage", "documents"]) {
        Some(meant) => Repeat::with(parameter, meant).into(),
        None if parameter == "zone" => ZONES.into(),
        None => format!(
            "give `{parameter}`: storage, documents or uploads, where this conversation's files are"
        )
        .into(),
    }
}
