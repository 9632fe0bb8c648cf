//! Endpoints for entries of the tree: list, make, move, delete, display, and the working directory.

use fileshed_core::listing::DirectoryListing;
use fileshed_core::view::{HOME, Resolved, TOP, ViewError, ViewPath, ViewPlace};
use fileshed_core::{CallerView, Error, at_once, changes, tree};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::endpoint::{Nothing, PathRequest};
use crate::http::tool::ToolContent;
use crate::ops::short_answer;

/// Input of `list_files`.
#[derive(Deserialize, ToSchema)]
pub(super) struct ListRequest {
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
pub(super) struct ListedDirectory {
    dir: String,
    writable: bool,
    entries: Vec<TerminalEntry>,
}

/// An entry of a directory.
#[derive(Serialize)]
struct TerminalEntry {
    name: String,
    r#type: &'static str,
    size: u64,
    /// Seconds since 1970.
    modified: f64,
    writable: bool,
}

impl ListedDirectory {
    fn of(at: &ViewPath, listing: &DirectoryListing) -> Self {
        let entries = listing.entries.iter().filter_map(|entry| {
            let found = &entry.found;
            Some(TerminalEntry {
                name: found.path.name()?.to_owned(),
                r#type: found.kind.entry_type(),
                size: found.size(),
                modified: found.modified(),
                writable: entry.is_writable,
            })
        });
        Self {
            dir: at.as_str().to_owned(),
            writable: listing.is_writable,
            entries: entries.collect(),
        }
    }
}

/// `GET /files/list`
pub(super) fn list(view: CallerView<'_>, request: &ListRequest) -> Result<ListedDirectory, Error> {
    let path = view.path("directory", request.directory())?;
    let names = match path.place() {
        ViewPlace::Top => TOP.map(str::to_owned).to_vec(),
        ViewPlace::Groups => view.groups()?,
        ViewPlace::Chats | ViewPlace::Zone(..) | ViewPlace::Logs(_) | ViewPlace::Nowhere => {
            let found = view.resolve_path("directory", path)?;
            found.directory()?;
            let listing = found.explained(|| DirectoryListing::of(&found.zone, &found.path))?;
            return Ok(ListedDirectory::of(&found.at, &listing));
        }
    };
    // The top takes no files and stays as it is; a zone in it may take files.
    let entry = |name: String| {
        let zone = view.zone("directory", &path.join(&name));
        TerminalEntry {
            writable: zone.is_ok_and(|(zone, _)| zone.expect_writable().is_ok()),
            name,
            r#type: "directory",
            size: 0,
            modified: 0.0,
        }
    };
    Ok(ListedDirectory {
        dir: path.as_str().to_owned(),
        writable: false,
        entries: names.into_iter().map(entry).collect(),
    })
}

/// A directory for models: a table in CSV.
#[derive(Serialize)]
pub(super) struct DirectoryTable {
    dir: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    writable: Option<bool>,
    /// Names with a slash behind those of directories, bytes, and minutes of UTC.
    entries: String,
}

impl From<ListedDirectory> for DirectoryTable {
    fn from(listed: ListedDirectory) -> Self {
        let rows = listed.entries.into_iter().map(|entry| {
            let mut row = match entry.r#type {
                "directory" => json!({"name": entry.name + "/"}),
                _ => json!({"name": entry.name, "size": entry.size}),
            };
            if let Ok(modified) = Timestamp::from_second(entry.modified as i64)
                && entry.modified > 0.0
            {
                row["modified"] = modified.strftime("%Y-%m-%d %H:%M").to_string().into();
            }
            if listed.writable && !entry.writable {
                row["writable"] = false.into();
            }
            row
        });
        let rows: Vec<Value> = rows.collect();
        let columns = ["name", "size", "modified", "writable"];
        Self {
            dir: listed.dir,
            writable: (!listed.writable).then_some(false),
            entries: short_answer::table(&columns, &rows).unwrap_or_default(),
        }
    }
}

/// `GET /files/table`
pub(super) fn table(view: CallerView<'_>, request: &ListRequest) -> Result<DirectoryTable, Error> {
    list(view, request).map(DirectoryTable::from)
}

