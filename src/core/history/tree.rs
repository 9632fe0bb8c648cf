//! Trees of git, changed only where something changed.
//!
//! Directories are taken one by one, the deepest first, so that neither the number of files nor
//! the depth of a tree matters. (git2's own `TreeUpdateBuilder` refuses to turn a file into a
//! directory and fails when a name to remove is not there.)

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use git2::{ObjectType, Oid, Repository, Tree};

use super::directory::{Directory, Edit};
use super::loose_objects::LooseObjects;
use super::{HistoryError, object};

/// What one commit changes.
#[derive(Debug, Default)]
pub(super) struct Edits {
    removed: HashSet<String>,
    put: BTreeMap<String, (Oid, i32)>,
    /// Bytes of the contents that are put somewhere.
    bytes: u64,
}

/// Depth and path of a directory.
type Place = (Reverse<usize>, String);

impl Edits {
    /// Takes away what HEAD has at `path`, with everything below it. Files that are put below
    /// stay.
    pub(super) fn remove(&mut self, path: &str) {
        self.removed.insert(path.to_owned());
    }

    /// Gives `path` a content of so many bytes.
    pub(super) fn put(&mut self, path: &str, (id, mode): (Oid, i32), bytes: u64) {
        self.put.insert(path.to_owned(), (id, mode));
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Bytes of the contents that are put somewhere, and how many they are.
    pub(super) fn brought(&self) -> (u64, usize) {
        (self.bytes, self.put.len())
    }

    /// The tree that `base` becomes.
    pub(super) fn apply(
        self,
        objects: &mut LooseObjects<'_>,
        base: Option<Oid>,
    ) -> Result<Oid, HistoryError> {
        let root = match base {
            Some(base) => objects.read(base, ObjectType::Tree)?,
            None => Vec::new(),
        };
        let root = Directory::read(&root)?;
        let mut pending = self.by_directory();
        while let Some(((Reverse(depth), path), edits)) = pending.pop_first() {
            if depth == 0 {
                return objects.write(ObjectType::Tree, &root.edited(edits));
            }
            let before = if self.is_removed(&path) {
                Vec::new()
            } else {
                subtree(objects, &root, &path)?
            };
            let after = Directory::read(&before)?.edited(edits);
            let id = if after.is_empty() {
                None
            } else {
                Some(objects.write(ObjectType::Tree, &after)?)
            };
            let (above, name) = split(&path);
            pending
                .entry(place(above))
                .or_default()
                .push((name.to_owned(), Edit::Directory(id)));
        }
        // Nothing was changed; an empty history has an empty tree.
        match base {
            Some(base) => Ok(base),
            None => objects.write(ObjectType::Tree, &[]),
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

/// What `root` has at a directory below it; nothing where it has none. A tree that is named and
/// cannot be read is damage: without it the commit would lose everything beside what it changes.
fn subtree(
    objects: &mut LooseObjects<'_>,
    root: &Directory<'_>,
    path: &str,
) -> Result<Vec<u8>, HistoryError> {
    let mut names = path.split('/');
    let first = names.next().unwrap_or_default();
    let Some(id) = root.subtree(first) else {
        return Ok(Vec::new());
    };
    let mut tree = objects.read(id, ObjectType::Tree)?;
    for name in names {
        let Some(id) = Directory::read(&tree)?.subtree(name) else {
            return Ok(Vec::new());
        };
        tree = objects.read(id, ObjectType::Tree)?;
    }
    Ok(tree)
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
