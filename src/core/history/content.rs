//! Files of the zone as git's blobs: the bytes that are on disk, whatever attributes say.

use git2::{ObjectType, Oid, Repository};

use super::content_pack::{ContentPack, MANY};
use super::large::{self, PreparedContent};
use super::{HistoryError, object};
use fileshed_storage::{DiskError, Entry, Kind, Root};
use fileshed_types::zone::{ZonePath, is_git_name};

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

/// Whether git takes this name. It refuses what some system reads as `.git`, also after a
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
pub(super) fn identify(entry: &Entry) -> Result<Oid, HistoryError> {
    let fail = HistoryError::git("look up");
    match read(entry)? {
        BlobContent::Small(bytes) => Oid::hash_object(ObjectType::Blob, &bytes).map_err(fail),
        BlobContent::Large(file) => large::identify(&file),
    }
}

/// Contents that one commit takes into a repository.
pub(super) struct Contents<'a> {
    repository: &'a Repository,
    prepared: &'a [PreparedContent],
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
    ) -> Result<Self, HistoryError> {
        let mut pack = None;
        if files >= MANY {
            pack = ContentPack::new(repository, parent)?;
        }
        Ok(Self {
            repository,
            prepared,
            pack,
        })
    }

    /// Stores the content of a file or a link, and returns its id.
    pub(super) fn store(&mut self, entry: &Entry) -> Result<Oid, HistoryError> {
        match (read(entry)?, &mut self.pack) {
            (BlobContent::Small(bytes), Some(pack)) => pack.add(&bytes),
            (BlobContent::Small(bytes), None) => {
                object::write(self.repository, ObjectType::Blob, &bytes)
            }
            (BlobContent::Large(file), _) => {
                large::store(self.repository, entry, &file, self.prepared)
            }
        }
    }

    /// Puts everything that was stored into the repository.
    pub(super) fn finish(self) -> Result<(), HistoryError> {
        self.pack.map_or(Ok(()), |mut pack| pack.finish())
    }
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
