//! Looking for a name in a whole tree, within bounds: a few thousand entries, nearest first.

use std::collections::VecDeque;
use std::rc::Rc;

use super::directory::names_of;
use super::walk::Below;
use super::{Kind, Root};
use fileshed_types::zone::{PATH_MAX_BYTES, ZonePath, is_git_name};

/// Most entries that are found.
const FOUND_MAX: usize = 20;

impl Root {
    /// Files and directories whose name is wanted, those that lie less deep first. At most `left`
    /// entries are looked at, which it takes from there; what cannot be looked at is left out.
    pub fn search(
        &self,
        left: &mut usize,
        mut is_wanted: impl FnMut(&str) -> bool,
    ) -> Vec<ZonePath> {
        let mut found = Vec::new();
        let mut pending = VecDeque::from([Below::at(b"")]);
        while let Some(below) = pending.pop_front() {
            let Ok(directory) = self.open_below(&below).map(Rc::new) else {
                continue;
            };
            for name in names_of(&directory).unwrap_or_default() {
                if is_git_name(&name.text) {
                    continue;
                }
                if *left == 0 || found.len() == FOUND_MAX {
                    return found;
                }
                *left -= 1;
                if !matches!(name.kind, Kind::File | Kind::Directory) {
                    continue;
                }
                let inside = below.child(&directory, name.text.as_bytes());
                if inside.path.len() > PATH_MAX_BYTES {
                    continue;
                }
                if is_wanted(&name.text)
                    && let Ok(path) = String::from_utf8(inside.path.clone())
                {
                    found.push(ZonePath::found(path));
                }
                if name.kind == Kind::Directory {
                    pending.push_back(inside);
                }
            }
        }
        found
    }
}
