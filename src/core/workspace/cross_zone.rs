//! Files and directories on their way from one zone to another.
//!
//! A move copies nothing: it is one rename, or several that count as one where something is
//! replaced, so that whenever the server dies, what moves is in exactly one of the two zones, whole.
//! A copy is prepared beside the zone and arrives in one rename. What moves into a group or out of it
//! is copied and then removed, because each side has its owners and its history. Both zones are asked
//! first: write locks, locks, space, and what the second one keeps for the server.

use crate::guard::{ChangeRequest, CrossZoneWriter, check_owner};
use crate::prepared_contents::PreparedContents;
use crate::zone::{Zone, ZonePath};
use crate::{Call, Error, Hint, Repeat, diagnostics};
use fileshed_history::CommitId;
use fileshed_storage::{Entry, Kind, Target, Totals, Weight};

/// What goes where.
#[derive(Clone, Copy, Debug)]
pub struct CrossZoneTransfer<'a> {
    /// The zone that has it.
    pub from: &'a Zone<'a>,
    /// The zone that gets it.
    pub to: &'a Zone<'a>,
    /// Where it is.
    pub source: &'a str,
    /// Where it goes.
    pub destination: &'a str,
    /// The names of the parameters that say so.
    pub parameters: (&'static str, &'static str),
    /// Whether it may take the place of a file, or of a directory, that is there.
    pub overwrite: bool,
    /// The caller's commit message.
    pub message: Option<&'a str>,
    /// The name for history and logs.
    pub operation: &'static str,
}

/// What arrived.
#[derive(Debug)]
pub struct CrossZoneResult {
    /// Where it was.
    pub source: ZonePath,
    /// Where it is.
    pub destination: ZonePath,
    /// What it holds.
    pub totals: Totals,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether a `.git` was left out.
    pub without_git: bool,
    /// The commit, where one of the zones has history and something of it changed.
    pub commit: Option<CommitId>,
}

