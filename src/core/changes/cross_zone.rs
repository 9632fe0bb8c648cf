//! Files and directories on their way from one place to another, in the same zone or another one.
//!
//! A move copies nothing: it is one rename, or several that count as one where something is
//! replaced, so that whenever the server dies, what moves is in exactly one of the two zones, whole.
//! A copy is prepared beside the zone and arrives in one rename. What moves into a group or out of it
//! is copied and then removed, because each side has its owners and its history. Both zones are asked
//! first: write locks, locks, space, and what the second one keeps for the server.

#![expect(
    clippy::disallowed_methods,
    reason = "intents are recorded here for both zones together"
)]

use super::change_request::ChangeRequest;
use super::permit::{DiskEffect, Permit, Writer, ZoneChange};
use super::{expect_plain, owner};
use crate::prepared_contents::PreparedContents;
use fileshed_history::CommitId;
use fileshed_storage::{DiskError, Entry, Kind, Renamed, Target, Totals, Weight};
use fileshed_types::{Code, Error, Hint, NextCall, Repeat, diagnostics};
use fileshed_zones::zone::{Zone, ZoneError, ZonePath};

/// A transfer of a file or directory between two zones, or inside one.
#[derive(Clone, Copy, Debug)]
pub struct CrossZoneTransfer<'a> {
    /// The zone that has it.
    pub from: &'a Zone<'a>,
    /// The zone that gets it.
    pub to: &'a Zone<'a>,
    /// Its path in the first zone.
    pub source: &'a str,
    /// Its path in the second zone.
    pub destination: &'a str,
    /// The names of the parameters that say so.
    pub parameters: (&'static str, &'static str),
    /// `true` if it may take the place of a file, or of a directory, that is there.
    pub overwrite: bool,
    /// `true` if a file may take the place of a directory of the same zone, and the reverse, as WebDAV
    /// has it.
    pub replaces_other_kinds: bool,
    /// The caller's commit message.
    pub message: Option<&'a str>,
    /// The name for history and logs.
    pub operation: &'static str,
}

/// The result of a transfer.
#[derive(Debug)]
pub struct CrossZoneResult {
    /// Its path in the first zone.
    pub source: ZonePath,
    /// Its path in the second zone.
    pub destination: ZonePath,
    /// Its space; zero if it was moved inside one zone.
    pub totals: Totals,
    /// `true` if it is a directory.
    pub is_directory: bool,
    /// `true` if a `.git` was left out.
    pub without_git: bool,
    /// The commit, where one of the zones has history and something of it changed.
    pub commit: Option<CommitId>,
}

/// Takes the write locks of two zones, always in the same order, so that no two callers wait for each
/// other. `operation` is the name for history and logs.
pub(super) fn writers<'a>(
    from: &'a Zone<'a>,
    to: &'a Zone<'a>,
    operation: &'static str,
) -> Result<(Writer<'a>, Writer<'a>), Error> {
    to.expect_writable()?;
    writers_unasked(from, to, operation)
}

/// Takes the same write locks for something that goes back, which uploads allow too.
pub(super) fn writers_unasked<'a>(
    from: &'a Zone<'a>,
    to: &'a Zone<'a>,
    operation: &'static str,
) -> Result<(Writer<'a>, Writer<'a>), Error> {
    let rank = |zone: &Zone<'_>| (zone.name, zone.tenant.key.clone());
    if rank(from) < rank(to) {
        let from = Writer::new(from, operation)?;
        Ok((from, Writer::new(to, operation)?))
    } else {
        let to = Writer::new(to, operation)?;
        Ok((Writer::new(from, operation)?, to))
    }
}

