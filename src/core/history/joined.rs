//! One commit for what belongs together: the last commit makes room for one that has its changes too.
//!
//! Programs that save a document write it in several steps: a new file, the old one aside, the new one
//! in its place. Each step is committed before it is acknowledged, so nothing is ever lost; but only the
//! sum is worth a place in the history. What steps left in between stays in the repository, where no
//! branch leads to it.

use git2::{Commit, ObjectType, Oid};
use jiff::Timestamp;

use super::commit::text_of;
use super::loose_objects::LooseObjects;
use super::tree::Edits;
use super::{Author, CommitId, History, HistoryError, Prepared, head, object};
use fileshed_types::zone::ZonePath;

impl History {
    /// Commits what is on disk at `changed`, as [`History::commit_paths`] does. If HEAD is `last`, the
    /// commit takes its place and has its changes too; where both together change nothing, there is a
    /// commit of neither.
    pub fn join_paths(
        &self,
        last: &CommitId,
        changed: &[ZonePath],
        prepared: &Prepared,
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Option<CommitId>, HistoryError> {
        match self.head_commit()? {
            Some(head) if CommitId::of(head.id()) == *last => {
                let edits = self.edits(changed, prepared)?;
                self.join(&head, edits, author, when)
            }
            _ => self.commit_paths(changed, prepared, message, author, when),
        }
    }

    /// Puts a commit with the edits and those of `joined`, which is HEAD, in its place.
    fn join(
        &self,
        joined: &Commit<'_>,
        edits: Edits,
        author: &Author,
        when: Timestamp,
    ) -> Result<Option<CommitId>, HistoryError> {
        let base = object::tree(&self.repository, joined.tree_id())?;
        let brought = edits.brought();
        let mut objects = LooseObjects::new(&self.repository)?;
        let id = edits.apply(&mut objects, Some(base.id()))?;
        if id == base.id() {
            return Ok(None);
        }
        let tree = object::tree(&self.repository, id)?;
        let parent = match joined.parent_ids().next() {
            Some(parent) => Some(object::commit(&self.repository, parent)?),
            None => None,
        };
        let before = match &parent {
            Some(parent) => Some(object::tree(&self.repository, parent.tree_id())?),
            None => None,
        };
        if let Some(parent) = parent.as_ref().filter(|parent| parent.tree_id() == id) {
            self.stand_at(parent.id())?;
            return Ok(None);
        }
        let difference = self
            .repository
            .diff_tree_to_tree(before.as_ref(), Some(&tree), None)
            .map_err(HistoryError::git("commit to"))?;
        let parent = parent.map(|parent| parent.id());
        let text = text_of(id, parent, &describe(&difference), (author, when))?;
        let commit = objects.write(ObjectType::Commit, &text)?;
        self.stand_at(commit)?;
        self.note_size(brought, objects.written());
        Ok(Some(CommitId::of(commit)))
    }

    /// Moves HEAD to a commit that need not follow the one that it stands at.
    fn stand_at(&self, commit: Oid) -> Result<(), HistoryError> {
        let branch = head::branch(&self.repository).unwrap_or_else(|| head::BRANCH.to_owned());
        self.repository
            .reference(&branch, commit, true, "join")
            .map_err(HistoryError::git("commit to"))?;
        head::record(&self.repository, &branch, commit);
        Ok(())
    }
}

/// A commit message that says what the sum of some changes is.
fn describe(difference: &git2::Diff<'_>) -> String {
    let mut deltas = difference.deltas();
    let path = deltas.next().and_then(|delta| {
        let file = match delta.status() {
            git2::Delta::Deleted => delta.old_file(),
            _ => delta.new_file(),
        };
        let path = String::from_utf8_lossy(file.path_bytes()?).into_owned();
        Some((delta.status(), path))
    });
    match (path, deltas.len()) {
        (Some((git2::Delta::Deleted, path)), 0) => format!("Delete {path}"),
        (Some((git2::Delta::Added, path)), 0) => format!("Create {path}"),
        (Some((_, path)), 0) => format!("Update {path}"),
        (_, others) => format!("Change {} files", others + 1),
    }
}
