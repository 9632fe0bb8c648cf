//! Writing commits.

use git2::{Commit, Oid, Repository};
use jiff::Timestamp;

use super::author::committer;
use super::tree::Edits;
use super::{Author, CommitId, History, HistoryError, head, object, repository};

/// A commit of more files is flushed to disk as a whole.
const MANY_FILES: usize = 64;

/// A text as a commit message: one line, of a readable length.
pub fn subject(text: &str) -> String {
    const CHARACTERS: usize = 72;
    let line = text.replace(char::is_control, " ");
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Where the objects of one commit are written.
pub(super) enum Writer<'history> {
    /// Each is on disk when it is written.
    Flushed(&'history Repository),
    /// They are on disk when the file system was flushed.
    Unflushed(Repository),
}

impl Writer<'_> {
    pub(super) fn objects(&self) -> &Repository {
        match self {
            Self::Flushed(repository) => repository,
            Self::Unflushed(repository) => repository,
        }
    }
}

impl History {
    /// Where the objects of a commit of so many files go.
    pub(super) fn writer(&self, files: usize) -> Result<Writer<'_>, HistoryError> {
        Ok(if files > MANY_FILES {
            Writer::Unflushed(repository::open_unflushed(self.git_dir())?)
        } else {
            Writer::Flushed(&self.repository)
        })
    }

    /// Moves HEAD to a commit with these edits; gives it with its tree.
    pub(super) fn commit(
        &self,
        writer: &Writer<'_>,
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
        let id = edits.apply(writer.objects(), base.as_ref())?;
        if let Writer::Unflushed(_) = writer {
            // No commit before everything that it names.
            rustix::fs::syncfs(self.parent.handle())
                .map_err(|error| HistoryError::repository("write to")(error.into()))?;
        }
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
fn as_message(message: &str) -> String {
    let text = message.replace('\0', "\u{fffd}");
    let text = text.trim_end();
    format!("{}\n", if text.is_empty() { "Change" } else { text })
}
