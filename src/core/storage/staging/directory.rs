//! Directories that are prepared beside the zone and arrive whole.

use std::collections::HashMap;
use std::fs::File;

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization as _;

use super::journal::{Journal, Noted, RenameStep};
use super::{Installed, KeepAs, Staged, StagedName, Staging};
use crate::entry::{DIRECTORY_MODE, create_file, file_mode, open_file};
use crate::handle::{DIRECTORY, open_at};
use crate::{Directory, DiskError, Entry, Kind, Root, Stamp, Target, Weight};
use fileshed_types::zone::{ZonePath, has_one_spelling};

/// Clashing paths that a refusal names.
const NAMED: usize = 5;

/// A directory that nobody sees yet. Dropped, it is gone with everything in it.
#[derive(Debug)]
pub struct StagedDirectory {
    pub(super) root: Root,
    staging: Staging,
    name: StagedName,
}

impl StagedDirectory {
    /// Writes all of `content` to a file of it, on a full disk once there is space.
    pub fn write_all(&self, file: &mut File, content: &[u8]) -> std::io::Result<()> {
        self.staging.write_all(file, content)
    }
}

impl Staging {
    /// Creates a new, empty, private directory.
    pub fn directory(&self) -> Result<StagedDirectory, DiskError> {
        let name = self.fresh_name();
        let fail = |error: Errno| DiskError::of("stage", &ZonePath::root(), error);
        rustix::fs::mkdirat(&self.directory, &*name, DIRECTORY_MODE).map_err(fail)?;
        let handle = open_at(&self.directory, &*name, DIRECTORY).map_err(fail)?;
        Ok(StagedDirectory {
            root: Root::of(handle, self.location.join(&name)),
            staging: self.clone(),
            name: StagedName::new(self.place(name)),
        })
    }
}

impl StagedDirectory {
    /// Makes a directory in it, with those above.
    pub fn create_directory(&self, path: &ZonePath) -> Result<(), DiskError> {
        if self.root.directory(path).is_ok() {
            return Ok(());
        }
        let (place, _made) = self.root.vacancy_as_named(path)?.make_directories()?;
        rustix::fs::mkdirat(&place.parent, &*place.name, DIRECTORY_MODE)
            .map_err(|error| DiskError::of("create", path, error))
    }

    /// Creates a new file in it, with the directories above, and returns it open. Its time can be set on
    /// the open file, after everything was written.
    pub fn create_file(&self, path: &ZonePath, executable: bool) -> Result<File, DiskError> {
        let (place, _made) = self.root.vacancy_as_named(path)?.make_directories()?;
        create_file(&place.parent, &place.name, file_mode(executable), path)
    }

    /// Creates a symbolic link to `target` in it, with the directories above.
    pub fn create_link(&self, path: &ZonePath, target: &[u8]) -> Result<(), DiskError> {
        self.root.vacancy_as_named(path)?.make_link(target)
    }

    /// Opens a directory in it, for work on many of its entries.
    pub fn open(&self, path: &ZonePath) -> Result<Directory, DiskError> {
        self.root.hold(path)
    }

    /// Returns the size of its content so far, with the largest file.
    pub fn weight(&self) -> Result<Weight, DiskError> {
        self.root
            .weigh(&self.root.entry(&ZonePath::root())?, |_| false)
    }

    /// Returns every file below a directory in it.
    fn files(&self, below: &ZonePath) -> Result<Vec<ZonePath>, DiskError> {
        let mut files = Vec::new();
        self.root.walk(below, |found| {
            if found.kind == Kind::File {
                files.push(found.path.clone());
            }
            Ok(true)
        })?;
        Ok(files)
    }

    /// Gives the directory its name in the zone, in one rename.
    pub fn install(self, target: Target) -> Result<Installed, DiskError> {
        self.install_over(target, None)
    }

    fn install_over(
        self,
        target: Target,
        keep: Option<KeepAs<'_>>,
    ) -> Result<Installed, DiskError> {
        self.flush()?;
        Installed::new(&self.staging, self.name, target, keep)
    }

