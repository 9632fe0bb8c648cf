//! Sequential behaviour of files, their names, locked edits and owners.

use super::linearizability::Specification;

/// A call for a file, whose state is its text; `None` if the file does not exist.
#[derive(Clone, Debug)]
pub(crate) enum FileCall {
    /// The whole text.
    Write(String),
    /// A line at the end.
    Append(String),
    /// Replaces a text that must be in the file by another one; `true` if it was there.
    Replace(String, String, bool),
    /// `true` if there was a file to remove.
    Remove(bool),
    /// The text that was read.
    Read(Option<String>),
}

impl Specification for FileCall {
    type State = Option<String>;

    fn after(&self, state: &Self::State) -> Option<Self::State> {
        match self {
            Self::Write(text) => Some(Some(text.clone())),
            Self::Append(line) => {
                let before = state.as_deref().unwrap_or_default();
                Some(Some(format!("{before}{line}\n")))
            }
            Self::Replace(from, to, was_there) => {
                let is_there = state.as_ref().is_some_and(|text| text.contains(from));
                let changed = || state.as_ref().map(|text| text.replacen(from, to, 1));
                match (is_there, was_there) {
                    (true, true) => Some(changed()),
                    (false, false) => Some(state.clone()),
                    _ => None,
                }
            }
            Self::Remove(was_there) => (state.is_some() == *was_there).then_some(None),
            Self::Read(text) => (state == text).then(|| state.clone()),
        }
    }
}

/// Answer to a call that may be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Refused,
}

/// One file that has one of several names; the state is its name, which is 0 in the beginning.
#[derive(Clone, Debug)]
pub(crate) enum NameCall {
    /// From a name to another one; refused where the file has not the first.
    Rename(usize, usize, Outcome),
    /// `true` if the file has this name.
    Look(usize, bool),
}

impl Specification for NameCall {
    type State = usize;

    fn after(&self, state: &usize) -> Option<usize> {
        match *self {
            Self::Rename(from, to, Outcome::Done) => (*state == from).then_some(to),
            Self::Rename(from, _, Outcome::Refused) => (*state != from).then_some(*state),
            Self::Look(name, is_there) => ((*state == name) == is_there).then_some(*state),
        }
    }
}

/// An editor, by number.
pub(crate) type Who = usize;

/// A file that is changed by locked edits alone, once it is made.
#[derive(Clone, Debug)]
pub(crate) enum EditCall {
    /// With this text.
    Make(String),
    /// The working copy; `None` if another caller has the lock.
    Open(Who, Option<String>),
    /// An open without an answer: the caller did not see the copy.
    OpenUnseen(Who),
    /// A new text of the working copy.
    Overwrite(Who, String, Outcome),
    Save(Who, Outcome),
    /// A save that was interrupted before its lock ended: its holder has it still.
    SaveInPart(Who),
    Cancel(Who, Outcome),
    Read(String),
}

/// The text of the file, and who has the lock with which working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Edited {
    text: String,
    lock: Option<(Who, String)>,
}

impl Specification for EditCall {
    type State = Edited;

    fn after(&self, state: &Edited) -> Option<Edited> {
        let copy_of = |who: Who| state.lock.as_ref().filter(|(holder, _)| *holder == who);
        let locked = |who: Who, copy: &str| Edited {
            text: state.text.clone(),
            lock: Some((who, copy.to_owned())),
        };
        let unlocked = |text: &str| Edited {
            text: text.to_owned(),
            lock: None,
        };
        let refused = |who: Who| copy_of(who).is_none().then(|| state.clone());
        match self {
            Self::Make(text) => Some(unlocked(text)),
            Self::Open(who, Some(seen)) => {
                let copy = match &state.lock {
                    None => &state.text,
                    Some((holder, copy)) if holder == who => copy,
                    Some(_) => return None,
                };
                (copy == seen).then(|| locked(*who, seen))
            }
            Self::OpenUnseen(who) => match &state.lock {
                None => Some(locked(*who, &state.text)),
                Some((holder, _)) => (holder == who).then(|| state.clone()),
            },
            Self::Open(who, None) => {
                let other = state.lock.as_ref().is_some_and(|(holder, _)| holder != who);
                other.then(|| state.clone())
            }
            Self::Overwrite(who, text, Outcome::Done) => copy_of(*who).map(|_| locked(*who, text)),
            Self::Save(who, Outcome::Done) => copy_of(*who).map(|(_, copy)| unlocked(copy)),
            Self::SaveInPart(who) => copy_of(*who).map(|(_, copy)| Edited {
                text: copy.clone(),
                lock: state.lock.clone(),
            }),
            Self::Cancel(who, Outcome::Done) => copy_of(*who).map(|_| unlocked(&state.text)),
            Self::Overwrite(who, _, Outcome::Refused)
            | Self::Save(who, Outcome::Refused)
            | Self::Cancel(who, Outcome::Refused) => refused(*who),
            Self::Read(text) => (state.text == *text).then(|| state.clone()),
        }
    }
}

/// Members who may change a file of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    Group,
    Owner,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Owner => "owner",
        }
    }
}

/// A call for a file of a group, whose state is its owner and mode; `None` if the file does not exist.
#[derive(Clone, Debug)]
pub(crate) enum OwnedCall {
    /// Makes the file, or writes it anew with the mode that its owner asks for; refused where only its
    /// owner may.
    Write(Who, Mode, Outcome),
    /// Refused where the file is another one's.
    SetMode(Who, Mode, Outcome),
    /// Removes a file that is there; refused where only its owner may.
    Remove(Who, Outcome),
    /// Finds nothing to remove.
    FindNothing,
    /// Owner and mode that were seen.
    Look(Option<(Who, Mode)>),
}

impl Specification for OwnedCall {
    type State = Option<(Who, Mode)>;

    fn after(&self, state: &Self::State) -> Option<Self::State> {
        let (may, after) = match *self {
            Self::Write(who, mode, _) => match *state {
                Some((owner, kept)) if owner != who => (kept == Mode::Group, *state),
                _ => (true, Some((who, mode))),
            },
            Self::SetMode(who, mode, _) => ((*state)?.0 == who, Some((who, mode))),
            Self::Remove(who, _) => {
                let (owner, mode) = (*state)?;
                (owner == who || mode == Mode::Group, None)
            }
            Self::FindNothing => (state.is_none(), None),
            Self::Look(seen) => (*state == seen, seen),
        };
        let expected = match self {
            Self::Write(.., outcome) | Self::SetMode(.., outcome) | Self::Remove(_, outcome) => {
                *outcome == Outcome::Done
            }
            Self::FindNothing | Self::Look(_) => true,
        };
        (may == expected).then_some(if may { after } else { *state })
    }
}
