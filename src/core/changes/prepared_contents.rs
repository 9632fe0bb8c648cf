//! Large contents on their way into a zone with a history, made ready for it before the zone's writer
//! lock is taken, so that nobody waits while they are named and compressed.

use std::fs::File;

use fileshed_history::PreparedContent;
use fileshed_storage::{DiskError, Entry, Kind, Root, StagedEntry, Staging};
use fileshed_zones::zone::{Zone, ZonePath};

/// Prepares the content of a file that nobody else changes for the history of `zone`. Returns `None` if the
/// file is small or the zone has no history. Content that cannot be prepared is taken in under the lock,
/// where the failure is reported.
#[must_use]
pub fn prepare(zone: &Zone<'_>, file: &File) -> Option<PreparedContent> {
    if !zone.name.is_versioned() {
        return None;
    }
    let staging = zone.store.staging(&zone.tenant).ok()?;
    PreparedContent::of(file, &staging).ok()?
}

/// The large files of an entry, each with its path below it.
#[derive(Debug, Default)]
pub(crate) struct PreparedContents(Vec<(ZonePath, PreparedContent)>);

impl PreparedContents {
    /// Prepares the files of an entry below `data` for the history of `zone`.
    pub(crate) fn of(zone: &Zone<'_>, data: &Root, entry: &Entry) -> Self {
        let mut prepared = Self::default();
        match entry.kind() {
            Kind::File => prepared.add(zone, ZonePath::root(), Ok(entry)),
            Kind::Directory if zone.name.is_versioned() => {
                let _fails_under_the_lock = data.walk(entry.path(), |found| {
                    if found.kind == Kind::File && PreparedContent::is_worth_it(found.size()) {
                        let inside = ZonePath::found(found.path.below(entry.path()).to_owned());
                        prepared.add(zone, inside, data.entry_as_named(&found.path).as_ref());
                    }
                    Ok(true)
                });
            }
            _ => {}
        }
        prepared
    }

    fn add(&mut self, zone: &Zone<'_>, inside: ZonePath, entry: Result<&Entry, &DiskError>) {
        let file = entry.ok().and_then(|entry| entry.open().ok());
        let content = file.and_then(|file| prepare(zone, &file));
        self.0.extend(content.map(|content| (inside, content)));
    }

    /// Those of files that are as they were, under the lock of the zone that has them.
    pub(crate) fn unchanged(mut self, data: &Root, entry: &Entry) -> Self {
        self.0.retain(|(inside, content)| {
            let there = data.entry_as_named(&entry.path().join_path(inside));
            there.is_ok_and(|there| there.stamp() == content.stamp())
        });
        self
    }

    /// Copies the entry below `data` without the entries that `skip` names. Returns the copy and the contents
    /// of its files.
    pub(crate) fn copy(
        self,
        staging: &Staging,
        data: &Root,
        entry: &Entry,
        skip: impl Fn(&ZonePath) -> bool,
    ) -> Result<(StagedEntry, Vec<PreparedContent>), DiskError> {
        let copy = staging.copy_tree(data, entry, skip)?;
        let contents = self.0.into_iter();
        let contents = contents
            .map(|(inside, content)| Ok(content.in_copy(copy.stamp(&inside)?)))
            .collect::<Result<_, DiskError>>()?;
        Ok((copy, contents))
    }

    /// The same contents, where the entry itself moves.
    pub(crate) fn moved(self) -> Vec<PreparedContent> {
        self.0.into_iter().map(|(_, content)| content).collect()
    }
}
