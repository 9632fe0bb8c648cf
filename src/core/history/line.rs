//! One line of history: whatever git was told to do with references, HEAD stays on its branch, the
//! branch only grows, and no tip of a branch or tag is lost.

use std::collections::{BTreeMap, BTreeSet};

use git2::{ErrorCode, Oid};

use super::{History, HistoryError, Result, object};

/// References that nobody deletes: tips that no branch or tag has any more.
const KEPT: &str = "refs/kept/";

/// The state of the references of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceState {
    /// The branch that HEAD names.
    pub reference: Option<String>,
    /// The last commit.
    pub commit: Option<String>,
    /// Branches, tags and other references by name, with the id of what they name.
    pub references: BTreeMap<String, String>,
}

/// The differences between a history and what git was told to make of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldLine {
    /// The message of a commit that git made and that is not on the branch.
    pub message: Option<String>,
    /// The branch to which HEAD was put back from elsewhere.
    pub put_back: Option<String>,
    /// Tips that a branch or tag had before, as references that keep them.
    pub kept: Vec<KeptTip>,
}

/// A tip that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTip {
    /// The branch or tag that had it, such as `refs/heads/draft`.
    pub before: String,
    /// The reference that has it now.
    pub now: String,
}

impl History {
    /// The present state of the references.
    pub fn position(&self) -> Result<ReferenceState> {
        let fail = HistoryError::git("read");
        let head = self.repository.find_reference("HEAD").map_err(&fail)?;
        let mut references = BTreeMap::new();
        for reference in self.repository.references().map_err(&fail)? {
            let reference = reference.map_err(&fail)?;
            if let (Ok(name), Some(id)) = (reference.name(), reference.target()) {
                references.insert(name.to_owned(), id.to_string());
            }
        }
        Ok(ReferenceState {
            reference: head.symbolic_target().ok().flatten().map(str::to_owned),
            commit: self.head()?.map(|id| id.to_string()),
            references,
        })
    }

    /// `true` if the commit of a position can be read.
    pub fn has(&self, position: &ReferenceState) -> Result<bool> {
        let Some(commit) = &position.commit else {
            return Ok(true);
        };
        let id = Oid::from_str(commit).map_err(HistoryError::git("put back"))?;
        let tree = object::commit(&self.repository, id)
            .and_then(|commit| object::tree(&self.repository, commit.tree_id()));
        Ok(tree.is_ok())
    }

    /// Puts HEAD back on the branch of `start`, unless git only added commits to it, and keeps every
    /// tip that no reference has any more. Files stay as they are.
    pub fn hold_line(&self, start: &ReferenceState) -> Result<HeldLine> {
        let kept = self.keep_tips(start)?;
        if self.has_only_grown(start)? {
            return Ok(HeldLine {
                kept,
                ..HeldLine::default()
            });
        }
        Ok(HeldLine {
            message: self.return_to(start)?,
            put_back: start.reference.clone().or_else(|| start.commit.clone()),
            kept,
        })
    }

    /// `true` if HEAD names the branch that it named, and that one has all commits that it had.
    pub fn has_only_grown(&self, start: &ReferenceState) -> Result<bool> {
        let now = self.position()?;
        Ok(now.reference == start.reference
            && match (&now.commit, &start.commit) {
                (_, None) => true,
                (None, Some(_)) => false,
                (Some(now), Some(start)) => self.descends(id_of(now)?, id_of(start)?),
            })
    }

    /// Puts HEAD back where it stood, whatever git did since; files stay as they are. Gives the
    /// message of the commit that git made last, where it is not part of the history of `start`.
    pub fn return_to(&self, start: &ReferenceState) -> Result<Option<String>> {
        let fail = HistoryError::git("put back");
        // A merge, revert or cherry-pick that stopped half-way is over.
        self.repository.cleanup_state().map_err(&fail)?;
        let now = self.position()?;
        if (&now.reference, &now.commit) == (&start.reference, &start.commit) {
            return Ok(None);
        }
        let commit = start.commit.as_deref().map(id_of).transpose()?;
        let message = self
            .head_commit()?
            .filter(|last| commit.is_none_or(|start| !self.descends(start, last.id())))
            .and_then(|last| last.message().ok().map(|text| text.trim_end().to_owned()));
        match (&start.reference, commit) {
            (Some(name), Some(id)) => {
                self.repository
                    .reference(name, id, true, "put back")
                    .and_then(|_| self.repository.set_head(name))
                    .map_err(&fail)?;
            }
            (Some(name), None) => {
                match self.repository.find_reference(name) {
                    Ok(mut reference) => reference.delete().map_err(&fail)?,
                    Err(error) if error.code() == ErrorCode::NotFound => {}
                    Err(error) => return Err(fail(error)),
                }
                self.repository.set_head(name).map_err(&fail)?;
            }
            (None, Some(id)) => self.repository.set_head_detached(id).map_err(&fail)?,
            (None, None) => {}
        }
        Ok(message.filter(|text| !text.is_empty()))
    }

    /// Gives a reference of its own to each tip of `start` that its branch or tag has no longer.
    fn keep_tips(&self, start: &ReferenceState) -> Result<Vec<KeptTip>> {
        let fail = HistoryError::git("keep a reference");
        let now = self.position()?.references;
        let line = start.commit.as_deref().map(id_of).transpose()?;
        let mut kept = Vec::new();
        for (name, tip) in &start.references {
            let tip = id_of(tip)?;
            let has_it = match now.get(name) {
                Some(now) => self.descends(id_of(now)?, tip),
                None => false,
            };
            if has_it || line.is_some_and(|line| self.descends(line, tip)) {
                continue;
            }
            let place = format!("{KEPT}{tip}");
            self.repository
                .reference(&place, tip, true, "keep")
                .map_err(&fail)?;
            if *name != place {
                kept.push(KeptTip {
                    before: name.clone(),
                    now: place,
                });
            }
        }
        Ok(kept)
    }

    /// `true` for a commit that is another one or has it among its ancestors. A commit is no older than its
    /// parents, so what is older than `ancestor` is not looked at: one that says otherwise counts as
    /// of another line, and nothing is lost by that.
    fn descends(&self, id: Oid, ancestor: Oid) -> bool {
        if id == ancestor {
            return true;
        }
        let Ok(oldest) = object::commit(&self.repository, ancestor) else {
            return false;
        };
        let (mut seen, mut left) = (BTreeSet::from([id]), vec![id]);
        while let Some(id) = left.pop() {
            let Ok(commit) = object::commit(&self.repository, id) else {
                continue;
            };
            if commit.time().seconds() < oldest.time().seconds() {
                continue;
            }
            for parent in commit.parent_ids() {
                if parent == ancestor {
                    return true;
                }
                if seen.insert(parent) {
                    left.push(parent);
                }
            }
        }
        false
    }
}

fn id_of(text: &str) -> Result<Oid> {
    Oid::from_str(text).map_err(HistoryError::git("read"))
}
