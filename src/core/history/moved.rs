//! Files that have another path than at the last commit.
//!
//! A rename keeps the inode, whatever else happens to the file, so the inodes of the last commit
//! are remembered before a command begins. An inode that was given back and taken anew is told by
//! its time of birth, or by its content. What git takes away here and brings back there has the
//! same content.

use std::collections::{HashMap, HashSet};

use git2::{IndexEntry, ObjectType, Oid};

use super::compare::Seen;
use super::content::zone_path;
use super::stat_cache::parts;
use super::{ChangeKind, History, Result, ZoneComparison};
use fileshed_types::zone::ZonePath;

/// A file at a path where it was not, and where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedFile {
    /// Its path at the last commit. Something else may be there now.
    pub from: ZonePath,
    /// Its path on disk. Where something was there before, that lives on under another old path.
    pub to: ZonePath,
}

/// Files of the last commit, by their inodes.
type InodeIndex = HashMap<u32, Vec<(String, IndexEntry)>>;

impl History {
    /// Remembers the inodes of a zone whose last commit has everything on disk.
    pub fn remember_inodes(&self) -> Result<()> {
        self.cache().remember()
    }

    /// Returns the files that moved since [`History::remember_inodes`], among those found to differ.
    #[must_use]
    pub fn moved(&self, found: &ZoneComparison) -> Vec<MovedFile> {
        let changed = found.seen.iter().filter_map(|seen| match seen.change()? {
            ChangeKind::Added => Some((seen, true)),
            ChangeKind::Modified => Some((seen, false)),
            ChangeKind::Deleted | ChangeKind::ModeChanged => None,
        });
        let changed: Vec<(&Seen, bool)> = changed.collect();
        if changed.is_empty() {
            return Vec::new();
        }
        let census = self.census(found);
        let former = changed
            .iter()
            .filter_map(|(seen, _)| Some((seen.path.as_str(), self.former(&census, seen)?)));
        let former: HashMap<&str, String> = former.collect();
        // The new places of old files, by their old paths.
        let places: HashMap<&str, &str> = former
            .iter()
            .map(|(to, from)| (from.as_str(), *to))
            .collect();
        let new = changed.iter().filter(|(_, is_new)| *is_new);
        let new: HashSet<&str> = new.map(|(seen, _)| seen.path.as_str()).collect();
        let mut moved: Vec<MovedFile> = Vec::new();
        for (to, from) in &former {
            // A file that is overwritten keeps its name; two that exchange their names do not.
            let is_exchanged = places.get(to).is_some_and(|place| !new.contains(place));
            if new.contains(to) || is_exchanged {
                moved.push(MovedFile {
                    from: zone_path(from),
                    to: zone_path(to),
                });
            }
        }
        let mut gone: HashMap<Oid, Vec<String>> = HashMap::new();
        for (path, (id, _)) in &found.deleted {
            let path = String::from_utf8_lossy(path).into_owned();
            if !places.contains_key(path.as_str()) {
                gone.entry(*id).or_default().push(path);
            }
        }
        if let Ok(nothing) = Oid::hash_object(ObjectType::Blob, b"") {
            gone.remove(&nothing);
        }
        for (seen, is_new) in &changed {
            if *is_new
                && !former.contains_key(seen.path.as_str())
                && let Some(candidates) = gone.get_mut(&seen.id)
                && let Some(from) = take_nearest(candidates, &seen.path)
            {
                moved.push(MovedFile {
                    from: zone_path(&from),
                    to: zone_path(&seen.path),
                });
            }
        }
        moved.sort_by(|a, b| a.to.cmp(&b.to));
        moved
    }

    /// Returns the remembered inodes whose content is still that of the last commit.
    fn census(&self, found: &ZoneComparison) -> InodeIndex {
        let mut head: HashMap<&[u8], Oid> = HashMap::new();
        for seen in &found.seen {
            if let Some((id, _)) = seen.head {
                head.insert(seen.path.as_bytes(), id);
            }
        }
        for (path, (id, _)) in &found.deleted {
            head.insert(path, *id);
        }
        let mut census = InodeIndex::new();
        // An entry without a stat has no inode.
        let entries = self.cache().remembered().into_iter();
        for entry in entries.filter(|entry| entry.ino != 0) {
            if head.get(entry.path.as_slice()) == Some(&entry.id)
                && let Ok(path) = String::from_utf8(entry.path.clone())
            {
                census.entry(entry.ino).or_default().push((path, entry));
            }
        }
        census
    }

    /// Returns the former path of the file that is at a path now, if it was another one.
    fn former(&self, census: &InodeIndex, seen: &Seen) -> Option<String> {
        let candidates = census.get(&(seen.stat.st_ino as u32))?;
        if candidates.iter().any(|(path, _)| *path == seen.path) {
            return None;
        }
        let (path, _) = candidates.iter().find(|(_, before)| {
            before.id == seen.id || {
                let entry = self.data.entry_as_named(&zone_path(&seen.path)).ok();
                let born = entry.and_then(|entry| entry.born());
                born.is_some_and(|(seconds, nanoseconds)| {
                    parts(before.ctime) >= (seconds as i32, nanoseconds)
                })
            }
        })?;
        Some(path.clone())
    }
}

