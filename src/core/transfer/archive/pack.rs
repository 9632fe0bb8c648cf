//! Packing: a file or a directory of a zone becomes an archive, written front to back.
//!
//! Small files are compressed in batches, a batch a thread; each batch is an archive of its own
//! in memory whose entries have complete headers, and is copied behind the one before. A large
//! file goes through in pieces, with its sizes behind it. Nothing is ever changed that was
//! written, so the same code fills a file and a connection.
//!
//! Each file is opened once and read up to the size that it had then: what others do meanwhile
//! changes what the archive holds and never that it is one.

use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Cursor, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use zip::write::{FileOptions, FullFileOptions};
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::name::written_name;
use super::sink::{ArchiveWriter, Trouble};
use super::{ArchiveError, side_by_side, threads, timestamp};
use fileshed_changes::SizeError;
use fileshed_storage::{Directory, DiskError, Entry, Kind, Staged, WalkEntry};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath, is_git_name, is_reserved};

/// Files of one batch. Each may keep a directory open.
const BATCH_FILES: usize = 64;

/// Bytes of the files of one batch; a file that is larger is not batched.
const BATCH_BYTES: u64 = 1024 * 1024;

/// Bytes of a large file that are read at once.
const PIECE: usize = 128 * 1024;

/// A file of more bytes gets 64-bit sizes: Deflate may make it a little longer.
const ZIP64: u64 = (u32::MAX - (16 << 20)) as u64;

/// Names that an answer lists of what was left out.
const NAMED: usize = 50;

/// Contents of an archive that is to be packed: an entry of a zone, and all files below it.
///
/// Left out are symbolic links and special files, what is kept for the server, and repositories
/// (`.git`). Names begin with the entry's own name, unless it is called something else; those below
/// the root of a zone stand as they are.
#[derive(Debug)]
pub struct PackContent<'a> {
    /// The zone that holds the entry.
    pub zone: &'a Zone<'a>,
    /// The entry.
    pub entry: &'a Entry,
    /// Another name for the entry in the archive, which may have several segments.
    pub name: Option<String>,
    /// `true` if directories that have nothing in them get an entry.
    pub empty_directories: bool,
    /// A path that is left out: the archive itself, if it lies in what it packs.
    pub without: Option<&'a ZonePath>,
}

/// Contents of a packed archive.
#[derive(Debug, Default)]
pub struct Packed {
    /// Files.
    pub files: u64,
    /// Directories with nothing in them.
    pub empty_directories: u64,
    /// The first links and special files that were left out.
    pub skipped: Vec<String>,
}

impl<'a> PackContent<'a> {
    /// Everything at and below `entry`, with empty directories.
    pub fn of(zone: &'a Zone<'a>, entry: &'a Entry) -> Self {
        Self {
            zone,
            entry,
            name: None,
            empty_directories: true,
            without: None,
        }
    }

    /// Packs into a file that waits to be installed as `archive`.
    pub fn stage(&self, archive: &ZonePath) -> Result<(Staged, Packed), Error> {
        let mut staged = self.zone.stage(&[])?;
        let limit = self.zone.store.settings.largest_file();
        let contents = std::slice::from_ref(self);
        let sink = BufWriter::new(staged.file());
        let packed = Self::pack_all(contents, archive, sink, Some(limit))?;
        Ok((staged, packed))
    }

    /// Packs several entries, which may lie in different zones, into one archive. Each must have a
    /// name of its own. The writer is never read nor wound back; after an error the output is no archive.
    pub fn stream(contents: &[Self], sink: impl Write) -> Result<Packed, Error> {
        Self::pack_all(contents, &ZonePath::root(), sink, None)
    }

    fn pack_all(
        contents: &[Self],
        archive: &ZonePath,
        sink: impl Write,
        limit: Option<u64>,
    ) -> Result<Packed, Error> {
        let mut packer = Packer {
            writer: ArchiveWriter::new(sink, limit),
            archive,
            limit: limit.unwrap_or(u64::MAX),
            round: Vec::new(),
            batch: Batch::default(),
            packed: Packed::default(),
        };
        let filled = contents
            .iter()
            .try_for_each(|content| content.fill(&mut packer));
        match filled.and_then(|()| packer.end_round()) {
            Ok(()) => packer.finish(),
            Err(error) => {
                packer.writer.abandon();
                Err(error)
            }
        }
    }

