//! A zone as the files of one user: the default provider of the compact file tools.
//!
//! There is no second way to a file here: reads use the zone's handles, writes go through its write lock
//! and permit, as with every operation. The time of creation and the media type are kept with the file
//! itself, in extended attributes; if its file system has none, or a program wrote the file anew, the
//! registry knows them.

mod known;
#[cfg(test)]
mod tests;

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;

use crate::{FileStorage, expect_plain};
use fileshed_files::{
    EntryType, FileBytes, Metadata, Named, Page, Precondition, Provider, ProviderError, ToolError,
    Write, Written,
};
use fileshed_storage::{Attributes, Directory, DiskError, Entry, Kind, Staged, Target};
use fileshed_types::{Caller, Error, ZoneName, ZonePath};
use fileshed_zones::store::Store;
use fileshed_zones::zone::Zone;

/// The files of a zone.
#[derive(Debug)]
pub struct ZoneFiles<'z> {
    zone: &'z Zone<'z>,
    /// The name for history and logs.
    operation: &'static str,
}

impl<'z> ZoneFiles<'z> {
    /// Returns the files of `zone`. Its changes are called `operation` in history and logs.
    #[must_use]
    pub fn new(zone: &'z Zone<'z>, operation: &'static str) -> Self {
        Self { zone, operation }
    }

    /// Returns the file or directory at `path`, links followed inside the zone.
    fn entry(&self, path: &ZonePath) -> Result<Entry, ProviderError> {
        let entry = self.zone.data.followed(path);
        let entry = entry.map_err(|error| self.failure(path, error))?;
        match entry.kind() {
            Kind::File | Kind::Directory => Ok(entry),
            Kind::Symlink | Kind::Special => Err(ProviderError::NotFound(path.clone())),
        }
    }

    fn file(&self, path: &ZonePath) -> Result<Entry, ProviderError> {
        let entry = self.entry(path)?;
        if entry.kind() == Kind::Directory {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        Ok(entry)
    }

    /// Names in a directory, sorted, behind `after`, and the directory.
    fn names_behind(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
    ) -> Result<(Directory, Vec<(String, Kind)>), ProviderError> {
        let held = self.zone.data.hold(directory);
        let found = held.and_then(|held| held.names().map(|names| (held, names)));
        let (held, mut names) = found.map_err(|error| self.failure(directory, error))?;
        names.retain(|(name, _)| {
            after.is_none_or(|after| **name > *after) && !fileshed_types::zone::is_reserved(name)
        });
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok((held, names))
    }

    /// The file that a link leads to. One to a directory would show what is there already, or itself.
    fn linked_file(&self, path: &ZonePath) -> Option<Entry> {
        let entry = self.zone.data.followed(path).ok()?;
        (entry.kind() == Kind::File).then_some(entry)
    }

    /// A failure of the disk on the way to `path`.
    fn failure(&self, path: &ZonePath, error: DiskError) -> ProviderError {
        match error {
            DiskError::NotFound { .. } => ProviderError::NotFound(path.clone()),
            DiskError::NotADirectory { path } => ProviderError::NotDirectory(path),
            DiskError::NotAFile { found, .. } if found == Kind::Directory.describe() => {
                ProviderError::IsDirectory(path.clone())
            }
            DiskError::Exists { .. } => ProviderError::Exists(path.clone()),
            DiskError::Escape { .. } => {
                let path = path.as_str().to_owned();
                ProviderError::Refused(ToolError::Escapes { path }.into())
            }
            error => ProviderError::Refused(self.zone.explain_disk(error)),
        }
    }

    /// Stages the content that `source` yields.
    fn stage(&self, path: &ZonePath, source: &mut dyn io::Read) -> Result<Staged, ProviderError> {
        let limit = self.zone.store.settings.largest_file();
        // Reads one byte above the limit, for which the permit is refused.
        let mut source = source.take(limit.saturating_add(1));
        let mut staged = self.zone.stage(&[])?;
        let mut piece = vec![0; 256 * 1024];
        loop {
            let count = match source.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(ProviderError::Unavailable(error.to_string())),
            };
            let written = staged.write_all(&piece[..count]);
            written.map_err(|error| self.failure(path, DiskError::of("write", path, error)))?;
        }
        let flushed = staged.flush();
        flushed.map_err(|error| self.failure(path, error))?;
        Ok(staged)
    }
}

