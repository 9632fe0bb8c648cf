//! `shed_copy`: copy or move a file or directory between any two places of the caller.

use fileshed_core::cross_zone::{CrossZoneError, CrossZoneTransfer};
use fileshed_core::storage::Kind;
use fileshed_core::{Hint, Repeat, Zone, ZonePath};

use super::address::{address, address_in, naming_zones, zone_of};
use super::arguments::is_true;
use super::cross_zone::left_out;
use super::prelude::*;

/// `shed_copy`
pub struct Copy;

/// The parameter that names what is copied.
pub(super) const FROM: &str = "from";

/// The parameter that names the new place.
const TO: &str = "to";

/// Both paths.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone and path
    from: String,
    /// New path, or directory
    to: String,
    /// Remove the source
    #[serde(default)]
    r#move: bool,
    /// Replace if it exists
    #[serde(default)]
    overwrite: bool,
    /// Commit message
    message: Option<String>,
}

/// The answer.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Address that was copied or moved.
    from: String,
    /// Address of the result.
    to: String,
    /// Commit of the change; absent if no history changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

impl Operation for Copy {
    const ID: &str = "shed_copy";
    const SUMMARY: &str = "Copy or move between places";
    const DOC: &str = "Copy or move files and directories between zones and groups. shed_copy(from=\"uploads/a.csv\", to=\"group/Team/a.csv\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![
        EXISTING_FILE, CHANGE, GROWTH;
        InvalidZone, PathEscape, ProtectedPath, InvalidPath, FileExists, PermissionDenied,
        InvalidGroupId, GroupNotFound, GroupNotAvailable
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"from": "storage/notes/todo.md", "to": "documents/todo.md"}"#,
        r#"{"from": "group/team/plan.md", "to": "storage/", "overwrite": true}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[Keep::Unknown("to")];
    type Request = Request;
    type Response = Response;

    fn access(arguments: &Map<String, Value>) -> FileAccess {
        if arguments.get("move").is_some_and(is_true) {
            FileAccess::Change
        } else {
            FileAccess::Read
        }
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let caller = naming_zones(caller);
        let source = address_in(FROM, &request.from)?;
        let target = address_in(TO, &request.to)?;
        let from = zone_of(core, &caller, FROM, &source)?;
        let to = zone_of(core, &caller, TO, &target)?;
        let path = from.path_to_change(FROM, source.path)?;
        let transfer = CrossZoneTransfer {
            from: &from,
            to: &to,
            source: source.path,
            destination: &destination(&to, target.path, &path)?,
            parameters: (FROM, TO),
            overwrite: request.overwrite,
            replaces_other_kinds: false,
            message: request.message.as_deref(),
            operation: Self::ID,
        };
        let (done, verb) = if request.r#move {
            (transfer.relocate(), "Moved")
        } else {
            (transfer.duplicate(), "Copied")
        };
        let done = done.map_err(|error| match error.cause() {
            Some(CrossZoneError::OntoDirectory { inside, .. }) => {
                let inside = Repeat::with(TO, address(target.zone, target.group, inside));
                error.with_hint(Hint::new("to name the file in it, ").again(inside))
            }
            _ => error,
        })?;
        let response = Response {
            from: address(source.zone, source.group, &done.source),
            to: address(target.zone, target.group, &done.destination),
            commit: done.commit.as_ref().map(ToString::to_string),
        };
        let message = format!("{verb} {} to {}", response.from, response.to);
        Ok(Reply::new(response, message).noting(left_out(&done)))
    }
}

/// The path that something gets which is brought to `text`: inside it if a directory is there.
fn destination(zone: &Zone<'_>, text: &str, source: &ZonePath) -> Result<String, Error> {
    let directory = zone.path_to_fill(TO, text)?;
    let is_directory = || {
        let there = zone.data.followed(&directory);
        there.is_ok_and(|there| there.kind() == Kind::Directory)
    };
    if directory.is_root() || directory.names_directory() || is_directory() {
        let inside = directory.join(source.name().unwrap_or_default());
        return Ok(inside.as_str().to_owned());
    }
    Ok(text.to_owned())
}
