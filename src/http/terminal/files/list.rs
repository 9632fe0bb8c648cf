//! `GET /files/list`: what is in a directory.

use axum::http::Method;
use fileshed_core::storage::{Found, Kind};
use fileshed_core::view::{Resolved, TOP, View, ViewPath, ViewPlace};
use fileshed_core::zone::is_git_name;
use fileshed_core::{Error, ZonePath, sharing};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `GET /files/list`
pub(in crate::http::terminal) struct ListFiles;

/// What `list_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Directory; default: the working directory.
    directory: Option<String>,
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

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let text = request.directory.as_deref().unwrap_or(".");
        let path = view.path("directory", text)?;
        match path.place() {
            ViewPlace::Top => Ok(fixed(&path, TOP.map(str::to_owned))),
            ViewPlace::Groups => Ok(fixed(&path, view.groups()?)),
            ViewPlace::Zone(..) | ViewPlace::Logs(_) | ViewPlace::Nowhere => {
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

/// A directory of a zone, without git's own file in it.
fn zone_directory(directory: &Resolved<'_>) -> Result<Response, Error> {
    let zone = &directory.zone;
    directory.directory()?;
    let found = zone.data().list(&directory.path);
    let mut found = found.map_err(|error| directory.explain(error.into()))?;
    if zone.name().is_versioned() {
        found.retain(|found| !found.path.name().is_some_and(is_git_name));
    }
    found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    let writable = zone.expect_writable().is_ok();
    let denied = directory.explained(|| sharing::denied_names(zone, &directory.path))?;
    let is_denied = |found: &Found| {
        let key = || ZonePath::found(found.path.name().unwrap_or_default().to_owned()).key();
        !denied.is_empty() && denied.contains(&key())
    };
    Ok(Response {
        dir: directory.at.as_str().to_owned(),
        writable,
        entries: found
            .iter()
            .filter_map(|found| entry(found, writable && !is_denied(found)))
            .collect(),
    })
}

/// Links and special files are no files to a client.
fn entry(found: &Found, writable: bool) -> Option<ListedEntry> {
    let kind = match found.kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Symlink | Kind::Special => return None,
    };
    Some(ListedEntry {
        name: found.path.name()?.to_owned(),
        r#type: kind,
        size: found.size(),
        modified: found.stat.st_mtime as f64 + found.stat.st_mtime_nsec as f64 / 1e9,
        writable,
    })
}
