//! Many small contents on their way into a repository: one pack instead of a file for each.
//!
//! To make thousands of names takes longer than to write what they stand for, and the packer would
//! take them away again. So where a commit brings many files, what is new of their contents is
//! compressed one after the other and written as a pack with its index. A content names no other
//! object, so a pack of contents may count as soon as it is on disk itself.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::ops::Range;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use git2::{ObjectType, Odb, OdbLookupFlags, Oid, Repository};
use sha1::{Digest as _, Sha1};

use super::layout::OWN;
use super::pack_index::{Indexed, index};
use super::{HistoryError, object};
use fileshed_storage::{ContentState, Stamp};

/// So many files are worth a pack, which is flushed twice; fewer are written sooner one by one.
pub(super) const MANY: usize = 256;

/// Bytes of a pack, which is made in memory, after which another one is begun.
const LARGEST: usize = 32 * 1024 * 1024;

/// What a pack begins with: its name, version 2, and the number of its objects, which follows.
const HEADER: [u8; 12] = *b"PACK\0\0\0\x02\0\0\0\0";

/// Kind of a content in a pack (gitformat-pack).
const BLOB: u8 = 3;

/// A content may be so much larger than what is reserved for it first.
const SPARE: usize = 64;

/// So many contents wait to be compressed before others have to wait with them.
const WAITING: usize = 256;

/// Contents as a pack has them, one behind the other.
struct Encoder {
    compress: Compress,
    bytes: Vec<u8>,
}

impl Encoder {
    fn new(beginning: &[u8]) -> Self {
        Self {
            compress: Compress::new(Compression::fast(), true),
            bytes: beginning.to_vec(),
        }
    }

    /// Adds a content, and says what its bytes sum up to (CRC-32).
    fn push(&mut self, content: &[u8]) -> io::Result<u32> {
        let start = self.bytes.len();
        let mut size = content.len();
        let mut byte = BLOB << 4 | (size & 0xf) as u8;
        size >>= 4;
        while size > 0 {
            self.bytes.push(byte | 0x80);
            byte = (size & 0x7f) as u8;
            size >>= 7;
        }
        self.bytes.push(byte);
        self.compress.reset();
        loop {
            self.bytes.reserve(content.len() / 2 + SPARE);
            let rest = &content[self.compress.total_in() as usize..];
            let finish = FlushCompress::Finish;
            if self.compress.compress_vec(rest, &mut self.bytes, finish)? == Status::StreamEnd {
                break;
            }
        }
        let mut crc = Crc::new();
        crc.update(&self.bytes[start..]);
        Ok(crc.sum())
    }
}

fn name(content: &[u8]) -> Result<Oid, HistoryError> {
    Oid::hash_object(ObjectType::Blob, content).map_err(HistoryError::git("write to"))
}

/// Small contents of files that nobody changes, named and compressed before a repository has them.
#[derive(Default)]
pub struct SmallContents {
    bytes: Vec<u8>,
    files: HashMap<ContentState, Ready>,
}

/// A content that is ready.
struct Ready {
    id: Oid,
    crc: u32,
    range: Range<usize>,
}

impl std::fmt::Debug for SmallContents {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("SmallContents")
            .field(&self.files.len())
            .finish()
    }
}

impl SmallContents {
    /// Makes ready what `work` comes by, with the states of the files that have it, on a thread
    /// beside it.
    pub fn beside<T>(work: impl FnOnce(&mut dyn FnMut(Vec<u8>, Stamp)) -> T) -> (T, Self) {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(WAITING);
            let thread = scope.spawn(move || Self::of(receiver.into_iter()));
            // Where nobody takes it any more, the commit reads it.
            let done = work(&mut |content, stamp| drop(sender.send((content, stamp))));
            drop(sender);
            (done, thread.join().unwrap_or_default())
        })
    }

    /// As many of these contents as one pack takes. What fails is taken in by the commit, which
    /// tells why.
    fn of(contents: impl Iterator<Item = (Vec<u8>, Stamp)>) -> Self {
        let mut encoder = Encoder::new(&[]);
        let mut files = HashMap::new();
        for (content, stamp) in contents {
            let start = encoder.bytes.len();
            let (Ok(id), Ok(crc)) = (name(&content), encoder.push(&content)) else {
                break;
            };
            let range = start..encoder.bytes.len();
            files.insert(stamp.content(), Ready { id, crc, range });
            if encoder.bytes.len() >= LARGEST {
                break;
            }
        }
        Self {
            bytes: encoder.bytes,
            files,
        }
    }
}

/// Contents that become a pack of a repository. What of them the repository has is left out.
pub(super) struct ContentPack<'r> {
    repository: &'r Repository,
    database: Odb<'r>,
    encoder: Encoder,
    objects: BTreeMap<Oid, Indexed>,
}

impl<'r> ContentPack<'r> {
    /// A pack of nothing yet. The caller holds the writer lock of the zone.
    pub(super) fn new(repository: &'r Repository) -> Result<Self, HistoryError> {
        Ok(Self {
            repository,
            database: repository.odb().map_err(HistoryError::git("write to"))?,
            encoder: Encoder::new(&HEADER),
            objects: BTreeMap::new(),
        })
    }

