//! Trees of git, changed only where something changed.
//!
//! Directories are taken one by one, the deepest first, so that neither the number of files nor
//! the depth of a tree matters. (git2's own `TreeUpdateBuilder` refuses to turn a file into a
//! directory and fails when a name to remove is not there.)

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use git2::{ObjectType, Oid, Repository, Tree, TreeBuilder};

use super::content::TREE;
use super::{HistoryError, object};

/// What one commit changes.
#[derive(Debug, Default)]
pub(super) struct Edits {
    removed: HashSet<String>,
    put: BTreeMap<String, (Oid, i32)>,
}

/// What happens to one name, in the order in which it is done: a file that became a directory is
/// removed before the directory takes its place, and the reverse.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edit {
    Remove,
    /// The directory of this name, or nothing where it became empty.
    Directory(Option<Oid>),
    Put(Oid, i32),
}

/// Depth and path of a directory.
type Place = (Reverse<usize>, String);

impl Edits {
    /// Takes away what HEAD has at `path`, with everything below it. Files that are put below
    /// stay.
    pub(super) fn remove(&mut self, path: &str) {
        self.removed.insert(path.to_owned());
    }

    /// Gives `path` this content.
    pub(super) fn put(&mut self, path: &str, id: Oid, mode: i32) {
        self.put.insert(path.to_owned(), (id, mode));
    }

    /// The contents that are put somewhere.
    pub(super) fn contents(&self) -> Vec<Oid> {
        self.put.values().map(|(id, _)| *id).collect()
    }

    /// The tree that `base` becomes.
    pub(super) fn apply(
        self,
        repository: &Repository,
        base: Option<&Tree<'_>>,
    ) -> Result<Oid, HistoryError> {
        let fail = HistoryError::git("write to");
        let mut pending = self.by_directory();
        while let Some(((Reverse(depth), path), mut edits)) = pending.pop_first() {
            edits.sort();
            let base = if self.is_removed(&path) {
                None
            } else {
                subtree(repository, base, &path)?
            };
            let mut builder = repository.treebuilder(base.as_ref()).map_err(&fail)?;
            for (name, edit) in edits {
                let is_tree = builder
                    .get(&name)
                    .map_err(&fail)?
                    .map(|old| old.kind() == Some(ObjectType::Tree));
                match (edit, is_tree) {
                    (Edit::Remove, Some(_)) | (Edit::Directory(None), Some(true)) => {
                        builder.remove(&name).map_err(&fail)?;
                    }
                    (Edit::Remove | Edit::Directory(None), _) => {}
                    (Edit::Directory(Some(id)), _) => {
                        builder.insert(&name, id, TREE).map_err(&fail)?;
                    }
                    (Edit::Put(id, mode), _) => {
                        builder.insert(&name, id, mode).map_err(&fail)?;
                    }
                }
            }
            if depth == 0 {
                return write(repository, &builder);
            }
            let id = if builder.is_empty() {
                None
            } else {
                Some(write(repository, &builder)?)
            };
            let (above, name) = split(&path);
            pending
                .entry(place(above))
                .or_default()
                .push((name.to_owned(), Edit::Directory(id)));
        }
        // Nothing was changed; an empty history has an empty tree.
        match base {
            Some(base) => Ok(base.id()),
            None => write(repository, &repository.treebuilder(None).map_err(&fail)?),
        }
    }

    fn by_directory(&self) -> BTreeMap<Place, Vec<(String, Edit)>> {
        let mut directories: BTreeMap<Place, Vec<(String, Edit)>> = BTreeMap::new();
        let mut add = |path: &str, edit: Edit| {
            let (above, name) = split(path);
            let edits = directories.entry(place(above)).or_default();
            if !name.is_empty() {
                edits.push((name.to_owned(), edit));
            }
        };
        for path in &self.removed {
            add(path, Edit::Remove);
        }
        for (path, (id, mode)) in &self.put {
            add(path, Edit::Put(*id, *mode));
        }
        directories
    }

    /// Whether the directory or one above it is taken away.
    fn is_removed(&self, directory: &str) -> bool {
        let mut path = directory;
        loop {
            if self.removed.contains(path) {
                return true;
            }
            if path.is_empty() {
                return false;
            }
            path = split(path).0;
        }
    }
}

fn place(directory: &str) -> Place {
    let depth = if directory.is_empty() {
        0
    } else {
        directory.split('/').count()
    };
    (Reverse(depth), directory.to_owned())
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Writes a tree. One that is there already is left as it is, so it must be whole.
fn write(repository: &Repository, builder: &TreeBuilder<'_>) -> Result<Oid, HistoryError> {
    let fail = HistoryError::git("write to");
    let id = builder.write().map_err(&fail)?;
    if object::forget_damaged(repository, id) {
        return builder.write().map_err(&fail);
    }
    Ok(id)
}

/// What `base` has at a directory. A tree that is named and cannot be read is damage: without it
/// the commit would lose everything beside what it changes.
fn subtree<'r>(
    repository: &'r Repository,
    base: Option<&Tree<'_>>,
    path: &str,
) -> Result<Option<Tree<'r>>, HistoryError> {
    let Some(base) = base else {
        return Ok(None);
    };
    let mut tree = object::tree(repository, base.id())?;
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let id = match tree.get_name(name) {
            Some(entry) if entry.kind() == Some(ObjectType::Tree) => entry.id(),
            _ => return Ok(None),
        };
        tree = object::tree(repository, id)?;
    }
    Ok(Some(tree))
}

/// Every file of a tree: path to id and mode. Paths are bytes, as git has them.
pub(super) fn files(
    repository: &Repository,
    tree: &Tree<'_>,
) -> Result<HashMap<Vec<u8>, (Oid, i32)>, HistoryError> {
    let mut files = HashMap::new();
    let mut pending = vec![(Vec::new(), tree.id())];
    while let Some((above, id)) = pending.pop() {
        for entry in &object::tree(repository, id)? {
            let path = [&above, entry.name_bytes()].concat();
            if entry.kind() == Some(ObjectType::Tree) {
                pending.push(([&*path, b"/"].concat(), entry.id()));
            } else {
                files.insert(path, (entry.id(), entry.filemode()));
            }
        }
    }
    Ok(files)
}
