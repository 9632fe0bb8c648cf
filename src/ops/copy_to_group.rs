//! `shed_copy_to_group`: share a file or directory with a group.

use fileshed_core::cross_zone::CrossZoneTransfer;
use fileshed_core::settings::WriteMode;
use fileshed_core::sharing;

use super::cross_zone;
use super::prelude::*;
use super::vocabulary::{PersonalZone, write_mode};

/// `shed_copy_to_group`
pub struct CopyToGroup;

/// Both paths.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone of the source
    #[schema(value_type = PersonalZone)]
    src_zone: String,
    /// File or directory there
    src_path: String,
    /// Name or id
    group: String,
    /// New path in the group, with the name
    dest_path: String,
    /// Commit message
    message: Option<String>,
    /// Write mode; default: the server's
    #[schema(value_type = Option<WriteMode>)]
    mode: Option<String>,
    /// Replace if it exists
    #[serde(default)]
    overwrite: bool,
}

/// The copy.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Zone of the source.
    src_zone: &'static str,
    /// Path of the source.
    src_path: String,
    /// Name of the group.
    group: String,
    /// Path of the copy in the group.
    dest_path: String,
    /// Mode of the file now; for a directory, of its new files.
    mode: &'static str,
}

impl Operation for CopyToGroup {
    const ID: &str = "shed_copy_to_group";
    const SUMMARY: &str = "Copy into a group";
    const DOC: &str = "Copy a file or directory of yours into a group. mode: group (default: everyone may change it), owner (only you), owner_ro (nobody). shed_copy_to_group(src_zone=\"documents\", src_path=\"plan.md\", group=\"team\", dest_path=\"plan.md\", mode=\"owner\")";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE, GROWTH;
        ZoneForbidden, InvalidMode, PermissionDenied, FileExists, FileLocked
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"src_zone": "storage", "src_path": "notes/todo.md", "group": "team", "dest_path": "shared/todo.md", "overwrite": true}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[Keep::Unknown("dest_path"), Keep::Always("mode")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let from = ZoneName::parse_parameter("src_zone", &request.src_zone)?;
        let mode = write_mode(request.mode.as_deref())?;
        let from = core.store.personal_zone(caller, from)?;
        let to = core
            .store
            .group_zone(caller, Some(&request.group))?
            .creating(mode);
        let done = CrossZoneTransfer {
            from: &from,
            to: &to,
            source: &request.src_path,
            destination: &request.dest_path,
            parameters: ("src_path", "dest_path"),
            overwrite: request.overwrite,
            replaces_other_kinds: false,
            message: request.message.as_deref(),
            operation: Self::ID,
        }
        .duplicate()?;
        let group = to.group().map_or("", |group| &group.name).to_owned();
        let at = &done.destination;
        let unlike = sharing::count_unlike(&to, at)?;
        let of_file = sharing::mode_of(&to, at)?.filter(|_| !done.is_directory);
        let mode = of_file.or(to.mode()).unwrap_or_default();
        let kept = match of_file {
            _ if unlike == 0 => None,
            Some(mode) => Some(format!(
                "it belongs to another member and keeps mode {}",
                mode.as_str()
            )),
            None => Some(format!(
                "{unlike} file(s) of other members keep another mode"
            )),
        };
        let message = cross_zone::sentence("Copied", &done, &format!("group {group}"));
        let response = Response {
            src_zone: from.name.as_str(),
            src_path: done.source.as_str().to_owned(),
            group,
            dest_path: done.destination.as_str().to_owned(),
            mode: mode.as_str(),
        };
        Ok(Reply::new(response, message)
            .noting(cross_zone::left_out(&done))
            .noting(kept))
    }
}
