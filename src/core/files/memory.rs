//! Files in memory: for tests, and for those who want nothing kept.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fileshed_types::{Clock, Error, ZonePath};

use crate::provider::{Condition, Content, Page, Provider, ProviderError, Write, Written};
use crate::{EntryType, Metadata, ToolError, Version};

/// The files of one user, as long as the process lives.
#[derive(Debug, Default)]
pub struct Memory {
    clock: Clock,
    limit: Arc<MemoryLimit>,
    tree: Mutex<Tree>,
}

/// Everything that is there, by directory and name.
#[derive(Debug, Default)]
struct Tree {
    nodes: BTreeMap<(String, String), Node>,
    versions: u64,
}

#[derive(Clone, Debug)]
struct Node {
    metadata: Metadata,
    content: Vec<u8>,
}

impl Memory {
    /// No files, with the times of this clock.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self::within(clock, Arc::default())
    }

    /// The same, taking no more than a limit allows, which others may share.
    #[must_use]
    pub fn within(clock: Clock, limit: Arc<MemoryLimit>) -> Self {
        Self {
            clock,
            limit,
            tree: Mutex::default(),
        }
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what something needs that had `before` bytes and is to have `after`, and new directories.
    fn take_place(
        &self,
        before: u64,
        after: u64,
        directories: &[ZonePath],
    ) -> Result<(), ProviderError> {
        let above = directories.iter().map(|path| weight(path.as_str(), 0));
        let after = after + above.sum::<u64>();
        if after > before {
            self.limit.take(after - before)
        } else {
            self.limit.give(before - after);
            Ok(())
        }
    }

    fn make(&self, tree: &mut Tree, directories: &[ZonePath]) {
        for directory in directories {
            tree.put(Node {
                metadata: self.directory(directory),
                content: Vec::new(),
            });
        }
    }

    fn directory(&self, path: &ZonePath) -> Metadata {
        let now = self.clock.now();
        Metadata {
            path: path.clone(),
            kind: EntryType::Directory,
            mime_type: None,
            size: 0,
            created_at: now,
            updated_at: now,
            version: Version("0".to_owned()),
        }
    }
}

impl Node {
    fn weight(&self) -> u64 {
        weight(self.metadata.path.as_str(), self.content.len())
    }
}

impl Tree {
    fn get(&self, path: &ZonePath) -> Option<&Node> {
        self.nodes.get(&key(path))
    }

    /// What is at `path`, or why nothing can be.
    fn find(&self, path: &ZonePath) -> Result<&Node, ProviderError> {
        if let Some(node) = self.get(path) {
            return Ok(node);
        }
        self.expect_directories(path)?;
        Err(ProviderError::NotFound(path.clone()))
    }

    /// Fails where a file is in the place of a directory above `path`.
    fn expect_directories(&self, path: &ZonePath) -> Result<(), ProviderError> {
        let mut above = path.parent();
        while let Some(directory) = above.filter(|directory| !directory.is_root()) {
            if let Some(node) = self.get(&directory)
                && !node.metadata.is_directory()
            {
                return Err(ProviderError::NotDirectory(directory));
            }
            above = directory.parent();
        }
        Ok(())
    }

    fn next_version(&mut self) -> Version {
        self.versions += 1;
        Version(self.versions.to_string())
    }

    /// The directories above `path` that are not there.
    fn missing_above(&self, path: &ZonePath) -> Vec<ZonePath> {
        let above = std::iter::successors(path.parent(), ZonePath::parent);
        let above = above.filter(|directory| !directory.is_root());
        above.filter(|path| self.get(path).is_none()).collect()
    }

