//! Files in memory: for tests, and for those who want nothing kept.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fileshed_types::{Clock, Mutex, ZonePath};
use jiff::Timestamp;

use crate::provider::{FileBytes, Page, Precondition, Provider, ProviderError, Write, Written};
use crate::{EntryType, Metadata, ToolError, Version};

/// The files of one user, as long as the process lives.
#[derive(Debug, Default)]
pub struct MemoryProvider {
    clock: Clock,
    limit: Arc<MemoryLimit>,
    tree: Mutex<MemoryTree>,
}

/// Everything that is there, by the keys of paths.
#[derive(Debug, Default)]
struct MemoryTree {
    nodes: BTreeMap<String, MemoryNode>,
    versions: u64,
}

#[derive(Clone, Debug)]
struct MemoryNode {
    metadata: Metadata,
    content: Vec<u8>,
}

impl MemoryProvider {
    /// No files, with the times of this clock, that take no more than a limit allows, which others may
    /// share.
    pub fn within(clock: Clock, limit: Arc<MemoryLimit>) -> Self {
        Self {
            clock,
            limit,
            tree: Mutex::default(),
        }
    }
}

impl MemoryNode {
    fn directory(path: &ZonePath, now: Timestamp) -> Self {
        Self {
            metadata: Metadata {
                path: path.clone(),
                kind: EntryType::Directory,
                mime_type: None,
                size: 0,
                created_at: now,
                updated_at: now,
                version: Version("0".to_owned()),
            },
            content: Vec::new(),
        }
    }

    /// The bytes that it takes.
    fn weight(&self) -> u64 {
        ENTRY + self.metadata.path.as_str().len() as u64 + self.content.len() as u64
    }
}

/// Returns the key of a path. The tree below a directory follows it directly in this order: no name has
/// a NUL.
fn key(path: &ZonePath) -> String {
    path.as_str().replace('/', "\0")
}

impl MemoryTree {
    /// Returns what is at `path` and below it.
    fn around(&self, path: &ZonePath) -> impl Iterator<Item = &MemoryNode> {
        let first = key(path);
        let end = format!("{first}\u{1}");
        self.nodes.range(first..end).map(|(_, node)| node)
    }

    /// Returns what is at `path`, or why nothing can be.
    fn find(&self, path: &ZonePath) -> Result<&MemoryNode, ProviderError> {
        if let Some(node) = self.nodes.get(&key(path)) {
            return Ok(node);
        }
        self.expect_directories(path)?;
        Err(ProviderError::NotFound(path.clone()))
    }

    /// Returns the file at `path`.
    fn file(&self, path: &ZonePath) -> Result<&MemoryNode, ProviderError> {
        let is_directory = |node: &MemoryNode| node.metadata.is_directory();
        if path.is_root() || self.nodes.get(&key(path)).is_some_and(is_directory) {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        self.find(path)
    }

    /// Fails where a file is in the place of a directory above `path`.
    fn expect_directories(&self, path: &ZonePath) -> Result<(), ProviderError> {
        let above = std::iter::successors(path.parent(), ZonePath::parent);
        let mut nodes = above.filter_map(|above| self.nodes.get(&key(&above)));
        match nodes.find(|node| !node.metadata.is_directory()) {
            Some(file) => Err(ProviderError::NotDirectory(file.metadata.path.clone())),
            None => Ok(()),
        }
    }

    /// Returns the directories above `path` that are missing.
    fn missing_above(&self, path: &ZonePath, now: Timestamp) -> Vec<MemoryNode> {
        let above = std::iter::successors(path.parent(), ZonePath::parent);
        let missing =
            above.filter(|above| !above.is_root() && !self.nodes.contains_key(&key(above)));
        missing
            .map(|path| MemoryNode::directory(&path, now))
            .collect()
    }

    /// Returns the entries of a directory behind the name `after`.
    fn entries(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
    ) -> impl Iterator<Item = &MemoryNode> {
        let above = if directory.is_root() {
            String::new()
        } else {
            format!("{}\0", key(directory))
        };
        let mut start = after.map_or_else(|| above.clone(), |after| format!("{above}{after}\u{1}"));
        std::iter::from_fn(move || {
            let (key, node) = self.nodes.range(start.clone()..).next()?;
            start = format!("{key}\u{1}");
            key.starts_with(&above).then_some(node)
        })
    }

    /// Takes out what is at `path` and below it.
    fn take(&mut self, path: &ZonePath) -> Vec<MemoryNode> {
        let taken: Vec<ZonePath> = self
            .around(path)
            .map(|node| node.metadata.path.clone())
            .collect();
        let taken = taken
            .iter()
            .filter_map(|path| self.nodes.remove(&key(path)));
        taken.collect()
    }

    fn put(&mut self, node: MemoryNode) {
        self.nodes.insert(key(&node.metadata.path), node);
    }
}

impl Provider for MemoryProvider {
    fn stat(&self, path: &ZonePath) -> Result<Metadata, ProviderError> {
        if path.is_root() {
            return Ok(MemoryNode::directory(path, self.clock.now()).metadata);
        }
        self.tree
            .lock()
            .find(path)
            .map(|node| node.metadata.clone())
    }