/// Moves an entry, which weighs so much, in one rename if the destination is free; an entry there
/// holds `replaced`. Groups only take copies.
pub(super) fn relocate<'a>(
    (from, to): (Writer<'a>, Writer<'a>),
    entry: &Entry,
    weight: &Weight,
    (target, replaced): (Target, Totals),
) -> Result<ZoneChange<'a>, Error> {
    if from.is_shared() || to.is_shared() {
        return Err(ZoneError::NotPersonal.into());
    }
    let (source, destination) = (from.zone(), to.zone());
    let has_versions = [source, destination].map(|zone| zone.name.is_versioned());
    let is_told = has_versions == [false, false];
    let left = ChangeRequest::leave(entry, weight.totals, is_told);
    let mut arrived = ChangeRequest::install(&target, weight, replaced);
    if is_told {
        arrived.came_from(source, entry, &target);
    }
    let mut leaving = from.ask(left)?;
    let mut arriving = to.ask(arrived)?;
    let zone = arriving.zone();
    let intents = loop {
        let growth = Permit::growth(&[&leaving, &arriving]);
        let begin = || {
            let registry = &zone.store.registry;
            registry.begin_together(&[leaving.plan(), arriving.plan()])
        };
        match zone.store.making_space(&zone.tenant, growth, begin) {
            Err(error) if error.code() == Code::QuotaExceeded && arriving.give_up_bin() => {}
            done => break done.map_err(|error| zone.explain(error))?,
        }
    };
    let mut intents = intents.into_iter();
    (leaving.intent, arriving.intent) = (intents.next(), intents.next());
    if let Some(old) = target.entry() {
        expect_plain(old).map_err(|error| zone.explain(error))?;
    }
    arriving.expect_alive()?;
    let staging = arriving.staging();
    let effect = match target {
        Target::Vacancy(vacancy) => Renamed::new(entry, vacancy, staging).map(DiskEffect::Renamed),
        Target::Entry(old) => {
            let kept = arriving.place_in_bin(old.path())?;
            staging.supplant(entry, &old, kept).map(DiskEffect::Several)
        }
    };
    let effect = effect.map_err(|error| {
        let missing = matches!(error, DiskError::NotFound { .. });
        let met_in = if missing { &leaving } else { &arriving };
        met_in.explain(error)
    })?;
    let mut change = arriving.change(effect);
    change.source = Some(leaving);
    Ok(change)
}

/// A transfer whose ends were looked at under both write locks.
struct OpenedTransfer<'a> {
    writers: (Writer<'a>, Writer<'a>),
    entry: Entry,
    prepared: PreparedContents,
    weight: Weight,
    /// The first path that the second zone does not take.
    kept_back: Option<ZonePath>,
    target: Target,
    /// Space of what is at the target now.
    replaced: Totals,
    /// The commit message that says what was done.
    default: String,
}

impl<'a> CrossZoneTransfer<'a> {
    /// Moves it.
    pub fn relocate(&self) -> Result<CrossZoneResult, Error> {
        self.carry_out(true)
    }

    /// Copies it, without what the second zone keeps for the server.
    pub fn duplicate(&self) -> Result<CrossZoneResult, Error> {
        self.carry_out(false)
    }

    fn carry_out(&self, moves: bool) -> Result<CrossZoneResult, Error> {
        if self.from.is_same(self.to) {
            return self.carry_out_inside(moves);
        }
        let mut opened = self.open(if moves { "Move" } else { "Copy" })?;
        let kept_back = opened.kept_back.take();
        let without_git = kept_back.is_some();
        if let (true, Some(path)) = (moves, kept_back) {
            let src = self.parameters.0;
            return Err(self.from.explain(CrossZoneError::Git { path, src }.into()));
        }
        let source = opened.entry.path().clone();
        let destination = opened.target.path().clone();
        let is_directory = opened.entry.kind() == Kind::Directory;
        let is_shared = self.from.group().or(self.to.group()).is_some();
        let (totals, commit) = if moves && !is_shared && !self.source_goes_into_bin(&opened)? {
            self.rename(opened)?
        } else {
            self.copy(opened, moves)?
        };
        Ok(CrossZoneResult {
            source,
            destination,
            totals,
            is_directory,
            without_git,
            commit,
        })
    }

    /// Moves or copies it inside one zone.
    fn carry_out_inside(&self, moves: bool) -> Result<CrossZoneResult, Error> {
        let zone = self.to;
        let (old, new) = self.paths()?;
        let writer = crate::writer(zone, self.operation)?;
        let entry = if moves {
            zone.entry_itself(&old)?
        } else {
            zone.entry(&old)?
        };
        let target = self.target_inside(&entry, &new)?;
        let mut totals = Totals::default();
        let (change, verb) = match target {
            Target::Vacancy(vacancy) if moves => (writer.rename(&entry, vacancy)?, "Rename"),
            Target::Entry(taken) if moves => (writer.supplant(&entry, &taken)?, "Rename"),
            target => {
                owner::check(zone, [target.path()])?;
                let taken = target.entry().map(|taken| zone.totals(taken));
                let replaced = taken.transpose()?.unwrap_or_default();
                totals = zone.totals(&entry)?;
                zone.expect_space(totals.bytes.saturating_sub(replaced.bytes))?;
                let skip = |inside: &ZonePath| self.is_kept_back(inside);
                let (staged, prepared) = PreparedContents::default()
                    .copy(writer.staging(), &zone.data, &entry, skip)
                    .map_err(|error| zone.explain_disk(error))?;
                (
                    writer.with_prepared(prepared).install(staged, target)?,
                    "Copy",
                )
            }
        };
        let commit = change.commit(self.message, &format!("{verb} {old} to {new}"))?;
        Ok(CrossZoneResult {
            is_directory: entry.kind() == Kind::Directory,
            source: old,
            destination: new,
            totals,
            without_git: false,
            commit,
        })
    }

