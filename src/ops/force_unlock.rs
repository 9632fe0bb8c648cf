//! `shed_force_unlock`: end a locked edit that nobody will end.

use fileshed_core::changes::Holder;
use fileshed_core::lockedit;

use super::arguments::ArgumentError;
use super::prelude::*;

/// `shed_force_unlock`
pub struct ForceUnlock;

/// The locked file.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone of the file, unless it is in a group
    #[schema(value_type = Option<WritableZone>)]
    zone: Option<String>,
    /// The locked file
    path: String,
    /// Name or id
    group: Option<String>,
}

/// The dropped edit.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Unlocked file, and the owner of lost changes.
    message: String,
}

impl Operation for ForceUnlock {
    const ID: &str = "shed_force_unlock";
    const SUMMARY: &str = "End a stuck locked edit";
    const DOC: &str =
        "End a locked edit that another conversation left behind; its unsaved changes are lost.";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![ZONE_AND_PATH; ZoneReadonly, NotInEditMode];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "notes/todo.md"}"#];
    const ACCESS: FileAccess = FileAccess::Remove;
    const SHORT_ANSWER: &[Keep] = &[];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let group = request.group.as_deref();
        let zone = match (request.zone.as_deref(), group) {
            (Some(zone), _) => ZoneName::parse_parameter("zone", zone)?,
            (None, Some(_)) => ZoneName::Group,
            (None, None) => return Err(ArgumentError::missing::<Self>("zone").into()),
        };
        let zone = core.open_zone(caller, zone, group)?;
        let path = zone.path_to_change("path", &request.path)?;
        let whose = match lockedit::force_unlock(&zone, &path)? {
            Holder::Caller => "this conversation".to_owned(),
            Holder::OtherChat => "another conversation of yours".to_owned(),
            Holder::OtherUser(member) => member.to_string(),
        };
        let note = format!("the changes of {whose} are dropped");
        let message = format!("Unlocked {path}");
        let response = Response {
            message: format!("{message}; {note}"),
        };
        Ok(Reply::new(response, message).noting(Some(note)))
    }
}