    fn fill(&self, packer: &mut Packer<'_, impl Write>) -> Result<(), Error> {
        let data = &self.zone.data;
        let path = self.entry.path();
        let above = path.parent().unwrap_or_else(ZonePath::root);
        let skip = match (&self.name, above.as_str()) {
            (Some(_), _) => path.as_str().len(),
            (None, "") => 0,
            (None, above) => above.len() + 1,
        };
        let prefix = match &self.name {
            Some(name) if path.is_root() => format!("{name}/"),
            Some(name) => name.clone(),
            None => String::new(),
        };
        let name_of =
            |path: &ZonePath| written_name(&format!("{prefix}{}", &path.as_str()[skip..]));
        if self.entry.kind() != Kind::Directory {
            self.entry.expect_file()?;
            let source = FileSource {
                directory: Arc::new(data.hold(&above)?),
                path: path.clone(),
                name: name_of(path),
            };
            return packer.add(PackSource::File(source), self.entry.size());
        }
        let mut pending = vec![path.clone()];
        while let Some(path) = pending.pop() {
            let directory = match data.hold(&path) {
                Ok(directory) => Arc::new(directory),
                // Nested deeper than a path can say, or gone since it was seen.
                Err(error) if error.is_gone() => continue,
                Err(DiskError::TooDeep { path }) => {
                    packer.packed.skip(&path);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if *directory.path() != path {
                // A link took its place since it was seen.
                packer.packed.skip(&path);
                continue;
            }
            let mut found = directory.list()?;
            found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
            found.retain(|found| self.takes(found, &mut packer.packed));
            let name = name_of(&path);
            if found.is_empty() && self.empty_directories && !name.is_empty() {
                let changed = directory.changed()?;
                packer.add(PackSource::Directory { name, changed }, 0)?;
                continue;
            }
            let files = found.iter().filter(|found| found.kind == Kind::File);
            for file in files {
                let source = FileSource {
                    directory: Arc::clone(&directory),
                    name: name_of(&file.path),
                    path: file.path.clone(),
                };
                packer.add(PackSource::File(source), file.size())?;
            }
            let below = found.into_iter().rev();
            let below = below.filter(|found| found.kind == Kind::Directory);
            pending.extend(below.map(|found| found.path));
        }
        Ok(())
    }

    fn takes(&self, found: &WalkEntry, packed: &mut Packed) -> bool {
        let name = found.path.name().unwrap_or_default();
        if is_git_name(name) || is_reserved(name) || self.without == Some(&found.path) {
            return false;
        }
        if matches!(found.kind, Kind::Symlink | Kind::Special) {
            packed.skip(&found.path);
            return false;
        }
        true
    }
}

impl Packed {
    fn skip(&mut self, path: &ZonePath) {
        if self.skipped.len() < NAMED {
            self.skipped.push(path.as_str().to_owned());
        }
    }
}

/// Something that gets an entry.
enum PackSource {
    File(FileSource),
    Directory { name: String, changed: i64 },
}

/// A file that gets an entry.
struct FileSource {
    directory: Arc<Directory>,
    path: ZonePath,
    /// In the archive.
    name: String,
}

/// A file that was opened.
struct OpenedFile {
    file: File,
    source: FileSource,
    size: u64,
    options: FullFileOptions<'static, 'static>,
}

impl OpenedFile {
    /// Opens a file; returns `None` if it is gone by now.
    fn new(source: FileSource) -> Result<Option<Self>, DiskError> {
        let path = &source.path;
        let file = match source.directory.open(path.name().unwrap_or_default()) {
            Ok(file) => file,
            Err(error) if error.is_gone() => return Ok(None),
            Err(error) => return Err(error),
        };
        let about = file
            .metadata()
            .map_err(|error| DiskError::of("look at", path, error))?;
        Ok(Some(Self {
            file,
            source,
            size: about.len(),
            options: file_options(&about, false),
        }))
    }

    fn read_error(&self, error: io::Error) -> Error {
        DiskError::of("read", &self.source.path, error).into()
    }
}

/// Returns the options of an entry: all that is stored of it beside its name and content.
pub fn options(modified: i64, mode: u32) -> FullFileOptions<'static, 'static> {
    let mut options = FileOptions::default()
        .unix_permissions(mode)
        .last_modified_time(timestamp::to_dos(modified));
    if let Some(field) = timestamp::to_field(modified) {
        // Fails only if there is no space for it.
        let _added = options.add_extra_field(timestamp::FIELD, field, false);
    }
    options
}

/// Returns the options of the entry of a file; a file that is compressed already is stored as it is.
pub fn file_options(about: &Metadata, is_compressed: bool) -> FullFileOptions<'static, 'static> {
    let executable = about.mode() & 0o100 != 0;
    let method = if is_compressed || about.len() == 0 {
        CompressionMethod::Stored
    } else {
        CompressionMethod::Deflated
    };
    options(about.mtime(), if executable { 0o755 } else { 0o644 })
        .large_file(about.len() > ZIP64)
        .compression_method(method)
}

#[derive(Default)]
struct Batch {
    sources: Vec<PackSource>,
    bytes: u64,
}

/// A batch as an archive of its own, and files that turned out to be large.
struct Compressed {
    archive: ZipArchive<Cursor<Vec<u8>>>,
    large: Vec<OpenedFile>,
    files: u64,
    empty_directories: u64,
}

impl Batch {
    fn compress(self) -> Result<Compressed, Error> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut large = Vec::new();
        let (mut files, mut empty_directories) = (0, 0);
        let mut content = Vec::new();
        for source in self.sources {
            let source = match source {
                PackSource::Directory { name, changed } => {
                    zip.add_directory(name, options(changed, 0o755))
                        .map_err(ArchiveError::Writer)?;
                    empty_directories += 1;
                    continue;
                }
                PackSource::File(source) => source,
            };
            let Some(opened) = OpenedFile::new(source)? else {
                continue;
            };
            if opened.size > BATCH_BYTES {
                large.push(opened);
                continue;
            }
            content.clear();
            let read = (&opened.file).take(opened.size).read_to_end(&mut content);
            read.map_err(|error| opened.read_error(error))?;
            zip.start_file(opened.source.name.as_str(), opened.options.clone())
                .and_then(|()| Ok(zip.write_all(&content)?))
                .map_err(ArchiveError::Writer)?;
            files += 1;
        }
        Ok(Compressed {
            archive: zip.finish_into_readable().map_err(ArchiveError::Writer)?,
            large,
            files,
            empty_directories,
        })
    }
}

struct Packer<'a, W: Write> {
    writer: ArchiveWriter<W>,
    /// The archive, for messages.
    archive: &'a ZonePath,
    limit: u64,
    /// Batches that are complete and wait for as many as there are threads.
    round: Vec<Batch>,
    batch: Batch,
    packed: Packed,
}

