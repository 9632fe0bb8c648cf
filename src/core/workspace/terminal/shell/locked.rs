//! Files that a locked edit holds. Nobody knows what a line will change, so they are kept aside while
//! it runs, and what it did to them is undone. An edit that was saved or dropped meanwhile holds
//! nothing any more: what is there then is its own.

use crate::Error;
use crate::guard::OpenEndedPermit;
use crate::zone::{Zone, ZonePath};
use fileshed_registry::Lock;
use fileshed_storage::{Entry, Staged, Stamp};

/// The locked files of one zone, as they were.
pub(super) struct LockedFiles<'a> {
    zone: &'a Zone<'a>,
    files: Vec<LockedFile>,
}

struct LockedFile {
    path: ZonePath,
    /// Tells this edit from a later one of the same file.
    working_copy: String,
    /// State and first bytes, as they were.
    state: (Stamp, Vec<u8>),
    content: Staged,
}

impl<'a> LockedFiles<'a> {
    pub(super) fn before(zone: &'a Zone<'a>) -> Result<Self, Error> {
        let store = zone.store;
        let since = store.locks_expired_before();
        let mut files = Vec::new();
        for lock in locks(zone)?
            .into_iter()
            .filter(|lock| lock.opened_at > since)
        {
            let path = ZonePath::found(lock.path);
            // What is not there is for the locked edit to notice.
            if let Ok(entry) = zone.data().entry(&path)
                && let Ok(state) = entry.state_and_beginning()
            {
                let content = store.staging(&zone.tenant)?.copy(entry.open()?)?;
                files.push(LockedFile {
                    path,
                    working_copy: lock.working_copy,
                    state,
                    content,
                });
            }
        }
        Ok(Self { zone, files })
    }

    /// Puts back what changed; gives the paths. The permit has the write lock, so nobody saves an edit
    /// between the look at it and what is put back.
    pub(super) fn put_back(self, permit: &OpenEndedPermit<'_>) -> Result<Vec<String>, Error> {
        let mut undone = Vec::new();
        if self.files.is_empty() {
            return Ok(undone);
        }
        let held = locks(self.zone)?;
        let is_held = |file: &LockedFile| {
            let mut held = held.iter();
            held.any(|lock| lock.working_copy == file.working_copy)
        };
        for file in self.files.into_iter().filter(is_held) {
            let now = self.zone.data().entry(&file.path);
            let now = now.and_then(|entry| Entry::state_and_beginning(&entry));
            if now.is_ok_and(|now| now == file.state) {
                continue;
            }
            let target = self.zone.target("command", &file.path)?;
            permit.install(file.content, target)?;
            undone.push(file.path.as_str().to_owned());
        }
        Ok(undone)
    }
}

/// The locks of a zone as they are now.
fn locks(zone: &Zone<'_>) -> Result<Vec<Lock>, Error> {
    let registry = zone.store.registry();
    Ok(registry.locks(&zone.tenant.key, zone.name().as_str())?)
}
