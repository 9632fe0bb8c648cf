//! Commits, and one commit for several changes that belong together.
//!
//! Programs that save a document write it in several steps: a new file, the old one aside, the new one
//! in its place. Each step is committed before it is acknowledged, so nothing is ever lost; but only the
//! sum is worth a place in the history. So the last commit can make room for one that has its changes
//! too. Objects of the steps in between stay in the repository, and no branch leads to them.

use git2::{Commit, Delta, ObjectType, Oid};
use jiff::Timestamp;

use super::author::committer;
use super::head::{self, Tip};
use super::tree::Edits;
use super::{Author, CommitId, History, HistoryError, PreparedContent, Result, object};
use fileshed_types::zone::ZonePath;

/// Returns a text as a commit message: one line, of a readable length.
pub fn subject(text: &str) -> String {
    const CHARACTERS: usize = 72;
    let line = text.replace(char::is_control, " ");
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl History {
    /// Commits the edits on top of HEAD, which stands at `tip`, and moves it. Returns the commit and
    /// its tree, or `None` if nothing changed.
    pub(super) fn commit(
        &self,
        tip: &Tip,
        edits: Edits,
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Option<(CommitId, Oid)>> {
        let parent = self.parent_of(tip.commit())?;
        let base = parent.as_ref().map(Commit::tree_id);
        let brought = edits.brought();
        let (tree, written) = edits.apply(&self.repository, base)?;
        let nothing = || Oid::hash_object(ObjectType::Tree, &[]);
        let before = base.map_or_else(nothing, Ok);
        if before.map_err(HistoryError::git("commit to"))? == tree {
            return Ok(None);
        }
        let commit = self.write_commit(tree, parent.as_ref(), message, (author, when))?;
        head::advance(&self.repository, tip, commit)?;
        self.note_size(brought, written);
        Ok(Some((CommitId::of(commit), tree)))
    }

    /// Commits the files on disk at `changed`, as [`History::commit_paths`] does. If HEAD is `last`, the
    /// commit takes its place and has its changes too; if both together change nothing, neither
    /// keeps a commit.
    pub fn join_paths(
        &self,
        last: &CommitId,
        changed: &[ZonePath],
        prepared: &[PreparedContent],
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Option<CommitId>> {
        let tip = head::tip(&self.repository)?;
        match self.parent_of(tip.commit())? {
            Some(joined) if CommitId::of(joined.id()) == *last => {
                let edits = self.edits(changed, prepared)?;
                self.join(&tip, &joined, edits, (author, when))
            }
            _ => self.commit_paths(changed, prepared, message, author, when),
        }
    }

    /// Replaces `joined`, at which HEAD stands, by a commit that has the edits too.
    fn join(
        &self,
        tip: &Tip,
        joined: &Commit<'_>,
        edits: Edits,
        (author, when): (&Author, Timestamp),
    ) -> Result<Option<CommitId>> {
        let brought = edits.brought();
        let (tree, written) = edits.apply(&self.repository, Some(joined.tree_id()))?;
        if tree == joined.tree_id() {
            return Ok(None);
        }
        let parent = self.parent_of(joined.parent_ids().next())?;
        let before = parent.as_ref().map(Commit::tree_id);
        if let Some(parent) = parent.as_ref().filter(|_| before == Some(tree)) {
            head::advance(&self.repository, tip, parent.id())?;
            return Ok(None);
        }
        let message = self.describe(before, tree)?;
        let commit = self.write_commit(tree, parent.as_ref(), &message, (author, when))?;
        head::advance(&self.repository, tip, commit)?;
        self.note_size(brought, written);
        Ok(Some(CommitId::of(commit)))
    }

    fn parent_of(&self, id: Option<Oid>) -> Result<Option<Commit<'_>>> {
        id.map(|id| object::commit(&self.repository, id))
            .transpose()
    }

    fn write_commit(
        &self,
        tree: Oid,
        parent: Option<&Commit<'_>>,
        message: &str,
        (author, when): (&Author, Timestamp),
    ) -> Result<Oid> {
        let tree = object::tree(&self.repository, tree)?;
        let (signature, committer) = (author.signature(when)?, committer(when)?);
        let message = as_message(message);
        let parents: Vec<_> = parent.into_iter().collect();
        let text = self
            .repository
            .commit_create_buffer(&signature, &committer, &message, &tree, &parents)
            .map_err(HistoryError::git("commit to"))?;
        // The header ends with an empty line, before which the marks stand.
        let end = text.windows(2).position(|two| two == b"\n\n");
        let (header, rest) = text.split_at(end.map_or(text.len(), |end| end + 1));
        let text = [header, author.marks().as_bytes(), rest].concat();
        object::write(&self.repository, ObjectType::Commit, &text)
    }

    /// Returns a commit message that describes the sum of some changes.
    fn describe(&self, before: Option<Oid>, after: Oid) -> Result<String> {
        let tree = |id| object::tree(&self.repository, id);
        let before = before.map(tree).transpose()?;
        let difference = self
            .repository
            .diff_tree_to_tree(before.as_ref(), Some(&tree(after)?), None)
            .map_err(HistoryError::git("commit to"))?;
        let mut deltas = difference.deltas();
        let first = deltas.next().map(|delta| {
            let (what, file) = match delta.status() {
                Delta::Deleted => ("Delete", delta.old_file()),
                Delta::Added => ("Create", delta.new_file()),
                _ => ("Update", delta.new_file()),
            };
            let path = file.path_bytes().unwrap_or_default();
            format!("{what} {}", String::from_utf8_lossy(path))
        });
        Ok(match (first, deltas.len()) {
            (Some(text), 0) => text,
            (_, others) => format!("Change {} files", others + 1),
        })
    }
}

/// Returns a commit message that ends with one line break and holds no NUL.
fn as_message(message: &str) -> String {
    let text = message.replace('\0', "\u{fffd}");
    let text = text.trim_end();
    format!("{}\n", if text.is_empty() { "Change" } else { text })
}
