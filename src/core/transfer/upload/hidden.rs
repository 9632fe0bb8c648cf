//! Names for what is brought by somebody who may not know which names are taken.

use std::collections::HashSet;

use fileshed_changes::{check_lock, check_owner};
use fileshed_storage::{DiskError, Kind, Vacancy};
use fileshed_types::{Code, Error};
use fileshed_zones::free_names::endless_names;
use fileshed_zones::zone::{PathError, Zone, ZonePath};

/// Refuses names by themselves, whatever is there: those that some system cannot hold, and those
/// that belong to a database, which would take in what is brought.
pub(super) fn check_name(parameter: &'static str, name: &str) -> Result<(), PathError> {
    let path = ZonePath::parse(parameter, name)?;
    path.check_new_names(parameter, 0)?;
    if path.has_journal_segment() {
        return Err(PathError::Journal {
            parameter,
            path: path.as_str().to_owned(),
        });
    }
    Ok(())
}

/// Enters a name that is given away, and the directories on its way.
pub(super) fn take(taken: &mut HashSet<String>, path: &ZonePath) {
    taken.insert(path.key());
    for above in std::iter::successors(path.parent(), ZonePath::parent) {
        taken.insert(as_directory(&above));
    }
}

fn as_directory(path: &ZonePath) -> String {
    format!("{}/", path.key())
}

/// A free name for `path`, which lies below `directory`: where something else is in the way, the
/// name or a directory on its way is another.
pub(super) fn vacancy(
    zone: &Zone<'_>,
    parameter: &'static str,
    (directory, path): (&ZonePath, &ZonePath),
    taken: &HashSet<String>,
) -> Result<Vacancy, Error> {
    let mut above = directory.clone();
    let mut segments = path
        .segments()
        .skip(directory.segments().count())
        .peekable();
    while let Some(segment) = segments.next() {
        let wanted = above.join(segment);
        if segments.peek().is_some() {
            let leads_on = |name: &ZonePath| {
                !taken.contains(&name.key())
                    && match zone.data.followed(name) {
                        Ok(entry) => entry.kind() == Kind::Directory,
                        Err(DiskError::NotFound { .. }) => zone.data.entry(name).is_err(),
                        Err(_) => false,
                    }
            };
            above = endless_names(&wanted)
                .find(leads_on)
                .ok_or_else(|| in_the_way(zone, &wanted))?;
            continue;
        }
        for name in endless_names(&wanted) {
            if taken.contains(&name.key()) || taken.contains(&as_directory(&name)) {
                continue;
            }
            match zone.vacancy(parameter, &name) {
                Ok(vacancy) if is_kept(zone, &name)? => drop(vacancy),
                Ok(vacancy) => return Ok(vacancy),
                Err(error) if error.code() == Code::FileExists => {}
                Err(error) => return Err(error),
            }
        }
    }
    Err(in_the_way(zone, path))
}

/// Returns `true` if a name that is not there is kept by somebody else's lock or file beside it.
fn is_kept(zone: &Zone<'_>, name: &ZonePath) -> Result<bool, Error> {
    let asked = check_lock(zone, name).and_then(|()| check_owner(zone, [name]));
    match asked {
        Ok(()) => Ok(false),
        Err(error) if [Code::FileLocked, Code::PermissionDenied].contains(&error.code()) => {
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

fn in_the_way(zone: &Zone<'_>, path: &ZonePath) -> Error {
    zone.explain_disk(DiskError::Exists { path: path.clone() })
}
