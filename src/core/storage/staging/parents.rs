//! The directories above a new name, where they are missing.

use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::entry::Place;
use crate::{DiskError, Vacancy};
use fileshed_types::zone::ZonePath;

/// Makes the directories that a vacancy lacks; gives the place and what was made, deepest last.
pub(crate) fn make_directories(vacancy: Vacancy) -> Result<(Place, Vec<Place>), DiskError> {
    let (mut place, missing) = vacancy.into_parts();
    let mut made = Vec::new();
    for name in missing {
        let result = rustix::fs::mkdirat(&place.parent, &*name, Mode::from(0o755));
        if !matches!(result, Ok(()) | Err(Errno::EXIST)) {
            remove_made(&made);
        }
        match result {
            Ok(()) => made.push(Place::new(
                Arc::clone(&place.parent),
                name.clone(),
                ZonePath::root(),
            )),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(DiskError::of("create", &place.path, error)),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&place.parent, &*name, flags, Mode::empty())
            .map_err(|error| DiskError::of("create", &place.path, error))?;
        place.parent = Arc::new(directory);
    }
    Ok((place, made))
}

/// Removes directories that were made and that nobody used.
pub(super) fn remove_made(made: &[Place]) {
    for place in made.iter().rev() {
        let _kept_when_used = rustix::fs::unlinkat(&place.parent, &*place.name, AtFlags::REMOVEDIR);
    }
}