    /// Takes a file that another one holds, under another path.
    pub fn adopt(&self, other: &Self, from: &ZonePath, to: &ZonePath) -> Result<(), DiskError> {
        let vacancy = self.root.vacancy_as_named(to)?;
        other.root.entry(from)?.rename(vacancy, &self.staging)
    }

    /// Holds the file `name` of a directory of the server's own under `to`, too: the same bytes, which
    /// stay there where this directory goes.
    pub fn link(&self, from: &Root, name: &str, to: &ZonePath) -> Result<File, DiskError> {
        let (place, _made) = self.root.vacancy_as_named(to)?.make_directories()?;
        let (handle, none) = (from.handle(), AtFlags::empty());
        rustix::fs::linkat(handle, name, &place.parent, &*place.name, none)
            .map_err(|error| DiskError::of("stage", to, error))?;
        open_file(&place.parent, &place.name, to)
    }

    /// Moves a file out of it, to be installed alone.
    pub fn take(&self, path: &ZonePath) -> Result<Staged, DiskError> {
        let entry = self.root.entry(path)?;
        let at = self.staging.take_in(entry.place(), "stage")?;
        let file = open_file(&at.parent, &at.name, path)?;
        Ok(self.staging.staged(file, at.name))
    }

    /// Prepares to move its entries into `directory`, which is below `data` and not empty. Fails if an
    /// entry of the same name exists there, unless both are directories.
    pub fn merge_into(self, data: &Root, directory: &Entry) -> Result<Merge, DiskError> {
        self.merge(data, directory, false)
    }

    /// Does the same, but files may replace files.
    pub fn merge_over(self, data: &Root, directory: &Entry) -> Result<Merge, DiskError> {
        self.merge(data, directory, true)
    }

    fn merge(self, data: &Root, directory: &Entry, replace: bool) -> Result<Merge, DiskError> {
        if directory.kind() != Kind::Directory {
            return Err(DiskError::NotADirectory {
                path: directory.path().clone(),
            });
        }
        let mut arrivals = Vec::new();
        let mut clashes = Vec::new();
        let mut pending = vec![(ZonePath::root(), directory.path().clone())];
        while let Some((above, below)) = pending.pop() {
            let mut names = None;
            for found in self.root.list(&above)? {
                let name = found.path.name().unwrap_or_default();
                let path = there_as(data, &below, name, &mut names)?;
                let mut arrive = |replaced, path| {
                    arrivals.push(MergeItem {
                        stamp: Stamp::of(&found.stat),
                        kind: found.kind,
                        replaced,
                        inside: found.path.clone(),
                        path,
                    });
                };
                match data.entry_as_named(&path) {
                    Err(DiskError::NotFound { .. }) => arrive(None, path),
                    Ok(there)
                        if replace && there.kind() == Kind::File && found.kind == Kind::File =>
                    {
                        let staged = self.root.entry_as_named(&found.path)?.open()?;
                        rustix::fs::fchmod(&staged, Mode::from(there.mode()))
                            .map_err(|error| DiskError::of("write", &path, error))?;
                        let replaced = ReplacedFile {
                            path: path.clone(),
                            inode: there.stamp().inode(),
                            size: there.size(),
                            kept: None,
                        };
                        arrive(Some(replaced), path);
                    }
                    Ok(there)
                        if there.kind() == Kind::Directory && found.kind == Kind::Directory =>
                    {
                        pending.push((found.path, path));
                    }
                    Ok(_) => clashes.push(path),
                    Err(error) => return Err(error),
                }
            }
        }
        if !clashes.is_empty() {
            clashes.sort();
            let more = clashes.len().saturating_sub(NAMED);
            clashes.truncate(NAMED);
            return Err(DiskError::Clash {
                paths: clashes,
                more,
            });
        }
        Ok(Merge {
            directory: directory.path().clone(),
            into: self.staging.below_home(directory.place())?,
            weight: self.weight()?,
            staged: self,
            arrivals,
        })
    }

