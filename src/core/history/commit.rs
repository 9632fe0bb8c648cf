//! Writing commits.

use git2::{Commit, Oid};
use jiff::Timestamp;

use super::author::committer;
use super::tree::Edits;
use super::{Author, CommitId, History, HistoryError, head, object};

/// A text as a commit message: one line, of a readable length.
pub fn subject(text: &str) -> String {
    const CHARACTERS: usize = 72;
    let line = text.replace(char::is_control, " ");
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl History {
    /// Moves HEAD to a commit with these edits; gives it with its tree.
    pub(super) fn commit(
        &self,
        edits: Edits,
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Option<(CommitId, Oid)>, HistoryError> {
        let fail = HistoryError::git("commit to");
        let parent = self.head_commit()?;
        let base = match &parent {
            Some(commit) => Some(object::tree(&self.repository, commit.tree_id())?),
            None => None,
        };
        let contents = edits.contents();
        let id = edits.apply(&self.repository, base.as_ref())?;
        let tree = object::tree(&self.repository, id)?;
        if base
            .as_ref()
            .map_or(tree.is_empty(), |base| base.id() == id)
        {
            return Ok(None);
        }
        let parents: Vec<&Commit<'_>> = parent.iter().collect();
        let commit = self
            .repository
            .commit(
                Some("HEAD"),
                &author.signature(when)?,
                &committer(when)?,
                &as_message(message),
                &tree,
                &parents,
            )
            .map_err(&fail)?;
        head::record(&self.repository, commit);
        self.note_size(contents.into_iter().chain([id, commit]));
        Ok(Some((CommitId::of(commit), id)))
    }
}

/// A commit's message ends with one line break and holds no NUL.
pub(super) fn as_message(message: &str) -> String {
    let text = message.replace('\0', "\u{fffd}");
    let text = text.trim_end();
    format!("{}\n", if text.is_empty() { "Change" } else { text })
}
