//! Files of the zone as git's blobs: the bytes that are on disk, whatever attributes say. Many small ones go
//! into the repository as one pack.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use git2::{ObjectType, Odb, OdbLookupFlags, Oid, Repository};

use super::large::{self, PreparedContent};
use super::layout::OWN;
use super::pack_place::PackPlace;
use super::{HistoryError, Result, object};
use fileshed_storage::{DiskError, Entry, Kind, Root};
use fileshed_types::zone::{ZonePath, is_git_name};

/// Content and mode of a file or a link.
pub(super) type FileBlob = (Oid, i32);

/// Mode of a file that is not executable.
const FILE: i32 = 0o100_644;
const EXECUTABLE: i32 = 0o100_755;
/// Mode of a symbolic link; its blob is what it says.
pub(super) const SYMLINK: i32 = 0o120_000;
/// Mode of a directory.
pub(super) const TREE: i32 = 0o040_000;

/// The mode that git keeps of what is on disk; nothing for what git does not keep.
pub(super) fn mode_of(kind: Kind, permissions: u32) -> Option<i32> {
    match kind {
        Kind::File if permissions & 0o100 != 0 => Some(EXECUTABLE),
        Kind::File => Some(FILE),
        Kind::Symlink => Some(SYMLINK),
        Kind::Directory | Kind::Special => None,
    }
}

/// Returns `true` if git takes this name. It refuses names that some system reads as `.git`, also after a
/// backslash, and links in place of its list of submodules.
pub(super) fn is_versioned(path: &str, kind: Kind) -> bool {
    let is_git = path.split('/').any(is_git_name);
    let is_misleading = kind == Kind::Symlink && is_like_gitmodules(path);
    !is_git && !is_misleading
}

/// `.gitmodules` and its short names on NTFS, generously.
fn is_like_gitmodules(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('\\').any(|name| {
        let plain: String = name.chars().filter(char::is_ascii).collect();
        let plain = plain.to_ascii_lowercase();
        plain.starts_with(".gitmodules") || (plain.starts_with("gi") && plain.contains('~'))
    })
}

/// The id that the content has, or would have, in the repository.
pub(super) fn identify(entry: &Entry) -> Result<Oid> {
    let fail = HistoryError::git("look up");
    match read(entry)? {
        BlobContent::Small(bytes) => Oid::hash_object(ObjectType::Blob, &bytes).map_err(fail),
        BlobContent::Large(file) => large::identify(&file),
    }
}

/// Contents that one commit takes into a repository.
pub(super) struct Contents<'a> {
    repository: &'a Repository,
    /// Contents that need not be read, by the inode of the file.
    prepared: HashMap<u64, &'a PreparedContent>,
    /// Pack for small contents, if there are many.
    pack: Option<ContentPack<'a>>,
}

impl<'a> Contents<'a> {
    /// Begins with the contents of so many files. Those that are `prepared` are not read again.
    pub(super) fn new(
        repository: &'a Repository,
        parent: &Root,
        prepared: &'a [PreparedContent],
        files: usize,
    ) -> Result<Self> {
        let mut pack = None;
        if files >= MANY {
            pack = ContentPack::new(repository, parent)?;
        }
        let prepared = prepared.iter();
        Ok(Self {
            repository,
            prepared: prepared.map(|one| (one.stamp().inode(), one)).collect(),
            pack,
        })
    }

    /// Stores the content of a file or a link, and returns its id.
    pub(super) fn store(&mut self, entry: &Entry) -> Result<Oid> {
        let prepared = self.prepared.get(&entry.stamp().inode()).copied();
        let prepared = prepared.filter(|prepared| prepared.is_of(entry));
        if let Some(id) = prepared.and_then(PreparedContent::id_in_repository) {
            return Ok(id);
        }
        match (read(entry)?, &mut self.pack) {
            (BlobContent::Small(bytes), Some(pack)) => pack.add(&bytes),
            (BlobContent::Small(bytes), None) => {
                object::write(self.repository, ObjectType::Blob, &bytes)
            }
            (BlobContent::Large(file), _) => large::store(self.repository, &file, prepared),
        }
    }

    /// Puts everything that was stored into the repository.
    pub(super) fn finish(self) -> Result<()> {
        self.pack.map_or(Ok(()), |mut pack| pack.finish())
    }
}

/// Number of files of one commit that are worth a pack, which is flushed twice; fewer are written
/// sooner one by one.
pub(super) const MANY: usize = 256;

/// Directory in the server's own part of the repository in which such packs are made.
const WORK: &str = "contents";

/// Bytes of contents in memory after which a pack is written.
const LARGEST: usize = 32 * 1024 * 1024;

/// Removes what was left of a pack by a process that died. The caller holds the writer lock.
pub(super) fn clear_packs(parent: &Root, repository: &Path) -> Result<()> {
    if repository.join(OWN).join(WORK).exists()
        && let Some(place) = PackPlace::open(parent, WORK)?
    {
        place.clear()?;
    }
    Ok(())
}

/// Contents in memory that become a pack of a repository.
///
/// To make thousands of names takes longer than to write what they stand for, and the packer would take
/// them away again. A content names no other object, so a pack of contents may count as soon as it is on
/// disk itself.
struct ContentPack<'r> {
    repository: &'r Repository,
    place: PackPlace,
    memory: Repository,
    ids: HashSet<Oid>,
    bytes: usize,
}

impl<'r> ContentPack<'r> {
    /// Begins a pack for the repository in `parent`. The caller holds the writer lock of the zone.
    fn new(repository: &'r Repository, parent: &Root) -> Result<Option<Self>> {
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
    fn add(&mut self, content: &[u8]) -> Result<Oid> {
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
    fn finish(&mut self) -> Result<()> {
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

enum BlobContent {
    Small(Vec<u8>),
    Large(std::fs::File),
}

fn read(entry: &Entry) -> Result<BlobContent, DiskError> {
    match entry.kind() {
        Kind::Symlink => Ok(BlobContent::Small(entry.link_target()?)),
        _ if entry.size() < object::LARGE => Ok(BlobContent::Small(entry.content()?)),
        _ => Ok(BlobContent::Large(entry.open()?)),
    }
}

/// A path that was found on disk.
pub(super) fn zone_path(path: &str) -> ZonePath {
    ZonePath::found(path.to_owned())
}
