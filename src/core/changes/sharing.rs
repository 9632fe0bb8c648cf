//! Files of a group and whose they are: shown, given away, protected.

use std::collections::BTreeMap;

use super::owner;
use fileshed_registry::Record;
use fileshed_storage::{Kind, Totals};
use fileshed_types::settings::WriteMode;
use fileshed_types::{Error, Hint, NextCall, diagnostics};
use fileshed_zones::zone::{Zone, ZonePath, is_git_name};
use serde::Serialize;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SharedFile {
    /// Path inside the group.
    pub path: String,
    /// Bytes of the file.
    pub size: u64,
    /// Name or id of the owner; absent if nobody wrote the file through the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Write mode: group, owner or `owner_ro` (nobody).
    #[schema(value_type = String)]
    pub mode: WriteMode,
}

/// Some files of a group, in the order of their paths, and what all of them hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFiles {
    /// The files.
    pub files: Vec<SharedFile>,
    /// All of the group.
    pub totals: Totals,
}

/// The files of a group from number `offset` on, `limit` at most: one walk, one query, and memory
/// for what is shown and skipped.
pub fn page(zone: &Zone<'_>, offset: usize, limit: usize) -> Result<SharedFiles, Error> {
    let shared = zone.group.as_ref().ok_or(SharingError::NoGroup)?;
    let most = offset.saturating_add(limit);
    let mut totals = Totals::default();
    let mut first: BTreeMap<String, u64> = BTreeMap::new();
    zone.data.walk(&ZonePath::root(), |found| {
        if found.path.name().is_some_and(is_git_name) {
            return Ok(false);
        }
        if found.kind == Kind::File {
            totals.bytes += found.size();
            totals.files += 1;
            first.insert(found.path.key(), found.size());
            if first.len() > most {
                first.pop_last();
            }
        }
        Ok(true)
    })?;
    let shown: Vec<(String, u64)> = first.into_iter().skip(offset).take(limit).collect();
    let mut records = match (shown.first(), shown.last()) {
        (Some((first, _)), Some((last, _))) => {
            let registry = &zone.store.registry;
            registry.records_between(shared.group.id.as_str(), first, last)?
        }
        _ => Vec::new(),
    }
    .into_iter()
    .map(|record| (record.path.clone(), record))
    .collect::<BTreeMap<String, Record>>();
    let default = zone.store.settings.group_default_mode;
    let files = shown.into_iter().map(|(path, size)| {
        let record = records.remove(&path);
        SharedFile {
            mode: record.as_ref().map_or(default, |record| record.mode),
            owner: record.map(|record| record.owner),
            path,
            size,
        }
    });
    Ok(SharedFiles {
        files: files.collect(),
        totals,
    })
}

/// The mode that a file has now; nothing outside groups.
pub fn mode_of(zone: &Zone<'_>, path: &ZonePath) -> Result<Option<WriteMode>, Error> {
    let Some(shared) = &zone.group else {
        return Ok(None);
    };
    let registry = &zone.store.registry;
    let record = registry.record(shared.group.id.as_str(), &path.key())?;
    let default = zone.store.settings.group_default_mode;
    Ok(Some(record.map_or(default, |record| record.mode)))
}

/// Counts the files at `path`, and below it, that have another mode than the call asks for.
pub fn count_unlike(zone: &Zone<'_>, path: &ZonePath) -> Result<usize, Error> {
    let (Some(shared), Some(asked)) = (&zone.group, zone.asked_mode()) else {
        return Ok(0);
    };
    let registry = &zone.store.registry;
    let records = registry.records_around(shared.group.id.as_str(), &path.key())?;
    Ok(records.iter().filter(|record| record.mode != asked).count())
}

/// Gives a file of the caller another mode; gives the one that it had.
pub fn set_mode(zone: &Zone<'_>, path: &ZonePath, mode: WriteMode) -> Result<WriteMode, Error> {
    change(zone, path, |record| {
        std::mem::replace(&mut record.mode, mode)
    })
}