    /// The names in a directory, from `after` on.
    fn names<'t>(
        &'t self,
        directory: &'t ZonePath,
        after: Option<&str>,
    ) -> impl Iterator<Item = &'t Node> {
        let above = directory.as_str().to_owned();
        let start = match after {
            Some(after) => Bound::Excluded((above, after.to_owned())),
            None => Bound::Included((above, String::new())),
        };
        self.nodes
            .range((start, Bound::Unbounded))
            .take_while(|((above, _), _)| above == directory.as_str())
            .map(|(_, node)| node)
    }

    /// Takes out what is at `path` and below it.
    fn take(&mut self, path: &ZonePath) -> Vec<Node> {
        let mut taken: Vec<Node> = self.nodes.remove(&key(path)).into_iter().collect();
        let mut pending = vec![path.clone()];
        while let Some(directory) = pending.pop() {
            let below: Vec<ZonePath> = self
                .names(&directory, None)
                .map(|node| node.metadata.path.clone())
                .collect();
            for path in below {
                taken.extend(self.nodes.remove(&key(&path)));
                pending.push(path);
            }
        }
        taken
    }

    fn put(&mut self, node: Node) {
        self.nodes.insert(key(&node.metadata.path), node);
    }
}

/// A path as its directory and its name.
fn key(path: &ZonePath) -> (String, String) {
    let above = path.parent().unwrap_or_else(ZonePath::root);
    let name = path.name().unwrap_or_default();
    (above.as_str().to_owned(), name.to_owned())
}

impl Provider for Memory {
    fn stat(&self, path: &ZonePath) -> Result<Metadata, ProviderError> {
        if path.is_root() {
            return Ok(self.directory(path));
        }
        self.tree().find(path).map(|node| node.metadata.clone())
    }

