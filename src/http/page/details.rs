//! One file or directory: its facts, and the lease of the editor that is open on it.

use fileshed_core::change_list::{self, ChangesRequest};
use fileshed_core::changes::{self, NewClientLock};
use fileshed_core::storage::Kind;
use fileshed_core::{CallerView, Error, webdav};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::http::files::FileQuery;

/// `GET /page/details`: the contents of a file or directory, its links, its last change, and who keeps
/// others from changing it.
pub(super) fn details(view: CallerView<'_>, query: &FileQuery) -> Result<Value, Error> {
    let (zone, path) = query.place(view)?;
    let (store, caller) = (&view.core.store, view.caller);
    let entry = zone.entry(&path)?;
    let totals = zone.totals(&entry)?;
    let links = view.core.transfer.links(caller)?.into_iter();
    let group = zone.group().map(|group| group.id.as_str());
    let links = links.filter(|link| {
        link.zone == zone.name && link.group.as_deref() == group && link.path == path
    });
    let request = ChangesRequest {
        zone: Some(&zone),
        path: Some(&path),
        ..ChangesRequest::default()
    };
    let last = change_list::list(store, caller, &request, 1)?;
    let last = last.first().map(|entry| {
        let change = &entry.row.change;
        let at = Timestamp::from_second(change.changed_at).unwrap_or(Timestamp::MAX);
        json!({"at": at.to_string(), "author": (!entry.is_own).then_some(&change.author)})
    });
    let members = zone.group().map(|group| store.members(group)).transpose()?;
    let own = caller.user.as_ref();
    let own = own.map_or("", fileshed_core::UserId::as_str);
    // The caller has no name here.
    let holders = changes::holders(&zone, &path)?.into_iter();
    let holders = holders.map(|holder| {
        let members = members.as_ref().filter(|_| holder != own)?;
        Some(members.shown(&holder).to_owned())
    });
    let mut details = json!({
        "bytes": totals.bytes,
        "links": links.count(),
        "last_change": last,
        "locked_by": holders.collect::<Vec<Option<String>>>(),
    });
    if entry.kind() == Kind::Directory {
        details["files"] = totals.files.into();
    }
    Ok(details)
}

/// Seconds for which the editor of the page keeps a file without being heard of.
const LEASE_SECONDS: u64 = 90;

/// `POST /page/lease`: keeps everybody else from changing a file while the editor of the page is open on
/// it. The lease in the header `Lock-Token` goes on; without one, or where it has ended, there is a new one.
pub(super) fn lease(view: CallerView<'_>, query: &FileQuery) -> Result<Value, Error> {
    let (zone, path) = query.place(view)?;
    let seconds = Some(LEASE_SECONDS);
    let renewed = match view.caller.lock_tokens.first() {
        Some(token) => webdav::renew_client_lock(&zone, &path, token, seconds)?,
        None => None,
    };
    let new = NewClientLock {
        owner: String::new(),
        shared: false,
        deep: false,
        seconds,
    };
    let lease = match renewed {
        Some(lease) => lease,
        None => webdav::lock_for_client(&zone, &path, new)?,
    };
    let data = json!({"token": lease.token, "seconds": LEASE_SECONDS});
    Ok(json!({"success": true, "data": data}))
}

/// `POST /page/lease/end`: gives the lease in the header `Lock-Token` back.
pub(super) fn end_lease(view: CallerView<'_>, query: &FileQuery) -> Result<Value, Error> {
    let (zone, _) = query.place(view)?;
    let token = view.caller.lock_tokens.first();
    let ended = token.map(|token| webdav::release_client_lock(&zone, token));
    Ok(json!({"success": true, "data": {"ended": ended.transpose()?.unwrap_or_default()}}))
}
