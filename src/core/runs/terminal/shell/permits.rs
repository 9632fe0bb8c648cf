//! The right of a shell to change zones, given anew each time that its changes were committed.
//!
//! The changes of a line are not known before, so files that a locked edit holds are kept aside while it
//! runs, and its changes to them are undone. An edit that was saved or dropped meanwhile holds its file no
//! more, and the file stays as it is then.

use super::{Entered, SHELL};
use crate::command::NamesBefore;
use fileshed_changes::open_ended::{self, LINE, OpenEndedPermit, OpenEndedRequest};
use fileshed_registry::Lock;
use fileshed_rules::Growth;
use fileshed_storage::{Entry, Staged, Stamp};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// The permits of one shell, one for each zone that it may change.
pub(super) struct Permits<'a> {
    message: String,
    zones: Vec<&'a Zone<'a>>,
    /// The names in each zone before the shell began.
    names: Vec<NamesBefore<'a>>,
    /// One for each zone; none between a commit and the next request.
    held: Vec<(OpenEndedPermit<'a>, Vec<LockedFile>)>,
}

/// A file that a locked edit holds, as it was.
struct LockedFile {
    path: ZonePath,
    /// Tells this edit from a later one of the same file.
    working_copy: String,
    /// State and first bytes.
    state: (Stamp, Vec<u8>),
    content: Staged,
}

impl<'a> Permits<'a> {
    /// Asks for the right to change these zones.
    pub(super) fn begin(zones: Vec<&'a Zone<'a>>, message: String) -> Result<Self, Error> {
        let names = zones.iter().map(|&zone| NamesBefore::of(zone));
        let mut permits = Self {
            message,
            names: names.collect::<Result<_, _>>()?,
            zones,
            held: Vec::new(),
        };
        permits.ask()?;
        Ok(permits)
    }

    /// Asks for each zone for the right to change it.
    pub(super) fn ask(&mut self) -> Result<(), Error> {
        let locked = self.zones.iter().map(|zone| locked_files(zone));
        let locked = locked.collect::<Result<Vec<_>, Error>>()?;
        let request = OpenEndedRequest {
            operation: LINE,
            command: SHELL,
            growth: Growth::Either,
            message: self.message.clone(),
        };
        let permits = open_ended::begin_together(&self.zones, &request)?;
        self.held = permits.into_iter().zip(locked).collect();
        Ok(())
    }

    /// Returns `true` if a zone holds more than it may.
    pub(super) fn is_over(&self) -> bool {
        let mut limits = self
            .held
            .iter()
            .filter_map(|(permit, _)| permit.must_stop());
        limits.any(|must_stop| must_stop())
    }

    /// Takes the write locks to commit; fails, and takes none, if another change has one.
    pub(super) fn hold_now(&mut self) -> Result<(), Error> {
        let mut permits = self.held.iter_mut();
        let all = permits.try_for_each(|(permit, _)| permit.hold_now());
        if all.is_err() {
            self.held
                .iter_mut()
                .for_each(|(permit, _)| permit.release());
        }
        all
    }

    /// Commits what was changed. If the shell is over, this waits for a command to end, and names that
    /// some system cannot hold get others: a shell that goes on finds its files under their names.
    pub(super) fn enter(&mut self, is_over: bool) -> Result<Entered, Error> {
        let mut entered: Entered = (None, Vec::new());
        let mut failed = None;
        // One zone that fails does not keep the others from being entered.
        for ((permit, locked), names) in self.held.drain(..).zip(&self.names) {
            match enter(permit, locked, names, is_over) {
                Ok((refused, remarks)) => {
                    entered.0 = entered.0.or(refused);
                    entered.1.extend(remarks);
                }
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(entered), Err)
    }
}

/// Commits what was changed in one zone.
fn enter(
    mut permit: OpenEndedPermit<'_>,
    locked: Vec<LockedFile>,
    names: &NamesBefore<'_>,
    is_over: bool,
) -> Result<Entered, Error> {
    permit.hold_at_end()?;
    let put_right = names.put_right(&permit, is_over);
    let undone = put_back(names.zone, locked, &permit);
    let refused = permit.finish()?.refused;
    let (put_right, undone) = (put_right?, undone?);
    let removed = put_right.removed.iter().map(|path| {
        format!("fileshed: `{path}` was removed: this name is reserved for the server")
    });
    let renamed = put_right.renamed.iter();
    let renamed = renamed.map(|renamed| format!("fileshed: {renamed}"));
    let undone = undone.iter().map(|path| {
        format!("fileshed: `{path}` is open for a locked edit: its changes were undone")
    });
    Ok((refused, removed.chain(renamed).chain(undone).collect()))
}

/// Keeps the files aside that a locked edit holds.
fn locked_files(zone: &Zone<'_>) -> Result<Vec<LockedFile>, Error> {
    let since = zone.store.locks_expired_before();
    let mut files = Vec::new();
    for lock in locks(zone)? {
        let path = ZonePath::found(lock.path);
        // A file that is not there is for the locked edit to notice.
        if lock.opened_at > since
            && let Ok(entry) = zone.data.entry(&path)
            && let Ok(state) = entry.state_and_beginning()
        {
            let content = zone.store.staging(&zone.tenant)?.copy(entry.open()?)?;
            files.push(LockedFile {
                path,
                working_copy: lock.working_copy,
                state,
                content,
            });
        }
    }
    Ok(files)
}

/// Puts back files that changed and that the same edit still holds; returns their paths. The permit
/// has the write lock, so nobody saves an edit between the look at it and the change.
fn put_back(
    zone: &Zone<'_>,
    files: Vec<LockedFile>,
    permit: &OpenEndedPermit<'_>,
) -> Result<Vec<ZonePath>, Error> {
    let mut undone = Vec::new();
    if files.is_empty() {
        return Ok(undone);
    }
    let held = locks(zone)?;
    for file in files {
        let is_held = |lock: &Lock| lock.working_copy == file.working_copy;
        let now = zone.data.entry(&file.path);
        let now = now.and_then(|entry| Entry::state_and_beginning(&entry));
        if !held.iter().any(is_held) || now.is_ok_and(|now| now == file.state) {
            continue;
        }
        permit.install(file.content, zone.target("command", &file.path)?)?;
        undone.push(file.path);
    }
    Ok(undone)
}

/// The locks of a zone as they are now.
fn locks(zone: &Zone<'_>) -> Result<Vec<Lock>, Error> {
    let registry = &zone.store.registry;
    Ok(registry.locks(&zone.tenant.key, zone.name.as_str())?)
}
