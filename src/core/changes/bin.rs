//! The bin: what was deleted in `storage` and `uploads`, for as long as it may come back.
//!
//! Operations move there what they delete or replace, and commands what the rules know of them. What other
//! programs replace where it lies is gone: the kernel does that, and nobody is asked. `documents` and
//! groups have their history instead.

mod moves;

use fileshed_registry::BinRow;
use fileshed_storage::{DiskError, Entry};
use fileshed_types::{Caller, Chat, Error, Hint, NextCall, Repeat, diagnostics};
use fileshed_zones::chats::DAY_SECONDS;
use fileshed_zones::store::Store;
use fileshed_zones::tenant::TenantRoot;
use fileshed_zones::zone::{Zone, ZoneName, ZonePath, expect_write_scope};

/// The name for history and logs.
const OPERATION: &str = "bin/restore";

/// Seconds for which changes stay in the list, whatever the bin keeps.
const CHANGES_SECONDS: i64 = 30 * DAY_SECONDS;

/// Digits by which a commit is named.
const SHORT: usize = 12;

/// A file or directory that came back.
#[derive(Debug)]
pub struct BroughtBack {
    /// Its zone.
    pub zone: ZoneName,
    /// Its path.
    pub path: ZonePath,
    /// `true` if it is a directory.
    pub is_directory: bool,
}

/// Returns `true` if deleted files wait in a bin.
#[must_use]
pub fn has_bin(store: &Store) -> bool {
    store.settings.bin_days.is_some()
}

/// Returns the caller's bin, the last deletion first.
pub fn entries(store: &Store, caller: &Caller) -> Result<Vec<BinRow>, Error> {
    Ok(store.registry.in_bin(&store.tenant_key(caller)?)?)
}

/// Returns `true` if what commands remove of a zone goes into the bin.
#[must_use]
pub fn keeps_removed(zone: &Zone<'_>) -> bool {
    has_bin(zone.store) && zone.name == ZoneName::Storage
}

/// Removes an entry as `rm` does; returns `true` if it is in the bin.
pub fn remove_as_command(zone: &Zone<'_>, entry: &Entry) -> Result<bool, Error> {
    crate::remover(zone, "rm")?.delete(entry, None)
}

/// Measures what came into the bin since then: who held it open may have gone on writing.
pub fn measure_again(store: &Store, tenant: &TenantRoot, since: i64) -> Result<(), Error> {
    for row in store.registry.in_bin_since(&tenant.key, since)? {
        let bin = tenant.bin()?;
        let Some(entry) = bin.existing_entry(&ZonePath::found(row.id.clone()))? else {
            continue;
        };
        let totals = bin.totals(&entry)?;
        if totals != row.totals {
            store.registry.measured_in_bin(&BinRow { totals, ..row })?;
        }
    }
    Ok(())
}

/// Brings something of the caller's bin back to where it was.
pub fn bring_back(store: &Store, caller: &Caller, id: &str) -> Result<BroughtBack, Error> {
    let rows = entries(store, caller)?.into_iter();
    let row = rows
        .into_iter()
        .find(|row| row.id == id)
        .ok_or(BinError::Gone)?;
    let caller = Caller {
        chat: Chat::new(&row.chat),
        ..caller.clone()
    };
    let zone = store.zone_as_it_is(&caller, ZoneName::parse(&row.zone)?)?;
    take_from_bin(&zone.made()?, row)
}

/// Takes something out of the caller's bin for good, or everything; how many.
pub fn empty(store: &Store, caller: &Caller, id: Option<&str>) -> Result<u64, Error> {
    expect_write_scope(caller)?;
    let mut rows = entries(store, caller)?;
    if let Some(id) = id {
        rows.retain(|row| row.id == id);
        if rows.is_empty() {
            return Err(BinError::Gone.into());
        }
    }
    store.end_in_bin(&store.tenant(caller)?, &rows)
}

/// Ends what was in a bin for `bin_days`, of everybody, and the list of old changes; how many entries. `goes_on` is asked before each.
pub fn end_deletions(store: &Store, goes_on: &dyn Fn() -> bool) -> Result<u64, Error> {
    let now = store.clock.now().as_second();
    store.registry.forget_changes(now - CHANGES_SECONDS)?;
    let mut ended = 0;
    for row in store.registry.expired_in_bin(now)? {
        if !goes_on() {
            break;
        }
        let Some(tenant) = store.existing_tenant(&row.tenant)? else {
            store
                .registry
                .forget_in_bin(&row.tenant, std::slice::from_ref(&row))?;
            continue;
        };
        ended += store.end_in_bin(&tenant, &[row])?;
    }
    Ok(ended)
}

