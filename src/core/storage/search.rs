//! Looking for a name in a whole tree, within bounds: a few thousand entries, nearest first.

use std::collections::VecDeque;
use std::rc::Rc;

use rustix::fs::{AtFlags, Dir, FileType};

use super::kind::kind_of;
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
        let mut pending = VecDeque::from([Below::of(&ZonePath::root())]);
        while let Some(below) = pending.pop_front() {
            let Ok(directory) = self.open_below(&below).map(Rc::new) else {
                continue;
            };
            let Ok(entries) = Dir::read_from(&*directory) else {
                continue;
            };
            for entry in entries.map_while(Result::ok) {
                let Ok(name) = entry.file_name().to_str() else {
                    continue;
                };
                if matches!(name, "." | "..") || is_git_name(name) {
                    continue;
                }
                if *left == 0 || found.len() == FOUND_MAX {
                    return found;
                }
                *left -= 1;
                let kind = match entry.file_type() {
                    FileType::RegularFile => Kind::File,
                    FileType::Directory => Kind::Directory,
                    FileType::Unknown => {
                        let flags = AtFlags::SYMLINK_NOFOLLOW;
                        let stat = rustix::fs::statat(&*directory, entry.file_name(), flags);
                        stat.map_or(Kind::Special, |stat| kind_of(&stat))
                    }
                    _ => Kind::Special,
                };
                if !matches!(kind, Kind::File | Kind::Directory) {
                    continue;
                }
                let inside = below.child(&directory, name.as_bytes());
                if inside.path.len() > PATH_MAX_BYTES {
                    continue;
                }
                if is_wanted(name)
                    && let Ok(path) = String::from_utf8(inside.path.clone())
                {
                    found.push(ZonePath::found(path));
                }
                if kind == Kind::Directory {
                    pending.push_back(inside);
                }
            }
        }
        found
    }
}
