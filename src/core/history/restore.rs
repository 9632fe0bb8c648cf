//! The way back: what a zone was at its last commit.

use std::collections::HashSet;

use git2::Oid;

use super::content::{SYMLINK, zone_path};
use super::damage::Remedy;
use super::{History, Result, ZoneComparison, object, repository};
use fileshed_storage::{Entry, Kind, PrivateDirectory, Staged, Staging, Stamp, Target, Totals};
use fileshed_types::zone::ZonePath;

/// A submodule: nothing of it lies in the repository.
const SUBMODULE: i32 = 0o160_000;

impl History {
    /// Finds what differs from the last commit.
    pub fn find(&self) -> Result<ZoneComparison> {
        repository::restore_gitfile(&self.parent, &self.data)?;
        self.compare()
    }

    /// Puts back everything that was found to differ: content, modes, what was deleted or moved.
    /// Removes what is new, with directories that are empty then: those that are not among
    /// `before`, or, if that is not known, those above new files. Returns the space of the rest.
    pub fn restore(
        &self,
        found: ZoneComparison,
        before: Option<&HashSet<Box<[u8]>>>,
        staging: &Staging,
    ) -> Result<Totals> {
        let ZoneComparison { seen, deleted, .. } = found;
        let replaced = staging.private_directory()?;
        let was_there = |directory: &ZonePath| {
            let path = directory.as_str().as_bytes();
            before.is_some_and(|before| before.contains(path))
        };
        let changed = || seen.iter().filter(|seen| seen.change().is_some());
        for seen in changed() {
            let path = zone_path(&seen.path);
            let other = seen
                .head
                .is_none_or(|(_, mode)| mode >> 12 != seen.mode >> 12);
            if other {
                self.take_away(&path, staging)?;
            }
            if seen.head.is_none() {
                self.take_away_empty(path.parent(), was_there, staging)?;
            }
        }
        for seen in changed() {
            if let Some((id, mode)) = seen.head {
                let path = zone_path(&seen.path);
                self.put_back_if_whole(&path, (id, mode), staging, &replaced)?;
            }
        }
        for (path, (id, mode)) in &deleted {
            // Only names that are UTF-8 are among the deleted.
            let path = zone_path(&String::from_utf8_lossy(path));
            self.put_back_if_whole(&path, (*id, *mode), staging, &replaced)?;
        }
        replaced.remove(staging)?;
        if let Some(before) = before {
            for new in self.data.directories()?.difference(before) {
                if let Ok(path) = String::from_utf8(new.to_vec()) {
                    self.take_away_empty(Some(ZonePath::found(path)), was_there, staging)?;
                }
            }
        }
        // Git's index may tell of what was undone.
        self.refresh_index()?;
        Ok(self.compare()?.totals)
    }

    pub(super) fn there(&self, path: &ZonePath) -> Result<Option<Entry>> {
        match self.data.entry_as_named(path) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn take_away(&self, path: &ZonePath, staging: &Staging) -> Result<()> {
        if let Some(entry) = self.there(path)? {
            staging.remove(&entry)?.keep()?;
        }
        Ok(())
    }

    /// Removes a directory that is empty, and those above it that are empty then, up to one that `stays`.
    pub(super) fn take_away_empty(
        &self,
        directory: Option<ZonePath>,
        stays: impl Fn(&ZonePath) -> bool,
        staging: &Staging,
    ) -> Result<()> {
        let mut above = directory;
        while let Some(directory) = above.filter(|directory| !directory.is_root()) {
            let empty = self.data.list(&directory).is_ok_and(|list| list.is_empty());
            if !empty || stays(&directory) {
                break;
            }
            self.take_away(&directory, staging)?;
            above = directory.parent();
        }
        Ok(())
    }

    /// The rest comes back even where the disk lost the content of one file.
    fn put_back_if_whole(
        &self,
        path: &ZonePath,
        content: (Oid, i32),
        staging: &Staging,
        replaced: &PrivateDirectory,
    ) -> Result<()> {
        let staged = self.stage_content(content, staging, replaced);
        match staged.and_then(|staged| self.install_content(path, content, staged, staging)) {
            Err(error) if error.remedy() == Remedy::Another => {
                tracing::error!(
                    %path, %error,
                    "the earlier content of a file is lost: the file stays as a command left it"
                );
                Ok(())
            }
            other => other.map(drop),
        }
    }

    /// Writes the content of a file into staging, where it is exchanged for what it replaces; `None` for what is
    /// no file.
    pub(super) fn stage_content(
        &self,
        (id, mode): (Oid, i32),
        staging: &Staging,
        replaced: &PrivateDirectory,
    ) -> Result<Option<Staged>> {
        if mode == SUBMODULE || mode == SYMLINK {
            return Ok(None);
        }
        let mut staged = staging.create_in(replaced)?;
        object::copy_content(&self.repository, id, |piece| staged.write_all(piece))?;
        staged.set_mode(if mode & 0o100 == 0 { 0o644 } else { 0o755 });
        Ok(Some(staged))
    }

    /// Gives a path the content that was staged for it, or the link that history has. Returns the state of a
    /// file.
    pub(super) fn install_content(
        &self,
        path: &ZonePath,
        (id, mode): (Oid, i32),
        staged: Option<Staged>,
        staging: &Staging,
    ) -> Result<Option<Stamp>> {
        if mode == SUBMODULE {
            return Ok(None);
        }
        let mut there = self.there(path)?;
        // An entry with another path is behind a link.
        if there.as_ref().is_none_or(|entry| entry.path() != path) {
            for above in std::iter::successors(path.parent(), ZonePath::parent) {
                if let Some(entry) = self.there(&above)?
                    && entry.kind() != Kind::Directory
                {
                    staging.remove(&entry)?.keep()?;
                }
            }
            there = self.there(path)?;
        }
        let Some(staged) = staged else {
            let blob = object::blob(&self.repository, id)?;
            self.take_away(path, staging)?;
            self.data
                .vacancy_as_named(path)?
                .make_link(blob.content())?;
            return Ok(None);
        };
        let target = match there {
            Some(entry) if entry.kind() == Kind::File => Target::Entry(entry),
            _ => {
                self.take_away(path, staging)?;
                Target::Vacancy(self.data.vacancy_as_named(path)?)
            }
        };
        let stamp = staged.stamp()?;
        if let Some(replaced) = staged.install(target)?.keep_displaced() {
            replaced.leave();
        }
        Ok(Some(stamp))
    }
}
