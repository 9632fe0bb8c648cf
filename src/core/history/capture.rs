//! Taking into history what was changed: at the paths that an operation names, or wherever it is
//! after a command.

use jiff::Timestamp;

use super::content::{Contents, is_versioned, mode_of, zone_path};
use super::tree::Edits;
use super::{
    Author, CommitId, FileChange, History, HistoryError, PreparedContent, Result, ZoneComparison,
    head, power_cut,
};
use fileshed_storage::{DiskError, Kind, Totals, Vacancy};
use fileshed_types::zone::ZonePath;

/// Result of [`History::capture`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The commit; `None` if nothing had changed.
    pub commit: Option<CommitId>,
    /// In the order of their paths.
    pub changed: Vec<FileChange>,
    /// Space of everything on disk, versioned or not.
    pub totals: Totals,
}

impl History {
    /// Commits what is on disk at `changed`: a file, a link, a directory with everything below,
    /// or nothing any more. Nothing is committed where HEAD has it all. What is `prepared` of it need
    /// not be read.
    pub fn commit_paths(
        &self,
        changed: &[ZonePath],
        prepared: &[PreparedContent],
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Option<CommitId>> {
        let mut tip = head::tip(&self.repository)?;
        if tip.commit().is_none() {
            self.begin_with_rest(changed, when)?;
            tip = head::tip(&self.repository)?;
        }
        let edits = self.edits(changed, prepared)?;
        let commit = self.commit(&tip, edits, message, author, when)?;
        Ok(commit.map(|(id, _)| id))
    }

    /// Returns the edits of a commit that takes in the files on disk at `changed`.
    pub(super) fn edits(
        &self,
        changed: &[ZonePath],
        prepared: &[PreparedContent],
    ) -> Result<Edits> {
        let mut edits = Edits::default();
        let mut files = Vec::new();
        for path in changed {
            self.look_at(path, &mut edits, &mut files)?;
        }
        let mut contents = Contents::new(&self.repository, &self.parent, prepared, files.len())?;
        for path in files {
            let stored = self.data.entry_as_named(&path).map_err(HistoryError::from);
            let stored = stored.and_then(|entry| {
                let mode = mode_of(entry.kind(), entry.mode());
                let stored = mode.map(|mode| Ok(((contents.store(&entry)?, mode), entry.size())));
                stored.transpose()
            });
            match stored {
                Ok(Some((content, bytes))) => edits.put(path.as_str(), content, bytes),
                Ok(None) | Err(HistoryError::Unfinished) => {}
                // A command that runs meanwhile took it; what it did is captured when it ends.
                Err(error) if error.is_gone() => edits.remove(path.as_str()),
                Err(error) => return Err(error),
            }
        }
        contents.finish()?;
        Ok(edits)
    }

    /// Begins a history with everything that is there but `changed`: what is older than it must
    /// not look as if it came later.
    fn begin_with_rest(&self, changed: &[ZonePath], when: Timestamp) -> Result<()> {
        let is_changed = |path: &str| {
            let path = zone_path(path);
            std::iter::successors(Some(path), ZonePath::parent)
                .any(|above| changed.contains(&above))
        };
        let mut comparison = self.compare()?;
        comparison.seen.retain(|seen| !is_changed(&seen.path));
        if comparison.seen.is_empty() {
            return Ok(());
        }
        let author = Author::server();
        self.capture_found(comparison, "Begin with what is there", &author, when)?;
        Ok(())
    }

    /// Commits whatever differs from the last commit, ignored files too: after a command, or
    /// after a process died between a change and its commit. Then git's index describes HEAD.
    pub fn capture(&self, message: &str, author: &Author, when: Timestamp) -> Result<Captured> {
        self.capture_found(self.find()?, message, author, when)
    }

    /// Commits what the zone has beyond its last commit, where the machine may have stopped since,
    /// and remembers that the history is whole. Whether that had to be done.
    pub fn recover(&self, when: Timestamp) -> Result<bool> {
        if power_cut::is_whole_at(self.git_dir()) {
            return Ok(false);
        }
        self.cache()
            .forget()
            .map_err(HistoryError::repository("index"))?;
        if self.head_commit()?.is_some() {
            let message = "Recovered after the machine stopped";
            self.capture(message, &Author::server(), when)?;
        }
        rustix::fs::syncfs(self.parent.handle())
            .map_err(|error| HistoryError::repository("flush")(error.into()))?;
        head::shorten(&self.repository).map_err(HistoryError::repository("mend"))?;
        power_cut::remember(self.git_dir()).map_err(HistoryError::repository("mend"))?;
        Ok(true)
    }

    /// Commits what was found to differ.
    pub fn capture_found(
        &self,
        mut found: ZoneComparison,
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Captured> {
        let changed = found.changes();
        let totals = found.totals;
        let mut edits = Edits::default();
        for (path, _) in std::mem::take(&mut found.deleted) {
            edits.remove(&String::from_utf8_lossy(&path));
        }
        let mut contents = Contents::new(&self.repository, &self.parent, &[], changed.len())?;
        let mut there = Vec::with_capacity(found.seen.len());
        for mut seen in std::mem::take(&mut found.seen) {
            if seen.change().is_some() {
                let stored = self.data.entry_as_named(&zone_path(&seen.path));
                let stored = stored.map_err(HistoryError::from);
                let stored = stored.and_then(|entry| Ok((contents.store(&entry)?, entry.size())));
                match stored {
                    Ok((id, bytes)) => {
                        seen.id = id;
                        seen.head = Some((id, seen.mode));
                        edits.put(&seen.path, (id, seen.mode), bytes);
                    }
                    // Another command has it, which will be captured when it ends.
                    Err(error) if error.is_passing() => continue,
                    Err(error) => return Err(error),
                }
            }
            there.push(seen);
        }
        contents.finish()?;
        found.seen = there;
        let commit = if changed.is_empty() {
            None
        } else {
            let tip = head::tip(&self.repository)?;
            self.commit(&tip, edits, message, author, when)?
        };
        let head = match &commit {
            Some((_, tree)) => Some(*tree),
            None => self.head_commit()?.map(|commit| commit.tree_id()),
        };
        let cache = self.cache();
        if let Some(tree) = head
            && (found.learned || !cache.is_current(tree))
        {
            cache.write(tree, &found.index_of_head())?;
        }
        Ok(Captured {
            commit: commit.map(|(id, _)| id),
            changed,
            totals,
        })
    }

    /// Sorts what is at `path` into what the commit takes away and the files that it puts.
    fn look_at(&self, path: &ZonePath, edits: &mut Edits, files: &mut Vec<ZonePath>) -> Result<()> {
        let entry = match self.data.entry_as_given(path) {
            Ok(entry) => entry,
            Err(
                DiskError::NotFound { .. }
                | DiskError::NotADirectory { .. }
                | DiskError::Escape { .. }
                | DiskError::TooDeep { .. },
            ) => {
                // A directory above it may be a link: HEAD has the path without it.
                let vacancy = self.data.vacancy_as_named(path);
                edits.remove(vacancy.as_ref().map_or(path, Vacancy::path).as_str());
                if let Some(spelled) = path.as_spelled() {
                    edits.remove(spelled.as_str());
                }
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let path = entry.path();
        match entry.kind() {
            kind if !is_versioned(path.as_str(), kind) => {}
            Kind::File | Kind::Symlink => files.push(path.clone()),
            Kind::Special => edits.remove(path.as_str()),
            Kind::Directory => {
                edits.remove(path.as_str());
                let walked = self.data.walk(path, |found| {
                    let versioned = is_versioned(found.path.as_str(), found.kind);
                    if versioned && matches!(found.kind, Kind::File | Kind::Symlink) {
                        files.push(found.path.clone());
                    }
                    Ok(versioned)
                });
                match walked {
                    // A command that runs meanwhile took it.
                    Err(error) if error.is_gone() => {}
                    other => other?,
                }
            }
        }
        Ok(())
    }
}
