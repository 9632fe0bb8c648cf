//! What lies beside a database of a group belongs to the database: whoever may not write that may
//! not make, change or remove it.

use crate::Error;
use crate::zone::ZonePath;
use fileshed_registry::{Record, Registry};
use fileshed_storage::{Kind, Root};

/// Whose a path is by the database that it belongs to.
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

/// Whose the file at `path` is, as far as it belongs to a database.
pub(super) fn owner(
    registry: &Registry,
    group: &str,
    data: &Root,
    path: &ZonePath,
) -> Result<Owner, Error> {
    let Some(database) = database(data, path) else {
        return Ok(Owner::Itself);
    };
    // A database may have the name of what belongs to another.
    match owner(registry, group, data, &database)? {
        Owner::Itself => {}
        other => return Ok(other),
    }
    let record = registry.record(group, &database.key())?;
    Ok(record.map_or(Owner::Everybody, Owner::Of))
}

/// What would belong to a new file at `path` and is somebody else's already.
pub(super) fn kept_beside(
    registry: &Registry,
    group: &str,
    data: &Root,
    path: &ZonePath,
    user: &str,
) -> Result<Vec<Record>, Error> {
    let mut kept = Vec::new();
    for journal in path.journals() {
        if data.entry(&journal).is_ok()
            && let Some(record) = registry.record(group, &journal.key())?
            && !record.lets(user)
        {
            kept.push(record);
        }
    }
    Ok(kept)
}