    /// Flushes its content to disk before it gets its name, so that a power cut cannot leave torn or
    /// empty files.
    fn flush(&self) -> Result<(), DiskError> {
        rustix::fs::syncfs(self.root.handle()).map_err(DiskError::server)
    }
}

/// Names of one directory that have several spellings, read once.
type SpelledNames = Option<HashMap<String, Vec<ZonePath>>>;

/// Returns the path of `name` in a directory of the zone: in the spelling that exists, if there is one.
fn there_as(
    data: &Root,
    directory: &ZonePath,
    name: &str,
    names: &mut SpelledNames,
) -> Result<ZonePath, DiskError> {
    let given = directory.join(name);
    let composed: String = name.nfc().collect();
    if has_one_spelling(&composed) || data.entry_as_named(&given).is_ok() {
        return Ok(given);
    }
    let names = match names {
        Some(names) => names,
        None => names.insert(data.names(directory)?),
    };
    let there = names.get(&composed).and_then(|paths| paths.first());
    Ok(there.cloned().unwrap_or(given))
}

/// A file that another one is about to replace.
#[derive(Clone, Debug)]
pub struct ReplacedFile {
    /// Its path in the zone.
    pub path: ZonePath,
    /// Its inode.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its new place, relative to the tenant root; `None` if it goes for good.
    pub kept: Option<String>,
}

/// One entry of a staged directory, and its destination.
#[derive(Debug)]
pub(crate) struct MergeItem {
    stamp: Stamp,
    kind: Kind,
    /// The existing file with which it exchanges places.
    replaced: Option<ReplacedFile>,
    /// Below the staged directory.
    inside: ZonePath,
    /// In the zone.
    path: ZonePath,
}

/// A staged directory whose entries are about to move into an existing directory: into directories of
/// the same name, and in place of files only on request.
#[derive(Debug)]
pub struct Merge {
    staged: StagedDirectory,
    /// The existing directory, in the zone.
    directory: ZonePath,
    /// That directory, relative to the tenant root.
    into: String,
    weight: Weight,
    arrivals: Vec<MergeItem>,
}

impl Merge {
    /// Returns the paths of the new entries: files, and directories with all their content.
    pub fn paths(&self) -> impl Iterator<Item = &ZonePath> {
        self.arrivals.iter().map(|arrival| &arrival.path)
    }

    /// Returns the path in the zone of every new file.
    pub fn files(&self) -> Result<Vec<ZonePath>, DiskError> {
        let mut files = Vec::new();
        for arrival in &self.arrivals {
            match arrival.kind {
                Kind::Directory => {
                    for file in self.staged.files(&arrival.inside)? {
                        files.push(arrival.path.join(file.below(&arrival.inside)));
                    }
                }
                Kind::File => files.push(arrival.path.clone()),
                Kind::Symlink | Kind::Special => {}
            }
        }
        Ok(files)
    }

    /// Returns the files that are replaced, with the states of those that replace them.
    pub fn replaced(&self) -> impl Iterator<Item = (&ReplacedFile, Stamp)> {
        let arrivals = self.arrivals.iter();
        arrivals.filter_map(|arrival| Some((arrival.replaced.as_ref()?, arrival.stamp)))
    }

    /// Sets where the replaced files go: `place` returns the new path of each, relative to the tenant root.
    pub fn keep(&mut self, place: impl Fn(&ZonePath) -> Option<String>) {
        let replaced = self.arrivals.iter_mut();
        for file in replaced.filter_map(|arrival| arrival.replaced.as_mut()) {
            file.kept = place(&file.path);
        }
    }

    /// Returns the entries that arrive at free names, with their states.
    pub fn new_paths(&self) -> impl Iterator<Item = (&ZonePath, Stamp)> {
        let new = |arrival: &&MergeItem| arrival.replaced.is_none();
        let new = self.arrivals.iter().filter(new);
        new.map(|arrival| (&arrival.path, arrival.stamp))
    }

