//! Owners of the files of groups, and changes of ownership.
//!
//! A [`OwnershipChange`] is written with the intent of a change, before anything happens. Ending the intent
//! carries it out in the same transaction; after a crash the repair looks at what is on disk and
//! does the same, or drops it. Only files have records; a path is in NFC, relative to the group's
//! root.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::database::{Executor, Statements};
use super::rows::{Entity as _, row};
use super::{Registry, Result};
use fileshed_types::settings::WriteMode;
use fileshed_types::zone::ZonePath;

row! {
    /// The owner of one file.
    #[derive(Serialize, Deserialize)]
    pub struct Record in "file_ownership" {
        /// Path below the group's root.
        path: String = "file_path",
        /// The user who made it, or to whom it was given.
        owner: String = "owner_id",
        /// The users who may write it.
        mode: WriteMode = "write_access",
    }
}

impl Record {
    /// Returns `true` if `user`, a member of the group, may change or remove the file.
    #[must_use]
    pub fn lets(&self, user: &str) -> bool {
        match self.mode {
            WriteMode::Group => true,
            WriteMode::Owner => self.owner == user,
            WriteMode::OwnerReadOnly => false,
        }
    }
}

/// Effect of a change on ownership, and the user who makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnershipChange {
    /// The user who makes the change, and who owns the files that it creates.
    pub owner: String,
    /// The mode of the files that it creates, as the registry names it.
    pub mode: String,
    /// `true` if the mode was asked for: then existing files of the owner that are written get it, too.
    #[serde(default)]
    pub asked: bool,
    /// The effect.
    #[serde(rename = "act")]
    pub effect: OwnershipEffect,
}

/// One change, as far as it concerns ownership.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnershipEffect {
    /// Files are written where they lie, if at all.
    Touch {
        /// Their paths.
        files: Vec<String>,
    },
    /// Something takes the place `at`, alone or of something: a file, or a directory with `files`.
    Arrive {
        /// The path that it gets.
        at: String,
        /// The paths below it, where it is a directory.
        files: Vec<String>,
        /// `true` if there was no file at the path.
        fresh: bool,
        /// Inode of the entry that arrives, which tells after a crash whether it arrived.
        inode: u64,
    },
    /// New files in directories that are there.
    Add {
        /// Their paths.
        files: Vec<String>,
    },
    /// Something goes, with everything below it.
    Remove {
        /// Its path.
        at: String,
    },
    /// Something gets another path, with everything below it.
    Move {
        /// Its path before.
        from: String,
        /// Its path after.
        to: String,
    },
    /// A command may do anything; what was in history before it.
    Command {
        /// The branch that was checked out.
        reference: Option<String>,
        /// The commit that it stood at.
        commit: Option<String>,
        /// Every reference by name, with the id of what it named.
        #[serde(default)]
        references: BTreeMap<String, String>,
        /// The records of files that it brings back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        former: Vec<Record>,
    },
    /// A command did this; paths are those of records.
    Found {
        /// Files that are new.
        added: Vec<String>,
        /// Files that were there and have other content.
        written: Vec<String>,
        /// Files that are gone.
        removed: Vec<String>,
        /// From where to where; the second is in none of the others.
        #[serde(default)]
        moved: Vec<(String, String)>,
        /// The records of files that it may have brought back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        former: Vec<Record>,
    },
}

/// The condition for the records of a path and of everything below it. '0' follows '/' in byte order, so
/// that what lies below is one range of the index, and no character is a wildcard.
const AROUND: &str = "group_id = ?1
     AND (file_path = ?2 OR (file_path > ?2 || '/' AND file_path < ?2 || '0'))";

fn around(statements: &impl Statements, group: &str, path: &str) -> Result<Vec<Record>> {
    let condition = format!("WHERE {AROUND} ORDER BY file_path");
    Record::all(statements, &condition, [group, path])
}

fn exact(statements: &impl Statements, group: &str, path: &str) -> Result<Option<Record>> {
    let condition = "WHERE group_id = ?1 AND file_path = ?2";
    Record::first(statements, condition, [group, path])
}

impl Registry {
    /// Returns the record of exactly this path.
    pub fn record(&self, group: &str, path: &str) -> Result<Option<Record>> {
        exact(self, group, path)
    }

    /// Returns the records of this path and of everything below it, in the order of their paths.
    pub fn records_around(&self, group: &str, path: &str) -> Result<Vec<Record>> {
        around(self, group, path)
    }

    /// Returns the records from one path to another, both included, in the order of their paths.
    pub fn records_between(&self, group: &str, first: &str, last: &str) -> Result<Vec<Record>> {
        let condition =
            "WHERE group_id = ?1 AND file_path >= ?2 AND file_path <= ?3 ORDER BY file_path";
        Record::all(self, condition, [group, first, last])
    }