/// Fails where what is at `path` is not what the condition says.
fn expect(
    path: &ZonePath,
    condition: &Precondition,
    there: Option<&Metadata>,
) -> Result<(), ProviderError> {
    match (condition, there) {
        (Precondition::Absent, Some(_)) => Err(ProviderError::Exists(path.clone())),
        (Precondition::Version(wanted), there)
            if there.is_none_or(|there| there.version != *wanted) =>
        {
            Err(ProviderError::Changed(path.clone()))
        }
        _ => Ok(()),
    }
}

/// Works on the files that the compact tools have of a caller. Changes are called `operation` in
/// history and logs.
pub fn with_files<T>(
    store: &Store,
    files: &FileStorage,
    caller: &Caller,
    operation: &'static str,
    work: impl FnOnce(&dyn Provider) -> Result<T, Error>,
) -> Result<T, Error> {
    if let Some(files) = files.of_tenant(&store.tenant_key(caller)?) {
        return work(&*files);
    }
    let zone = store.open_zone(caller, ZoneName::Storage, None)?;
    work(&ZoneFiles::new(&zone, operation))
}

/// Brings a file from elsewhere into the storage zone of a caller.
pub fn hand_in(
    store: &Store,
    caller: &Caller,
    path: &ZonePath,
    content: &FileBytes,
) -> Result<(), Error> {
    let zone = store.open_zone(caller, ZoneName::Storage, None)?;
    let write = Write {
        mime_type: content.metadata.mime_type.clone(),
        ..Write::default()
    };
    let files = ZoneFiles::new(&zone, "fs/output_file");
    let written = files.write(path, &mut content.bytes.as_slice(), &write);
    written.map_err(|error| ToolError::of_provider(path.as_str(), error))?;
    Ok(())
}

/// The first of what is there.
fn page<Entry>(mut there: impl Iterator<Item = Entry>, most: usize) -> Page<Entry> {
    let entries = there.by_ref().take(most).collect();
    Page {
        entries,
        more: there.next().is_some(),
    }
}

fn refused(error: impl Into<Error>) -> ProviderError {
    ProviderError::Refused(error.into())
}