impl CrossZoneTransfer<'_> {
    /// Moves it.
    pub fn relocate(&self) -> Result<CrossZoneResult, Error> {
        if self.from.group().or(self.to.group()).is_some() {
            return self.carry();
        }
        let (source, destination) = self.paths()?;
        let prepared = self.prepare(&source, &destination)?;
        let crossing = CrossZoneWriter::new(self.from, self.to, self.operation)?;
        let entry = self.from.entry_itself(&source)?;
        let prepared = prepared.unchanged(self.from.data(), &entry).moved();
        let weight = self.weigh_whole(&entry)?;
        let (target, replaced) = self.target(&entry, &destination)?;
        let leaves = ChangeRequest::remove(&entry, weight.totals);
        let arrives = ChangeRequest::install(&target, &weight, replaced).prepared(prepared);
        let path = target.path().clone();
        let commit = crossing
            .guard(leaves, arrives)?
            .relocate(&entry, target)?
            .commit(self.message, &self.describe("Move", entry.path(), &path))?;
        Ok(CrossZoneResult {
            source: entry.path().clone(),
            destination: path,
            totals: weight.totals,
            is_directory: entry.kind() == Kind::Directory,
            without_git: false,
            commit,
        })
    }

    /// Moves it into a group or out of one: what arrives is a file of the caller's, and what leaves
    /// must be the caller's to remove. Until both have happened, both are undone.
    fn carry(&self) -> Result<CrossZoneResult, Error> {
        let (source, destination) = self.paths()?;
        let prepared = self.prepare(&source, &destination)?;
        let crossing = CrossZoneWriter::new(self.from, self.to, self.operation)?;
        let entry = self.from.entry_itself(&source)?;
        let prepared = prepared.unchanged(self.from.data(), &entry);
        let whole = self.weigh_whole(&entry)?;
        let (target, replaced) = self.target(&entry, &destination)?;
        check_owner(self.to, [target.path()])?;
        self.to.expect_space(whole.totals.bytes)?;
        let (leaving, arriving) = crossing.apart();
        let leaving = leaving.guard(ChangeRequest::remove(&entry, whole.totals))?;
        let (staged, prepared) = prepared
            .copy(arriving.staging(), self.from.data(), &entry, |_| false)
            .map_err(|error| self.from.explain_disk(error))?;
        let weight = staged.weight()?;
        let path = target.path().clone();
        let message = self.describe("Move", entry.path(), &path);
        let arrived = arriving
            .guard(ChangeRequest::install(&target, &weight, replaced).prepared(prepared))?
            .install(staged, target)?;
        let left = leaving.remove(&entry)?;
        let commit = arrived.commit(self.message, &message)?;
        let removal = left.commit(self.message, &message)?;
        Ok(CrossZoneResult {
            source: entry.path().clone(),
            destination: path,
            totals: weight.totals,
            is_directory: entry.kind() == Kind::Directory,
            without_git: false,
            commit: commit.or(removal),
        })
    }

    /// Copies it, without what the second zone keeps for the server.
    pub fn duplicate(&self) -> Result<CrossZoneResult, Error> {
        let (source, destination) = self.paths()?;
        let prepared = self.prepare(&source, &destination)?;
        // Both locks: what is copied is what it was at one moment.
        let crossing = CrossZoneWriter::new(self.from, self.to, self.operation)?;
        let entry = self.from.entry_itself(&source)?;
        let prepared = prepared.unchanged(self.from.data(), &entry);
        let (weight, git) = self.weigh(&entry)?;
        let (target, replaced) = self.target(&entry, &destination)?;
        check_owner(self.to, [target.path()])?;
        let more = weight.totals.bytes.saturating_sub(replaced.bytes);
        self.to.expect_space(more)?;
        let skip = |inside: &ZonePath| self.is_kept_back(inside);
        let (staged, prepared) = prepared
            .copy(crossing.staging(), self.from.data(), &entry, skip)
            .map_err(|error| self.from.explain_disk(error))?;
        let weight = staged.weight()?;
        let path = target.path().clone();
        let commit = crossing
            .arrive()
            .guard(ChangeRequest::install(&target, &weight, replaced).prepared(prepared))?
            .install(staged, target)?
            .commit(self.message, &self.describe("Copy", entry.path(), &path))?;
        Ok(CrossZoneResult {
            source: entry.path().clone(),
            destination: path,
            totals: weight.totals,
            is_directory: entry.kind() == Kind::Directory,
            without_git: git.is_some(),
            commit,
        })
    }

    /// Makes large files ready for the second zone's history, before anybody has to wait; what is
    /// refused anyhow is refused first.
    fn prepare(
        &self,
        source: &ZonePath,
        destination: &ZonePath,
    ) -> Result<PreparedContents, Error> {
        if !self.to.name().is_versioned() {
            return Ok(PreparedContents::default());
        }
        let entry = self.from.entry_itself(source)?;
        self.target(&entry, destination)?;
        Ok(PreparedContents::of(self.to, self.from.data(), &entry))
    }

    fn paths(&self) -> Result<(ZonePath, ZonePath), Error> {
        let (src, dest) = self.parameters;
        let source = self
            .from
            .path_to_take(src, self.source, self.to, self.destination)?;
        let from = self.from.name();
        let destination = self
            .to
            .path_to_bring(dest, self.destination, from, &source)?;
        Ok((source, destination))
    }

    /// What moves, all of which the second zone must take.
    fn weigh_whole(&self, entry: &Entry) -> Result<Weight, Error> {
        match self.weigh(entry)? {
            (weight, None) => Ok(weight),
            (_, Some(path)) => {
                let src = self.parameters.0;
                Err(self.from.explain(CrossZoneError::Git { path, src }.into()))
            }
        }
    }

    /// What arrives, and the first path that the second zone does not take.
    fn weigh(&self, entry: &Entry) -> Result<(Weight, Option<ZonePath>), Error> {
        let mut kept_back = None;
        let weight = self.from.data().weigh(entry, |inside| {
            let stays = self.is_kept_back(inside);
            if stays && kept_back.is_none() {
                kept_back = Some(entry.path().join(inside.as_str()));
            }
            stays
        });
        let weight = weight.map_err(|error| self.from.explain(error.into()))?;
        Ok((weight, kept_back))
    }

    /// Whether the second zone does not take what has this path below the entry.
    fn is_kept_back(&self, inside: &ZonePath) -> bool {
        self.to.name().is_versioned() && inside.has_git_segment()
    }

    /// The place for `entry`, and what is there now.
    fn target(&self, entry: &Entry, destination: &ZonePath) -> Result<(Target, Totals), Error> {
        let target = self.to.destination(self.parameters.1, destination)?;
        let Some(there) = target.entry() else {
            return Ok((target, Totals::default()));
        };
        let path = there.path().clone();
        let (src, dest) = self.parameters;
        let fault = match (entry.kind(), there.kind()) {
            (_, Kind::Special | Kind::Symlink) => there.expect_file().err().map(Error::from),
            (Kind::Directory, Kind::File) if self.overwrite => {
                Some(CrossZoneError::OntoFile { path, src, dest }.into())
            }
            (Kind::File, Kind::Directory) => {
                let inside = path.join(entry.path().name().unwrap_or_default());
                Some(CrossZoneError::OntoDirectory { path, inside, dest }.into())
            }
            _ if !self.overwrite => Some(CrossZoneError::Exists { path, dest }.into()),
            _ => None,
        };
        if let Some(error) = fault {
            return Err(self.to.explain(error));
        }
        let replaced = self.to.totals(there)?;
        Ok((target, replaced))
    }

    /// The commit message that says what was done.
    fn describe(&self, verb: &str, source: &ZonePath, destination: &ZonePath) -> String {
        let (from, to) = (self.from.name(), self.to.name());
        if source == destination {
            format!("{verb} {source} from {from} to {to}")
        } else {
            format!("{verb} {source} from {from} to {to} as {destination}")
        }
    }
}