    fn read(&self, path: &ZonePath, range: Range<u64>) -> Result<FileBytes, ProviderError> {
        let tree = self.tree.lock();
        let node = tree.file(path)?;
        let end = (node.content.len() as u64).min(range.end) as usize;
        let start = (range.start as usize).min(end);
        Ok(FileBytes {
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
        let mut tree = self.tree.lock();
        let old = match tree.file(path) {
            Ok(old) => Some(old),
            Err(ProviderError::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        match (&write.condition, old) {
            (Precondition::Absent, Some(_)) => return Err(ProviderError::Exists(path.clone())),
            (Precondition::Version(wanted), old)
                if old.is_none_or(|old| old.metadata.version != *wanted) =>
            {
                return Err(ProviderError::Changed(path.clone()));
            }
            _ => {}
        }
        let (now, before) = (self.clock.now(), old.map(|old| old.metadata.clone()));
        let kept = before.as_ref();
        let node = MemoryNode {
            metadata: Metadata {
                path: path.clone(),
                kind: EntryType::File,
                mime_type: write
                    .mime_type
                    .clone()
                    .or_else(|| kept.and_then(|old| old.mime_type.clone())),
                size: content.len() as u64,
                created_at: kept.map_or(now, |old| old.created_at),
                updated_at: now,
                version: Version((tree.versions + 1).to_string()),
            },
            content,
        };
        let metadata = node.metadata.clone();
        let mut new = tree.missing_above(path, now);
        new.push(node);
        let weight = new.iter().map(MemoryNode::weight).sum();
        self.limit
            .change(old.map_or(0, MemoryNode::weight), weight)?;
        tree.versions += 1;
        for node in new {
            tree.put(node);
        }
        Ok(Written {
            metadata,
            created: before.is_none(),
        })
    }

    fn list(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, ProviderError> {
        let tree = self.tree.lock();
        if !directory.is_root() && !tree.find(directory)?.metadata.is_directory() {
            return Err(ProviderError::NotDirectory(directory.clone()));
        }
        let mut names = tree.entries(directory, after);
        let entries = names.by_ref().take(most);
        let entries = entries.map(|node| node.metadata.clone()).collect();
        let more = names.next().is_some();
        Ok(Page { entries, more })
    }

    fn remove(&self, path: &ZonePath) -> Result<(), ProviderError> {
        let mut tree = self.tree.lock();
        tree.find(path)?;
        let gone = tree.take(path);
        self.limit
            .change(gone.iter().map(MemoryNode::weight).sum(), 0)
    }

    fn rename(&self, from: &ZonePath, to: &ZonePath) -> Result<Metadata, ProviderError> {
        let mut tree = self.tree.lock();
        tree.find(from)?;
        tree.expect_directories(to)?;
        let into_itself = to.as_str().starts_with(&format!("{}/", from.as_str()));
        if to.is_root() || into_itself || tree.find(to).is_ok() {
            return Err(ProviderError::Exists(to.clone()));
        }
        let missing = tree.missing_above(to, self.clock.now());
        let weights = tree.around(from).map(MemoryNode::weight);
        let (count, before) = weights.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes));
        let names = [to, from].map(|path| count * path.as_str().len() as u64);
        let made: u64 = missing.iter().map(MemoryNode::weight).sum();
        self.limit
            .change(before, before + made + names[0] - names[1])?;
        let mut moved = tree.take(from);
        for node in &mut moved {
            let below = ZonePath::found(node.metadata.path.below(from).to_owned());
            node.metadata.path = to.join_path(&below);
        }
        for node in missing.into_iter().chain(moved) {
            tree.put(node);
        }
        tree.find(to).map(|node| node.metadata.clone())
    }
}

/// Bytes of an entry besides its content and its path.
const ENTRY: u64 = 256;

/// A bound on what several [`MemoryProvider`] take together.
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
    pub fn new(most: u64) -> Self {
        Self {
            most,
            used: AtomicU64::new(0),
        }
    }

    /// Most bytes.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Bytes that are taken now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Changes a use of `before` bytes to one of `after`. Fails if that is more and exceeds the limit.
    fn change(&self, before: u64, after: u64) -> Result<(), ProviderError> {
        let (order, limit) = (Ordering::Relaxed, self.most);
        let changed = self.used.fetch_update(order, order, |used| {
            let used = used.saturating_sub(before).checked_add(after)?;
            Some(used).filter(|used| after <= before || *used <= limit)
        });
        match changed {
            Ok(_) => Ok(()),
            Err(_) => Err(ProviderError::Refused(ToolError::Full(limit).into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn memory_keeps_every_promise() {
        conformance::keeps_every_promise(&MemoryProvider::default());
    }

    #[test]
    fn a_limit_that_is_reached_is_told_and_what_goes_makes_room() {
        let limit = Arc::new(MemoryLimit::new(10_000));
        let memories = [0, 1].map(|_| MemoryProvider::within(Clock::default(), Arc::clone(&limit)));
        let [one, other] = &memories;
        let path = |text: &str| ZonePath::found(text.to_owned());
        let write = |memory: &MemoryProvider, at: &str, bytes: usize| {
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
        let memory = MemoryProvider::default();
        conformance::loses_no_update(&[&memory, &memory, &memory, &memory]);
    }
}
