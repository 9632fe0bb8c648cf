//! The objects of a commit on its way, each read once and written once.
//!
//! libgit2 opens an object again for each question about it, and looks through the directory of
//! packs before it writes one; a commit of one file came to four hundred system calls. Here an object
//! is read whole, which shows too that it is, and is written beside its name and renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use git2::{ObjectType, Odb, OdbLookupFlags, Oid, Repository};

use super::{HistoryError, object};

/// Bytes that a file takes on disk at least.
const BLOCK: usize = 4096;

/// What a compressed stream begins with (RFC 1950).
const STREAM: [u8; 2] = [0x78, 0x01];

/// Bytes of a stream that holds its content as it is, beside the content: the beginning, the header
/// of one block, the checksum.
const FRAME: usize = STREAM.len() + 5 + 4;

/// Name of an object that is not whole yet, in the directory that it will be in. What a process that
/// dies leaves of it goes with the next one; git overlooks names that begin so.
const UNFINISHED: &str = "tmp_obj_new";

/// Objects that a commit reads, and those that it adds. The caller holds the writer lock of the zone.
pub(super) struct LooseObjects<'r> {
    repository: &'r Repository,
    database: Odb<'r>,
    decompress: Decompress,
    compress: Option<Compress>,
    written: u64,
}

impl<'r> LooseObjects<'r> {
    pub(super) fn new(repository: &'r Repository) -> Result<Self, HistoryError> {
        Ok(Self {
            repository,
            database: repository.odb().map_err(HistoryError::git("read"))?,
            decompress: Decompress::new(true),
            compress: None,
            written: 0,
        })
    }

    /// Bytes that the objects take at most that were added.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// The content of an object of this kind. One that is not whole is damage.
    pub(super) fn read(&mut self, id: Oid, kind: ObjectType) -> Result<Vec<u8>, HistoryError> {
        let damaged = || HistoryError::Damaged {
            object: id.to_string(),
        };
        let Ok(file) = File::open(object::file(self.repository, id)) else {
            // In a pack, or missing: libgit2 says which.
            let object = self.database.read(id).map_err(HistoryError::git("read"))?;
            let is_so = object.kind() == kind;
            return is_so.then(|| object.data().to_vec()).ok_or_else(damaged);
        };
        let stream = read_whole(file).map_err(HistoryError::repository("read"))?;
        let mut content = self.inflate(&stream).ok_or_else(damaged)?;
        let header = content.iter().position(|byte| *byte == 0);
        let header = header.ok_or_else(damaged)?;
        let size = content.len() - header - 1;
        if content[..header] != *format!("{kind} {size}").as_bytes() {
            return Err(damaged());
        }
        content.drain(..=header);
        Ok(content)
    }

    /// Adds an object, unless it is there, and names it. One that is there and damaged is written
    /// anew.
    pub(super) fn write(&mut self, kind: ObjectType, content: &[u8]) -> Result<Oid, HistoryError> {
        let id = Oid::hash_object(kind, content).map_err(HistoryError::git("write to"))?;
        // What came into a pack behind libgit2's back may be written twice.
        let is_there = self.database.exists_ext(id, OdbLookupFlags::NO_REFRESH);
        if is_there && !object::forget_damaged(self.repository, id) {
            return Ok(id);
        }
        let fail = HistoryError::repository("write to");
        let whole = [format!("{kind} {}\0", content.len()).as_bytes(), content].concat();
        let stream = self.deflate(&whole).map_err(&fail)?;
        put(&object::file(self.repository, id), &stream).map_err(&fail)?;
        self.written += (content.len() + BLOCK) as u64;
        Ok(id)
    }

    /// What a stream holds, if it is whole.
    fn inflate(&mut self, stream: &[u8]) -> Option<Vec<u8>> {
        self.decompress.reset(true);
        let mut content = Vec::with_capacity(4 * stream.len());
        loop {
            content.reserve(BLOCK);
            let (taken, given) = (self.decompress.total_in(), content.len());
            let rest = &stream[taken as usize..];
            let none = FlushDecompress::None;
            match self.decompress.decompress_vec(rest, &mut content, none) {
                Ok(Status::StreamEnd) => return Some(content),
                Ok(_) if self.decompress.total_in() > taken || content.len() > given => {}
                _ => return None,
            }
        }
    }

    /// The stream of a content. What fits into a block of the disk would take as much if it were
    /// smaller, until it is packed.
    fn deflate(&mut self, content: &[u8]) -> io::Result<Vec<u8>> {
        if content.len() + FRAME <= BLOCK {
            return Ok(stored(content));
        }
        let compress = self
            .compress
            .get_or_insert_with(|| Compress::new(Compression::fast(), true));
        compress.reset();
        let mut stream = Vec::new();
        loop {
            stream.reserve(content.len() / 2 + BLOCK);
            let rest = &content[compress.total_in() as usize..];
            let finish = FlushCompress::Finish;
            if compress.compress_vec(rest, &mut stream, finish)? == Status::StreamEnd {
                return Ok(stream);
            }
        }
    }
}

/// A stream that holds a content of less than 64 KiB as it is (RFC 1950, RFC 1951).
fn stored(content: &[u8]) -> Vec<u8> {
    const LAST: u8 = 1;
    let length = content.len() as u16;
    let mut stream = Vec::with_capacity(content.len() + FRAME);
    stream.extend(STREAM);
    stream.push(LAST);
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(content);
    stream.extend(adler32(content).to_be_bytes());
    stream
}

/// The checksum of a stream (RFC 1950) of less than 64 KiB: the sums stay below 2^48.
fn adler32(content: &[u8]) -> u32 {
    const PRIME: u64 = 65_521;
    let sums = content.iter().fold((1, 0), |(sum, sums), byte| {
        let sum = sum + u64::from(*byte);
        (sum, sums + sum)
    });
    (((sums.1 % PRIME) << 16) | (sums.0 % PRIME)) as u32
}

/// All bytes of a file. Most objects come with one system call.
fn read_whole(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 2 * BLOCK];
    let read = file.read(&mut bytes)?;
    let is_all = read < bytes.len();
    bytes.truncate(read);
    if !is_all {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Writes the file of an object, which is whole when it has its name.
fn put(name: &Path, stream: &[u8]) -> io::Result<()> {
    let beside = name.with_file_name(UNFINISHED);
    let mut file = create(&beside)?;
    let written = file.write_all(stream);
    drop(file);
    let done = written.and_then(|()| fs::rename(&beside, name));
    if done.is_err() {
        let _gone = fs::remove_file(&beside);
    }
    done
}

fn create(beside: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o444);
    match (options.open(beside), beside.parent()) {
        (Err(error), Some(directory)) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(directory)?;
            options.open(beside)
        }
        (Err(error), _) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(beside)?;
            options.open(beside)
        }
        (opened, _) => opened,
    }
}
