//! Endpoints for entries of the tree: list, make, move, delete, display, and the working directory.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::listing::{DirectoryListing, ListedEntry as ListedFile};
use fileshed_core::storage::Kind;
use fileshed_core::view::{HOME, Resolved, TOP, View, ViewError, ViewPath, ViewPlace};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::{Endpoint, ImmediateEndpoint, Nothing};
use crate::http::terminal::files::find::name_of;

/// `GET /files/list`
pub(in crate::http::terminal) struct ListFiles;

/// What `list_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct ListFilesRequest {
    /// Directory; default: the working directory.
    directory: Option<String>,
}

impl ListFilesRequest {
    fn directory(&self) -> &str {
        self.directory.as_deref().unwrap_or(".")
    }
}

/// A directory.
#[derive(Serialize)]
pub(in crate::http::terminal) struct ListFilesResponse {
    dir: String,
    writable: bool,
    entries: Vec<ListedEntry>,
}

/// What is in it.
#[derive(Serialize)]
struct ListedEntry {
    name: String,
    r#type: &'static str,
    size: u64,
    /// Seconds since 1970.
    modified: f64,
    writable: bool,
}

impl Endpoint for ListFiles {
    const ID: &'static str = "list_files";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/list";
    const DOC: &'static str = "List a directory.";
    type Request = ListFilesRequest;
    type Response = ListFilesResponse;
    const AT_ONCE: Option<ImmediateEndpoint<Self>> = Some(small_directory);

    fn run(view: View<'_>, request: ListFilesRequest) -> Result<ListFilesResponse, Error> {
        let text = request.directory();
        let path = view.path("directory", text)?;
        match path.place() {
            ViewPlace::Top => Ok(fixed(&path, TOP.map(str::to_owned))),
            ViewPlace::Groups => Ok(fixed(&path, view.groups()?)),
            ViewPlace::Chats | ViewPlace::Zone(..) | ViewPlace::Logs(_) | ViewPlace::Nowhere => {
                zone_directory(&view.resolve("directory", path.as_str())?)
            }
        }
    }
}

/// A directory that is there for everybody, and holds only such.
fn fixed(path: &ViewPath, names: impl IntoIterator<Item = String>) -> ListFilesResponse {
    let entry = |name| ListedEntry {
        name,
        r#type: "directory",
        size: 0,
        modified: 0.0,
        writable: false,
    };
    ListFilesResponse {
        dir: path.as_str().to_owned(),
        writable: false,
        entries: names.into_iter().map(entry).collect(),
    }
}

/// A directory of a zone.
fn zone_directory(directory: &Resolved<'_>) -> Result<ListFilesResponse, Error> {
    directory.directory()?;
    let listing = directory.explained(|| DirectoryListing::of(&directory.zone, &directory.path))?;
    Ok(answer(&directory.at, &listing))
}

/// A small directory that is in memory.
fn small_directory(view: View<'_>, request: &ListFilesRequest) -> Option<ListFilesResponse> {
    let (at, listing) = view.directory_at_once(request.directory())?;
    Some(answer(&at, &listing))
}

fn answer(at: &ViewPath, listing: &DirectoryListing) -> ListFilesResponse {
    ListFilesResponse {
        dir: at.as_str().to_owned(),
        writable: listing.is_writable,
        entries: listing.entries.iter().filter_map(entry).collect(),
    }
}

fn entry(entry: &ListedFile) -> Option<ListedEntry> {
    let found = &entry.found;
    Some(ListedEntry {
        name: found.path.name()?.to_owned(),
        r#type: name_of(found.kind == Kind::Directory),
        size: found.size(),
        modified: found.modified(),
        writable: entry.is_writable,
    })
}

/// `POST /files/mkdir`
pub(in crate::http::terminal) struct MakeDirectory;

/// The directory.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct MakeDirectoryRequest {
    /// Directory to make; one that is there stays as it is.
    path: String,
}

/// What is there now.
#[derive(Serialize)]
pub(in crate::http::terminal) struct MakeDirectoryResponse {
    path: String,
}

impl Endpoint for MakeDirectory {
    const ID: &'static str = "mkdir";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/mkdir";
    const CHANGES: bool = true;
    type Request = MakeDirectoryRequest;
    type Response = MakeDirectoryResponse;

    fn run(view: View<'_>, request: MakeDirectoryRequest) -> Result<MakeDirectoryResponse, Error> {
        let target = view.resolve_to_change("path", &request.path)?;
        target.explained(|| target.zone.make_directory("path", &target.path, Self::ID))?;
        let path = target.at.as_str().to_owned();
        Ok(MakeDirectoryResponse { path })
    }
}

/// `POST /files/move`
pub(in crate::http::terminal) struct MoveEntry;

/// From where to where.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct MoveEntryRequest {
    /// File or directory.
    source: String,
    /// Its new path, with the name; nothing may be there yet.
    destination: String,
}

