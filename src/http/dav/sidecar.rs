//! Files that programs leave beside those of people: attributes that macOS keeps for other systems,
//! how a folder looks, who has a document open.
//!
//! A program that may not write one complains or gives up, and in a zone they would only be in the
//! way of people, models and histories. So they are taken, and kept in memory for a while: whoever
//! asks finds them again, and nothing depends on them. One that is in a zone already is a file like
//! any other.

use std::time::Duration;

use axum::body::Bytes;
use fileshed_core::view::{ViewPath, ViewPlace};
use fileshed_core::{CallerView, Error, Timings, ZoneName};
use moka::sync::Cache;

/// Bytes of one.
pub(super) const LARGEST: usize = 1 << 20;
/// Bytes of all.
const MOST_BYTES: u64 = 16 << 20;
/// What one takes besides its content.
const OVERHEAD: u32 = 512;
/// How long one is kept after it was last read or written.
const KEPT: Duration = Timings::STANDARD.http.sidecar;

/// Whether a name is one that programs give to such files.
pub(super) fn is_sidecar(name: &str) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    name.starts_with("._")
        || name.starts_with("~$")
        || (name.starts_with(".~lock.") && name.ends_with('#'))
        || name == ".DS_Store"
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
        .time_to_idle(KEPT)
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
        if inside.is_root() || zone.data().entry(&inside).is_ok() {
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
