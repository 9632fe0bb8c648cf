//! Resource of WebDAV at a path of the tree: a file or directory of a zone, or a sidecar file.
//!
//! Sidecar files are those that programs write beside the files of people: attributes that macOS keeps
//! for other systems, the look of a folder, the user who has a document open. A program that may not
//! write one complains or gives up, and in a zone they would only be in the way of people, models and
//! histories. So they are accepted, and kept in memory for a while: clients can read them again, and
//! nothing depends on them. One that is in a zone already is a file like any other.

use std::future;
use std::time::SystemTime;

use axum::body::Bytes;
use dav_server::fs::{DavDirEntry, DavMetaData, FsError, FsFuture, FsResult};
use fileshed_core::listing::DirectoryListing;
use fileshed_core::storage::{Entry, Kind, Stamp};
use fileshed_core::view::{TOP, ViewPath, ViewPlace};
use fileshed_core::{CallerView, Error, Timings, ZoneName};
use moka::sync::Cache;

use super::names;

/// Directory with the output of the caller's processes, which the drive does not list.
const LOGS: &str = "logs";

/// A file or a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// Its name in a list, else empty.
    name: String,
    is_directory: bool,
    /// Bytes of a file; of a directory, the bytes that its user or group uses: the library computes from
    /// them the space that is left.
    size: u64,
    /// Time of the last change; `None` for directories above the zones.
    modified: Option<SystemTime>,
    /// The entity tag, which differs between two states of a file.
    tag: Option<String>,
}

impl Node {
    /// Returns the node at a path. Symbolic links are followed inside their zone.
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

    /// Sets the used bytes, if it is a directory.
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

    /// The same with its tag as properties have it.
    pub(super) fn with_quoted_tag(self) -> Self {
        let tag = self.tag.map(|tag| format!("\"{tag}\""));
        Self { tag, ..self }
    }

    /// Its name in a list.
    pub(super) fn name(&self) -> &str {
        &self.name
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

    /// Dates of HTTP begin in 1970.
    fn modified(&self) -> FsResult<SystemTime> {
        let modified = self.modified.map(|time| time.max(SystemTime::UNIX_EPOCH));
        modified.ok_or(FsError::NotImplemented)
    }

    /// Not every file system records when a file was created; the last change is no earlier than that.
    fn created(&self) -> FsResult<SystemTime> {
        self.modified()
    }

    fn is_dir(&self) -> bool {
        self.is_directory
    }

    fn etag(&self) -> Option<String> {
        self.tag.clone()
    }
}

/// Returns the entries of a directory.
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
                let name = names::shown_name(found.path.name()?).into_owned();
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

/// Most bytes of one sidecar file.
pub(super) const LARGEST: usize = 1 << 20;
/// Most bytes of all sidecar files.
const MOST_BYTES: u64 = 16 << 20;
/// Bytes of memory that a sidecar file takes besides its path and content.
const OVERHEAD: u32 = 512;
/// The icon of a folder as macOS names it, with the carriage return as it is stored.
const FOLDER_ICON: &str = "Icon\u{f00d}";

/// Returns `true` if programs give the name to sidecar files.
pub(super) fn is_sidecar(name: &str) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    name.starts_with("._")
        || name.starts_with("~$")
        || (name.starts_with(".~lock.") && name.ends_with('#'))
        || name == ".DS_Store"
        || name == FOLDER_ICON
        || is("desktop.ini")
        || is("Thumbs.db")
}

/// The place of a sidecar file. In a group it is the same for all its members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SidecarPlace {
    /// Its zone, and the user or group that has it.
    whose: String,
    path: String,
}

/// The sidecar files of all users, bounded; each has at most [`LARGEST`] bytes.
pub(super) type Sidecars = Cache<SidecarPlace, Bytes>;

/// A place for sidecar files.
pub(super) fn sidecars() -> Sidecars {
    let weigh = |place: &SidecarPlace, content: &Bytes| {
        OVERHEAD + (place.whose.len() + place.path.len() + content.len()) as u32
    };
    Cache::builder()
        .max_capacity(MOST_BYTES)
        .weigher(weigh)
        .time_to_idle(Timings::STANDARD.http.sidecar)
        .build()
}

impl SidecarPlace {
    /// The place at a path, if its name is one of a sidecar file, its directory is there and the
    /// zone has no file of the name.
    pub(super) fn at(view: CallerView<'_>, path: &ViewPath) -> Result<Option<Self>, Error> {
        let is_one = path.name().is_some_and(is_sidecar);
        let above = path.parent().unwrap_or_else(ViewPath::home);
        let ViewPlace::Zone(name, ..) = path.place() else {
            return Ok(None);
        };
        if !is_one || !view.is_directory("path", &above)? {
            return Ok(None);
        }
        let (zone, inside) = view.zone("path", path)?;
        if inside.is_root() || zone.data.entry(&inside).is_ok() {
            return Ok(None);
        }
        let whose = match zone.group() {
            Some(group) => format!("{name}/{}", group.id.as_str()),
            None if name == ZoneName::Uploads => {
                let chat = view.caller.chat.as_str();
                format!("{name}/{}/{chat}", view.core.store.namespace(view.caller))
            }
            None => format!("{name}/{}", view.core.store.namespace(view.caller)),
        };
        let path = inside.as_str().to_owned();
        Ok(Some(Self { whose, path }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sidecar_files() {
        for name in [
            "._a.txt",
            ".DS_Store",
            "desktop.ini",
            "Desktop.ini",
            "thumbs.db",
            "~$port.docx",
            ".~lock.a.odt#",
        ] {
            assert!(is_sidecar(name), "{name}");
        }
        for name in [
            ".a", "a~", "~a", "_a", "DS_Store", ".~lock.a", "a.ini", "$~a",
        ] {
            assert!(!is_sidecar(name), "{name}");
        }
    }
}