/// The path that differs least: one with the same name, else the first.
fn take_nearest(candidates: &mut Vec<String>, path: &str) -> Option<String> {
    fn name(path: &str) -> Option<&str> {
        path.rsplit('/').next()
    }
    candidates.sort();
    let same = candidates
        .iter()
        .position(|candidate| name(candidate) == name(path));
    (!candidates.is_empty()).then(|| candidates.remove(same.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use jiff::Timestamp;
    use tempfile::TempDir;

    use super::*;
    use crate::Author;
    use fileshed_storage::Root;

    struct Place {
        base: TempDir,
        history: History,
    }

    impl Place {
        /// A zone with files that hold their own names, all in its history.
        fn with(files: &[&str]) -> Self {
            let base = TempDir::new().expect("a directory");
            let parent = Root::open_ambient(base.path()).expect("opens");
            let data = parent.subdirectory("data").expect("opens");
            let history = History::open(&parent, &data).expect("a history");
            let place = Self { base, history };
            for file in files {
                place.write(file, file);
            }
            let author = Author::server();
            place
                .history
                .capture("begin", &author, Timestamp::UNIX_EPOCH)
                .expect("captured");
            place.history.remember_inodes().expect("remembered");
            // A new file may get the inode of a removed one. Only the time of birth tells them apart, by the
            // kernel's clock, which moves in steps.
            crate::tests::pass_a_tick(place.base.path());
            place
        }

        fn at(&self, path: &str) -> PathBuf {
            self.base.path().join("data").join(path)
        }

        fn write(&self, path: &str, content: &str) {
            let at = self.at(path);
            fs::create_dir_all(at.parent().expect("a parent")).expect("made");
            fs::write(at, content).expect("written");
        }

        fn rename(&self, from: &str, to: &str) {
            let to = self.at(to);
            fs::create_dir_all(to.parent().expect("a parent")).expect("made");
            fs::rename(self.at(from), to).expect("renamed");
        }

        fn remove(&self, path: &str) {
            fs::remove_file(self.at(path)).expect("removed");
        }

        #[track_caller]
        fn expect(&self, expected: &[(&str, &str)]) {
            let found = self.history.find().expect("compared");
            let moved: Vec<(String, String)> = self
                .history
                .moved(&found)
                .into_iter()
                .map(|moved| (moved.from.to_string(), moved.to.to_string()))
                .collect();
            let pair = |&(from, to): &(&str, &str)| (from.to_owned(), to.to_owned());
            assert_eq!(moved, expected.iter().map(pair).collect::<Vec<_>>());
        }
    }

    #[test]
    fn files_and_directories_are_found_where_they_went() {
        let place = Place::with(&["a", "d/x", "d/e/y", "stays"]);
        place.expect(&[]);
        place.rename("a", "b");
        place.rename("d", "f/g");
        place.expect(&[("a", "b"), ("d/e/y", "f/g/e/y"), ("d/x", "f/g/x")]);
        // Written since.
        place.write("b", "another text");
        let known = place.history.data.entry(&zone_path("b")).expect("there");
        if known.born().is_some() {
            place.expect(&[("a", "b"), ("d/e/y", "f/g/e/y"), ("d/x", "f/g/x")]);
        }
    }

    #[test]
    fn who_overwrites_takes_no_name_and_who_exchanges_does() {
        let place = Place::with(&["a", "b", "c", "d", "saved"]);
        place.rename("a", "b");
        place.rename("c", "t");
        place.rename("d", "c");
        place.rename("t", "d");
        // As editors keep what was there.
        place.rename("saved", "saved~");
        place.write("saved", "a new text");
        place.expect(&[("d", "c"), ("c", "d"), ("saved", "saved~")]);
    }

    #[test]
    fn what_has_the_same_content_elsewhere_moved() {
        let place = Place::with(&["d/plan", "e/plan", "other"]);
        for path in ["d/plan", "e/plan", "other"] {
            place.remove(path);
        }
        place.write("kept", "kept");
        place.write("n/e/plan", "e/plan");
        place.write("n/name", "d/plan");
        place.write("empty", "");
        place.expect(&[("e/plan", "n/e/plan"), ("d/plan", "n/name")]);
    }

    #[test]
    fn what_is_new_came_from_nowhere() {
        let place = Place::with(&["a", "b"]);
        for round in 0..20 {
            let name = format!("new {round}");
            place.remove("a");
            // The file system may give the inode again.
            place.write(&name, "something else");
            place.expect(&[]);
            place.remove(&name);
            place.write("a", "a");
        }
        place.write("copy", "b");
        place.expect(&[]);
    }
}
