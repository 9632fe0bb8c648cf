//! The only place that knows git: what a zone was, change by change.
//!
//! The repository lies beside the work tree, where no path of the zone leads. What an operation
//! changed is committed path by path, straight from HEAD's tree, so that a commit costs the same
//! in a zone of ten files and of ten thousand. What a command may have changed is found by a walk
//! that reads only files whose stat is new. Bytes are stored as they are: no attribute, filter or
//! setting changes them. Names that are not UTF-8, special files, empty directories and whatever
//! git takes for a `.git` are not versioned.
//!
//! Callers hold the writer lock of the zone around every call, opening included.

mod author;
mod change;
mod commit;
mod compare;
mod config;
mod content;
mod damage;
mod error;
mod head;
mod isolation;
mod moved;
mod object;
mod repository;
mod restore;
pub mod size;
mod stat_cache;
#[cfg(test)]
mod tests;
mod tree;

use std::path::Path;

use git2::{Commit, ErrorCode, Repository};
use jiff::Timestamp;

use compare::Comparison;
pub use compare::holds;
use content::{is_versioned, mode_of, store, zone_path};
use fileshed_storage::{DiskError, Kind, Root, Vacancy};
use fileshed_types::zone::ZonePath;
use stat_cache::StatCache;
use tree::Edits;

pub use author::Author;
pub use change::{Captured, Change, ChangeKind, Changes, CommitId};
pub use damage::SET_ASIDE;
pub use error::HistoryError;
pub use moved::Moved;
pub use restore::{Found, Position};

/// A text as a commit message: one line, of a readable length.
pub fn subject(text: &str) -> String {
    const CHARACTERS: usize = 72;
    let line = text.replace(char::is_control, " ");
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The history of one zone.
pub struct History {
    repository: Repository,
    parent: Root,
    data: Root,
}

impl std::fmt::Debug for History {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.git_dir();
        formatter
            .debug_struct("History")
            .field("git_dir", &place)
            .finish_non_exhaustive()
    }
}

impl History {
    /// Opens the history of the work tree `data`, which lies in `parent`. The first time it is
    /// made, or, where the work tree has a repository inside, taken over.
    pub fn open(parent: &Root, data: &Root) -> Result<Self, HistoryError> {
        isolation::ignore_the_host();
        Ok(Self {
            repository: repository::open(parent, data)?,
            parent: parent.try_clone()?,
            data: data.try_clone()?,
        })
    }

