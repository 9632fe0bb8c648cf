//! Writing commits.

use git2::{ObjectType, Oid, Signature};
use jiff::Timestamp;

use super::author::committer;
use super::head::{self, Tip};
use super::loose_objects::LooseObjects;
use super::tree::Edits;
use super::{Author, CommitId, History, HistoryError};

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
    /// Moves HEAD, which stands there, to a commit with these edits; gives it with its tree.
    pub(super) fn commit(
        &self,
        tip: &Tip,
        edits: Edits,
        message: &str,
        author: &Author,
        when: Timestamp,
    ) -> Result<Option<(CommitId, Oid)>, HistoryError> {
        let mut objects = LooseObjects::new(&self.repository)?;
        let base = match tip.commit() {
            Some(parent) => Some(tree_of(parent, &objects.read(parent, ObjectType::Commit)?)?),
            None => None,
        };
        let brought = edits.brought();
        let tree = edits.apply(&mut objects, base)?;
        let nothing = || Oid::hash_object(ObjectType::Tree, &[]);
        let before = base.map_or_else(nothing, Ok);
        if before.map_err(HistoryError::git("commit to"))? == tree {
            return Ok(None);
        }
        let text = text_of(tree, tip.commit(), message, (author, when))?;
        let commit = objects.write(ObjectType::Commit, &text)?;
        head::advance(&self.repository, tip, commit)?;
        self.note_size(brought, objects.written());
        Ok(Some((CommitId::of(commit), tree)))
    }
}

/// The tree that the text of a commit begins with.
fn tree_of(commit: Oid, text: &[u8]) -> Result<Oid, HistoryError> {
    let line = text.strip_prefix(b"tree ").and_then(|text| text.get(..40));
    let digits = line.and_then(|digits| std::str::from_utf8(digits).ok());
    let tree = digits.and_then(|digits| Oid::from_str(digits).ok());
    tree.ok_or_else(|| HistoryError::Damaged {
        object: commit.to_string(),
    })
}

/// What a commit is as git stores it.
pub(super) fn text_of(
    tree: Oid,
    parent: Option<Oid>,
    message: &str,
    (author, when): (&Author, Timestamp),
) -> Result<Vec<u8>, HistoryError> {
    let mut text = format!("tree {tree}\n").into_bytes();
    if let Some(parent) = parent {
        text.extend(format!("parent {parent}\n").as_bytes());
    }
    sign(&mut text, "author", &author.signature(when)?);
    sign(&mut text, "committer", &committer(when)?);
    text.extend(author.marks().as_bytes());
    text.push(b'\n');
    text.extend(as_message(message).as_bytes());
    Ok(text)
}

/// Says in a commit who did something and when.
fn sign(text: &mut Vec<u8>, what: &str, signature: &Signature<'_>) {
    text.extend(what.as_bytes());
    text.push(b' ');
    text.extend(signature.name_bytes());
    text.extend(b" <");
    text.extend(signature.email_bytes());
    let seconds = signature.when().seconds();
    text.extend(format!("> {seconds} +0000\n").as_bytes());
}

/// A commit's message ends with one line break and holds no NUL.
fn as_message(message: &str) -> String {
    let text = message.replace('\0', "\u{fffd}");
    let text = text.trim_end();
    format!("{}\n", if text.is_empty() { "Change" } else { text })
}
