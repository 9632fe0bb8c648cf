//! Histories after the machine stopped without a word.
//!
//! A commit does not flush its objects: that would cost a disk's time for each of them. So after a power cut
//! the last objects and the branch may be missing, empty or cut. The files of the zone are there, because
//! their content is flushed before they get their names. A history remembers under which start of the kernel
//! it was last known to be whole. If it is opened under another one, it is checked: incomplete objects are
//! removed, and the branch goes back to the last commit that has everything that it names. Changes in the
//! zone beyond that commit are then committed anew.
//!
//! Only objects that were written shortly before can be damaged. A pack is flushed with all that its objects
//! name before it counts, so no object behind a packed one is checked.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use git2::{ErrorCode, ObjectType, Oid, Repository};

use super::layout::{NAME, OWN, replace};
use super::{HistoryError, Result, head, object};
use fileshed_storage::Root;

/// Names this start of the kernel (random(4)).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// File of the repository that says under which start of the kernel it was last whole.
const FILE: &str = "boot";

/// Begins the names of objects that were being written, beside the directories of objects.
const UNFINISHED: &str = "tmp_obj";

/// This start of the kernel; where that is not told, this start of the server.
fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let told = fs::read_to_string(BOOT_ID).map(|id| id.trim().to_owned());
        told.ok().filter(|id| !id.is_empty()).unwrap_or_else(|| {
            let process = fs::metadata("/proc/self").and_then(|metadata| metadata.modified());
            format!("process {} {:?}", std::process::id(), process.ok())
        })
    })
}

/// Returns `true` if the history beside the work tree of `parent` was last whole under this start of the
/// kernel, or if there is no history.
#[must_use]
pub fn is_whole(parent: &Root) -> bool {
    let place = parent.location().join(NAME);
    is_whole_at(&place) || !place.is_dir()
}

pub(super) fn is_whole_at(place: &Path) -> bool {
    fs::read_to_string(place.join(OWN).join(FILE)).is_ok_and(|text| text == boot())
}

/// Remembers that the repository is whole under this start of the kernel. On disk before anything
/// that is written from now on.
pub(super) fn remember(place: &Path) -> std::io::Result<()> {
    let own = place.join(OWN);
    fs::create_dir_all(&own)?;
    replace(&own.join(FILE), boot())?;
    fs::File::open(own)?.sync_all()
}

/// Puts right what a power cut left of a repository, if there may have been one.
pub(super) fn mend(repository: &Repository, place: &Path) -> Result<()> {
    if is_whole_at(place) {
        return Ok(());
    }
    remove_damaged(repository, place).map_err(HistoryError::repository("mend"))?;
    let Some(branch) = head::branch(repository) else {
        return Ok(());
    };
    let there = repository.refname_to_id(&branch);
    // A branch without a commit is a file that is not there.
    if matches!(&there, Err(error) if error.code() == ErrorCode::NotFound)
        && head::recorded(place).next().is_none()
    {
        return Ok(());
    }
    let there = there.ok();
    let recorded = head::recorded(place).filter(|(known, _)| *known == branch);
    let mut walk = Walk::new(repository);
    for id in there.into_iter().chain(recorded.map(|(_, id)| id)) {
        if !walk.is_complete(id)? {
            continue;
        }
        if there != Some(id) {
            head::put_back(repository, &branch, id)?;
        }
        return Ok(());
    }
    let nothing = git2::Error::from_str("no commit is whole");
    Err(HistoryError::git("mend")(nothing))
}

/// Removes the files of objects that are not whole.
fn remove_damaged(repository: &Repository, place: &Path) -> std::io::Result<()> {
    for directory in fs::read_dir(place.join("objects"))? {
        let directory = directory?.path();
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(UNFINISHED) {
            fs::remove_file(&directory)?;
        }
        if name.len() != 2 || !directory.is_dir() {
            continue;
        }
        for item in fs::read_dir(&directory)? {
            let item = item?;
            let id = format!("{name}{}", item.file_name().to_string_lossy());
            // Compressed, a content takes a little more at most.
            let is_small = item
                .metadata()
                .is_ok_and(|metadata| metadata.len() < 2 * object::LARGE);
            if let (40, true, Ok(id)) = (id.len(), is_small, Oid::from_str(&id))
                && object::forget_damaged(repository, id)
            {
                tracing::warn!(place = %place.display(), %id, "a truncated object was removed");
            }
        }
    }
    Ok(())
}

/// A walk from commits over what they name, as far as it has files of its own.
struct Walk<'r> {
    repository: &'r Repository,
    known: HashMap<Oid, bool>,
}

impl<'r> Walk<'r> {
    fn new(repository: &'r Repository) -> Self {
        Self {
            repository,
            known: HashMap::new(),
        }
    }

    /// Returns `true` if the repository has every object that a commit names, directly or through others.
    /// Works without recursion, because a history is as deep as it is long.
    fn is_complete(&mut self, commit: Oid) -> Result<bool> {
        let mut pending = vec![(commit, ObjectType::Commit)];
        let mut open = HashSet::new();
        while let Some(&(id, kind)) = pending.last() {
            if self.known.contains_key(&id) {
                pending.pop();
                continue;
            }
            let Some(named) = self.named(id, kind)? else {
                self.known.insert(id, false);
                continue;
            };
            if open.insert(id) {
                let unknown = named.iter().filter(|(id, _)| !self.known.contains_key(id));
                pending.extend(unknown);
            } else {
                let is_known = |(id, _): &(Oid, ObjectType)| self.known.get(id) == Some(&true);
                let complete = named.iter().all(is_known);
                self.known.insert(id, complete);
            }
        }
        Ok(self.known.get(&commit) == Some(&true))
    }

    /// Returns the objects that an object names, without those certain to be on disk; `None` if the object is
    /// missing.
    fn named(&self, id: Oid, kind: ObjectType) -> Result<Option<Vec<(Oid, ObjectType)>>> {
        if !object::has_file(self.repository, id) {
            let database = self.repository.odb().map_err(HistoryError::git("read"))?;
            return Ok(database.exists(id).then(Vec::new));
        }
        Ok(Some(match kind {
            ObjectType::Commit => {
                let commit = object::commit(self.repository, id)?;
                let parents = commit.parent_ids().map(|id| (id, ObjectType::Commit));
                parents
                    .chain([(commit.tree_id(), ObjectType::Tree)])
                    .collect()
            }
            ObjectType::Tree => {
                let tree = object::tree(self.repository, id)?;
                let entries = tree
                    .iter()
                    .filter_map(|entry| Some((entry.id(), entry.kind()?)));
                // The commit of a submodule is in another repository.
                entries
                    .filter(|(_, kind)| *kind != ObjectType::Commit)
                    .collect()
            }
            _ => Vec::new(),
        }))
    }
}
