//! Many small contents on their way into a repository: one pack instead of a file for each.
//!
//! To make thousands of names takes longer than to write what they stand for, and the packer would
//! take them away again. A content names no other object, so a pack of contents may count as soon as
//! it is on disk itself.

use std::collections::HashSet;
use std::path::Path;

use git2::{ObjectType, Odb, OdbLookupFlags, Oid, Repository};

use super::layout::OWN;
use super::pack_place::PackPlace;
use super::{HistoryError, object};
use fileshed_storage::Root;

/// Number of files of one commit that are worth a pack, which is flushed twice; fewer are written
/// sooner one by one.
pub(super) const MANY: usize = 256;

/// Directory in the server's own part of the repository in which such packs are made.
const WORK: &str = "contents";

/// Bytes of contents in memory after which a pack is written.
const LARGEST: usize = 32 * 1024 * 1024;

/// Removes what was left of a pack by a process that died. The caller holds the writer lock.
pub(super) fn clear(parent: &Root, repository: &Path) -> Result<(), HistoryError> {
    if repository.join(OWN).join(WORK).exists()
        && let Some(place) = PackPlace::open(parent, WORK)?
    {
        place.clear()?;
    }
    Ok(())
}

/// Contents in memory that become a pack of a repository.
pub(super) struct ContentPack<'r> {
    repository: &'r Repository,
    place: PackPlace,
    memory: Repository,
    ids: HashSet<Oid>,
    bytes: usize,
}

impl<'r> ContentPack<'r> {
    /// Begins a pack for the repository in `parent`. The caller holds the writer lock of the zone.
    pub(super) fn new(
        repository: &'r Repository,
        parent: &Root,
    ) -> Result<Option<Self>, HistoryError> {
        let Some(place) = PackPlace::open(parent, WORK)? else {
            return Ok(None);
        };
        place.clear()?;
        Ok(Some(Self {
            repository,
            place,
            memory: memory().map_err(HistoryError::git("write to"))?,
            ids: HashSet::new(),
            bytes: 0,
        }))
    }

    /// Adds a content, unless the repository has it, and returns its id. It is in the repository when
    /// the pack is finished.
    pub(super) fn add(&mut self, content: &[u8]) -> Result<Oid, HistoryError> {
        let fail = HistoryError::git("write to");
        let id = Oid::hash_object(ObjectType::Blob, content).map_err(&fail)?;
        let database = self.repository.odb().map_err(&fail)?;
        let has = database.exists_ext(id, OdbLookupFlags::NO_REFRESH);
        if self.ids.contains(&id) || (has && !object::forget_damaged(self.repository, id)) {
            return Ok(id);
        }
        self.memory
            .odb()
            .and_then(|memory| memory.write(ObjectType::Blob, content))
            .map_err(fail)?;
        self.ids.insert(id);
        self.bytes += content.len();
        if self.bytes >= LARGEST {
            self.finish()?;
        }
        Ok(id)
    }

    /// Puts everything that was added into the repository, on disk before it counts.
    pub(super) fn finish(&mut self) -> Result<(), HistoryError> {
        if self.ids.is_empty() {
            return Ok(());
        }
        let fail = HistoryError::git("write to");
        let mut builder = self.memory.packbuilder().map_err(&fail)?;
        for id in self.ids.drain() {
            builder.insert_object(id, None).map_err(&fail)?;
        }
        if let Some(name) = self.place.write(&mut builder, &|| true)? {
            self.place.install(&name)?;
        }
        drop(builder);
        self.memory = memory().map_err(fail)?;
        self.bytes = 0;
        Ok(())
    }
}

/// Returns an empty repository in memory.
fn memory() -> Result<Repository, git2::Error> {
    let database = Odb::new()?;
    database.add_new_mempack_backend(1)?;
    Repository::from_odb(database)
}
