//! Zones as a caller works in them: handles with rights.

mod last_move;
mod open_zone;

use fileshed_types::settings::WriteMode;
pub use fileshed_types::zone::*;
use fileshed_types::{Error, Hint, NextCall, diagnostics};
pub use open_zone::{SharedZone, Zone, expect_write_scope, named_zone};

/// A place in a failure: its zone, its path there, and the name of its group, if it is known.
type NamedPlace<'p> = (ZoneName, &'p str, Option<&'p str>);

/// Adds to the failure of a path that names another zone the call that goes there. A destination that is
/// the root stands for the same name. The call `moves` if the failed one was to.
fn with_cross_zone_call(
    error: Error,
    (from, source, source_group): NamedPlace<'_>,
    (to, destination, target_group): NamedPlace<'_>,
    moves: bool,
) -> Error {
    if from == to || to == ZoneName::Uploads {
        return error;
    }
    let destination = match destination {
        "" | "." => source.rsplit('/').next().unwrap_or(source),
        path => path,
    };
    let address = |zone: ZoneName, path: &str, group: Option<&str>| match (zone, group) {
        (ZoneName::Group, None) => path.contains('/').then(|| format!("group/{path}")),
        (ZoneName::Group, Some(group)) => Some(format!("group/{group}/{path}")),
        (zone, _) => Some(format!("{zone}/{path}")),
    };
    let (Some(source), Some(target)) = (
        address(from, source, source_group),
        address(to, destination, target_group),
    ) else {
        return error.with_hint(
            "shed_copy works between zones: there a file of a group is `group/<its name>/<path>`",
        );
    };
    let call = NextCall::new("shed_copy")
        .with("from", source)
        .with("to", target);
    let call = if moves { call.with("move", true) } else { call };
    let verb = if moves { "move" } else { "copy" };
    error.with_hint(Hint::from(format!("to {verb} from {from} to {to}: ")).call(call))
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
        /// The mode is empty, and one is needed.
        #[error("parameter `mode` is required")]
        Missing => {
            code: MissingParameter,
            hint: MODES,
            details: { "parameter": "mode" },
        },
        /// The value is no mode.
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