/// Gives a file of the caller to a member, named by id or by a name that only one has. Gives who
/// had it and who has it.
pub fn give(zone: &Zone<'_>, path: &ZonePath, to: &str) -> Result<(String, String), Error> {
    let shared = zone.group.as_ref().ok_or(SharingError::NoGroup)?;
    if to.is_empty() {
        return Err(SharingError::NoOwner.into());
    }
    let members = zone.store.members(&shared.group)?;
    let owner = members.named(to).ok_or_else(|| SharingError::NoMember {
        owner: to.chars().take(80).collect(),
        group: shared.group.name.clone(),
    })?;
    let owner = owner.id.clone();
    let old = change(zone, path, |record| {
        std::mem::replace(&mut record.owner, owner.clone())
    })?;
    Ok((old, owner))
}

/// Changes the record of a file that is the caller's.
fn change<T>(
    zone: &Zone<'_>,
    path: &ZonePath,
    change: impl FnOnce(&mut Record) -> T,
) -> Result<T, Error> {
    let shared = zone.group.as_ref().ok_or(SharingError::NoGroup)?;
    zone.expect_writable()?;
    let _hold = crate::hold(zone)?;
    let entry = zone.entry(path)?;
    entry
        .expect_file()
        .map_err(|error| zone.explain(error.into()))?;
    let path = entry.path().key();
    let (registry, group) = (&zone.store.registry, shared.group.id.as_str());
    match registry.record(group, &path)? {
        Some(mut record) if record.owner == zone.user() => {
            let old = change(&mut record);
            registry.enter_record(group, &record)?;
            Ok(old)
        }
        record => {
            let error = SharingError::NotOwner {
                path,
                group: shared.group.name.clone(),
                nobody: record.is_none(),
            };
            Err(zone.explain(error.into()))
        }
    }
}

/// Drops the records of files that are gone; gives their paths.
pub fn clean(zone: &Zone<'_>) -> Result<Vec<String>, Error> {
    let shared = zone.group.as_ref().ok_or(SharingError::NoGroup)?;
    zone.expect_writable()?;
    let _hold = crate::hold(zone)?;
    let there = owner::keys(zone, &ZonePath::root())?;
    let (registry, group) = (&zone.store.registry, shared.group.id.as_str());
    let records = registry.records(group)?.into_iter();
    let mut gone: Vec<String> = records.map(|record| record.path).collect();
    gone.retain(|path| !there.contains(path));
    registry.forget_records(group, &gone)?;
    Ok(gone)
}

diagnostics! {
    /// A file that cannot be protected or given away.
    #[derive(Debug, thiserror::Error)]
    pub enum SharingError {
        /// Only files of groups have owners.
        #[error("only files of groups have owners")]
        NoGroup => {
            code: ZoneForbidden,
            hint: "give zone=\"group\", and the group in `group`",
        },
        /// Nobody is named.
        #[error("parameter `new_owner` is required")]
        NoOwner => {
            code: MissingParameter,
            hint: "give the id of a member in `new_owner`",
            details: { "parameter": "new_owner" },
        },
        /// Somebody else's, or nobody's.
        #[error("{}", if *nobody {
            format!("`{path}` has no owner yet")
        } else {
            format!("`{path}` belongs to another member")
        })]
        NotOwner {
            /// The file.
            path: String,
            /// The group.
            group: String = "team".to_owned(),
            /// `true` if it has no record.
            nobody: bool,
        } => {
            code: NotFileOwner,
            hint: if *nobody {
                "write the file once to become its owner".into()
            } else {
                members(group)
            },
            details: { "path": path },
        },
        /// Not in the group.
        #[error("parameter `new_owner`: no member of `{group}` is `{owner}`")]
        NoMember {
            /// The value that was sent.
            owner: String = "u9".to_owned(),
            /// The group.
            group: String = "team".to_owned(),
        } => {
            code: InvalidOwner,
            hint: members(group),
            details: { "parameter": "new_owner", "received": owner },
        },
    }
}

fn members(group: &str) -> Hint {
    Hint::from(NextCall::new("shed_group_info").with("group", group))
        .say(" names owners and members")
}
