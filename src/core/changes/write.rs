//! One file to write: its new content, an edit of it, or an addition to its end.

use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};

use super::encrypted::expect_plain;
use super::permit::{Writer, WrittenFile};
use fileshed_storage::{DiskError, Entry, Staged, Target};
use fileshed_text::Encoding;
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// Bytes of a file that are searched at once.
const PIECE: usize = 64 * 1024;

/// One file to write.
#[derive(Clone, Copy, Debug)]
pub struct FileWrite<'a> {
    /// The zone that holds it.
    pub zone: &'a Zone<'a>,
    /// The name for history and logs.
    pub operation: &'static str,
    /// Its path in the zone: the parameter `path`.
    pub path: &'a str,
    /// The caller's commit message.
    pub message: Option<&'a str>,
}

/// The end of a file that gets an addition, and its beginning.
#[derive(Debug)]
pub struct AppendContext {
    /// Its first bytes, which show its line ends.
    pub beginning: Vec<u8>,
    /// `true` if there is nothing more.
    pub is_whole: bool,
    /// `true` if its last line has no line end.
    pub ends_within_line: bool,
    /// Its encoding.
    pub encoding: Encoding,
}

impl AppendContext {
    /// A file that is not there.
    fn nothing() -> Self {
        Self {
            beginning: Vec::new(),
            is_whole: true,
            ends_within_line: false,
            encoding: Encoding::Utf8,
        }
    }

    /// Reads what is needed of a file, and leaves it at its beginning. If its first bytes show no
    /// encoding and the addition needs one, the rest is searched for bytes that do.
    fn of(file: &mut File, needs_encoding: bool) -> std::io::Result<Self> {
        let (beginning, mut encoding) = Encoding::of_beginning(file)?;
        let mut last = beginning.last().copied();
        if needs_encoding && encoding == Encoding::Ascii {
            let mut piece = vec![0; PIECE];
            loop {
                let count = file.read(&mut piece)?;
                let Some(at) = piece[..count].iter().position(|byte| !byte.is_ascii()) else {
                    if count == 0 {
                        break;
                    }
                    continue;
                };
                let mut rest = (&piece[at..count]).chain(&mut *file);
                (_, encoding) = Encoding::of_beginning(&mut rest)?;
                break;
            }
        }
        let size = file.seek(SeekFrom::End(0))?;
        let is_whole = size <= beginning.len() as u64;
        if !is_whole {
            let mut byte = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut byte)?;
            last = Some(byte[0]);
        }
        file.rewind()?;
        Ok(Self {
            beginning,
            is_whole,
            ends_within_line: last.is_some_and(|byte| byte != b'\n'),
            encoding,
        })
    }
}

