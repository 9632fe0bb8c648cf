//! Reads of small files and listings of small directories in the thread that handles the request, without
//! waiting for a disk, a lock or a writer.
//!
//! Most of these files are cached in memory, and most callers are known from an earlier call; to hand the
//! read to a thread that may block takes longer than the read itself. So this module makes all checks of a
//! read in a way that cannot block: the account is not suspended, the zone is whole, the kernel has the file.
//! If one of them is not a plain yes, the call takes the usual way, which repairs, notes and explains.
//! Answers of the registry are remembered from one call to the next only while the registry does not change.

use crate::extraction::may_be_document;
use fileshed_changes::listing::DirectoryListing;
use fileshed_changes::repair::is_measured;
use fileshed_storage::CachedFile;
use fileshed_types::{Caller, Scope, ZoneName, ZonePath};
use fileshed_zones::store::Store;
use fileshed_zones::tenant::DATA;
use fileshed_zones::view::{View, ViewPath, ViewPlace};

#[cfg(test)]
mod tests;

/// Most bytes of a file that is read in this way: copying more would delay other requests.
const MOST: u64 = 64 * 1024;

/// Returns a small file of one of the caller's own zones without blocking; `None` if that would block, or if
/// there is no such file.
#[must_use]
pub fn file_at_once(
    store: &Store,
    caller: &Caller,
    zone: ZoneName,
    path: &ZonePath,
) -> Option<CachedFile> {
    let is_ambiguous = !caller.names_zones && path.zone_in_front().is_some();
    if is_ambiguous || path.is_root() {
        return None;
    }
    let place = place_at_once(store, caller, zone, path)?;
    store.cached_files.read(&place, MOST)
}

/// Returns the path, below the data directory, of a file or directory in one of the caller's own zones;
/// `None` if answering would block.
fn place_at_once(
    store: &Store,
    caller: &Caller,
    zone: ZoneName,
    path: &ZonePath,
) -> Option<String> {
    // Uploads may still have to be brought, and who is in a group is asked elsewhere.
    if !matches!(zone, ZoneName::Storage | ZoneName::Documents) {
        return None;
    }
    let tenant = store.tenant_key(caller).ok()?;
    if !is_ready_at_once(store, caller, &tenant, zone)? {
        return None;
    }
    let directory = zone.directory()?;
    Some(format!("{tenant}/{directory}/{DATA}/{path}"))
}

/// Returns the listing of a small directory of one of the caller's own zones without blocking; `None` if that
/// would block, or if there is no such directory.
fn directory_at_once(
    store: &Store,
    caller: &Caller,
    zone: ZoneName,
    path: &ZonePath,
) -> Option<DirectoryListing> {
    let place = place_at_once(store, caller, zone, path)?;
    let found = store.cached_files.list(&place, path)?;
    let is_writable = zone.is_writable() && caller.scope == Scope::Write;
    Some(DirectoryListing::unshared(zone, found, is_writable))
}

/// Returns `true` if the registry says that the caller is active under the present name and that the zone is
/// ready to use; `None` if answering would block.
fn is_ready_at_once(store: &Store, caller: &Caller, tenant: &str, zone: ZoneName) -> Option<bool> {
    if !store.visited.lock().contains(tenant) {
        return None;
    }
    if zone.is_versioned() && !store.recovered.lock().contains(&(tenant.to_owned(), zone)) {
        return None;
    }
    let user = caller.user.as_ref().map_or("", |user| user.as_str());
    let arrival = store.registry.arrival_at_once(user, tenant).ok()?;
    let name = caller.name.as_deref().unwrap_or_default();
    let is_active = match &arrival.standing {
        None => user.is_empty(),
        Some(noted) => noted.suspended_at.is_none() && (name.is_empty() || noted.name == name),
    };
    let condition = &arrival.condition;
    let is_whole = !condition.is_unfinished && is_measured(zone, &condition.usage);
    Some(is_active && is_whole)
}

/// Returns a small file of the tree and its path there, without blocking; `None` if that would block, if
/// there is no such file, or if its name is one of a document.
#[must_use]
pub fn view_file_at_once(view: &View<'_>, text: &str) -> Option<(ViewPath, CachedFile)> {
    let (at, zone, path) = resolve_at_once(view, text)?;
    if path.name().is_none_or(may_be_document) {
        return None;
    }
    let file = file_at_once(view.store, view.caller, zone, &path)?;
    Some((at, file))
}

/// Returns the listing of a small directory of the tree and its path there, without blocking; `None` if that
/// would block, or if there is no such directory.
#[must_use]
pub fn view_directory_at_once(view: &View<'_>, text: &str) -> Option<(ViewPath, DirectoryListing)> {
    let (at, zone, path) = resolve_at_once(view, text)?;
    let listing = directory_at_once(view.store, view.caller, zone, &path)?;
    Some((at, listing))
}

/// A path of the tree as it is, the zone that has it, and the path there.
fn resolve_at_once(view: &View<'_>, text: &str) -> Option<(ViewPath, ZoneName, ZonePath)> {
    let start = if ViewPath::is_relative(text) {
        view.cwd_at_once()?
    } else {
        ViewPath::home()
    };
    let at = ViewPath::parse("path", text, &start).ok()?;
    let ViewPlace::Zone(zone, None, inside) = at.place() else {
        return None;
    };
    let inside = if inside.is_empty() { "." } else { inside };
    let path = ZonePath::parse("path", inside).ok()?;
    Some((at, zone, path))
}