    /// The place for `entry` in its own zone. Neither it nor what holds it can be replaced by it, and a
    /// file and a directory replace each other only where that is asked for.
    fn target_inside(&self, entry: &Entry, new: &ZonePath) -> Result<Target, Error> {
        let target = self.to.destination(self.parameters.1, new)?;
        let Some(taken) = target.entry() else {
            return Ok(target);
        };
        let holds = std::iter::successors(Some(entry.path().clone()), ZonePath::parent)
            .any(|above| above == *taken.path());
        let (path, dest) = (taken.path().clone(), self.parameters.1);
        let fault = if holds {
            Some(CrossZoneError::Itself { path, dest }.into())
        } else if self.replaces_other_kinds && self.overwrite {
            None
        } else {
            self.fault_of_kind(entry, taken)
        };
        fault.map_or(Ok(target), |error| Err(self.to.explain(error)))
    }

    /// Why what is there cannot be replaced by `entry`.
    fn fault_of_kind(&self, entry: &Entry, there: &Entry) -> Option<Error> {
        let path = there.path().clone();
        let (src, dest) = self.parameters;
        match (entry.kind(), there.kind()) {
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
        }
    }

    /// Returns `true` if the second zone gets a copy of what moves, because the bin keeps the source:
    /// what leaves a zone without history for one with history could not come back otherwise.
    fn source_goes_into_bin(&self, opened: &OpenedTransfer<'_>) -> Result<bool, Error> {
        let (from, to) = (self.from, self.to);
        let leaves_bin = !from.name.is_versioned() && to.name.is_versioned();
        Ok(leaves_bin
            && crate::bin::has_bin(to.store)
            && to.store.space_left(&to.tenant)? >= opened.weight.totals.bytes)
    }

    /// Moves it in one rename.
    fn rename(&self, opened: OpenedTransfer<'_>) -> Result<(Totals, Option<CommitId>), Error> {
        let (from, to) = opened.writers;
        let writers = (from, to.with_prepared(opened.prepared.moved()));
        let target = (opened.target, opened.replaced);
        let change = relocate(writers, &opened.entry, &opened.weight, target)?;
        let commit = change.commit(self.message, &opened.default)?;
        Ok((opened.weight.totals, commit))
    }

    /// Copies it under both locks, so that the copy is its state at one moment. If it `moves`, into a group
    /// or out of one, the source is removed then: the copy belongs to the caller, who must have the right
    /// to remove the source. A failure of either step undoes both.
    fn copy(
        &self,
        opened: OpenedTransfer<'_>,
        moves: bool,
    ) -> Result<(Totals, Option<CommitId>), Error> {
        let OpenedTransfer {
            writers: (from, to),
            entry,
            target,
            replaced,
            default,
            ..
        } = opened;
        owner::check(self.to, [target.path()])?;
        let more = opened.weight.totals.bytes.saturating_sub(replaced.bytes);
        self.to.expect_space(more)?;
        let (leaving, held) = if moves {
            let request = ChangeRequest::remove(&entry, opened.weight.totals);
            (Some(from.guard(request)?), None)
        } else {
            (None, Some(from))
        };
        let skip = |inside: &ZonePath| !moves && self.is_kept_back(inside);
        let data = &self.from.data;
        let copied = opened.prepared.copy(to.staging(), data, &entry, skip);
        let (staged, prepared) = copied.map_err(|error| self.from.explain_disk(error))?;
        drop(held);
        let weight = staged.weight()?;
        let arrived = to
            .with_prepared(prepared)
            .guard(ChangeRequest::install(&target, &weight, replaced))?
            .install(staged, target)?;
        let left = leaving.map(|leaving| leaving.remove(&entry)).transpose()?;
        let mut commit = arrived.commit(self.message, &default)?;
        if let Some(left) = left {
            commit = commit.or(left.commit(self.message, &default)?);
        }
        Ok((weight.totals, commit))
    }