impl FileWrite<'_> {
    /// Gives the file this content, whatever it had.
    pub fn overwrite(&self, content: &[u8]) -> Result<WrittenFile, Error> {
        let path = self.path()?;
        self.zone.expect_writable()?;
        // Staged before the write lock is taken, so that other writers do not wait for the disk.
        let mut staged = self.zone.stage(content)?;
        staged
            .flush()
            .map_err(|error| self.zone.explain_disk(error))?;
        let writer = crate::writer(self.zone, self.operation)?;
        let target = self.zone.target("path", &path)?;
        self.expect_plain(target.entry())?;
        self.write(writer, target, staged)
    }

    /// Replaces the content of the file by the output of `edit`; a missing file is empty, or an error if
    /// it `must_exist`. Nobody else writes in between.
    pub fn edit(
        &self,
        must_exist: bool,
        edit: impl FnOnce(&[u8]) -> Result<Vec<u8>, Error>,
    ) -> Result<WrittenFile, Error> {
        let path = self.path()?;
        let writer = crate::writer(self.zone, self.operation)?;
        let (target, old) = self.current(&path, must_exist)?;
        let new = edit(&old).map_err(|error| self.zone.explain(error))?;
        drop(old);
        let staged = self.zone.stage(&new)?;
        self.write(writer, target, staged)
    }

    /// The content of the file, if it is there, and what `edit` would replace it by. Nothing is written.
    pub fn preview(
        &self,
        must_exist: bool,
        edit: impl FnOnce(&[u8]) -> Result<Vec<u8>, Error>,
    ) -> Result<(Option<Vec<u8>>, Vec<u8>), Error> {
        let path = self.path()?;
        self.zone.expect_writable()?;
        let (target, old) = self.current(&path, must_exist)?;
        let new = edit(&old).map_err(|error| self.zone.explain(error))?;
        Ok((target.entry().map(|_| old), new))
    }

    fn current(&self, path: &ZonePath, must_exist: bool) -> Result<(Target, Vec<u8>), Error> {
        if must_exist {
            self.zone.entry(path)?;
        }
        let target = self.zone.target("path", path)?;
        self.expect_plain(target.entry())?;
        let content = match target.entry() {
            Some(entry) => entry.content()?,
            None => Vec::new(),
        };
        Ok((target, content))
    }

    /// Adds to the end of the file, or makes it. `addition` gets the end of a file that is there
    /// already. The rest of a large file is copied by the kernel and never read.
    pub fn append(
        &self,
        needs_encoding: bool,
        addition: impl FnOnce(&AppendContext) -> Result<Vec<u8>, Error>,
    ) -> Result<WrittenFile, Error> {
        let path = self.path()?;
        let writer = crate::writer(self.zone, self.operation)?;
        let target = self.zone.target("path", &path)?;
        let Some(entry) = target.entry() else {
            let staged = self.zone.stage(&addition(&AppendContext::nothing())?)?;
            return self.write(writer, target, staged);
        };
        self.expect_plain(Some(entry))?;
        let mut file = entry.open()?;
        let existing = AppendContext::of(&mut file, needs_encoding)
            .map_err(|error| DiskError::of("read", entry.path(), error))?;
        let added = addition(&existing).map_err(|error| self.zone.explain(error))?;
        let writer = match writer.append(&target, &added)? {
            Ok(change) => {
                let (path, created) = (target.path().clone(), false);
                let size = target.size() + added.len() as u64;
                let commit = change.commit(self.message, &describe(&path, created))?;
                return Ok(WrittenFile {
                    path,
                    size,
                    created,
                    commit,
                });
            }
            Err(writer) => writer,
        };
        let mut staged = writer.staging().copy(file)?;
        staged
            .write_all(&added)
            .map_err(|error| DiskError::of("write", entry.path(), error))?;
        self.write(writer.adding(&added), target, staged)
    }

    /// Replaces the file by the output of `convert`, which reads it, unless `convert` returns `false`:
    /// then the output is the same. A file of any size takes the memory of a piece.
    pub fn convert<T>(
        &self,
        convert: impl FnOnce(&mut File, &mut File) -> Result<(T, bool), Error>,
    ) -> Result<(ZonePath, T), Error> {
        let path = self.path()?;
        let writer = crate::writer(self.zone, self.operation)?;
        let entry = self.zone.entry(&path)?;
        self.expect_plain(Some(&entry))?;
        let mut source = entry
            .open()
            .map_err(|error| self.zone.explain_disk(error))?;
        let mut staged = writer.staging().create()?;
        let (outcome, differs) = convert(&mut source, staged.file())
            .map_err(|error| self.zone.explain(error.with_detail("path", path.as_str())))?;
        drop(source);
        if differs {
            self.write(writer, Target::Entry(entry), staged)?;
        }
        Ok((path, outcome))
    }

    fn path(&self) -> Result<ZonePath, Error> {
        self.zone.path_to_change("path", self.path)
    }

    /// Fails if a file is encrypted.
    fn expect_plain(&self, entry: Option<&Entry>) -> Result<(), Error> {
        entry
            .map_or(Ok(()), expect_plain)
            .map_err(|error| self.zone.explain(error))
    }

    fn write(
        &self,
        writer: Writer<'_>,
        target: Target,
        staged: Staged,
    ) -> Result<WrittenFile, Error> {
        let default = describe(target.path(), target.entry().is_none());
        writer.write(staged, target, self.message, &default)
    }
}

/// The commit message without one of the caller.
fn describe(path: &ZonePath, created: bool) -> String {
    let verb = if created { "Create" } else { "Update" };
    format!("{verb} {path}")
}