/// What moved.
#[derive(Serialize)]
pub(in crate::http::terminal) struct MoveEntryResponse {
    source: String,
    destination: String,
}

impl Endpoint for MoveEntry {
    const ID: &'static str = "move_entry";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/move";
    const CHANGES: bool = true;
    type Request = MoveEntryRequest;
    type Response = MoveEntryResponse;

    fn run(view: View<'_>, request: MoveEntryRequest) -> Result<MoveEntryResponse, Error> {
        let from = view.resolve_to_change("source", &request.source)?;
        from.explained(|| from.zone.entry_itself(&from.path).map(drop))?;
        let to = view.resolve_to_change("destination", &request.destination)?;
        to.explained(|| to.zone.expect_writable())?;
        let above = to.at.parent().unwrap_or_else(ViewPath::home);
        if !view.is_directory("destination", &above)? {
            return Err(ViewError::NoParent {
                path: above.as_str().to_owned(),
            }
            .into());
        }
        if to.zone.entry_itself(&to.path).is_ok() {
            return Err(ViewError::Exists {
                path: to.at.as_str().to_owned(),
            }
            .into());
        }
        from.move_to(&to, false, Self::ID)?;
        Ok(MoveEntryResponse {
            source: from.at.as_str().to_owned(),
            destination: to.at.as_str().to_owned(),
        })
    }
}

/// `DELETE /files/delete`
pub(in crate::http::terminal) struct DeleteEntry;

/// What to remove.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct DeleteEntryRequest {
    /// File or directory.
    path: String,
}

/// What was removed.
#[derive(Serialize)]
pub(in crate::http::terminal) struct DeleteEntryResponse {
    path: String,
    r#type: &'static str,
}

impl Endpoint for DeleteEntry {
    const ID: &'static str = "delete_entry";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/files/delete";
    const CHANGES: bool = true;
    type Request = DeleteEntryRequest;
    type Response = DeleteEntryResponse;

    fn run(view: View<'_>, request: DeleteEntryRequest) -> Result<DeleteEntryResponse, Error> {
        let target = view.resolve_to_change("path", &request.path)?;
        let entry = target.remove(Self::ID)?;
        let r#type = match entry.kind() {
            Kind::Directory => "directory",
            _ => "file",
        };
        Ok(DeleteEntryResponse {
            path: target.at.as_str().to_owned(),
            r#type,
        })
    }
}

/// `GET /files/display`
pub(in crate::http::terminal) struct DisplayFile;

/// The file.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct DisplayFileRequest {
    /// File to show.
    path: String,
}

/// Where it is, and whether it is there.
#[derive(Serialize)]
pub(in crate::http::terminal) struct DisplayFileResponse {
    path: String,
    exists: bool,
}

impl Endpoint for DisplayFile {
    const ID: &'static str = "display_file";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/display";
    const DOC: &'static str =
        "Show a file to the user in their viewer. You do not see it: read_file does that.";
    type Request = DisplayFileRequest;
    type Response = DisplayFileResponse;

    fn run(view: View<'_>, request: DisplayFileRequest) -> Result<DisplayFileResponse, Error> {
        let path = view.path("path", &request.path)?;
        let exists = matches!(path.place(), ViewPlace::Zone(..) | ViewPlace::Logs(_))
            && view
                .resolve("path", path.as_str())
                .and_then(|found| found.file())
                .is_ok();
        let path = path.as_str().to_owned();
        Ok(DisplayFileResponse { path, exists })
    }
}

/// `GET /files/cwd`
pub(in crate::http::terminal) struct GetDirectory;

/// Where relative paths begin, and where they do at first.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Directories {
    cwd: String,
    home: &'static str,
}

impl Endpoint for GetDirectory {
    const ID: &'static str = "get_cwd";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/cwd";
    type Request = Nothing;
    type Response = Directories;

    fn run(view: View<'_>, _request: Nothing) -> Result<Directories, Error> {
        let cwd = view.existing_cwd()?.as_str().to_owned();
        Ok(Directories { cwd, home: HOME })
    }
}

/// `POST /files/cwd`
pub(in crate::http::terminal) struct SetDirectory;

/// The directory.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct SetDirectoryRequest {
    /// Directory to work in.
    path: String,
}

/// The directory, as an absolute path.
#[derive(Serialize)]
pub(in crate::http::terminal) struct SetDirectoryResponse {
    cwd: String,
}

impl Endpoint for SetDirectory {
    const ID: &'static str = "set_cwd";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/cwd";
    const CHANGES: bool = true;
    type Request = SetDirectoryRequest;
    type Response = SetDirectoryResponse;

    fn run(view: View<'_>, request: SetDirectoryRequest) -> Result<SetDirectoryResponse, Error> {
        let path = view.set_cwd("path", &request.path)?;
        let cwd = path.as_str().to_owned();
        Ok(SetDirectoryResponse { cwd })
    }
}
