//! Trees of git, changed only where something changed.
//!
//! Directories are taken one by one, the deepest first, so that neither the number of files nor
//! the depth of a tree matters. (git2's own `TreeUpdateBuilder` refuses to turn a file into a
//! directory and fails when a name to remove is not there.)

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use git2::{ObjectType, Oid, Repository, Tree, TreeBuilder};

use super::content::{FileBlob, TREE};
use super::{HistoryError, Result, object};

/// Changes of one commit.
#[derive(Debug, Default)]
pub(super) struct Edits {
    removed: HashSet<String>,
    put: BTreeMap<String, (Oid, i32)>,
    /// Bytes of the contents that are put somewhere.
    bytes: u64,
}

/// Change of one name, in the order in which they are made: a file that became a directory is
/// removed before the directory takes its place, and the reverse.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TreeEdit {
    Remove,
    /// The directory of this name; `None` if it became empty.
    Directory(Option<Oid>),
    Put(Oid, i32),
}

/// Depth and path of a directory.
type DirectoryKey = (Reverse<usize>, String);

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

    /// Returns the bytes of the contents that are put somewhere, and how many they are.
    pub(super) fn brought(&self) -> (u64, usize) {
        (self.bytes, self.put.len())
    }

    /// Returns the tree that `base` becomes, and the bytes on disk of the trees that were written.
    pub(super) fn apply(self, repository: &Repository, base: Option<Oid>) -> Result<(Oid, u64)> {
        let root = base
            .map(|base| object::tree(repository, base))
            .transpose()?;
        let mut trees = TreeFiles::of(repository, root);
        let mut pending = self.by_directory();
        let mut written = 0;
        while let Some(((Reverse(depth), path), edits)) = pending.pop_first() {
            let before = if self.is_removed(&path) {
                None
            } else {
                trees.directory(&path)?
            };
            let mut builder = repository
                .treebuilder(before)
                .map_err(HistoryError::git("commit to"))?;
            edit(&mut builder, edits).map_err(HistoryError::git("commit to"))?;
            let mut id = None;
            if depth == 0 || !builder.is_empty() {
                let tree = write(repository, &builder)?;
                written += object::bytes_on_disk(repository, tree);
                id = Some(tree);
            }
            if let (0, Some(tree)) = (depth, id) {
                return Ok((tree, written));
            }
            let (above, name) = split(&path);
            let above = pending.entry(place(above)).or_default();
            above.push((name.to_owned(), TreeEdit::Directory(id)));
        }
        // Without edits the tree stays; an empty history has an empty tree.
        let tree = match base {
            Some(base) => base,
            None => object::write(repository, ObjectType::Tree, &[])?,
        };
        Ok((tree, written))
    }

    fn by_directory(&self) -> BTreeMap<DirectoryKey, Vec<(String, TreeEdit)>> {
        let mut directories: BTreeMap<DirectoryKey, Vec<(String, TreeEdit)>> = BTreeMap::new();
        let mut add = |path: &str, edit: TreeEdit| {
            let (above, name) = split(path);
            let edits = directories.entry(place(above)).or_default();
            if !name.is_empty() {
                edits.push((name.to_owned(), edit));
            }
        };
        for path in &self.removed {
            add(path, TreeEdit::Remove);
        }
        for (path, (id, mode)) in &self.put {
            add(path, TreeEdit::Put(*id, *mode));
        }
        directories
    }

    /// Returns `true` if the directory or one above it is taken away.
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

fn place(directory: &str) -> DirectoryKey {
    let names = directory.split('/').filter(|name| !name.is_empty());
    (Reverse(names.count()), directory.to_owned())
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Changes the names of one directory.
fn edit(
    builder: &mut TreeBuilder<'_>,
    mut edits: Vec<(String, TreeEdit)>,
) -> Result<(), git2::Error> {
    edits.sort_by(|(_, one), (_, other)| one.cmp(other));
    for (name, edit) in edits {
        let there = builder.get(&name)?.map(|entry| entry.filemode());
        match edit {
            TreeEdit::Remove if there.is_some() => builder.remove(&name)?,
            TreeEdit::Directory(None) if there == Some(TREE) => builder.remove(&name)?,
            TreeEdit::Remove | TreeEdit::Directory(None) => {}
            TreeEdit::Directory(Some(id)) => drop(builder.insert(&name, id, TREE)?),
            TreeEdit::Put(id, mode) => drop(builder.insert(&name, id, mode)?),
        }
    }
    Ok(())
}

/// Writes a tree. One that is there and damaged is written anew.
fn write(repository: &Repository, builder: &TreeBuilder<'_>) -> Result<Oid> {
    let write = || builder.write().map_err(HistoryError::git("write to"));
    let id = write()?;
    if object::forget_damaged(repository, id) {
        return write();
    }
    Ok(id)
}

/// Every file of a tree: path to id and mode. Paths are bytes, as git has them.
pub(super) fn files(
    repository: &Repository,
    tree: &Tree<'_>,
) -> Result<HashMap<Vec<u8>, (Oid, i32)>> {
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

/// The files of a tree, of which each directory is read once.
pub(super) struct TreeFiles<'r> {
    repository: &'r Repository,
    directories: HashMap<String, Option<Tree<'r>>>,
}

impl<'r> TreeFiles<'r> {
    pub(super) fn of(repository: &'r Repository, root: Option<Tree<'r>>) -> Self {
        Self {
            repository,
            directories: HashMap::from([(String::new(), root)]),
        }
    }

    /// Returns the root.
    pub(super) fn root(&self) -> Option<&Tree<'r>> {
        self.directories.get("").and_then(Option::as_ref)
    }

    /// Returns the directory at a path. One that is named and cannot be read is damage: without it a commit would
    /// lose everything beside its own changes.
    fn directory(&mut self, path: &str) -> Result<Option<&Tree<'r>>> {
        if !self.directories.contains_key(path) {
            let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
            let above = self.directory(above)?;
            let entry = above.and_then(|above| above.get_name(name));
            let entry = entry.filter(|entry| entry.kind() == Some(ObjectType::Tree));
            let id = entry.map(|entry| entry.id());
            let tree = id.map(|id| object::tree(self.repository, id)).transpose()?;
            self.directories.insert(path.to_owned(), tree);
        }
        Ok(self.directories.get(path).and_then(Option::as_ref))
    }

    /// Returns the content of the file at a path.
    pub(super) fn file(&mut self, path: &str) -> Result<Option<FileBlob>> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let above = self.directory(above)?;
        let entry = above.and_then(|above| above.get_name(name));
        let entry = entry.filter(|entry| entry.kind() != Some(ObjectType::Tree));
        Ok(entry.map(|entry| (entry.id(), entry.filemode())))
    }

    /// Returns `true` if there is a file below a directory for which `counts` returns `true`.
    pub(super) fn has_file_below(
        &mut self,
        path: &str,
        counts: impl Fn(&str) -> bool,
    ) -> Result<bool> {
        let mut pending = vec![path.to_owned()];
        while let Some(directory) = pending.pop() {
            let Some(tree) = self.directory(&directory)? else {
                continue;
            };
            for entry in tree {
                let name = String::from_utf8_lossy(entry.name_bytes());
                let inside = format!("{directory}/{name}");
                if entry.kind() == Some(ObjectType::Tree) {
                    pending.push(inside);
                } else if counts(&inside) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
