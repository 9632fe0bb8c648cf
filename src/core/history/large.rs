//! Large contents on their way into a repository.
//!
//! To name and to compress a large content takes seconds. Where it is there before its zone is asked
//! for the writer lock, that is done first, beside the repository ([`PreparedContent`]), and others wait
//! for one link. A content that does not become smaller is not compressed: most large
//! files are archives, pictures and films, and trying takes ten times what writing takes.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use git2::{ObjectType, Oid, Repository};

use super::{HistoryError, Result, object};
use fileshed_storage::{Entry, Staged, Staging, Stamp};

/// Bytes of a content that is prepared; less does not keep others waiting.
const LEAST: u64 = 4 * object::LARGE;

/// Bytes that are read at a time.
const PIECE: usize = 128 * 1024;

/// Bytes of a sample, and how many of them are tried, evenly apart.
const SAMPLE: usize = 64 * 1024;
const SAMPLES: u64 = 4;

/// Least gain of compression, as a fraction: a content is compressed if that saves 1/`GAIN` of it.
const GAIN: usize = 20;

/// The content of a file that need not be read again. Dropped, an object that the repository does not have is gone.
#[derive(Debug)]
pub struct PreparedContent {
    /// The state of the file that has the content.
    stamp: Stamp,
    id: Oid,
    /// The object; `None` if it came from the repository.
    object: Option<Staged>,
}

impl PreparedContent {
    /// Prepares the content of a file; returns `None` if it is too small for that. Needs no lock. Fails if
    /// the file is changed meanwhile, or if the disk fails.
    pub fn of(content: &File, staging: &Staging) -> Result<Option<Self>> {
        let stamp = Stamp::of_file(content)?;
        if !Self::is_worth_it(stamp.size()) {
            return Ok(None);
        }
        let id = identify(content)?;
        let mut object = staging.create()?;
        write(content, (stamp.size(), id), object.file())?;
        object.flush()?;
        if Stamp::of_file(content)? != stamp {
            return Err(HistoryError::Unfinished);
        }
        let object = Some(object);
        Ok(Some(Self { stamp, id, object }))
    }

    /// The content of a file to which the repository gave it.
    pub(super) fn of_repository(stamp: Stamp, id: Oid) -> Self {
        let object = None;
        Self { stamp, id, object }
    }

    /// Returns its id, if the repository has it.
    pub(super) fn id_in_repository(&self) -> Option<Oid> {
        self.object.is_none().then_some(self.id)
    }

    /// Returns `true` if a content of this size is prepared.
    #[must_use]
    pub fn is_worth_it(size: u64) -> bool {
        size >= LEAST
    }

    /// The state that the file had.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// The same content, in a copy of the file.
    #[must_use]
    pub fn in_copy(self, stamp: Stamp) -> Self {
        Self { stamp, ..self }
    }

    /// Returns `true` if a file has this content. It may have moved since.
    pub(super) fn is_of(&self, entry: &Entry) -> bool {
        self.stamp.has_content_of(&entry.stamp())
    }
}

/// Stores the content of a large file, under the writer lock: as it was prepared, or now.
pub(super) fn store(
    repository: &Repository,
    content: &File,
    prepared: Option<&PreparedContent>,
) -> Result<Oid> {
    let id = match prepared {
        Some(prepared) => prepared.id,
        // Compressing costs ten times what hashing costs: a file that only moved is not compressed.
        None => identify(content)?,
    };
    let database = repository.odb().map_err(HistoryError::git("write to"))?;
    if database.exists(id) && !object::forget_damaged(repository, id) {
        return Ok(id);
    }
    // A staging on another disk is not worth a word.
    let object = prepared.and_then(|prepared| prepared.object.as_ref());
    let is_put = object.is_some_and(|object| put(repository, id, &object.location()).is_ok());
    if !is_put {
        write_beside(repository, content, id)?;
    }
    Ok(id)
}

/// Stores an object that was not prepared. What is left of one that was begun is begun anew.
fn write_beside(repository: &Repository, content: &File, id: Oid) -> Result<()> {
    let fail = HistoryError::repository("write to");
    let beside = repository
        .path()
        .join("objects")
        .join(format!("tmp_obj_{id}"));
    let written = File::create(&beside).map_err(&fail).and_then(|mut file| {
        let size = content.metadata().map_err(&fail)?.len();
        write(content, (size, id), &mut file)?;
        // Not read again after a power cut.
        file.sync_data().map_err(&fail)?;
        put(repository, id, &beside).map_err(&fail)
    });
    let _linked_or_not_whole = fs::remove_file(&beside);
    written
}