    /// Returns every record of a group, in the order of their paths.
    pub fn records(&self, group: &str) -> Result<Vec<Record>> {
        Record::all(self, "WHERE group_id = ?1 ORDER BY file_path", [group])
    }

    /// Gives a file to somebody, or another mode.
    pub fn enter_record(&self, group: &str, record: &Record) -> Result<()> {
        give(self, group, record)
    }

    /// Drops the records of exactly these paths.
    pub fn forget_records(&self, group: &str, paths: &[String]) -> Result<()> {
        self.transact(&[group], |transaction| drop_all(transaction, group, paths))
    }

    /// Carries out the ownership change of a change that is no longer under way; returns the records that
    /// files lost with their paths.
    pub fn carry_out(&self, group: &str, change: &OwnershipChange) -> Result<Vec<Record>> {
        self.transact(&[group], |transaction| {
            carry_out(transaction, group, change)
        })
    }
}

impl OwnershipChange {
    /// Returns this change with paths as records have them. An intent has them as they are on disk, so
    /// that a repair finds what it names.
    fn by_key(&self) -> Self {
        let key = |path: &mut String| *path = ZonePath::found(std::mem::take(path)).key();
        let mut change = self.clone();
        match &mut change.effect {
            OwnershipEffect::Touch { files } | OwnershipEffect::Add { files } => {
                files.iter_mut().for_each(key);
            }
            OwnershipEffect::Arrive { at, files, .. } => {
                key(at);
                files.iter_mut().for_each(key);
            }
            OwnershipEffect::Remove { at } => key(at),
            OwnershipEffect::Move { from, to } => {
                key(from);
                key(to);
            }
            OwnershipEffect::Command { .. } | OwnershipEffect::Found { .. } => {}
        }
        change
    }

