//! `shed_group_set_mode`: who may write a file of a group.

use fileshed_core::settings::WriteMode;
use fileshed_core::sharing;
use fileshed_core::zone::parse_mode;

use super::prelude::*;

/// `shed_group_set_mode`
pub struct GroupSetMode;

/// The file and its mode.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Name or id
    group: String,
    /// Your file, relative to the group
    path: String,
    /// owner: you; group: every member; `owner_ro`: nobody
    #[schema(value_type = WriteMode)]
    mode: String,
}

/// The modes.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the file.
    path: String,
    /// Mode before the call.
    old_mode: &'static str,
    /// Mode after the call.
    new_mode: &'static str,
}

impl Operation for GroupSetMode {
    const ID: &str = "shed_group_set_mode";
    const SUMMARY: &str = "Protect a file of a group";
    const DOC: &str = "Set who may change your file in a group.";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![PATH, EXISTING_FILE; InvalidMode, NotFileOwner];
    const EXAMPLES: &[&str] = &[r#"{"group": "team", "path": "template.md", "mode": "owner"}"#];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("old_mode")];
    type Request = Request;
    type Response = Response;

    /// An empty mode is none.
    fn prepare(arguments: &mut Map<String, Value>) {
        let mode = arguments.get("mode").and_then(Value::as_str);
        if mode.is_some_and(|mode| mode.trim().is_empty()) {
            arguments.remove("mode");
        }
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let mode = parse_mode(request.mode.trim())?;
        let zone = core.store.group_zone(caller, Some(&request.group))?;
        let path = zone.path_to_change("path", &request.path)?;
        let old = sharing::set_mode(&zone, &path, mode)?;
        let message = format!("{path} now has the mode {}", mode.as_str());
        let response = Response {
            path: path.as_str().to_owned(),
            old_mode: old.as_str(),
            new_mode: mode.as_str(),
        };
        Ok(Reply::new(response, message))
    }
}