impl<W: Write> Packer<'_, W> {
    fn add(&mut self, source: PackSource, size: u64) -> Result<(), Error> {
        if size > BATCH_BYTES {
            self.end_round()?;
            if let PackSource::File(source) = source
                && let Some(opened) = OpenedFile::new(source)?
            {
                self.stream(&opened)?;
            }
            return Ok(());
        }
        if self.batch.sources.len() == BATCH_FILES || self.batch.bytes + size > BATCH_BYTES {
            self.round.push(std::mem::take(&mut self.batch));
            if self.round.len() == threads() {
                self.compress_round()?;
            }
        }
        self.batch.sources.push(source);
        self.batch.bytes += size;
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Error> {
        self.round.push(std::mem::take(&mut self.batch));
        self.compress_round()
    }

    /// Compresses the batches side by side, and writes them in their order.
    fn compress_round(&mut self) -> Result<(), Error> {
        let round = std::mem::take(&mut self.round);
        let compressed = side_by_side(round, Batch::compress);
        for compressed in compressed {
            let compressed = compressed?;
            self.writer
                .zip
                .merge_archive(compressed.archive)
                .map_err(ArchiveError::Writer)?;
            self.packed.files += compressed.files;
            self.packed.empty_directories += compressed.empty_directories;
            for opened in compressed.large {
                self.stream(&opened)?;
            }
        }
        self.check()
    }

    /// Writes a large file piece by piece.
    fn stream(&mut self, opened: &OpenedFile) -> Result<(), Error> {
        self.writer
            .zip
            .start_file(opened.source.name.as_str(), opened.options.clone())
            .map_err(ArchiveError::Writer)?;
        let mut content = (&opened.file).take(opened.size);
        let mut piece = vec![0; PIECE];
        loop {
            let read = match content.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(opened.read_error(error)),
            };
            self.writer
                .zip
                .write_all(&piece[..read])
                .map_err(|error| ArchiveError::Writer(error.into()))?;
            self.check()?;
        }
        self.packed.files += 1;
        Ok(())
    }

    fn finish(self) -> Result<Packed, Error> {
        let (archive, limit) = (self.archive, self.limit);
        let finished = self.writer.finish();
        finished.map_err(|trouble| explain(trouble, archive, limit))?;
        Ok(self.packed)
    }

    fn check(&self) -> Result<(), Error> {
        let checked = self.writer.check();
        checked.map_err(|trouble| explain(trouble, self.archive, self.limit))
    }
}

fn explain(trouble: Trouble, archive: &ZonePath, limit: u64) -> Error {
    match trouble {
        Trouble::Full => SizeError {
            path: archive.clone(),
            size: limit + 1,
            limit,
        }
        .into(),
        Trouble::Failed(error) => DiskError::of("write", archive, error).into(),
        Trouble::Writer(error) => ArchiveError::Writer(error).into(),
    }
}