    /// Adds a content, and names it. It is in the repository when the pack is finished.
    pub(super) fn add(&mut self, content: &[u8]) -> Result<Oid, HistoryError> {
        let id = name(content)?;
        if self.lacks(id) {
            let offset = self.encoder.bytes.len();
            let crc = self.encoder.push(content);
            let crc = crc.map_err(HistoryError::repository("write to"))?;
            self.put(id, Indexed { crc, offset })?;
        }
        Ok(id)
    }

    /// Adds the content of a file in this state, if it is ready, and names it.
    pub(super) fn add_ready(
        &mut self,
        contents: &SmallContents,
        stamp: Stamp,
    ) -> Result<Option<Oid>, HistoryError> {
        let Some(ready) = contents.files.get(&stamp.content()) else {
            return Ok(None);
        };
        if self.lacks(ready.id) {
            let (crc, offset) = (ready.crc, self.encoder.bytes.len());
            let bytes = &contents.bytes[ready.range.clone()];
            self.encoder.bytes.extend_from_slice(bytes);
            self.put(ready.id, Indexed { crc, offset })?;
        }
        Ok(Some(ready.id))
    }

    /// Whether neither this pack nor the repository has an object, whole. What came into it behind
    /// libgit2's back may be written twice.
    fn lacks(&self, id: Oid) -> bool {
        let is_there = || {
            let has = self.database.exists_ext(id, OdbLookupFlags::NO_REFRESH);
            has && !object::forget_damaged(self.repository, id)
        };
        !self.objects.contains_key(&id) && !is_there()
    }

    fn put(&mut self, id: Oid, place: Indexed) -> Result<(), HistoryError> {
        self.objects.insert(id, place);
        if self.encoder.bytes.len() >= LARGEST {
            self.finish()?;
        }
        Ok(())
    }

    /// Puts what was added into the repository, on disk before it counts.
    pub(super) fn finish(&mut self) -> Result<(), HistoryError> {
        if self.objects.is_empty() {
            return Ok(());
        }
        let mut pack = std::mem::replace(&mut self.encoder.bytes, HEADER.to_vec());
        let objects = std::mem::take(&mut self.objects);
        pack[8..HEADER.len()].copy_from_slice(&(objects.len() as u32).to_be_bytes());
        let checksum: [u8; 20] = Sha1::digest(&pack).into();
        pack.extend(checksum);
        let index = index(&objects, checksum);
        let files = Files::of(self.repository.path());
        files
            .write(&pack, &index)
            .and_then(|()| files.install())
            .map_err(HistoryError::repository("write to"))
    }
}

/// Removes what was left of a pack by a process that died. The caller holds the writer lock.
pub(super) fn clear(repository: &Path) -> io::Result<()> {
    Files::of(repository).clear()
}

/// Where a pack of contents is made: one at a time, under the writer lock.
struct Files {
    pack: PathBuf,
    index: PathBuf,
    packs: PathBuf,
}

impl Files {
    fn of(repository: &Path) -> Self {
        let own = repository.join(OWN);
        Self {
            pack: own.join("contents.pack"),
            index: own.join("contents.idx"),
            packs: repository.join("objects/pack"),
        }
    }

    /// Writes both files, on disk.
    fn write(&self, pack: &[u8], index: &[u8]) -> io::Result<()> {
        self.clear()?;
        for (at, bytes) in [(&self.pack, pack), (&self.index, index)] {
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o444).open(at)?;
            file.write_all(bytes)?;
            file.sync_data()?;
        }
        Ok(())
    }

    /// Gives them their names. The pack counts from the moment that its index is there; until then
    /// its first name shows that it is not finished.
    fn install(&self) -> io::Result<()> {
        fs::create_dir_all(&self.packs)?;
        let (pack, index) = self.named()?;
        match fs::hard_link(&self.pack, &pack) {
            // Its objects were not found in it: it has lost its index, or is damaged.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                fs::remove_file(&pack)?;
                fs::hard_link(&self.pack, &pack)?;
            }
            linked => linked?,
        }
        fs::rename(&self.index, index)?;
        fs::remove_file(&self.pack)
    }

    /// The names that they get: git calls a pack by its checksum, with which it ends.
    fn named(&self) -> io::Result<(PathBuf, PathBuf)> {
        use std::os::unix::fs::FileExt as _;
        let file = File::open(&self.pack)?;
        let mut checksum = [0; 20];
        let end = file.metadata()?.len().saturating_sub(20);
        file.read_exact_at(&mut checksum, end)?;
        let name = Oid::from_bytes(&checksum).map_err(io::Error::other)?;
        let file = |part| self.packs.join(format!("pack-{name}.{part}"));
        Ok((file("pack"), file("idx")))
    }

    /// Removes both, and the name of a pack that has no index.
    fn clear(&self) -> io::Result<()> {
        if let Ok(left) = fs::metadata(&self.pack) {
            if let Ok((pack, index)) = self.named()
                && fs::metadata(&pack).is_ok_and(|there| there.ino() == left.ino())
                && !index.exists()
            {
                fs::remove_file(pack)?;
            }
            fs::remove_file(&self.pack)?;
        }
        match fs::remove_file(&self.index) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
