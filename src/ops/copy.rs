//! `shed_copy`: copy or move a file or directory between any two places of the caller.

use fileshed_core::cross_zone::{CrossZoneError, CrossZoneTransfer};
use fileshed_core::nearest::nearest;
use fileshed_core::storage::Kind;
use fileshed_core::{Hint, Repeat, Zone, ZoneAddress, ZonePath, diagnostics};

use super::arguments::is_true;
use super::cross_zone::left_out;
use super::prelude::*;

/// `shed_copy`
pub struct Copy;

/// The parameter that names what is copied.
pub(super) const FROM: &str = "from";

/// The parameter that names the new place.
const TO: &str = "to";

/// From where to where.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone and path
    from: String,
    /// New place, or its directory
    to: String,
    /// Remove the source
    #[serde(default)]
    r#move: bool,
    /// Replace what is there
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
    /// Address of what arrived.
    to: String,
    /// Commit that holds the change; absent where no history changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

impl Operation for Copy {
    const ID: &str = "shed_copy";
    const SUMMARY: &str = "Copy or move between places";
    const DOC: &str = "Copy or move files and directories between zones and groups. shed_copy(from=\"uploads/a.csv\", to=\"group/Team/a.csv\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[Code] = errors![
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
        // An address names its zone, so its path may begin with the name of another one.
        let mut caller = caller.clone();
        caller.names_zones = true;
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

/// Reads the value of `parameter`. An address without a path is the whole zone.
pub(super) fn address_in<'t>(
    parameter: &'static str,
    text: &'t str,
) -> Result<ZoneAddress<'t>, ZoneAddressError> {
    if text.trim().is_empty() {
        return Err(ZoneAddressError::Missing { parameter });
    }
    let address = ZoneAddress::parse(text).ok_or_else(|| ZoneAddressError::NoZone {
        parameter,
        text: text.to_owned(),
    })?;
    let path = if address.path.is_empty() {
        "."
    } else {
        address.path
    };
    Ok(ZoneAddress { path, ..address })
}

/// Opens the zone of the address in `parameter`. A failure about the group shows the address that was
/// probably meant.
pub(super) fn zone_of<'a>(
    core: &'a Core,
    caller: &'a Caller,
    parameter: &'static str,
    address: &ZoneAddress<'_>,
) -> Result<Zone<'a>, Error> {
    let opened = core.store.open_zone(caller, address.zone, address.group);
    opened.map_err(|error| {
        let own = error.details().get("your_groups").and_then(Value::as_array);
        let names = own.into_iter().flatten().filter_map(Value::as_str);
        let meant = nearest(address.group.unwrap_or_default(), names).map(|name| {
            let group = Some(name);
            ZoneAddress { group, ..*address }.to_string()
        });
        match meant {
            Some(meant) => error.with_hint(Repeat::with(parameter, meant)),
            None => error,
        }
    })
}

/// Returns the address of a path of a zone.
pub(super) fn address(zone: ZoneName, group: Option<&str>, path: &ZonePath) -> String {
    let path = path.display();
    ZoneAddress { zone, group, path }.to_string()
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

diagnostics! {
    /// A place that no address names.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum ZoneAddressError {
        /// The parameter is empty or missing.
        #[error("parameter `{parameter}` is required")]
        Missing {
            /// Which parameter.
            parameter: &'static str = "from",
        } => {
            code: MissingParameter,
            hint: format!("give a place in `{parameter}`, for instance \"storage/notes/todo.md\""),
            details: { "parameter": parameter },
        },
        /// It does not begin with a zone.
        #[error(
            "`{parameter}` must begin with storage/, documents/, uploads/ or group/<name>/, got: `{text}`"
        )]
        NoZone {
            /// Which parameter.
            parameter: &'static str = "from",
            /// The value received.
            text: String = "notes/a.md".to_owned(),
        } => {
            code: InvalidZone,
            hint: meant(parameter, text),
            details: { "parameter": parameter, "received": text },
        },
    }
}

/// Returns the address that was probably meant.
fn meant(parameter: &'static str, text: &str) -> Hint {
    let text = text.trim_start_matches('/');
    let (first, rest) = text.split_once('/').unwrap_or((text, ""));
    match nearest(first, ZoneName::ALL.iter().map(|zone| zone.as_str())) {
        Some("group") => {
            format!("give `{parameter}` as group/<name>/<path>, with the name of the group").into()
        }
        Some(zone) => Repeat::with(parameter, format!("{zone}/{rest}")).into(),
        None => Repeat::with(parameter, format!("storage/{text}")).into(),
    }
}
