//! One tree of git: the names of a directory, and what they stand for.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use git2::Oid;

use super::HistoryError;
use super::content::TREE;

/// Bytes of an id.
const ID: usize = 20;

/// What happens to one name, in the order in which it is done: a file that became a directory is
/// removed before the directory takes its place, and the reverse.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edit {
    Remove,
    /// The directory of this name, or nothing where it became empty.
    Directory(Option<Oid>),
    Put(Oid, i32),
}

/// A name in a directory.
struct Item<'b> {
    name: Cow<'b, [u8]>,
    mode: i32,
    id: Oid,
}

/// The content of a tree.
pub(super) struct Directory<'b> {
    items: Vec<Item<'b>>,
}

impl<'b> Directory<'b> {
    /// Reads the content of a tree: for each name its mode in octal digits, a space, the name, a NUL,
    /// the id.
    pub(super) fn read(content: &'b [u8]) -> Result<Self, HistoryError> {
        let mut items = Vec::with_capacity(content.len() / (ID + 20));
        let mut rest = content;
        while !rest.is_empty() {
            let item;
            (item, rest) = next(rest).ok_or_else(|| HistoryError::Damaged {
                object: "tree".to_owned(),
            })?;
            items.push(item);
        }
        Ok(Self { items })
    }

    /// The directory of this name.
    pub(super) fn subtree(&self, name: &str) -> Option<Oid> {
        let mut items = self.items.iter();
        let item = items.find(|item| item.mode == TREE && *item.name == *name.as_bytes());
        item.map(|item| item.id)
    }

    /// The content of the tree with some names changed.
    pub(super) fn edited(&self, edits: Vec<(String, Edit)>) -> Vec<u8> {
        let mut by_name: BTreeMap<Vec<u8>, Vec<Edit>> = BTreeMap::new();
        for (name, edit) in edits {
            by_name.entry(name.into_bytes()).or_default().push(edit);
        }
        let mut items = Vec::with_capacity(self.items.len() + by_name.len());
        for item in &self.items {
            let name = Cow::Borrowed(&*item.name);
            let before = Some((item.id, item.mode));
            let after = match by_name.remove(&*item.name) {
                Some(edits) => changed(before, edits),
                None => before,
            };
            items.extend(after.map(|(id, mode)| Item { name, mode, id }));
        }
        for (name, edits) in by_name {
            let name = Cow::Owned(name);
            items.extend(changed(None, edits).map(|(id, mode)| Item { name, mode, id }));
        }
        items.sort_by(in_order);
        let mut content = Vec::with_capacity(items.len() * (ID + 20));
        for item in items {
            content.extend(octal(item.mode).as_bytes());
            content.push(b' ');
            content.extend(&*item.name);
            content.push(0);
            content.extend(item.id.as_bytes());
        }
        content
    }
}

/// The first name of what is left of a tree.
fn next(content: &[u8]) -> Option<(Item<'_>, &[u8])> {
    let space = content.iter().position(|byte| *byte == b' ')?;
    let mode = std::str::from_utf8(&content[..space]).ok()?;
    let mode = i32::from_str_radix(mode, 8).ok()?;
    let content = &content[space + 1..];
    let end = content.iter().position(|byte| *byte == 0)?;
    let (name, content) = (Cow::Borrowed(&content[..end]), &content[end + 1..]);
    let (id, content) = content.split_at_checked(ID)?;
    let id = Oid::from_bytes(id).ok()?;
    Some((Item { name, mode, id }, content))
}

fn octal(mode: i32) -> Cow<'static, str> {
    match mode {
        0o100_644 => "100644".into(),
        TREE => "40000".into(),
        mode => format!("{mode:o}").into(),
    }
}

/// What becomes of what a name stands for.
fn changed(mut there: Option<(Oid, i32)>, mut edits: Vec<Edit>) -> Option<(Oid, i32)> {
    edits.sort();
    for edit in edits {
        let is_tree = there.is_some_and(|(_, mode)| mode == TREE);
        there = match edit {
            Edit::Remove => None,
            Edit::Directory(None) if is_tree => None,
            Edit::Directory(None) => there,
            Edit::Directory(Some(id)) => Some((id, TREE)),
            Edit::Put(id, mode) => Some((id, mode)),
        };
    }
    there
}

/// The order of git: a directory stands where its name with a slash would.
fn in_order(one: &Item<'_>, other: &Item<'_>) -> Ordering {
    let shared = one.name.len().min(other.name.len());
    let next = |item: &Item<'_>| {
        let slash = (item.mode == TREE).then_some(b'/');
        item.name.get(shared).copied().or(slash)
    };
    one.name[..shared]
        .cmp(&other.name[..shared])
        .then_with(|| next(one).cmp(&next(other)))
}
