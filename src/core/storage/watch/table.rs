//! Table of the names below a root, with the totals of what they stand for.

use std::collections::HashMap;

use rustix::fs::Stat;

use crate::kind::kind_of;
use crate::walk::Totals;
use crate::{Kind, Stamp};

/// The names in one directory.
type NameListing = HashMap<Box<[u8]>, WatchedName>;

/// Every name, with what it stood for when it was last looked at.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    /// By the path of their directory.
    listings: HashMap<Box<[u8]>, NameListing>,
    pub(super) totals: Totals,
    pub(super) directories: u64,
}

/// File or something else that a name stood for.
#[derive(Clone, Copy, Debug)]
pub struct WatchedName {
    kind: Kind,
    pub(super) stamp: Stamp,
}

impl WatchedName {
    /// Returns its state when it was last looked at.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Returns `true` for a directory.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Returns the size of a file.
    pub(super) fn size(&self) -> Option<u64> {
        (self.kind == Kind::File).then(|| self.stamp.size())
    }
}

impl NameTable {
    /// Returns what has this path.
    pub(super) fn get(&self, path: &[u8]) -> Option<WatchedName> {
        let (above, name) = split(path);
        self.listings.get(above)?.get(name).copied()
    }

    /// Returns every path of a file with this inode.
    pub(super) fn paths_of(&self, inode: u64) -> Vec<Box<[u8]>> {
        let mut paths = Vec::new();
        for (above, listing) in &self.listings {
            let names = listing
                .iter()
                .filter(|(_, known)| known.stamp.inode() == inode);
            paths.extend(names.map(|(name, _)| join(above, name)));
        }
        paths
    }

    /// Returns every path, with its known state.
    #[cfg(test)]
    pub(super) fn names(&self) -> std::collections::BTreeMap<String, (u64, Kind)> {
        let mut names = std::collections::BTreeMap::new();
        for (above, listing) in &self.listings {
            for (name, known) in listing {
                let path = String::from_utf8_lossy(&join(above, name)).into_owned();
                names.insert(path, (known.size().unwrap_or(0), known.kind));
            }
        }
        names
    }

    /// Enters what has a path now.
    pub(super) fn add(&mut self, path: &[u8], stat: &Stat) {
        let known = WatchedName {
            kind: kind_of(stat),
            stamp: Stamp::of(stat),
        };
        let (above, name) = split(path);
        if !self.listings.contains_key(above) {
            self.listings.insert(above.into(), NameListing::new());
        }
        let listing = self.listings.get_mut(above);
        if let Some(before) = listing.and_then(|listing| listing.insert(name.into(), known)) {
            self.subtract(before);
        }
        self.totals.bytes += known.size().unwrap_or(0);
        self.totals.files += u64::from(known.kind == Kind::File);
        self.directories += u64::from(known.is_directory());
    }

    fn subtract(&mut self, known: WatchedName) {
        self.totals.bytes -= known.size().unwrap_or(0);
        self.totals.files -= u64::from(known.kind == Kind::File);
        self.directories -= u64::from(known.is_directory());
    }

    /// Removes a path, and everything below it.
    pub(super) fn forget(&mut self, gone: &[u8]) {
        let (above, name) = split(gone);
        let listing = self.listings.get_mut(above);
        let Some(known) = listing.and_then(|listing| listing.remove(name)) else {
            return;
        };
        let mut all = vec![known];
        if known.is_directory() {
            self.listings.retain(|path, listing| {
                let is_below = is_at_or_below(path, gone);
                if is_below {
                    all.extend(listing.values());
                }
                !is_below
            });
        }
        for known in all {
            self.subtract(known);
        }
    }
}

/// Splits a path into its directory and its name there.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// Joins a directory and a name.
pub(super) fn join(above: &[u8], name: &[u8]) -> Box<[u8]> {
    match above {
        b"" => name.into(),
        above => [above, b"/", name].concat().into(),
    }
}

/// Returns `true` if a path is another one, or lies below it.
pub(super) fn is_at_or_below(path: &[u8], above: &[u8]) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.first().is_none_or(|next| *next == b'/'))
}