/// Brings back what was deleted last at `path`; if nothing was, what was replaced last.
pub fn bring_back_path(zone: Zone<'_>, path: &ZonePath) -> Result<BroughtBack, Error> {
    if zone.name.is_versioned() {
        let error = BinError::History {
            zone: zone.name,
            path: path.clone(),
            commit: fileshed_history::last_with(&zone.base, path)?
                .map(|commit| format!("{:.SHORT$}", commit.as_str())),
        };
        return Err(zone.explain(error.into()));
    }
    let rows = entries(zone.store, zone.caller)?;
    let mut rows: Vec<BinRow> = rows.into_iter().filter(|row| deleted(&zone, row)).collect();
    let is_at =
        |row: &BinRow, path: &ZonePath| ZonePath::found(row.path.clone()).key() == path.key();
    let of_kind = |is_replaced| {
        let mut rows = rows.iter();
        rows.position(|row| is_at(row, path) && row.is_replaced == is_replaced)
    };
    if let Some(at) = of_kind(false).or_else(|| of_kind(true)) {
        return take_from_bin(&zone.made()?, rows.swap_remove(at));
    }
    let mut above = std::iter::successors(path.parent(), ZonePath::parent);
    let within = above.find(|above| rows.iter().any(|row| is_at(row, above)));
    let error = if !has_bin(zone.store) && rows.is_empty() {
        BinError::None
    } else if let Some(within) = within {
        let path = path.clone();
        BinError::Within { path, within }
    } else {
        BinError::NotThere { path: path.clone() }
    };
    Err(zone.explain(error.into()))
}

/// Returns `true` if something was deleted here: each conversation has uploads of its own.
fn deleted(zone: &Zone<'_>, row: &BinRow) -> bool {
    let is_of_chat = || {
        let directory = zone.store.pepper.chat_directory(&Chat::new(&row.chat));
        directory == zone.store.pepper.chat_directory(&zone.caller.chat)
    };
    row.zone == zone.name.as_str() && (zone.name != ZoneName::Uploads || is_of_chat())
}

/// Brings this back to where it was.
fn take_from_bin(zone: &Zone<'_>, row: BinRow) -> Result<BroughtBack, Error> {
    let path = ZonePath::found(row.path.clone());
    let is_directory = row.is_directory;
    let explain = |error: DiskError| match error {
        DiskError::Exists { .. } | DiskError::NotADirectory { .. } => {
            let path = path.clone();
            zone.explain(BinError::Taken { path }.into())
        }
        error => zone.explain_disk(error),
    };
    let writer = crate::remover(zone, OPERATION)?;
    // As it was named, whatever names are given today.
    let vacancy = zone.data.vacancy(&path).map_err(explain)?;
    let at = vacancy.path().clone();
    let change = writer.bring_back(row, vacancy)?.ok_or(BinError::Gone)?;
    change.commit(None, OPERATION)?;
    Ok(BroughtBack {
        zone: zone.name,
        path: at,
        is_directory,
    })
}

/// Ends what was deleted in the uploads of a conversation, whose uploads have ended.
pub fn end_deletions_of_chat(
    store: &Store,
    tenant: &TenantRoot,
    directory: &str,
) -> Result<u64, Error> {
    let mut rows = store.registry.in_bin(&tenant.key)?;
    rows.retain(|row| {
        row.zone == ZoneName::Uploads.as_str()
            && store.pepper.chat_directory(&Chat::new(&row.chat)) == directory
    });
    store.end_in_bin(tenant, &rows)
}

diagnostics! {
    /// Something that does not come back from the bin.
    #[derive(Debug, thiserror::Error)]
    pub enum BinError {
        /// There is no bin, and nothing is left from when there was one.
        #[error("deleted files cannot be restored: the server has no bin (bin_days)")]
        None => {
            code: FileNotFound,
            hint: "tell the user that it cannot be restored",
        },
        /// The bin has nothing of this path.
        #[error("the bin has nothing from `{path}`")]
        NotThere {
            /// The path.
            path: ZonePath,
        } => {
            code: FileNotFound,
            hint: "give the path at which it was deleted; files that commands other than rm \
                   removed, or that were in the bin for too long, are lost",
            details: { "path": path.display() },
        },
        /// The bin has a directory that held it.
        #[error("`{path}` is in the bin with the directory `{within}`")]
        Within {
            /// The path.
            path: ZonePath = ZonePath::found("notes/todo.md".to_owned()),
            /// The directory that was deleted.
            within: ZonePath = ZonePath::found("notes".to_owned()),
        } => {
            code: FileNotFound,
            hint: Hint::from(Repeat::with("path", within.display()))
                .say(" to bring back the whole directory"),
            details: { "path": path.display(), "deleted": within.display() },
        },
        /// Something else has the name by now.
        #[error("something else is at `{path}` now")]
        Taken {
            /// The path.
            path: ZonePath,
        } => {
            code: FileExists,
            hint: Hint::new("give it another name first, with ")
                .call(NextCall::here("shed_rename")
                    .with("old_path", path.display())
                    .with("new_path", format!("{}.new", path.display()))),
            details: { "path": path.display() },
        },
        /// It left the bin meanwhile.
        #[error("the entry is no longer in the bin")]
        Gone => {
            code: FileNotFound,
            hint: "list the bin again",
        },
        /// A zone with history has no bin.
        #[error("`{zone}` has no bin: deleted files are in its history")]
        History {
            /// The zone.
            zone: ZoneName = ZoneName::Documents,
            /// The path.
            path: ZonePath,
            /// The last commit that has it.
            commit: Option<String> = Some("1a2b3c4d5e6f".to_owned()),
        } => {
            code: InvalidZone,
            hint: match commit {
                Some(commit) => Hint::from(NextCall::here("shed_exec").with("cmd", "git").with(
                    "args",
                    vec!["restore", &format!("--source={commit}"), "--", path.display()],
                ))
                .say(" brings it back"),
                None => "no version of the zone has this path: name it as it was".into(),
            },
            details: { "path": path.display() },
        },
    }
}