diagnostics! {
    /// Something that cannot go to another zone as it was asked for.
    #[derive(Debug, thiserror::Error)]
    pub enum CrossZoneError {
        /// Something has the name, and was not to be replaced.
        #[error("`{dest}` exists already: `{path}`")]
        Exists {
            /// What is there.
            path: ZonePath,
            /// The parameter that names it.
            dest: &'static str = "dest",
        } => {
            code: FileExists,
            hint: Hint::repeat(Repeat::with("overwrite", true))
                .say(format!(" to replace it, or choose another {dest}")),
            details: { "path": path.display() },
        },
        /// A directory has the name that a file was to get.
        #[error("`{dest}` is a directory: `{path}`")]
        OntoDirectory {
            /// The directory.
            path: ZonePath = ZonePath::found("notes".to_owned()),
            /// The file in it.
            inside: ZonePath,
            /// The parameter that names it.
            dest: &'static str = "dest",
        } => {
            code: NotAFile,
            hint: Hint::new("to name the file in it, ").again(Repeat::with(*dest, inside.display())),
            details: { "path": path.display() },
        },
        /// A file has the name that a directory was to get.
        #[error("`{src}` is a directory, and `{dest}` is a file: `{path}`")]
        OntoFile {
            /// The file.
            path: ZonePath,
            /// The parameter that names the directory.
            src: &'static str = "src",
            /// The parameter that names it.
            dest: &'static str = "dest",
        } => {
            code: FileExists,
            hint: Hint::from(format!("choose another {dest}, or delete the file with "))
                .call(delete(path)),
            details: { "path": path.display() },
        },
        /// The history of another repository cannot lie in a zone that has its own.
        #[error("`{src}` holds `{path}`, which a zone with a history of its own does not take")]
        Git {
            /// The repository.
            path: ZonePath = ZonePath::found("project/.git".to_owned()),
            /// The parameter that names what holds it.
            src: &'static str = "src",
        } => {
            code: ProtectedPath,
            hint: Hint::new("delete it first with ")
                .call(delete(path))
                .say(", or take single files"),
            details: { "path": path.display() },
        },
    }
}

fn delete(path: &ZonePath) -> Call {
    Call::here("shed_delete").with("path", path.display())
}
