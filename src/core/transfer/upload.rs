//! One request that brings files.
//!
//! Its files are staged while they arrive, held to the largest size and to the quota at every piece,
//! and get their names together when the last one is complete: one write lock, one permit, one commit.
//! Until then its files are not visible, and an upload that is dropped is gone.

mod arrival_name;
mod hidden;

use std::collections::HashSet;
use std::fs::File;

use sha2::{Digest as _, Sha256};

use super::TransferPermit;
use super::archive::system_time;
use fileshed_changes::prepared_contents::prepare;
use fileshed_changes::{SizeError, check_lock, expect_plain};
use fileshed_history::PreparedContent;
use fileshed_storage::{DiskError, Entry, Kind, Root, StagedDirectory, Stamp, Target, Totals};
use fileshed_types::{Code, Error, diagnostics};
use fileshed_zones::content_digest::sha256_of;
use fileshed_zones::free_names::{endless_names, names};
use fileshed_zones::zone::{Zone, ZonePath};

/// Files of one request.
const FILES_MAX: usize = 500;

/// Bytes after which the used space is compared with the quota again.
const QUOTA_STEP: u64 = 1024 * 1024;

/// Bytes of a file that is flushed as soon as it is complete; smaller ones go together.
const LARGE: u64 = 4 * 1024 * 1024;

/// The parameter that failures name.
const FILE: &str = "file";

/// Action if the name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// The file there is replaced.
    Replace,
    /// The new file gets another name: `a (2).txt`.
    Rename,
    /// The new file gets another name, unless one of these names has the same content already.
    RenameUnlessSame,
    /// The new file gets another name, and so do directories on its way, whatever is there: that
    /// it is stored tells nothing of names that are taken.
    RenameSilently,
}

/// Files that arrive together. Dropped, nothing of them was ever there.
#[derive(Debug)]
pub struct Upload<'a> {
    zone: &'a Zone<'a>,
    directory: ZonePath,
    on_conflict: OnConflict,
    transfer_permit: TransferPermit,
    /// Holds the files by their number.
    arrived: StagedDirectory,
    files: Vec<ArrivedFile>,
    names: HashSet<String>,
    /// Bytes since the space in use was asked for.
    unchecked: u64,
}

/// A file that arrives, or has arrived.
#[derive(Debug)]
struct ArrivedFile {
    /// The parameter that failures name.
    parameter: &'static str,
    name: String,
    path: ZonePath,
    /// `true` if that is the nearest path that every system can hold.
    is_nearest: bool,
    size: u64,
    /// When it was changed where it comes from, in seconds since 1970.
    modified: Option<i64>,
    /// The hash of its content, if it is compared.
    hash: Option<Sha256>,
    /// Its content, ready for history.
    prepared: Option<PreparedContent>,
}

impl ArrivedFile {
    fn stored(&self, path: &ZonePath, created: bool) -> Stored {
        Stored {
            name: self.name.clone(),
            path: path.clone(),
            is_nearest: self.is_nearest,
            size: self.size,
            created,
            stamp: None,
        }
    }
}

fn empty_file(arrived: &StagedDirectory, at: &ZonePath) -> Result<File, DiskError> {
    arrived.create_file(at, false)
}

/// A file that was stored.
#[derive(Debug)]
pub struct Stored {
    /// The name that was sent.
    pub name: String,
    /// Its path in its zone.
    pub path: ZonePath,
    /// `true` if that is the nearest path that every system can hold.
    pub is_nearest: bool,
    /// Its size in bytes.
    pub size: u64,
    /// `true` if nothing was there before.
    pub created: bool,
    /// Its state, where it came alone.
    pub stamp: Option<Stamp>,
}

impl<'a> Upload<'a> {
    /// An upload into `directory`, which is the parameter `path`; directories that are missing
    /// are made.
    pub fn new(
        zone: &'a Zone<'a>,
        directory: &str,
        on_conflict: OnConflict,
        transfer_permit: TransferPermit,
    ) -> Result<Self, Error> {
        let directory = zone.directory_to_fill("path", directory)?;
        Self::into_directory(zone, directory, on_conflict, transfer_permit)
    }

    /// An upload into a directory that the caller has resolved already.
    pub fn into_directory(
        zone: &'a Zone<'a>,
        directory: ZonePath,
        on_conflict: OnConflict,
        transfer_permit: TransferPermit,
    ) -> Result<Self, Error> {
        zone.expect_write_scope()?;
        Ok(Self {
            zone,
            directory,
            on_conflict,
            transfer_permit,
            arrived: zone.stage_directory()?,
            files: Vec::new(),
            names: HashSet::new(),
            unchecked: QUOTA_STEP,
        })
    }