impl Provider for ZoneFiles<'_> {
    fn stat(&self, path: &ZonePath) -> Result<Metadata, ProviderError> {
        let entry = self.entry(path)?;
        Ok(self.metadata(path, &entry)?)
    }

    fn read(&self, path: &ZonePath, range: Range<u64>) -> Result<FileBytes, ProviderError> {
        let entry = self.file(path)?;
        let fail = |error| self.failure(path, DiskError::of("read", path, error));
        let mut file = entry.open().map_err(|error| self.failure(path, error))?;
        file.seek(SeekFrom::Start(range.start)).map_err(fail)?;
        let mut bytes = Vec::new();
        let length = range.end.saturating_sub(range.start);
        file.take(length).read_to_end(&mut bytes).map_err(fail)?;
        let metadata = self.metadata(path, &entry)?;
        Ok(FileBytes { bytes, metadata })
    }

    fn write(
        &self,
        path: &ZonePath,
        source: &mut dyn io::Read,
        write: &Write,
    ) -> Result<Written, ProviderError> {
        if path.is_root() {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        let zone = self.zone;
        zone.expect_writable()?;
        // On disk before the write lock is taken: nobody has to wait for it.
        let mut staged = self.stage(path, source)?;
        let writer = crate::writer(zone, self.operation)?;
        let target = zone.data.target(path);
        let target = target.map_err(|error| self.failure(path, error))?;
        if let Target::Vacancy(vacancy) = &target {
            let checked = path.check_new_names("path", vacancy.existing_segments());
            checked.map_err(refused)?;
        }
        let old = match target.entry() {
            Some(entry) if entry.kind() == Kind::Directory => {
                return Err(ProviderError::IsDirectory(path.clone()));
            }
            Some(entry) => {
                let checked = entry.expect_file();
                checked.map_err(|error| self.failure(path, error))?;
                Some(self.metadata(path, entry)?)
            }
            None => None,
        };
        expect(path, &write.condition, old.as_ref())?;
        if let Some(entry) = target.entry() {
            expect_plain(entry).map_err(|error| refused(zone.explain(error)))?;
        }
        let created_at = match &old {
            Some(old) => old.created_at,
            None => staged.modified().map_err(refused)?,
        };
        let attributes = Attributes {
            created_at: Some(created_at),
            mime_type: write
                .mime_type
                .clone()
                .or_else(|| old.as_ref()?.mime_type.clone()),
            write: Some(known::fresh_write()?),
            supported: true,
        };
        let is_kept = staged.set_attributes(&attributes).map_err(refused)?;
        let at = target.path().clone();
        let change = writer.install(staged, target)?;
        // The entry is read again under the write lock.
        let entry = zone.data.entry_as_named(&at).map_err(refused)?;
        let known_type = old.as_ref().map(|old| &old.mime_type);
        if !is_kept || known_type != Some(&attributes.mime_type) {
            self.remember(&at, &entry, &attributes)?;
        }
        let metadata = self.metadata(path, &entry)?;
        let verb = if old.is_some() { "Update" } else { "Create" };
        change.commit(None, &format!("{verb} {path}"))?;
        Ok(Written {
            metadata,
            created: old.is_none(),
        })
    }

    fn list(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, ProviderError> {
        let (held, names) = self.names_behind(directory, after)?;
        let found = names.into_iter().filter_map(|(name, kind)| {
            let path = directory.join(&name);
            let entry = match kind {
                Kind::Symlink => self.linked_file(&path)?,
                _ => held.entry(&name).ok()?,
            };
            matches!(entry.kind(), Kind::File | Kind::Directory).then_some((path, entry))
        });
        let page = page(found, most);
        Ok(Page {
            entries: self.all_metadata(directory, &page.entries)?,
            more: page.more,
        })
    }

    fn names(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page<Named>, ProviderError> {
        let (_, names) = self.names_behind(directory, after)?;
        let found = names.into_iter().filter_map(|(name, kind)| {
            let path = directory.join(&name);
            let kind = match kind {
                Kind::Directory => EntryType::Directory,
                Kind::File => EntryType::File,
                Kind::Symlink => self.linked_file(&path).map(|_| EntryType::File)?,
                Kind::Special => return None,
            };
            Some(Named { path, kind })
        });
        Ok(page(found, most))
    }

    fn remove(&self, path: &ZonePath) -> Result<(), ProviderError> {
        if path.is_root() {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        let zone = self.zone;
        let writer = crate::remover(zone, self.operation)?;
        let entry = zone.data.entry(path);
        let entry = entry.map_err(|error| self.failure(path, error))?;
        writer.delete(&entry, None)?;
        Ok(())
    }

    fn rename(&self, from: &ZonePath, to: &ZonePath) -> Result<Metadata, ProviderError> {
        if from.is_root() {
            return Err(ProviderError::IsDirectory(from.clone()));
        }
        let zone = self.zone;
        let writer = crate::writer(zone, self.operation)?;
        let entry = zone.data.entry(from);
        let entry = entry.map_err(|error| self.failure(from, error))?;
        if to.is_root() {
            return Err(ProviderError::Exists(to.clone()));
        }
        // A file above the new path is told first, even where that is below the old one.
        let vacancy = zone.data.vacancy(to);
        let vacancy = vacancy.map_err(|error| self.failure(to, error))?;
        if to.as_str().starts_with(&format!("{}/", from.as_str())) {
            return Err(ProviderError::Exists(to.clone()));
        }
        let checked = to.check_new_names("path", vacancy.existing_segments());
        checked.map_err(refused)?;
        let at = vacancy.path().clone();
        let change = writer.rename(&entry, vacancy)?;
        let entry = zone.data.entry_as_named(&at).map_err(refused)?;
        let metadata = self.metadata_from(from, to, &entry)?;
        change.commit(None, &format!("Rename {from} to {to}"))?;
        Ok(metadata)
    }
}
