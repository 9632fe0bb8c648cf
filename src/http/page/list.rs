//! `GET /page/list`: what is in a directory, of any length.

use fileshed_core::Error;
use fileshed_core::directory::Membership;
use fileshed_core::listing::{DirectoryListing, ListedEntry};
use fileshed_core::storage::Kind;
use fileshed_core::view::View;
use serde::Serialize;

use crate::http::files::FileQuery;

/// A directory as the page shows it.
#[derive(Serialize)]
pub(super) struct PageDirectory {
    /// Whether the caller may put anything into it.
    writable: bool,
    /// Whether what is deleted here can be brought back.
    keeps_deleted: bool,
    /// Day on which what is here is removed, if that is soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_on: Option<String>,
    entries: Vec<PageEntry>,
}

/// A row of the page.
#[derive(Serialize)]
struct PageEntry {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Bytes, of a file.
    size: u64,
    /// Seconds since 1970.
    modified: f64,
    /// Whether the caller may change it.
    writable: bool,
    /// Name or id of the owner, in a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// Whether the owner is the caller.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    own: bool,
    /// Who may change it, in a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
}

/// `GET /page/list`
pub(super) fn list(view: View<'_>, query: &FileQuery) -> Result<PageDirectory, Error> {
    let (zone, path) = query.place(view)?;
    let View { store, caller } = view;
    let listing = DirectoryListing::of(&zone, &path).map_err(|error| zone.explain(error))?;
    let members = zone.group().map(|group| store.members(group)).transpose()?;
    let user = caller.user.as_ref().map(fileshed_core::UserId::as_str);
    let entries = listing.entries.into_iter();
    Ok(PageDirectory {
        writable: listing.is_writable,
        keeps_deleted: zone.name().is_versioned() || store.has_bin(),
        ends_on: zone.ends_soon()?.map(|end| end.strftime("%F").to_string()),
        entries: entries
            .filter_map(|entry| row(entry, members.as_ref(), user))
            .collect(),
    })
}

fn row(entry: ListedEntry, members: Option<&Membership>, user: Option<&str>) -> Option<PageEntry> {
    let is_directory = entry.found.kind == Kind::Directory;
    let own = entry
        .owner
        .as_ref()
        .is_some_and(|(owner, _)| user == Some(owner));
    Some(PageEntry {
        name: entry.found.path.name()?.to_owned(),
        kind: if is_directory { "directory" } else { "file" },
        size: if is_directory { 0 } else { entry.found.size() },
        modified: entry.found.modified(),
        writable: entry.is_writable,
        own,
        mode: entry.owner.as_ref().map(|(_, mode)| mode.as_str()),
        owner: entry
            .owner
            .zip(members)
            .map(|((owner, _), members)| members.shown(&owner).to_owned()),
    })
}