    /// An upload of one file to exactly `path`, whatever is there.
    pub fn of_file(
        zone: &'a Zone<'a>,
        path: &str,
        transfer_permit: TransferPermit,
    ) -> Result<UploadingFile<'a>, Error> {
        let path = zone.path_to_change("path", path)?;
        let (root, on_conflict) = (ZonePath::root(), OnConflict::Replace);
        let upload = Self::into_directory(zone, root, on_conflict, transfer_permit)?;
        let name = path.as_str().to_owned();
        upload.receive("path", name, (path, false), empty_file)
    }

    /// Begins the next file. `name` may have directories in it and cannot climb out.
    pub fn file(self, name: &str) -> Result<UploadingFile<'a>, Error> {
        let nearest = self.nearest(name);
        self.file_as(name, nearest.as_deref())
    }

    /// Begins the next file, under another name than the one that was sent if that cannot be had.
    pub fn file_as(self, sent: &str, nearest: Option<&str>) -> Result<UploadingFile<'a>, Error> {
        let path = self.path_for(sent, nearest)?;
        self.receive(FILE, sent.to_owned(), path, empty_file)
    }

    fn nearest(&self, sent: &str) -> Option<String> {
        let is_silent = self.on_conflict == OnConflict::RenameSilently;
        let directory = Some(&self.directory).filter(|_| !is_silent);
        arrival_name::nearest(self.zone, directory, sent)
    }

    /// The path for a file of this name, and `true` if that is only the nearest one.
    fn path_for(&self, sent: &str, nearest: Option<&str>) -> Result<(ZonePath, bool), Error> {
        let name = nearest.unwrap_or(sent);
        let path = self.zone.path_below(FILE, &self.directory, name)?;
        if self.on_conflict == OnConflict::RenameSilently {
            hidden::check_name(FILE, name)?;
        }
        Ok((path, nearest.is_some()))
    }

    /// Takes in a file that has arrived whole in a directory of the server's own, and leaves it
    /// there, too.
    pub(super) fn arrived_file(
        self,
        name: &str,
        modified: Option<i64>,
        (directory, file): (&Root, &str),
    ) -> Result<Self, Error> {
        let path = self.path_for(name, self.nearest(name).as_deref())?;
        let link = |arrived: &StagedDirectory, at: &ZonePath| arrived.link(directory, file, at);
        let mut incoming = self.receive(FILE, name.to_owned(), path, link)?;
        let (file, content) = (&mut incoming.file, &incoming.content);
        file.size = Stamp::of_file(content)?.size();
        if file.hash.is_some() {
            file.hash = Some(sha256_of(content, &file.path)?);
        }
        incoming.announce(incoming.file.size)?;
        incoming.set_modified(modified);
        incoming.finish()
    }

    /// Begins a file whose content `stage` makes at a path of the staged directory.
    fn receive(
        mut self,
        parameter: &'static str,
        name: String,
        (path, is_nearest): (ZonePath, bool),
        stage: impl FnOnce(&StagedDirectory, &ZonePath) -> Result<File, DiskError>,
    ) -> Result<UploadingFile<'a>, Error> {
        self.expect_acceptable(parameter, (&path, is_nearest))?;
        let content = stage(&self.arrived, &place(self.files.len()))?;
        let compared = self.on_conflict == OnConflict::RenameUnlessSame;
        Ok(UploadingFile {
            upload: self,
            file: ArrivedFile {
                parameter,
                name,
                path,
                is_nearest,
                size: 0,
                modified: None,
                hash: compared.then(Sha256::default),
                prepared: None,
            },
            content,
        })
    }

    /// Refuses the next file where its name alone says that it cannot be taken.
    fn expect_acceptable(
        &mut self,
        parameter: &'static str,
        (path, is_nearest): (&ZonePath, bool),
    ) -> Result<(), Error> {
        if self.files.len() == FILES_MAX {
            return Err(UploadError::TooMany.into());
        }
        if !is_nearest && !self.names.insert(path.key()) {
            return Err(UploadError::Twice { path: path.clone() }.into());
        }
        // Refuses as much as possible before the content comes.
        let target = self.target(parameter, (path, is_nearest), &HashSet::new())?;
        if self.on_conflict == OnConflict::Replace && !is_nearest {
            check_lock(self.zone, path)?;
        }
        // A file that may be there already needs no space of its own.
        let spared = if self.on_conflict == OnConflict::RenameUnlessSame {
            self.largest_of_the_name(path)
        } else {
            target.size()
        };
        self.transfer_permit.replace(spared);
        Ok(())
    }

    /// Returns the target of a file. `taken` are names that other files of the same upload get. Only a file
    /// whose name is kept as it was sent may replace an existing one.
    fn target(
        &self,
        parameter: &'static str,
        (path, is_nearest): (&ZonePath, bool),
        taken: &HashSet<String>,
    ) -> Result<Target, Error> {
        if self.on_conflict == OnConflict::Replace && !is_nearest {
            return self.zone.target(parameter, path);
        }
        if self.on_conflict == OnConflict::RenameSilently {
            return hidden::vacancy(self.zone, parameter, (&self.directory, path), taken)
                .map(Target::Vacancy);
        }
        for candidate in endless_names(path).filter(|name| !taken.contains(&name.key())) {
            match self.zone.vacancy(parameter, &candidate) {
                Ok(vacancy) => return Ok(Target::Vacancy(vacancy)),
                Err(error) if error.code() == Code::FileExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(self
            .zone
            .explain_disk(DiskError::Exists { path: path.clone() }))
    }

    /// Bytes of the largest file that has this name or one that was tried instead.
    fn largest_of_the_name(&self, path: &ZonePath) -> u64 {
        let there = names(path).map_while(|name| self.zone.data.entry(&name).ok());
        let files = there.filter(|entry| entry.kind() == Kind::File);
        files.map(|entry| entry.size()).max().unwrap_or_default()
    }

    /// The file that holds already what has arrived, under its name or one that was tried instead.
    fn already_there(&self, file: &ArrivedFile) -> Result<Option<ZonePath>, Error> {
        let Some(hash) = &file.hash else {
            return Ok(None);
        };
        for name in names(&file.path) {
            // The first free name ends the row.
            let Ok(entry) = self.zone.data.entry(&name) else {
                break;
            };
            if entry.kind() != Kind::File || entry.size() != file.size {
                continue;
            }
            let other = sha256_of(&entry.open()?, entry.path())?;
            if hash.clone().finalize() == other.finalize() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Counts bytes against the quota, together with what else arrives for the same tenant.
    fn admit(&mut self, bytes: u64) -> Result<(), Error> {
        let arriving = self.transfer_permit.grow(bytes);
        self.unchecked += bytes;
        if self.unchecked < QUOTA_STEP {
            return Ok(());
        }
        self.unchecked = 0;
        let zone = self.zone;
        let room = zone.store.expect_space(&zone.tenant, arriving);
        room.map_err(|error| zone.explain(error))
    }

    /// Gives all files their names, in one change. `message` is the commit message.
    pub fn store(
        self,
        operation: &'static str,
        message: Option<&str>,
    ) -> Result<Vec<Stored>, Error> {
        self.store_if(operation, message, |_| Ok(()))
    }

    /// Gives all files their names if `allowed` accepts what is there; nobody changes it in between.
    pub fn store_if(
        mut self,
        operation: &'static str,
        message: Option<&str>,
        allowed: impl Fn(Option<&Entry>) -> Result<(), Error>,
    ) -> Result<Vec<Stored>, Error> {
        if self.files.is_empty() {
            return Err(UploadError::Nothing.into());
        }
        let writer = fileshed_changes::receiver(self.zone, operation)?;
        let prepared = self
            .files
            .iter_mut()
            .filter_map(|file| file.prepared.take())
            .collect();
        let (mut taken, mut targets) = (HashSet::new(), Vec::new());
        let mut files: Vec<_> = self.files.iter().enumerate().collect();
        // A name that was sent comes before one that is only the nearest.
        files.sort_by_key(|(_, file)| file.is_nearest);
        let mut all = Vec::new();
        for (number, file) in files {
            if let Some(path) = self.already_there(file)? {
                all.push((number, file.stored(&path, false)));
                continue;
            }
            let target = self.target(file.parameter, (&file.path, file.is_nearest), &taken)?;
            allowed(target.entry())?;
            hidden::take(&mut taken, target.path());
            let stored = file.stored(target.path(), target.entry().is_none());
            all.push((number, stored));
            targets.push((number, target));
        }
        all.sort_by_key(|(number, _)| *number);
        let mut all: Vec<_> = all.into_iter().map(|(_, stored)| stored).collect();
        if targets.is_empty() {
            return Ok(all);
        }
        if targets.len() == 1
            && let Some((number, target)) = targets.pop()
        {
            let mut staged = self.arrived.take(&place(number))?;
            let written = staged
                .file()
                .try_clone()
                .map_err(|error| DiskError::of("look at", target.path(), error))?;
            let default = format!("Upload {}", target.path());
            let writer = writer.with_prepared(prepared);
            writer.write(staged, target, message, &default)?;
            // Of the very file that was written: another writer may have replaced it already.
            let stamp = Stamp::of_file(&written)?;
            if let Some(file) = all.get_mut(number) {
                file.stamp = Some(stamp);
            }
            return Ok(all);
        }
        let default = format!("Upload {} files", targets.len());
        let tree = self.zone.stage_directory()?;
        let mut replaced = Totals::default();
        for (number, target) in &targets {
            if let Some(entry) = target.entry() {
                expect_plain(entry).map_err(|error| self.zone.explain(error))?;
            }
            tree.adopt(&self.arrived, &place(*number), target.path())
                .map_err(|error| self.zone.explain_disk(error))?;
            replaced.bytes += target.size();
            replaced.files += u64::from(target.entry().is_some());
        }
        let data = &self.zone.data;
        let root = data.entry(&ZonePath::root())?;
        let merge = match self.on_conflict {
            OnConflict::Replace => tree.merge_over(data, &root),
            OnConflict::Rename | OnConflict::RenameUnlessSame | OnConflict::RenameSilently => {
                tree.merge_into(data, &root)
            }
        };
        let merge = merge.map_err(|error| self.zone.explain_disk(error))?;
        writer
            .with_prepared(prepared)
            .merge(merge, replaced)?
            .commit(message, &default)?;
        Ok(all)
    }
}

/// Returns the staged path of the file with that number.
fn place(number: usize) -> ZonePath {
    ZonePath::found(number.to_string())
}

/// A file of an upload that is arriving.
#[derive(Debug)]
pub struct UploadingFile<'a> {
    upload: Upload<'a>,
    file: ArrivedFile,
    content: File,
}

impl<'a> UploadingFile<'a> {
    /// Bytes of the file that it takes the place of; none where it gets a name of its own.
    pub(super) fn replaces(&self) -> u64 {
        let upload = &self.upload;
        let path = (&self.file.path, self.file.is_nearest);
        let target = upload.target(self.file.parameter, path, &HashSet::new());
        target.map_or(0, |target| target.size())
    }

    /// Keeps the time at which the file was changed where it comes from, in seconds since 1970.
    pub fn set_modified(&mut self, seconds: Option<i64>) {
        self.file.modified = seconds;
    }

    /// Fails where so many bytes in all cannot be taken, before they come.
    pub fn announce(&self, bytes: u64) -> Result<(), Error> {
        let limit = self.upload.zone.store.settings.largest_file();
        if bytes > limit {
            return Err(SizeError {
                path: self.file.path.clone(),
                size: bytes,
                limit,
            }
            .into());
        }
        Ok(())
    }

    /// Takes the next piece.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Error> {
        let bytes = piece.len() as u64;
        self.file.size += bytes;
        self.announce(self.file.size)?;
        self.upload.admit(bytes)?;
        if let Some(hash) = &mut self.file.hash {
            hash.update(piece);
        }
        let arrived = &self.upload.arrived;
        arrived
            .write_all(&mut self.content, piece)
            .map_err(|error| DiskError::of("write", &self.file.path, error))?;
        Ok(())
    }

    /// The file is complete.
    pub fn finish(self) -> Result<Upload<'a>, Error> {
        let Self {
            mut upload,
            mut file,
            content,
        } = self;
        // Now, not while others wait for the write lock that this upload holds.
        if file.size >= LARGE {
            content
                .sync_data()
                .map_err(|error| DiskError::of("write", &file.path, error))?;
        }
        if let Some(modified) = file.modified.and_then(system_time) {
            content
                .set_modified(modified)
                .map_err(|error| DiskError::of("write", &file.path, error))?;
        }
        file.prepared = prepare(upload.zone, &content);
        upload.files.push(file);
        Ok(upload)
    }
}

diagnostics! {
    /// An upload that cannot be taken as it is.
    #[derive(Debug, thiserror::Error)]
    pub enum UploadError {
        /// No file in it.
        #[error("the request holds no file")]
        Nothing => {
            code: MissingParameter,
            hint: "send the files as multipart/form-data, for instance curl -F file=@notes.md",
            details: { "parameter": FILE },
        },
        /// Too many files in it.
        #[error("the request holds more than {FILES_MAX} files")]
        TooMany => {
            code: InvalidParameter,
            hint: format!("send {FILES_MAX} files at a time, or one archive"),
            details: { "files_max": FILES_MAX },
        },
        /// Two files of the same name.
        #[error("the request holds two files named `{path}`")]
        Twice {
            /// The name.
            path: ZonePath,
        } => {
            code: InvalidParameter,
            hint: "give each file a name of its own",
            details: { "path": path.display() },
        },
    }
}