    /// Takes both write locks and looks at both ends. Large files are made ready for the second zone's
    /// history before, after the checks that need no lock.
    fn open(&self, verb: &str) -> Result<OpenedTransfer<'a>, Error> {
        let (source, destination) = self.paths()?;
        let prepared = self.prepare(&source, &destination)?;
        let writers = writers(self.from, self.to, self.operation)?;
        let entry = self.from.entry_itself(&source)?;
        let (weight, kept_back) = self.weigh(&entry)?;
        let (target, replaced) = self.target(&entry, &destination)?;
        Ok(OpenedTransfer {
            writers,
            prepared: prepared.unchanged(&self.from.data, &entry),
            weight,
            kept_back,
            default: self.describe(verb, entry.path(), target.path()),
            target,
            replaced,
            entry,
        })
    }

    /// Makes large files ready for the second zone's history, before anybody has to wait; what is
    /// refused anyhow is refused first.
    fn prepare(
        &self,
        source: &ZonePath,
        destination: &ZonePath,
    ) -> Result<PreparedContents, Error> {
        if !self.to.name.is_versioned() {
            return Ok(PreparedContents::default());
        }
        let entry = self.from.entry_itself(source)?;
        self.target(&entry, destination)?;
        Ok(PreparedContents::of(self.to, &self.from.data, &entry))
    }

    fn paths(&self) -> Result<(ZonePath, ZonePath), Error> {
        let (src, dest) = self.parameters;
        let source = self
            .from
            .path_to_take(src, self.source, self.to, self.destination)?;
        let from = self.from.name;
        let destination = self
            .to
            .path_to_bring(dest, self.destination, from, &source)?;
        Ok((source, destination))
    }

    /// Weighs the entry; also returns the first path that the second zone does not take.
    fn weigh(&self, entry: &Entry) -> Result<(Weight, Option<ZonePath>), Error> {
        let mut kept_back = None;
        let weight = self.from.data.weigh(entry, |inside| {
            let stays = self.is_kept_back(inside);
            if stays && kept_back.is_none() {
                kept_back = Some(entry.path().join(inside.as_str()));
            }
            stays
        });
        let weight = weight.map_err(|error| self.from.explain(error.into()))?;
        Ok((weight, kept_back))
    }

    /// Returns `true` if the second zone does not take this path below the entry.
    fn is_kept_back(&self, inside: &ZonePath) -> bool {
        self.to.name.is_versioned() && inside.has_git_segment()
    }

    /// The place for `entry`, and what is there now.
    fn target(&self, entry: &Entry, destination: &ZonePath) -> Result<(Target, Totals), Error> {
        let target = self.to.destination(self.parameters.1, destination)?;
        let Some(there) = target.entry() else {
            return Ok((target, Totals::default()));
        };
        if let Some(error) = self.fault_of_kind(entry, there) {
            return Err(self.to.explain(error));
        }
        let replaced = self.to.totals(there)?;
        Ok((target, replaced))
    }

    /// The commit message that says what was done.
    fn describe(&self, verb: &str, source: &ZonePath, destination: &ZonePath) -> String {
        let (from, to) = (self.from.name, self.to.name);
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
            /// The file or directory that is there.
            path: ZonePath,
            /// The parameter that names it.
            dest: &'static str = "dest",
        } => {
            code: FileExists,
            hint: Hint::from(Repeat::with("overwrite", true))
                .say(format!(" to replace it, or choose another {dest}")),
            details: { "path": path.display() },
        },
        /// The source, or what holds it, has the name.
        #[error("`{dest}` is the source itself, or contains it: `{path}`")]
        Itself {
            /// The file or directory that is there.
            path: ZonePath,
            /// The parameter that names it.
            dest: &'static str = "to",
        } => {
            code: FileExists,
            hint: format!("choose another `{dest}`"),
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
        #[error(
            "`{src}` holds `{path}`, which cannot be stored in a zone that has its own history"
        )]
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

fn delete(path: &ZonePath) -> NextCall {
    NextCall::here("shed_delete").with("path", path.display())
}
