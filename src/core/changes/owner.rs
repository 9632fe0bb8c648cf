//! Ownership: the right of members to change files of a group.
//!
//! Asked before anything is touched, for every path of a change and every file below it. A record
//! of a file that is gone protects nothing. Files beside a database belong to the database: only
//! members who may write that may make, change or remove them.

use std::collections::HashSet;

use serde_json::{Value, json};

use fileshed_registry::{Record, Registry};
use fileshed_storage::{Kind, Root};
use fileshed_types::settings::WriteMode;
use fileshed_types::{Error, Hint, NextCall, diagnostics};
use fileshed_zones::zone::{Zone, ZonePath};

/// Paths that a refusal names.
const NAMED: usize = 20;

/// Fails where the caller may not change something at one of these paths, or below it.
pub fn check<'p>(
    zone: &Zone<'_>,
    paths: impl IntoIterator<Item = &'p ZonePath>,
) -> Result<(), Error> {
    let Some(group) = zone.group() else {
        return Ok(());
    };
    let (registry, user, data) = (&zone.store.registry, zone.user(), &zone.data);
    let owners = GroupOwners {
        registry,
        group: group.id.as_str(),
        data,
    };
    let mut denied = Vec::new();
    for path in paths {
        match owners.of_database(path)? {
            Owner::Of(record) if !record.lets(user) => denied.push(record),
            _ if data.entry(path).is_err() => {
                denied.append(&mut owners.kept_beside(path, user)?);
            }
            _ => {}
        }
        let mut records = registry.records_around(owners.group, &path.key())?;
        records.retain(|record| !record.lets(user));
        if records.is_empty() {
            continue;
        }
        let there = keys(zone, path)?;
        for record in records {
            let at = ZonePath::found(record.path.clone());
            // A file that belongs to a database has its owner.
            if there.contains(&record.path) && matches!(owners.of_database(&at)?, Owner::Itself) {
                denied.push(record);
            }
        }
    }
    refuse(denied, &group.name, zone.user()).map_err(|error| zone.explain(error))
}

/// Returns the names in records of everything that is at `path`, or below it, however it is spelled.
pub(crate) fn keys(zone: &Zone<'_>, path: &ZonePath) -> Result<HashSet<String>, Error> {
    let mut keys = HashSet::new();
    for spelling in zone.data.spellings(path)? {
        let Some(entry) = zone.data.existing_entry(&spelling)? else {
            continue;
        };
        keys.insert(path.key());
        if entry.kind() == Kind::Directory {
            zone.data.walk(entry.path(), |found| {
                keys.insert(found.path.key());
                Ok(true)
            })?;
        }
    }
    Ok(keys)
}

/// Fails where there is something that `user` may not change.
pub(super) fn refuse(mut denied: Vec<Record>, group: &str, user: &str) -> Result<(), Error> {
    denied.sort_by(|a, b| a.path.cmp(&b.path));
    denied.dedup_by(|a, b| a.path == b.path);
    if denied.is_empty() {
        return Ok(());
    }
    Err(PermissionError {
        group: group.to_owned(),
        own: denied.iter().all(|record| record.owner == user),
        denied,
    }
    .into())
}

/// The owner of a path by the database that it belongs to.
pub(super) enum Owner {
    /// It belongs to none: its own record counts.
    Itself,
    /// It belongs to one that has no record: everybody may write it.
    Everybody,
    /// It belongs to one with this record.
    Of(Record),
}

/// The database that is there and that `path` belongs to.
pub(super) fn database(data: &Root, path: &ZonePath) -> Option<ZonePath> {
    let database = path.database()?;
    let is_there = data
        .entry(&database)
        .is_ok_and(|entry| entry.kind() != Kind::Directory);
    is_there.then_some(database)
}

/// The owners of the files of a group.
#[derive(Clone, Copy)]
pub(super) struct GroupOwners<'a> {
    pub(super) registry: &'a Registry,
    /// The id of the group.
    pub(super) group: &'a str,
    pub(super) data: &'a Root,
}

impl GroupOwners<'_> {
    /// The owner of the file at `path`, as far as it belongs to a database.
    pub(super) fn of_database(self, path: &ZonePath) -> Result<Owner, Error> {
        let Some(database) = database(self.data, path) else {
            return Ok(Owner::Itself);
        };
        // A database may have the name of what belongs to another.
        match self.of_database(&database)? {
            Owner::Itself => {}
            other => return Ok(other),
        }
        let record = self.registry.record(self.group, &database.key())?;
        Ok(record.map_or(Owner::Everybody, Owner::Of))
    }

    /// Returns the records of files that would belong to a new file at `path` and are another member's
    /// already.
    pub(super) fn kept_beside(self, path: &ZonePath, user: &str) -> Result<Vec<Record>, Error> {
        let mut kept = Vec::new();
        for journal in path.journals() {
            if self.data.entry(&journal).is_ok()
                && let Some(record) = self.registry.record(self.group, &journal.key())?
                && !record.lets(user)
            {
                kept.push(record);
            }
        }
        Ok(kept)
    }
}

diagnostics! {
    /// Files that the caller may not change.
    #[derive(Debug, thiserror::Error)]
    #[error("{}", self.sentence())]
    pub struct PermissionError {
        /// The group.
        group: String = "team".to_owned(),
        /// `true` if all of them are the caller's own.
        own: bool,
        denied: Vec<Record> = vec![Record {
            path: "notes/todo.md".to_owned(),
            owner: "u2".to_owned(),
            mode: WriteMode::OwnerReadOnly,
        }],
    } => {
        code: PermissionDenied,
        hint: match denied.first() {
            Some(first) if *own => Hint::new("it is yours: first ").call(
                NextCall::new("shed_group_set_mode")
                    .with("group", group.as_str())
                    .with("path", first.path.as_str())
                    .with("mode", "owner"),
            ),
            _ => Hint::new("write another file, or ask the owner")
                .say(", whom ")
                .call(NextCall::new("shed_group_info").with("group", group.as_str()))
                .say(" names")
                .instead("write another file, or ask the owner"),
        },
        details: { "denied": shown(denied), "denied_count": denied.len() },
    }
}

impl PermissionError {
    fn sentence(&self) -> String {
        let paths: Vec<String> = self
            .denied
            .iter()
            .take(NAMED)
            .map(|record| {
                let who = match record.mode {
                    WriteMode::OwnerReadOnly => "nobody may change it",
                    WriteMode::Owner | WriteMode::Group => "only its owner may change it",
                };
                format!("`{}` ({}: {who})", record.path, record.mode.as_str())
            })
            .collect();
        let more = match self.denied.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("nothing was changed: {}{more}", paths.join(", "))
    }
}

/// The first of the files, for programs.
fn shown(denied: &[Record]) -> Value {
    let first = denied.iter().take(NAMED);
    first
        .map(|record| json!({"path": record.path, "mode": record.mode.as_str()}))
        .collect()
}
