//! `shed_group_chown`: give a file of a group to another member.

use fileshed_core::sharing;

use super::arguments::ArgumentError;
use super::prelude::*;

/// `shed_group_chown`
pub struct GroupChown;

/// The file and its new owner.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Name or id
    group: String,
    /// Your file, relative to the group
    path: String,
    /// A member, by name or id
    new_owner: String,
}

/// The owners.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the file.
    path: String,
    /// Owner before the call.
    old_owner: String,
    /// Owner after the call.
    new_owner: String,
}

impl Operation for GroupChown {
    const ID: &str = "shed_group_chown";
    const SUMMARY: &str = "Give a file of a group away";
    const DOC: &str = "Give your file in a group to another member.";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![PATH, EXISTING_FILE; InvalidOwner, NotFileOwner];
    const EXAMPLES: &[&str] =
        &[r#"{"group": "team", "path": "template.md", "new_owner": "grace"}"#];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("old_owner")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.store.group_zone(caller, Some(&request.group))?;
        let path = zone.path_to_change("path", &request.path)?;
        let new_owner = request.new_owner.trim();
        if new_owner.is_empty() {
            return Err(ArgumentError::missing::<Self>("new_owner").into());
        }
        let (old_owner, new_owner) = sharing::give(&zone, &path, new_owner)?;
        let message = format!("{path} now belongs to {new_owner}");
        let response = Response {
            path: path.as_str().to_owned(),
            old_owner,
            new_owner,
        };
        Ok(Reply::new(response, message))
    }
}