/// Gives an object that is on disk its name.
fn put(repository: &Repository, id: Oid, made: &Path) -> io::Result<()> {
    let name = object::file(repository, id);
    if let Some(directory) = name.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::set_permissions(made, Permissions::from_mode(0o444))?;
    match fs::hard_link(made, name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

/// Writes the object of a content of this size and name. Fails where the content is another one by
/// then, or is changed meanwhile.
fn write(content: &File, (size, id): (u64, Oid), object: &mut File) -> Result<()> {
    let written = level(content, size).and_then(|level| {
        let mut object = ZlibEncoder::new(BufWriter::with_capacity(PIECE, object), level);
        write!(object, "blob {size}\0")?;
        let copied = copy(content, size, &mut object)?;
        object.finish()?.flush()?;
        Ok(copied)
    });
    let copied = written.map_err(HistoryError::repository("write to"))?;
    if copied != size || identify(content)? != id {
        return Err(HistoryError::Unfinished);
    }
    Ok(())
}

/// The id of a content. libgit2 hashes in pieces what it opens itself; the kernel's name of the handle makes that the
/// file that was resolved.
pub(super) fn identify(file: &std::fs::File) -> Result<Oid> {
    let look = || {
        let metadata = file.metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    let before = look();
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    Oid::hash_file(ObjectType::Blob, name).map_err(|error| {
        match HistoryError::git("look up")(error) {
            // It fails at a file that grows or shrinks under it.
            HistoryError::Git { .. } if look() != before => HistoryError::Unfinished,
            error => error,
        }
    })
}

/// Copies a content from its beginning, wherever the handle stands; gives the bytes that were there.
fn copy(content: &File, size: u64, to: &mut impl Write) -> io::Result<u64> {
    let mut piece = vec![0; PIECE];
    let mut done = 0;
    while done < size {
        let read = content.read_at(&mut piece, done)?;
        let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
            break;
        };
        to.write_all(read)?;
        done += read.len() as u64;
    }
    Ok(done)
}

/// Returns the level of compression for a content: the level that git uses, or none if samples of the content
/// do not become smaller.
fn level(content: &File, size: u64) -> io::Result<Compression> {
    let mut sample = vec![0; SAMPLE];
    let (mut bytes, mut compressed) = (0, 0);
    for number in 0..SAMPLES {
        let read = content.read_at(&mut sample, size / SAMPLES * number)?;
        let mut encoder = ZlibEncoder::new(Vec::with_capacity(SAMPLE), Compression::fast());
        encoder.write_all(&sample[..read])?;
        bytes += read;
        compressed += encoder.finish()?.len();
    }
    if compressed > bytes - bytes / GAIN {
        return Ok(Compression::none());
    }
    Ok(Compression::fast())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn written(content: &[u8]) -> (Oid, Vec<u8>) {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(content).expect("written");
        let mut object = tempfile::tempfile().expect("a file");
        let id = identify(&file).expect("a name");
        write(&file, (content.len() as u64, id), &mut object).expect("an object");
        let mut bytes = vec![0; object.metadata().expect("there").len() as usize];
        object.read_exact_at(&mut bytes, 0).expect("read");
        (id, bytes)
    }

    fn inflated(object: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        let mut decoder = flate2::read::ZlibDecoder::new(object);
        decoder.read_to_end(&mut content).expect("whole");
        content
    }

    /// Bytes that nothing makes smaller.
    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn an_object_says_its_size_and_holds_its_content() {
        for content in [b"a line\n".repeat(300_000), noise(2 << 20), Vec::new()] {
            let (id, object) = written(&content);
            let expected = Oid::hash_object(ObjectType::Blob, &content).expect("a name");
            assert_eq!(id, expected);
            let header = format!("blob {}\0", content.len());
            assert!(inflated(&object) == [header.as_bytes(), &content].concat());
        }
    }

    #[test]
    fn what_does_not_become_smaller_is_stored_as_it_is() {
        let (_, text) = written(&b"a line\n".repeat(300_000));
        assert!(text.len() < 100_000, "{}", text.len());
        let noise = noise(2 << 20);
        let (_, object) = written(&noise);
        let more = object.len() - noise.len();
        assert!(more < noise.len() / 1000, "{more}");
        assert!(
            object
                .windows(1000)
                .any(|window| window == &noise[70_000..71_000])
        );
        // Half of it is worth the work.
        let (_, half) = written(&[noise, vec![b'x'; 2 << 20]].concat());
        assert!(half.len() < 3 << 20, "{}", half.len());
    }
}