    fn read(&self, path: &ZonePath, range: Range<u64>) -> Result<Content, ProviderError> {
        if path.is_root() {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        let tree = self.tree();
        let node = tree.find(path)?;
        if node.metadata.is_directory() {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        let end = (node.content.len() as u64).min(range.end) as usize;
        let start = (range.start as usize).min(end);
        Ok(Content {
            bytes: node.content[start..end].to_vec(),
            metadata: node.metadata.clone(),
        })
    }

    fn write(
        &self,
        path: &ZonePath,
        source: &mut dyn io::Read,
        write: &Write,
    ) -> Result<Written, ProviderError> {
        let mut content = Vec::new();
        let mut source = source.take(self.limit.most().saturating_add(1));
        let read = source.read_to_end(&mut content);
        read.map_err(|error| ProviderError::Unavailable(error.to_string()))?;
        let mut tree = self.tree();
        if path.is_root() {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        tree.expect_directories(path)?;
        let old = tree.get(path).map(|node| node.metadata.clone());
        if old.as_ref().is_some_and(Metadata::is_directory) {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        match (&write.condition, &old) {
            (Condition::Absent, Some(_)) => return Err(ProviderError::Exists(path.clone())),
            (Condition::Version(wanted), old)
                if old.as_ref().is_none_or(|old| old.version != *wanted) =>
            {
                return Err(ProviderError::Changed(path.clone()));
            }
            _ => {}
        }
        let missing = tree.missing_above(path);
        let before = tree.get(path).map_or(0, Node::weight);
        let after = weight(path.as_str(), content.len());
        self.take_place(before, after, &missing)?;
        self.make(&mut tree, &missing);
        let now = self.clock.now();
        let kept = old.as_ref().and_then(|old| old.mime_type.clone());
        let metadata = Metadata {
            path: path.clone(),
            kind: EntryType::File,
            mime_type: write.mime_type.clone().or(kept),
            size: content.len() as u64,
            created_at: old.as_ref().map_or(now, |old| old.created_at),
            updated_at: now,
            version: tree.next_version(),
        };
        tree.put(Node {
            metadata: metadata.clone(),
            content,
        });
        Ok(Written {
            metadata,
            created: old.is_none(),
        })
    }

    fn list(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, ProviderError> {
        let tree = self.tree();
        if !directory.is_root() && !tree.find(directory)?.metadata.is_directory() {
            return Err(ProviderError::NotDirectory(directory.clone()));
        }
        let mut names = tree.names(directory, after);
        let entries = names.by_ref().take(most);
        let entries = entries.map(|node| node.metadata.clone()).collect();
        let more = names.next().is_some();
        Ok(Page { entries, more })
    }

    fn remove(&self, path: &ZonePath) -> Result<(), ProviderError> {
        let mut tree = self.tree();
        tree.find(path)?;
        let gone = tree.take(path);
        self.limit.give(gone.iter().map(Node::weight).sum());
        Ok(())
    }

    fn rename(&self, from: &ZonePath, to: &ZonePath) -> Result<Metadata, ProviderError> {
        let mut tree = self.tree();
        tree.find(from)?;
        tree.expect_directories(to)?;
        let into_itself = to.as_str().starts_with(&format!("{}/", from.as_str()));
        if to.is_root() || into_itself || tree.get(to).is_some() {
            return Err(ProviderError::Exists(to.clone()));
        }
        let missing = tree.missing_above(to);
        let taken = tree.take(from);
        let before: u64 = taken.iter().map(Node::weight).sum();
        let count = taken.len() as u64;
        let after = before + count * to.as_str().len() as u64 - count * from.as_str().len() as u64;
        let place = self.take_place(before, after, &missing);
        if let Err(error) = place {
            for node in taken {
                tree.put(node);
            }
            return Err(error);
        }
        self.make(&mut tree, &missing);
        for mut node in taken {
            let below = &node.metadata.path.as_str()[from.as_str().len()..];
            node.metadata.path = ZonePath::found(format!("{}{below}", to.as_str()));
            tree.put(node);
        }
        tree.find(to).map(|node| node.metadata.clone())
    }
}

/// Bytes of an entry besides its content and its path.
const ENTRY: u64 = 256;

/// A bound on what several [`Memory`] take together.
#[derive(Debug)]
pub struct MemoryLimit {
    most: u64,
    used: AtomicU64,
}

impl Default for MemoryLimit {
    /// A budget without a limit.
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl MemoryLimit {
    /// A budget of so many bytes, which names and metadata count against too.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self {
            most,
            used: AtomicU64::new(0),
        }
    }

    /// Most bytes.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Bytes that are taken now.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes so many bytes, or says that there are not so many.
    fn take(&self, bytes: u64) -> Result<(), ProviderError> {
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|used| *used <= self.most)
            });
        match taken {
            Ok(_) => Ok(()),
            Err(_) => Err(ProviderError::Refused(Error::from(ToolError::Full {
                limit: self.most,
            }))),
        }
    }

    /// Gives bytes back.
    fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The bytes that an entry takes.
fn weight(path: &str, content: usize) -> u64 {
    ENTRY + path.len() as u64 + content as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn memory_keeps_every_promise() {
        conformance::keeps_every_promise(&Memory::default());
    }

    #[test]
    fn a_limit_that_is_reached_is_told_and_what_goes_makes_room() {
        let limit = Arc::new(MemoryLimit::new(10_000));
        let memories = [0, 1].map(|_| Memory::within(Clock::default(), Arc::clone(&limit)));
        let [one, other] = &memories;
        let path = |text: &str| ZonePath::found(text.to_owned());
        let write = |memory: &Memory, at: &str, bytes: usize| {
            let content = vec![b'x'; bytes];
            memory.write(&path(at), &mut content.as_slice(), &Write::default())
        };
        let full = |error: ProviderError| error.to_string().contains("at most 10000 bytes");
        write(one, "a/b", 8_000).expect("written");
        assert!(full(write(other, "c", 2_000).expect_err("no room")));
        assert!(full(write(one, "a/b", 10_001).expect_err("no room")));
        let kept = one.read(&path("a/b"), 0..u64::MAX).expect("as it was");
        assert_eq!(kept.bytes.len(), 8_000);
        // Names count, too.
        let long = "n".repeat(2_000);
        assert!(full(
            one.rename(&path("a"), &path(&long)).expect_err("no room")
        ));
        assert!(one.stat(&path("a/b")).is_ok());
        write(one, "a/b", 1_000).expect("shorter");
        write(other, "c", 2_000).expect("room");
        one.rename(&path("a"), &path("d/e")).expect("renamed");
        for (memory, at) in [(one, "d"), (other, "c")] {
            memory.remove(&path(at)).expect("removed");
        }
        assert_eq!(limit.used(), 0);
    }

    #[test]
    fn memory_loses_no_update() {
        let memory = Memory::default();
        conformance::loses_no_update(&[&memory, &memory, &memory, &memory]);
    }
}
