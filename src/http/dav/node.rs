//! Resource of WebDAV at a path of the tree.

use std::future;
use std::time::SystemTime;

use dav_server::fs::{DavDirEntry, DavMetaData, FsError, FsFuture, FsResult};
use fileshed_core::listing::DirectoryListing;
use fileshed_core::storage::{Entry, Kind, Stamp};
use fileshed_core::view::{TOP, ViewPath, ViewPlace};
use fileshed_core::{CallerView, Error};

/// The directory that programs need not see: what processes of the caller wrote.
const LOGS: &str = "logs";

/// A file or a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// Its name in a list, else empty.
    name: String,
    is_directory: bool,
    /// Bytes of a file; of a directory, what its user or group holds: the library tells clients how
    /// much is left by that.
    size: u64,
    /// When it was last changed; not known of what only leads to zones.
    modified: Option<SystemTime>,
    /// What tells the state of a file from another.
    tag: Option<String>,
}

impl Node {
    /// What is at a path. Links count as what they lead to inside their zone.
    pub(super) fn at(view: CallerView<'_>, path: &ViewPath) -> Result<Self, Error> {
        match path.place() {
            ViewPlace::Top | ViewPlace::Groups | ViewPlace::Logs("") => {
                view.core.store.expect_active(view.caller)?;
                Ok(Self::fixed(""))
            }
            ViewPlace::Chats => {
                let (home, _) = view.zone("path", &ViewPath::home())?;
                Ok(Self::fixed("").holding(home.space()?.0))
            }
            ViewPlace::Zone(..) | ViewPlace::Logs(_) | ViewPlace::Nowhere => {
                let found = view.resolve_path("path", path.clone())?;
                let entry = found.entry()?;
                if entry.kind() != Kind::Directory {
                    found.file()?;
                }
                let node = Self::of(&entry);
                if node.is_directory {
                    return Ok(node.holding(found.zone.space()?.0));
                }
                Ok(node)
            }
        }
    }

    /// A directory, where so many bytes are used.
    fn holding(self, used: u64) -> Self {
        let size = if self.is_directory { used } else { self.size };
        Self { size, ..self }
    }

    /// An entry of a zone.
    pub(super) fn of(entry: &Entry) -> Self {
        Self::with_stamp(entry.kind(), &entry.stamp())
    }

    /// A file that is kept in memory.
    pub(super) fn in_memory(size: usize) -> Self {
        Self {
            size: size as u64,
            ..Self::default()
        }
    }

    /// A file whose state is known.
    pub(super) fn with_stamp(kind: Kind, stamp: &Stamp) -> Self {
        let is_directory = kind == Kind::Directory;
        Self {
            is_directory,
            size: if is_directory { 0 } else { stamp.size() },
            modified: Some(stamp.modified_exactly().into()),
            tag: (!is_directory).then(|| stamp.tag()),
            ..Self::default()
        }
    }

    /// A directory that is there for everybody.
    fn fixed(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_directory: true,
            ..Self::default()
        }
    }
}

impl DavMetaData for Node {
    fn len(&self) -> u64 {
        self.size
    }

    fn modified(&self) -> FsResult<SystemTime> {
        self.modified.ok_or(FsError::NotImplemented)
    }

    fn is_dir(&self) -> bool {
        self.is_directory
    }

    fn etag(&self) -> Option<String> {
        self.tag.clone()
    }
}

/// What is in a directory.
pub(super) fn list(view: CallerView<'_>, path: ViewPath) -> Result<Vec<Node>, Error> {
    Ok(match path.place() {
        ViewPlace::Top => {
            let names = TOP.iter().filter(|name| **name != LOGS);
            names.map(|name| Node::fixed(name)).collect()
        }
        ViewPlace::Groups => {
            let groups = view.groups()?;
            groups.iter().map(|name| Node::fixed(name)).collect()
        }
        ViewPlace::Chats => {
            let node = Node::at(view, &path)?;
            let chats = view.chats()?.into_iter();
            let named = chats.map(|uploads| Node {
                name: uploads.chat.as_str().to_owned(),
                modified: Some(uploads.last_change.into()),
                ..node.clone()
            });
            named.collect()
        }
        ViewPlace::Zone(..) | ViewPlace::Logs(_) | ViewPlace::Nowhere => {
            let directory = view.resolve_path("path", path)?;
            directory.directory()?;
            let listing =
                directory.explained(|| DirectoryListing::of(&directory.zone, &directory.path))?;
            let (used, _) = directory.zone.space()?;
            let entries = listing.entries.into_iter();
            let named = entries.filter_map(|entry| {
                let found = entry.found;
                let node = Node::with_stamp(found.kind, &found.stamp()).holding(used);
                let name = found.path.name()?.to_owned();
                Some(Node { name, ..node })
            });
            named.collect()
        }
    })
}

impl DavDirEntry for Node {
    fn name(&self) -> Vec<u8> {
        self.name.clone().into_bytes()
    }

    fn metadata(&'_ self) -> FsFuture<'_, Box<dyn DavMetaData>> {
        Box::pin(future::ready(Ok(Box::new(self.clone()) as _)))
    }
}