/// A small directory that is in memory, as `T`.
pub(super) fn list_at_once<T: From<ListedDirectory> + Serialize + Send + 'static>(
    view: CallerView<'_>,
    request: &ListRequest,
) -> Option<ToolContent> {
    let (at, listing) = at_once::view_directory_at_once(&view, request.directory())?;
    let listed = ListedDirectory::of(&at, &listing);
    Some(ToolContent::data(T::from(listed)))
}

/// The name of `POST /files/mkdir`.
pub(super) const MAKE: &str = "mkdir";

/// `POST /files/mkdir`; a directory that is there stays as it is.
pub(super) fn make(view: CallerView<'_>, request: &PathRequest) -> Result<Value, Error> {
    let target = view.resolve_to_change("path", &request.path)?;
    target.explained(|| changes::make_directory(&target.zone, "path", &target.path, MAKE))?;
    Ok(json!({"path": target.at.as_str()}))
}

/// The name of `POST /files/move`.
pub(super) const MOVE: &str = "move_entry";

/// Both paths.
#[derive(Deserialize, ToSchema)]
pub(super) struct MoveRequest {
    /// File or directory.
    source: String,
    /// Its new path, with the name; nothing may be there yet.
    destination: String,
}

/// `POST /files/move`. A move that is sent again at once is done: the file browser of Open WebUI sends one
/// by the Enter key, and another one as its field goes.
pub(super) fn r#move(view: CallerView<'_>, request: &MoveRequest) -> Result<Value, Error> {
    let from = view.resolve_to_change("source", &request.source)?;
    let to = view.resolve_to_change("destination", &request.destination)?;
    if let Err(error) = move_entry(view, &from, &to) {
        let is_at = |place: &Resolved<'_>| place.zone.entry_itself(&place.path).is_ok();
        let is_done = from.zone.is_same(&to.zone)
            && from.zone.was_last_move(&from.path, &to.path)
            && !is_at(&from)
            && is_at(&to);
        if !is_done {
            return Err(error);
        }
    }
    Ok(json!({"source": from.at.as_str(), "destination": to.at.as_str()}))
}

fn move_entry(view: CallerView<'_>, from: &Resolved<'_>, to: &Resolved<'_>) -> Result<(), Error> {
    from.explained(|| from.zone.entry_itself(&from.path).map(drop))?;
    to.explained(|| to.zone.expect_writable())?;
    let above = to.at.parent().unwrap_or_else(ViewPath::home);
    if !view.is_directory("destination", &above)? {
        let path = above.as_str().to_owned();
        return Err(ViewError::NoParent(path).into());
    }
    if to.zone.entry_itself(&to.path).is_ok() {
        let path = to.at.as_str().to_owned();
        return Err(ViewError::Exists(path).into());
    }
    tree::move_to(from, to, false, MOVE)
}

/// The name of `DELETE /files/delete`.
pub(super) const DELETE: &str = "delete_entry";

/// `DELETE /files/delete`
pub(super) fn delete(view: CallerView<'_>, request: &PathRequest) -> Result<Value, Error> {
    let target = view.resolve_to_change("path", &request.path)?;
    let entry = tree::remove(&target, DELETE)?;
    let kind = entry.kind().entry_type();
    Ok(json!({"path": target.at.as_str(), "type": kind}))
}

/// The file.
#[derive(Deserialize, ToSchema)]
pub(super) struct DisplayRequest {
    /// File to show.
    path: String,
}

/// `GET /files/display`: where a file is, and if it is there.
pub(super) fn display(view: CallerView<'_>, request: &DisplayRequest) -> Result<Value, Error> {
    let path = view.path("path", &request.path)?;
    let exists = matches!(path.place(), ViewPlace::Zone(..) | ViewPlace::Logs(_))
        && view
            .resolve("path", path.as_str())
            .and_then(|found| found.file())
            .is_ok();
    Ok(json!({"path": path.as_str(), "exists": exists}))
}

/// `GET /files/cwd`: the directory where relative paths begin, and the one where they do at first.
pub(super) fn cwd(view: CallerView<'_>, _: &Nothing) -> Result<Value, Error> {
    Ok(json!({"cwd": view.existing_cwd()?.as_str(), "home": HOME}))
}

/// `POST /files/cwd`
pub(super) fn set_cwd(view: CallerView<'_>, request: &PathRequest) -> Result<Value, Error> {
    Ok(json!({"cwd": view.set_cwd("path", &request.path)?.as_str()}))
}
