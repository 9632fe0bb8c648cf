//! `shed_rename`: give a file or directory another path inside its zone.

use fileshed_core::storage::Kind;
use fileshed_core::{Hint, Repeat, Zone, ZonePath, changes};

use super::prelude::*;

/// `shed_rename`
pub struct Rename;

/// Both paths.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// In the zone
    old_path: String,
    /// In the same zone; nothing may be there
    new_path: String,
    /// Commit message
    message: Option<String>,
    /// For zone group
    group: Option<String>,
}

/// The paths.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Zone in which it was renamed.
    zone: &'static str,
    /// Path before the call.
    old_path: String,
    /// Path after the call.
    new_path: String,
}

impl Operation for Rename {
    const ID: &str = "shed_rename";
    const SUMMARY: &str = "Rename or move inside one zone";
    const DOC: &str = "Rename or move a file or directory inside its zone, never to another one. shed_rename(zone=\"storage\", old_path=\"a.md\", new_path=\"notes/a.md\")";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, CHANGE;
        FileNotFound, FileExists, PermissionDenied
    ];
    const EXAMPLES: &[&str] =
        &[r#"{"zone": "storage", "old_path": "notes/todo.md", "new_path": "notes/done.md"}"#];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[Keep::Unknown("new_path")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let old_path = zone.path_to_change("old_path", &request.old_path)?;
        let new_path = zone.path_to_bring("new_path", &request.new_path, zone.name, &old_path)?;
        let writer = changes::writer(&zone, Self::ID)?;
        let entry = zone.entry_itself(&old_path)?;
        let vacancy = zone
            .vacancy("new_path", &new_path)
            .map_err(|error| into_directory(&zone, &old_path, &new_path, error))?;
        let default = format!("Rename {old_path} to {new_path}");
        writer
            .rename(&entry, vacancy)?
            .commit(request.message.as_deref(), &default)?;
        let response = Response {
            zone: zone.name.as_str(),
            old_path: old_path.as_str().to_owned(),
            new_path: new_path.as_str().to_owned(),
        };
        Ok(Reply::new(
            response,
            format!("Renamed {old_path} to {new_path}"),
        ))
    }
}

/// The failure of a new path that is taken: by a directory, the path inside it was meant.
fn into_directory(zone: &Zone<'_>, old: &ZonePath, new: &ZonePath, error: Error) -> Error {
    let there = zone.data.followed(new);
    let is_directory = there.is_ok_and(|there| there.kind() == Kind::Directory);
    match old.name().filter(|_| is_directory) {
        Some(name) => {
            let inside = new.join(name);
            let mut above = std::iter::successors(Some(inside.clone()), ZonePath::parent);
            if above.any(|above| above == *old) {
                return error.with_hint("choose another name");
            }
            let again = Repeat::with("new_path", inside.as_str());
            error.with_hint(Hint::new("to put it into the directory, ").again(again))
        }
        None => error,
    }
}