    /// As the registry keeps it.
    #[must_use]
    pub fn written(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Parses the text of [`OwnershipChange::written`]; `None` if a later version wrote it.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

fn give(statements: &impl Statements, group: &str, record: &Record) -> Result<()> {
    let replace = "ON CONFLICT (group_id, file_path) DO UPDATE
         SET owner_id = excluded.owner_id, write_access = excluded.write_access,
             updated_at = CURRENT_TIMESTAMP";
    let more: (&[&str], _) = (&["group_id"], group);
    record.insert(statements, more, replace).map(drop)
}

/// Does to the records what a change did to the files; returns those that files lost with their paths, or
/// for another mode.
pub(super) fn carry_out(
    transaction: &Executor<'_>,
    group: &str,
    change: &OwnershipChange,
) -> Result<Vec<Record>> {
    let mut lost = Vec::new();
    let change = &change.by_key();
    let remove = |paths: &[String]| drop_all(transaction, group, paths);
    let remove_around = |at: &str| {
        let remove = format!("DELETE FROM file_ownership WHERE {AROUND}");
        transaction.run(&remove, [group, at])
    };
    let mut remoded = Vec::new();
    let mut add = |files: &[String]| add_missing(transaction, group, change, files, &mut remoded);
    match &change.effect {
        OwnershipEffect::Touch { files } => add(files)?,
        OwnershipEffect::Arrive {
            at, files, fresh, ..
        } => {
            let kept = files.iter().filter(|_| !*fresh);
            let kept: HashSet<&String> = kept.collect();
            let mut gone = around(transaction, group, at)?;
            gone.retain(|record| !kept.contains(&record.path));
            let paths = gone.iter().map(|record| record.path.clone());
            remove(&paths.collect::<Vec<_>>())?;
            if !*fresh {
                lost = gone;
            }
            add(files)?;
        }
        OwnershipEffect::Add { files } => {
            remove(files)?;
            add(files)?;
        }
        OwnershipEffect::Remove { at } => {
            lost = around(transaction, group, at)?;
            remove_around(at)?;
        }
        OwnershipEffect::Move { from, to } => {
            for at in [from, to] {
                lost.extend(around(transaction, group, at)?);
            }
            remove_around(to)?;
            let follow = format!(
                "UPDATE file_ownership SET updated_at = CURRENT_TIMESTAMP,
                     file_path = ?3 || substr(file_path, length(?2) + 1) WHERE {AROUND}"
            );
            transaction.run(&follow, [group, from, to])?;
        }
        OwnershipEffect::Command { .. } => {}
        OwnershipEffect::Found {
            added,
            written,
            removed,
            moved,
            former,
        } => {
            let targets = moved.iter().map(|(_, to)| to);
            for path in removed.iter().chain(targets.clone()) {
                lost.extend(exact(transaction, group, path)?);
            }
            let mut carried = Vec::new();
            for (from, to) in moved {
                let record = exact(transaction, group, from)?;
                let path = to.clone();
                carried.extend(record.map(|record| Record { path, ..record }));
            }
            remove(removed)?;
            remove(added)?;
            for (_, to) in moved {
                remove(std::slice::from_ref(to))?;
            }
            for record in carried {
                record.insert(transaction, (&["group_id"], group), "")?;
            }
            add(added)?;
            add(written)?;
            let there: HashSet<&String> = added.iter().chain(written).chain(targets).collect();
            for record in former.iter().filter(|record| there.contains(&record.path)) {
                if written.contains(&record.path) {
                    let other = exact(transaction, group, &record.path)?;
                    lost.extend(other.filter(|other| other != record));
                }
                give(transaction, group, record)?;
            }
        }
    }
    lost.extend(remoded);
    Ok(lost)
}

fn drop_all(transaction: &Executor<'_>, group: &str, paths: &[String]) -> Result<()> {
    let drop = "DELETE FROM file_ownership WHERE group_id = ?1 AND file_path = ?2";
    let mut paths = paths.iter();
    paths.try_for_each(|path| transaction.run(drop, [group, path]))
}

fn add_missing(
    transaction: &Executor<'_>,
    group: &str,
    change: &OwnershipChange,
    files: &[String],
    remoded: &mut Vec<Record>,
) -> Result<()> {
    const ADD: &str = "INSERT INTO file_ownership (group_id, file_path, owner_id, write_access)
         VALUES (?1, ?2, ?3, ?4) ON CONFLICT (group_id, file_path) DO NOTHING";
    const GIVE_MODE: &str = "UPDATE file_ownership
         SET write_access = ?4, updated_at = CURRENT_TIMESTAMP
         WHERE group_id = ?1 AND file_path = ?2 AND owner_id = ?3";
    for path in files {
        let values = [group, path, &change.owner, &change.mode];
        transaction.run(ADD, values)?;
        if change.asked {
            let is_other = |record: &Record| {
                record.owner == change.owner && record.mode.as_str() != change.mode
            };
            remoded.extend(exact(transaction, group, path)?.filter(is_other));
            transaction.run(GIVE_MODE, values)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_each_database;

    fn ownership_change(owner: &str, effect: OwnershipEffect) -> OwnershipChange {
        OwnershipChange {
            owner: owner.to_owned(),
            mode: "owner".to_owned(),
            asked: false,
            effect,
        }
    }

    fn add(files: &[&str]) -> OwnershipEffect {
        OwnershipEffect::Add {
            files: files.iter().map(|&file| file.to_owned()).collect(),
        }
    }

    fn paths(registry: &Registry, group: &str) -> Vec<String> {
        let records = registry.records(group).expect("records");
        records.into_iter().map(|record| record.path).collect()
    }

    #[test]
    fn no_character_of_a_path_is_a_wildcard() {
        on_each_database(|registry| {
            let files = ["a_b/x", "aXb/x", "a%/x", "a_b", "a_b.txt", "a_b0/x"];
            registry
                .carry_out("g", &ownership_change("ada", add(&files)))
                .expect("added");
            registry
                .carry_out("h", &ownership_change("ada", add(&["a_b/x"])))
                .expect("added");
            let at = "a_b".to_owned();
            registry
                .carry_out(
                    "g",
                    &ownership_change("ada", OwnershipEffect::Remove { at }),
                )
                .expect("removed");
            assert_eq!(paths(registry, "g"), ["a%/x", "aXb/x", "a_b.txt", "a_b0/x"]);
            assert_eq!(paths(registry, "h"), ["a_b/x"]);
        });
    }

    #[test]
    fn records_follow_what_moves_and_stay_with_what_is_overwritten() {
        on_each_database(|registry| {
            let run = |owner: &str, effect| {
                registry
                    .carry_out("g", &ownership_change(owner, effect))
                    .expect("done");
            };
            run("ada", add(&["d/a", "d/b", "e/old"]));
            run("bob", add(&["stale/a"]));
            run(
                "bob",
                OwnershipEffect::Move {
                    from: "d".to_owned(),
                    to: "stale".to_owned(),
                },
            );
            assert_eq!(paths(registry, "g"), ["e/old", "stale/a", "stale/b"]);
            let around = registry.records_around("g", "stale").expect("records");
            assert!(around.iter().all(|record| record.owner == "ada"));
            // A directory in the place of another: what has the same path keeps its owner.
            registry
                .carry_out(
                    "g",
                    &ownership_change(
                        "bob",
                        OwnershipEffect::Arrive {
                            at: "stale".to_owned(),
                            files: vec!["stale/b".to_owned(), "stale/c".to_owned()],
                            fresh: false,
                            inode: 0,
                        },
                    ),
                )
                .expect("done");
            let owners: Vec<(String, String)> = registry
                .records_around("g", "stale")
                .expect("records")
                .into_iter()
                .map(|record| (record.path, record.owner))
                .collect();
            let pair = |path: &str, owner: &str| (path.to_owned(), owner.to_owned());
            assert_eq!(owners, [pair("stale/b", "ada"), pair("stale/c", "bob")]);
        });
    }

    #[test]
    fn records_go_where_a_command_took_their_files() {
        on_each_database(|registry| {
            let run = |owner: &str, effect| {
                registry
                    .carry_out("g", &ownership_change(owner, effect))
                    .expect("done");
            };
            run("ada", add(&["a", "backed", "gone"]));
            run("bob", add(&["b"]));
            let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
            run(
                "cyd",
                OwnershipEffect::Found {
                    added: vec!["new".to_owned()],
                    written: vec!["backed".to_owned()],
                    removed: vec!["gone".to_owned()],
                    // Two exchange their names, one has a backup, and one was nobody's.
                    moved: vec![
                        pair("a", "b"),
                        pair("b", "a"),
                        pair("backed", "backed~"),
                        pair("gone", "there"),
                        pair("nobody", "still"),
                    ],
                    former: Vec::new(),
                },
            );
            let owners: Vec<(String, String)> = registry
                .records("g")
                .expect("records")
                .into_iter()
                .map(|record| (record.path, record.owner))
                .collect();
            let expected = [
                pair("a", "bob"),
                pair("b", "ada"),
                pair("backed", "ada"),
                pair("backed~", "ada"),
                pair("new", "cyd"),
                pair("there", "ada"),
            ];
            assert_eq!(owners, expected);
            // The format of an earlier version.
            let old = r#"{"owner": "a", "mode": "group", "act": {"Found": {"added": [], "written": [], "removed": []}}}"#;
            assert!(OwnershipChange::read(old).is_some());
        });
    }

    #[test]
    fn records_that_go_come_back_with_their_files() {
        on_each_database(|registry| {
            let run = |owner: &str, effect| {
                let change = ownership_change(owner, effect);
                registry.carry_out("g", &change).expect("done")
            };
            run("ada", add(&["d/a", "d/b"]));
            run("bob", add(&["d/c", "left"]));
            let at = "d".to_owned();
            let former = run("bob", OwnershipEffect::Remove { at });
            let files = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect();
            let lost = run(
                "cyd",
                OwnershipEffect::Found {
                    added: files(&["d/a", "d/c", "d/new"]),
                    written: Vec::new(),
                    removed: files(&["left"]),
                    moved: Vec::new(),
                    // Of one, nothing came back.
                    former,
                },
            );
            assert_eq!(lost.len(), 1);
            assert_eq!((&*lost[0].path, &*lost[0].owner), ("left", "bob"));
            let owners: Vec<(String, String)> = registry
                .records("g")
                .expect("records")
                .into_iter()
                .map(|record| (record.path, record.owner))
                .collect();
            let pair = |path: &str, owner: &str| (path.to_owned(), owner.to_owned());
            let expected = [pair("d/a", "ada"), pair("d/c", "bob"), pair("d/new", "cyd")];
            assert_eq!(owners, expected);
        });
    }

    #[test]
    fn a_mode_that_is_asked_for_is_for_the_owner_s_files() {
        on_each_database(|registry| {
            let run = |owner: &str, effect| {
                registry
                    .carry_out("g", &ownership_change(owner, effect))
                    .expect("done");
            };
            run("ada", add(&["hers"]));
            run("bob", add(&["his"]));
            let files = ["hers", "his", "new"].map(str::to_owned).to_vec();
            let mut wish = ownership_change("bob", OwnershipEffect::Touch { files });
            wish.mode = "owner_ro".to_owned();
            wish.asked = true;
            registry.carry_out("g", &wish).expect("done");
            let modes: Vec<(String, &str)> = registry
                .records("g")
                .expect("records")
                .into_iter()
                .map(|record| (record.path, record.mode.as_str()))
                .collect();
            let pair = |path: &str, mode| (path.to_owned(), mode);
            let expected = [
                pair("hers", "owner"),
                pair("his", "owner_ro"),
                pair("new", "owner_ro"),
            ];
            assert_eq!(modes, expected);
        });
    }

    #[test]
    fn a_mode_says_who_may_write() {
        for (mode, owner, member) in [
            (WriteMode::Owner, true, false),
            (WriteMode::Group, true, true),
            (WriteMode::OwnerReadOnly, false, false),
        ] {
            let record = Record {
                path: "a".to_owned(),
                owner: "ada".to_owned(),
                mode,
            };
            assert_eq!((record.lets("ada"), record.lets("bob")), (owner, member));
        }
    }
}