    /// Returns the size of the entries that arrive.
    #[must_use]
    pub fn weight(&self) -> &Weight {
        &self.weight
    }

    /// Returns the largest file that arrives, with its path in the zone, and its size.
    #[must_use]
    pub fn largest(&self) -> Option<(ZonePath, u64)> {
        let (inside, size) = self.weight.largest.as_ref()?;
        Some((self.directory.join(inside.as_str()), *size))
    }

    /// Moves everything in.
    pub fn carry_out(self) -> Result<Journal, DiskError> {
        let (journal, arrivals) = self.prepare()?;
        journal
            .carry_out()
            .map_err(|(number, error)| match arrivals.get(number) {
                Some(arrival) if error == Errno::EXIST => DiskError::Clash {
                    paths: vec![arrival.path.clone()],
                    more: 0,
                },
                Some(arrival) => DiskError::of("write", &arrival.path, error),
                None => DiskError::server(error),
            })?;
        Ok(journal)
    }

    pub(crate) fn prepare(self) -> Result<(Journal, Vec<MergeItem>), DiskError> {
        self.staged.flush()?;
        let StagedDirectory { staging, name, .. } = self.staged;
        let from = staging.below_home(name.place())?;
        let waiting = |arrival: &MergeItem| format!("{from}/{}", arrival.inside);
        let arriving = self.arrivals.iter().map(|arrival| RenameStep {
            exchange: arrival.replaced.is_some(),
            inode: arrival.stamp.inode(),
            from: waiting(arrival),
            to: format!("{}/{}", self.into, arrival.path.below(&self.directory)),
        });
        let kept = self.arrivals.iter().filter_map(|arrival| {
            let replaced = arrival.replaced.as_ref()?;
            Some(RenameStep {
                exchange: false,
                inode: replaced.inode,
                from: waiting(arrival),
                to: replaced.kept.clone()?,
            })
        });
        let steps = arriving.chain(kept);
        let journal = Journal::write(&staging, Noted::Renames(steps.collect()), vec![name])?;
        Ok((journal, self.arrivals))
    }
}

/// Something staged: one file, or a directory.
#[derive(Debug)]
pub enum StagedEntry {
    /// A file.
    File(Staged),
    /// A directory with what it holds.
    Directory(StagedDirectory),
}

impl From<Staged> for StagedEntry {
    fn from(file: Staged) -> Self {
        Self::File(file)
    }
}

impl From<StagedDirectory> for StagedEntry {
    fn from(directory: StagedDirectory) -> Self {
        Self::Directory(directory)
    }
}

impl StagedEntry {
    /// Returns the size of the file, or of the content of the directory.
    pub fn weight(&self) -> Result<Weight, DiskError> {
        match self {
            Self::File(file) => Ok(Weight::of_file(file.size()?)),
            Self::Directory(directory) => directory.weight(),
        }
    }

    /// Returns every file of it, with paths below it: a file is the root of itself.
    pub fn files(&self) -> Result<Vec<ZonePath>, DiskError> {
        match self {
            Self::File(_) => Ok(vec![ZonePath::root()]),
            Self::Directory(directory) => directory.files(&ZonePath::root()),
        }
    }

    /// Returns its inode number, which does not depend on its name.
    pub fn inode(&self) -> Result<u64, DiskError> {
        Ok(self.stamp(&ZonePath::root())?.inode())
    }

    /// Returns the state of a file below it: a file is the root of itself.
    pub fn stamp(&self, inside: &ZonePath) -> Result<Stamp, DiskError> {
        match self {
            Self::File(file) => Stamp::of_file(&file.file),
            Self::Directory(directory) => Ok(directory.root.entry_as_named(inside)?.stamp()),
        }
    }

    /// Gives it its name in the zone. The entry that had the name gets the name of `keep`.
    pub fn install(self, target: Target, keep: Option<KeepAs<'_>>) -> Result<Installed, DiskError> {
        match self {
            Self::File(file) => file.install_over(target, keep),
            Self::Directory(directory) => directory.install_over(target, keep),
        }
    }
}