    /// Where the repository is, for the command `git`.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        self.repository.path()
    }

    /// The last commit, if there is one.
    pub fn head(&self) -> Result<Option<CommitId>, HistoryError> {
        let head = self.head_commit()?;
        Ok(head.map(|commit| CommitId::of(commit.id())))
    }

    /// Commits what is on disk at `changed`: a file, a link, a directory with everything below,
    /// or nothing any more. Nothing is committed where HEAD has it all.
    pub fn commit_paths(
        &self,
        changed: &[ZonePath],
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Option<CommitId>, HistoryError> {
        if self.head_commit()?.is_none() {
            self.begin_with_rest(changed, when)?;
        }
        let mut edits = Edits::default();
        let mut files = Vec::new();
        for path in changed {
            self.look_at(path, &mut edits, &mut files)?;
        }
        let writer = self.writer(files.len())?;
        for path in files {
            let stored = self.data.entry_as_named(&path).map_err(HistoryError::from);
            let stored = stored.and_then(|entry| {
                let mode = mode_of(entry.kind(), entry.mode());
                mode.map(|mode| Ok((store(writer.objects(), &entry)?, mode)))
                    .transpose()
            });
            match stored {
                Ok(Some((id, mode))) => edits.put(path.as_str(), id, mode),
                Ok(None) | Err(HistoryError::Unfinished) => {}
                // A command that runs meanwhile took it; what it did is captured when it ends.
                Err(error) if error.is_gone() => edits.remove(path.as_str()),
                Err(error) => return Err(error),
            }
        }
        let commit = self.commit(&writer, edits, message, author, when)?;
        Ok(commit.map(|(id, _)| id))
    }

    /// Begins a history with everything that is there but `changed`: what is older than it must
    /// not look as if it came later.
    fn begin_with_rest(&self, changed: &[ZonePath], when: Timestamp) -> Result<(), HistoryError> {
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
        self.capture_found(Found(comparison), "Begin with what is there", &author, when)?;
        Ok(())
    }

    /// What differs from the last commit, wherever it is.
    pub fn changes(&self) -> Result<Changes, HistoryError> {
        let comparison = self.compare()?;
        Ok(Changes {
            changed: comparison.changes(),
            totals: comparison.totals,
        })
    }

    /// Commits whatever differs from the last commit, ignored files too: after a command, or
    /// after a process died between a change and its commit. Then git's index describes HEAD.
    pub fn capture(
        &self,
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Captured, HistoryError> {
        repository::restore_gitfile(&self.parent, &self.data)?;
        self.capture_found(Found(self.compare()?), message, author, when)
    }

    /// Commits what was found to differ.
    pub fn capture_found(
        &self,
        found: Found,
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Captured, HistoryError> {
        let Found(mut comparison) = found;
        let changed = comparison.changes();
        let totals = comparison.totals;
        let writer = self.writer(changed.len())?;
        let mut edits = Edits::default();
        for (path, _, _) in &comparison.deleted {
            edits.remove(&String::from_utf8_lossy(path));
        }
        let mut there = Vec::with_capacity(comparison.seen.len());
        for mut seen in std::mem::take(&mut comparison.seen) {
            if seen.change().is_some() {
                let stored = self.data.entry_as_named(&zone_path(&seen.path));
                let stored = stored.map_err(HistoryError::from);
                match stored.and_then(|entry| store(writer.objects(), &entry)) {
                    Ok(id) => seen.id = id,
                    // Another command has it, which will be captured when it ends.
                    Err(error) if error.is_passing() => continue,
                    Err(error) => return Err(error),
                }
                edits.put(&seen.path, seen.id, seen.mode);
            }
            there.push(seen);
        }
        comparison.seen = there;
        let commit = if changed.is_empty() {
            None
        } else {
            self.commit(&writer, edits, message, author, when)?
        };
        let head = match &commit {
            Some((_, tree)) => Some(*tree),
            None => self.head_commit()?.map(|commit| commit.tree_id()),
        };
        let cache = self.cache();
        if let Some(tree) = head
            && (comparison.learned || !cache.is_current(tree))
        {
            cache.write(tree, &comparison.lines_after_commit())?;
        }
        Ok(Captured {
            commit: commit.map(|(id, _)| id),
            changed,
            totals,
        })
    }

    /// Makes git's index describe HEAD, for git commands that follow. Almost free where it does.
    pub fn refresh_index(&self) -> Result<(), HistoryError> {
        let Some(commit) = self.head_commit()? else {
            return Ok(());
        };
        let cache = self.cache();
        if cache.is_current(commit.tree_id()) {
            return Ok(());
        }
        let lines = self.compare()?.lines_of_head();
        cache.write(commit.tree_id(), &lines)
    }

    fn cache(&self) -> StatCache {
        StatCache::of(self.git_dir())
    }

    fn head_commit(&self) -> Result<Option<Commit<'_>>, HistoryError> {
        match self.repository.refname_to_id("HEAD") {
            Ok(id) => object::commit(&self.repository, id).map(Some),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(HistoryError::git("read")(error)),
        }
    }

    fn compare(&self) -> Result<Comparison, HistoryError> {
        let head = self.head_commit()?;
        let tree = head
            .map(|commit| object::tree(&self.repository, commit.tree_id()))
            .transpose()?;
        Comparison::new(&self.data, &self.repository, tree.as_ref(), &self.cache())
    }

    /// Sorts what is at `path` into what the commit takes away and the files that it puts.
    fn look_at(
        &self,
        path: &ZonePath,
        edits: &mut Edits,
        files: &mut Vec<ZonePath>,
    ) -> Result<(), HistoryError> {
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
                self.data.walk(path, |found| {
                    let versioned = is_versioned(found.path.as_str(), found.kind);
                    if versioned && matches!(found.kind, Kind::File | Kind::Symlink) {
                        files.push(found.path.clone());
                    }
                    Ok(versioned)
                })?;
            }
        }
        Ok(())
    }
}
