//! Endpoints for entries of the tree: list, make, move, delete, display, and the working directory.

use fileshed_core::Error;
use fileshed_core::listing::{DirectoryListing, ListedEntry as ListedFile};
use fileshed_core::view::{HOME, Resolved, TOP, View, ViewError, ViewPath, ViewPlace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Nothing;
use crate::http::tool::Content;

/// What `list_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct ListRequest {
    /// Directory; default: the working directory.
    directory: Option<String>,
}

impl ListRequest {
    fn directory(&self) -> &str {
        self.directory.as_deref().unwrap_or(".")
    }
}

/// A directory.
#[derive(Serialize)]
pub(in crate::http::terminal) struct ListedDirectory {
    dir: String,
    writable: bool,
    entries: Vec<ListedEntry>,
}

/// An entry of a directory.
#[derive(Serialize)]
struct ListedEntry {
    name: String,
    r#type: &'static str,
    size: u64,
    /// Seconds since 1970.
    modified: f64,
    writable: bool,
}

/// `GET /files/list`
pub(in crate::http::terminal) fn list(
    view: View<'_>,
    request: &ListRequest,
) -> Result<ListedDirectory, Error> {
    let path = view.path("directory", request.directory())?;
    match path.place() {
        ViewPlace::Top => Ok(fixed(&path, TOP.map(str::to_owned))),
        ViewPlace::Groups => Ok(fixed(&path, view.groups()?)),
        ViewPlace::Chats | ViewPlace::Zone(..) | ViewPlace::Logs(_) | ViewPlace::Nowhere => {
            zone_directory(&view.resolve("directory", path.as_str())?)
        }
    }
}

/// A directory that is there for everybody, and holds only such.
fn fixed(path: &ViewPath, names: impl IntoIterator<Item = String>) -> ListedDirectory {
    let entry = |name| ListedEntry {
        name,
        r#type: "directory",
        size: 0,
        modified: 0.0,
        writable: false,
    };
    ListedDirectory {
        dir: path.as_str().to_owned(),
        writable: false,
        entries: names.into_iter().map(entry).collect(),
    }
}

/// A directory of a zone.
fn zone_directory(directory: &Resolved<'_>) -> Result<ListedDirectory, Error> {
    directory.directory()?;
    let listing = directory.explained(|| DirectoryListing::of(&directory.zone, &directory.path))?;
    Ok(answer(&directory.at, &listing))
}

/// A small directory that is in memory.
pub(in crate::http::terminal) fn list_at_once(
    view: View<'_>,
    request: &ListRequest,
) -> Option<Content> {
    let (at, listing) = view.directory_at_once(request.directory())?;
    Some(Content::data(answer(&at, &listing)))
}

fn answer(at: &ViewPath, listing: &DirectoryListing) -> ListedDirectory {
    ListedDirectory {
        dir: at.as_str().to_owned(),
        writable: listing.is_writable,
        entries: listing.entries.iter().filter_map(entry).collect(),
    }
}

fn entry(entry: &ListedFile) -> Option<ListedEntry> {
    let found = &entry.found;
    Some(ListedEntry {
        name: found.path.name()?.to_owned(),
        r#type: found.kind.entry_type(),
        size: found.size(),
        modified: found.modified(),
        writable: entry.is_writable,
    })
}

/// The name of `POST /files/mkdir`.
pub(in crate::http::terminal) const MAKE: &str = "mkdir";

/// The directory.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct MakeRequest {
    /// Directory to make; one that is there stays as it is.
    path: String,
}

/// `POST /files/mkdir`
pub(in crate::http::terminal) fn make(
    view: View<'_>,
    request: &MakeRequest,
) -> Result<Value, Error> {
    let target = view.resolve_to_change("path", &request.path)?;
    target.explained(|| target.zone.make_directory("path", &target.path, MAKE))?;
    Ok(json!({"path": target.at.as_str()}))
}

/// The name of `POST /files/move`.
pub(in crate::http::terminal) const MOVE: &str = "move_entry";

/// From where to where.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct MoveRequest {
    /// File or directory.
    source: String,
    /// Its new path, with the name; nothing may be there yet.
    destination: String,
}

/// `POST /files/move`
pub(in crate::http::terminal) fn r#move(
    view: View<'_>,
    request: &MoveRequest,
) -> Result<Value, Error> {
    let from = view.resolve_to_change("source", &request.source)?;
    from.explained(|| from.zone.entry_itself(&from.path).map(drop))?;
    let to = view.resolve_to_change("destination", &request.destination)?;
    to.explained(|| to.zone.expect_writable())?;
    let above = to.at.parent().unwrap_or_else(ViewPath::home);
    if !view.is_directory("destination", &above)? {
        let path = above.as_str().to_owned();
        return Err(ViewError::NoParent { path }.into());
    }
    if to.zone.entry_itself(&to.path).is_ok() {
        let path = to.at.as_str().to_owned();
        return Err(ViewError::Exists { path }.into());
    }
    from.move_to(&to, false, MOVE)?;
    Ok(json!({"source": from.at.as_str(), "destination": to.at.as_str()}))
}

/// The name of `DELETE /files/delete`.
pub(in crate::http::terminal) const DELETE: &str = "delete_entry";

/// What to remove.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct DeleteRequest {
    /// File or directory.
    path: String,
}

/// `DELETE /files/delete`
pub(in crate::http::terminal) fn delete(
    view: View<'_>,
    request: &DeleteRequest,
) -> Result<Value, Error> {
    let target = view.resolve_to_change("path", &request.path)?;
    let entry = target.remove(DELETE)?;
    let kind = entry.kind().entry_type();
    Ok(json!({"path": target.at.as_str(), "type": kind}))
}

/// The file.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct DisplayRequest {
    /// File to show.
    path: String,
}

/// `GET /files/display`: where a file is, and if it is there.
pub(in crate::http::terminal) fn display(
    view: View<'_>,
    request: &DisplayRequest,
) -> Result<Value, Error> {
    let path = view.path("path", &request.path)?;
    let exists = matches!(path.place(), ViewPlace::Zone(..) | ViewPlace::Logs(_))
        && view
            .resolve("path", path.as_str())
            .and_then(|found| found.file())
            .is_ok();
    Ok(json!({"path": path.as_str(), "exists": exists}))
}

/// `GET /files/cwd`: the directory where relative paths begin, and the one where they do at first.
pub(in crate::http::terminal) fn working_directory(
    view: View<'_>,
    _: &Nothing,
) -> Result<Value, Error> {
    Ok(json!({"cwd": view.existing_cwd()?.as_str(), "home": HOME}))
}

/// The directory.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct SetDirectoryRequest {
    /// Directory to work in.
    path: String,
}

/// `POST /files/cwd`
pub(in crate::http::terminal) fn set_working_directory(
    view: View<'_>,
    request: &SetDirectoryRequest,
) -> Result<Value, Error> {
    Ok(json!({"cwd": view.set_cwd("path", &request.path)?.as_str()}))
}
