//! `GET /files/list`: what is in a directory.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::listing::{DirectoryListing, ListedEntry as ListedFile};
use fileshed_core::storage::Kind;
use fileshed_core::view::{Resolved, TOP, View, ViewPath, ViewPlace};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entry_type::name_of;
use crate::http::terminal::endpoint::{Endpoint, ImmediateEndpoint};

/// `GET /files/list`
pub(in crate::http::terminal) struct ListFiles;

/// What `list_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Directory; default: the working directory.
    directory: Option<String>,
}

impl Request {
    fn directory(&self) -> &str {
        self.directory.as_deref().unwrap_or(".")
    }
}

/// A directory.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
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
    type Request = Request;
    type Response = Response;
    const AT_ONCE: Option<ImmediateEndpoint<Self>> = Some(small_directory);

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
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
fn fixed(path: &ViewPath, names: impl IntoIterator<Item = String>) -> Response {
    let entry = |name| ListedEntry {
        name,
        r#type: "directory",
        size: 0,
        modified: 0.0,
        writable: false,
    };
    Response {
        dir: path.as_str().to_owned(),
        writable: false,
        entries: names.into_iter().map(entry).collect(),
    }
}

/// A directory of a zone.
fn zone_directory(directory: &Resolved<'_>) -> Result<Response, Error> {
    directory.directory()?;
    let listing = directory.explained(|| DirectoryListing::of(&directory.zone, &directory.path))?;
    Ok(answer(&directory.at, &listing))
}

/// A small directory that is in memory.
fn small_directory(view: View<'_>, request: &Request) -> Option<Response> {
    let (at, listing) = view.directory_at_once(request.directory())?;
    Some(answer(&at, &listing))
}

fn answer(at: &ViewPath, listing: &DirectoryListing) -> Response {
    Response {
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
