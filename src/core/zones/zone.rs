//! Zones as a caller works in them: handles with rights.

mod open_zone;

use fileshed_types::hint::Argument;
use fileshed_types::settings::WriteMode;
pub use fileshed_types::zone::*;
use fileshed_types::{Error, Hint, NextCall, diagnostics};
pub use open_zone::{SharedZone, Zone, expect_write_scope, named_zone};

/// Adds to the failure of a path that names another zone the call that goes there, if there is one.
/// A `destination` that is the root stands for the same name; `group` is the name of the group that
/// gets the file, if it is known.
fn with_cross_zone_call(
    error: Error,
    (from, source): (ZoneName, &str),
    (to, destination): (ZoneName, &str),
    group: Option<&str>,
) -> Error {
    use ZoneName::{Documents, Group, Storage, Uploads};
    let destination = match destination {
        "" | "." => source.rsplit('/').next().unwrap_or(source),
        path => path,
    };
    let operation = match (from, to) {
        (Uploads, Storage) => "shed_move_uploads_to_storage",
        (Uploads, Documents) => "shed_move_uploads_to_documents",
        (Storage, Documents) => "shed_copy_storage_to_documents",
        (Documents, Storage) => "shed_move_documents_to_storage",
        (Uploads | Storage | Documents, Group) => "shed_copy_to_group",
        _ => return error,
    };
    let call = NextCall::new(operation);
    let call = if to == Group {
        call.with("src_zone", from.as_str())
            .with("src_path", source)
            .with(
                "group",
                group.map_or(Argument::Given("group"), Argument::from),
            )
            .with("dest_path", destination)
    } else {
        call.with("src", source).with("dest", destination)
    };
    let hint = Hint::from(format!("to go from {from} to {to} use ")).call(call);
    let unnamed = "shed_copy_to_group copies it to a group, named in `group`";
    error.with_hint(hint.instead(unnamed))
}

/// Reads the parameter `mode`.
pub fn parse_mode(text: &str) -> Result<WriteMode, ModeError> {
    if text.is_empty() {
        return Err(ModeError::Missing);
    }
    WriteMode::parse(text).ok_or_else(|| ModeError::Unknown {
        mode: text.chars().take(80).collect(),
    })
}

diagnostics! {
    /// A mode that there is not.
    #[derive(Debug, thiserror::Error)]
    pub enum ModeError {
        /// Empty, where one is needed.
        #[error("parameter `mode` is required")]
        Missing => {
            code: MissingParameter,
            hint: MODES,
            details: { "parameter": "mode" },
        },
        /// None of the three.
        #[error("parameter `mode` must be owner, group or owner_ro, got: `{mode}`")]
        Unknown {
            /// The value that was sent.
            mode: String = "everyone".to_owned(),
        } => {
            code: InvalidMode,
            hint: MODES,
            details: { "parameter": "mode", "received": mode },
        },
    }
}

const MODES: &str = "mode=\"group\": every member may write; \"owner\": only you; \"owner_ro\": nobody \
     until you change the mode";
