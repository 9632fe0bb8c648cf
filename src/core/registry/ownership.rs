//! Who owns which file of a group, and what a change does to that.
//!
//! A [`OwnershipChange`] is written with the intent of a change, before anything happens. Ending the intent
//! carries it out in the same transaction; after a crash the repair looks at what is on disk and
//! does the same, or drops it. Only files have records; a path is in NFC, relative to the group's
//! root.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::database::{DatabaseError, Row, Statements, Transaction};
use super::{Registry, RegistryError};
use fileshed_types::settings::WriteMode;
use fileshed_types::zone::ZonePath;

/// The owner of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Path below the group's root.
    pub path: String,
    /// The user who made it, or to whom it was given.
    pub owner: String,
    /// Who may write it.
    pub mode: WriteMode,
}

impl Record {
    /// Whether `user`, a member of the group, may change or remove the file.
    #[must_use]
    pub fn lets(&self, user: &str) -> bool {
        match self.mode {
            WriteMode::Group => true,
            WriteMode::Owner => self.owner == user,
            WriteMode::OwnerReadOnly => false,
        }
    }
}

/// The records of all groups.
pub trait Ownership {
    /// The record of exactly this path.
    fn record(&self, group: &str, path: &str) -> Result<Option<Record>, RegistryError>;

    /// The records of this path and of everything below it, in the order of their paths.
    fn records_around(&self, group: &str, path: &str) -> Result<Vec<Record>, RegistryError>;

    /// The records from one path to another, both included, in the order of their paths.
    fn records_between(
        &self,
        group: &str,
        first: &str,
        last: &str,
    ) -> Result<Vec<Record>, RegistryError>;

    /// Every record of a group, in the order of their paths.
    fn records(&self, group: &str) -> Result<Vec<Record>, RegistryError>;

    /// Gives a file to somebody, or another mode.
    fn enter(&self, group: &str, record: &Record) -> Result<(), RegistryError>;

    /// Drops the records of exactly these paths.
    fn forget(&self, group: &str, paths: &[String]) -> Result<(), RegistryError>;

    /// Carries out the ownership change of a change that is no longer under way.
    fn execute(&self, group: &str, ownership_change: &OwnershipChange)
    -> Result<(), RegistryError>;
}

/// What a change does to ownership, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnershipChange {
    /// Who makes the change: the owner of what comes into being.
    pub owner: String,
    /// The mode of what comes into being, as the registry names it.
    pub mode: String,
    /// Whether the mode was asked for: files of the owner that are written get it, too.
    #[serde(default)]
    pub asked: bool,
    /// What happens.
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
        /// Whether nothing was there.
        fresh: bool,
        /// What arrives: after a crash it is there, or something else is.
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
    },
}

const COLUMNS: &str = "file_path, owner_id, write_access";

/// A record with a mode that this program does not know protects as the strictest one.
fn read(row: &Row<'_>) -> Result<Record, DatabaseError> {
    let mode: String = row.get(2)?;
    Ok(Record {
        path: row.get(0)?,
        owner: row.get(1)?,
        mode: WriteMode::parse(&mode).unwrap_or(WriteMode::OwnerReadOnly),
    })
}

/// Whether `path` is `top` or lies below it.
fn is_around(path: &str, top: &str) -> bool {
    path.strip_prefix(top)
        .is_some_and(|rest| top.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

/// Records in a range of paths. '0' follows '/' in byte order, so what lies below a directory is
/// one range, and no character is a wildcard.
fn range(
    statements: &impl Statements,
    group: &str,
    first: &str,
    last: &str,
) -> Result<Vec<Record>, DatabaseError> {
    let select = format!(
        "SELECT {COLUMNS} FROM file_ownership
         WHERE group_id = ?1 AND file_path >= ?2 AND file_path <= ?3 ORDER BY file_path"
    );
    statements.all(&select, (group, first, last), read)
}

fn around(
    statements: &impl Statements,
    group: &str,
    path: &str,
) -> Result<Vec<Record>, DatabaseError> {
    let mut found = exact(statements, group, path)?
        .into_iter()
        .collect::<Vec<_>>();
    found.extend(range(
        statements,
        group,
        &format!("{path}/"),
        &format!("{path}0"),
    )?);
    found.retain(|record| is_around(&record.path, path));
    Ok(found)
}

fn exact(
    statements: &impl Statements,
    group: &str,
    path: &str,
) -> Result<Option<Record>, DatabaseError> {
    statements.first(
        &format!("SELECT {COLUMNS} FROM file_ownership WHERE group_id = ?1 AND file_path = ?2"),
        (group, path),
        read,
    )
}

impl Registry {
    /// The names of the files of one directory that `user` may not change; the root is `""`. What
    /// lies in directories below is left out.
    pub fn denied_names(
        &self,
        group: &str,
        directory: &str,
        user: &str,
    ) -> Result<HashSet<String>, RegistryError> {
        let (first, last) = match directory {
            "" => (String::new(), "\u{10ffff}".to_owned()),
            directory => (format!("{directory}/"), format!("{directory}0")),
        };
        let select = format!(
            "SELECT {COLUMNS} FROM file_ownership
             WHERE group_id = ?1 AND file_path >= ?2 AND file_path < ?3
                   AND write_access <> 'group' AND substr(file_path, ?4) NOT LIKE '%/%'"
        );
        let start = first.chars().count() as i64 + 1;
        let records: Vec<Record> =
            self.connection()?
                .all(&select, (group, &first, &last, start), read)?;
        let closed = records.iter().filter(|record| !record.lets(user));
        let names = closed.filter_map(|record| record.path.strip_prefix(&first));
        Ok(names.map(str::to_owned).collect())
    }
}

impl Ownership for Registry {
    fn record(&self, group: &str, path: &str) -> Result<Option<Record>, RegistryError> {
        Ok(exact(&self.connection()?, group, path)?)
    }

    fn records_around(&self, group: &str, path: &str) -> Result<Vec<Record>, RegistryError> {
        Ok(around(&self.connection()?, group, path)?)
    }

    fn records_between(
        &self,
        group: &str,
        first: &str,
        last: &str,
    ) -> Result<Vec<Record>, RegistryError> {
        Ok(range(&self.connection()?, group, first, last)?)
    }

    fn records(&self, group: &str) -> Result<Vec<Record>, RegistryError> {
        Ok(self.connection()?.all(
            &format!("SELECT {COLUMNS} FROM file_ownership WHERE group_id = ?1 ORDER BY file_path"),
            [group],
            read,
        )?)
    }

    fn enter(&self, group: &str, record: &Record) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "INSERT INTO file_ownership (group_id, file_path, owner_id, write_access)
                 VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (group_id, file_path) DO UPDATE
                 SET owner_id = excluded.owner_id, write_access = excluded.write_access,
                     updated_at = CURRENT_TIMESTAMP",
            (group, &record.path, &record.owner, record.mode.as_str()),
        )?;
        Ok(())
    }

    fn forget(&self, group: &str, paths: &[String]) -> Result<(), RegistryError> {
        self.transact(&[group], |transaction| {
            let removed = paths.iter().map(String::as_str);
            drop_all(transaction, group, removed)?;
            Ok(())
        })
    }

    fn execute(
        &self,
        group: &str,
        ownership_change: &OwnershipChange,
    ) -> Result<(), RegistryError> {
        self.transact(&[group], |transaction| {
            carry_out(transaction, group, ownership_change)?;
            Ok(())
        })
    }
}

impl OwnershipChange {
    /// This change with paths as records have them. An intent has them as they are on disk, so that a
    /// repair finds what it names.
    fn by_key(&self) -> Self {
        let key = |path: &String| ZonePath::found(path.clone()).key();
        let keys = |paths: &[String]| paths.iter().map(key).collect();
        let effect = match &self.effect {
            OwnershipEffect::Touch { files } => OwnershipEffect::Touch { files: keys(files) },
            OwnershipEffect::Arrive {
                at,
                files,
                fresh,
                inode,
            } => OwnershipEffect::Arrive {
                at: key(at),
                files: keys(files),
                fresh: *fresh,
                inode: *inode,
            },
            OwnershipEffect::Add { files } => OwnershipEffect::Add { files: keys(files) },
            OwnershipEffect::Remove { at } => OwnershipEffect::Remove { at: key(at) },
            OwnershipEffect::Move { from, to } => OwnershipEffect::Move {
                from: key(from),
                to: key(to),
            },
            effect @ (OwnershipEffect::Command { .. } | OwnershipEffect::Found { .. }) => {
                effect.clone()
            }
        };
        Self {
            owner: self.owner.clone(),
            mode: self.mode.clone(),
            asked: self.asked,
            effect,
        }
    }

    /// As the registry keeps it.
    #[must_use]
    pub fn written(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// What [`OwnershipChange::written`] wrote; nothing for what a later version wrote.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Does to the records what a change did to the files.
pub(super) fn carry_out(
    transaction: &Transaction<'_>,
    group: &str,
    ownership_change: &OwnershipChange,
) -> Result<(), DatabaseError> {
    let ownership_change = &ownership_change.by_key();
    let remove = |paths: &[String]| drop_all(transaction, group, paths.iter().map(String::as_str));
    let add = |files: &[String]| add_missing(transaction, group, ownership_change, files);
    match &ownership_change.effect {
        OwnershipEffect::Touch { files } => add(files),
        OwnershipEffect::Arrive {
            at, files, fresh, ..
        } => {
            let stay: HashSet<&str> = if *fresh {
                HashSet::new()
            } else {
                files.iter().map(String::as_str).collect()
            };
            let old = around(transaction, group, at)?;
            let gone = old.iter().map(|record| record.path.as_str());
            drop_all(transaction, group, gone.filter(|path| !stay.contains(path)))?;
            add(files)
        }
        OwnershipEffect::Add { files } => {
            remove(files)?;
            add(files)
        }
        OwnershipEffect::Remove { at } => {
            let old = around(transaction, group, at)?;
            drop_all(transaction, group, old.iter().map(|record| &*record.path))
        }
        OwnershipEffect::Move { from, to } => {
            let stale = around(transaction, group, to)?;
            drop_all(transaction, group, stale.iter().map(|record| &*record.path))?;
            for record in around(transaction, group, from)? {
                let moved = format!("{to}{}", &record.path[from.len()..]);
                transaction.execute(
                    "UPDATE file_ownership SET file_path = ?3, updated_at = CURRENT_TIMESTAMP
                     WHERE group_id = ?1 AND file_path = ?2",
                    (group, &record.path, moved),
                )?;
            }
            Ok(())
        }
        OwnershipEffect::Command { .. } => Ok(()),
        OwnershipEffect::Found {
            added,
            written,
            removed,
            moved,
        } => {
            let mut carried = Vec::new();
            for (from, to) in moved {
                carried.push((to, exact(transaction, group, from)?));
            }
            remove(removed)?;
            remove(added)?;
            let places = moved.iter().map(|(_, to)| to.as_str());
            drop_all(transaction, group, places)?;
            for (to, record) in carried {
                if let Some(record) = record {
                    give(transaction, group, to, &record)?;
                }
            }
            add(added)?;
            add(written)
        }
    }
}

fn drop_all<'p>(
    transaction: &Transaction<'_>,
    group: &str,
    paths: impl Iterator<Item = &'p str>,
) -> Result<(), DatabaseError> {
    for path in paths {
        transaction.execute(
            "DELETE FROM file_ownership WHERE group_id = ?1 AND file_path = ?2",
            (group, path),
        )?;
    }
    Ok(())
}

/// Gives the file at `path` the owner and mode of a record.
fn give(
    transaction: &Transaction<'_>,
    group: &str,
    path: &str,
    record: &Record,
) -> Result<(), DatabaseError> {
    transaction.execute(
        "INSERT INTO file_ownership (group_id, file_path, owner_id, write_access)
             VALUES (?1, ?2, ?3, ?4)",
        (group, path, &record.owner, record.mode.as_str()),
    )?;
    Ok(())
}

fn add_missing(
    transaction: &Transaction<'_>,
    group: &str,
    ownership_change: &OwnershipChange,
    files: &[String],
) -> Result<(), DatabaseError> {
    const ADD: &str = "INSERT INTO file_ownership (group_id, file_path, owner_id, write_access)
         VALUES (?1, ?2, ?3, ?4) ON CONFLICT (group_id, file_path) DO NOTHING";
    const GIVE_MODE: &str = "UPDATE file_ownership
         SET write_access = ?4, updated_at = CURRENT_TIMESTAMP
         WHERE group_id = ?1 AND file_path = ?2 AND owner_id = ?3";
    let (owner, mode) = (&ownership_change.owner, &ownership_change.mode);
    for path in files {
        transaction.execute(ADD, (group, path, owner, mode))?;
        if ownership_change.asked {
            transaction.execute(GIVE_MODE, (group, path, owner, mode))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::on_each_database;

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
                .execute("g", &ownership_change("ada", add(&files)))
                .expect("added");
            registry
                .execute("h", &ownership_change("ada", add(&["a_b/x"])))
                .expect("added");
            let at = "a_b".to_owned();
            registry
                .execute(
                    "g",
                    &ownership_change("ada", OwnershipEffect::Remove { at }),
                )
                .expect("removed");
            assert_eq!(paths(registry, "g"), ["a%/x", "aXb/x", "a_b.txt", "a_b0/x"]);
            assert_eq!(paths(registry, "h"), ["a_b/x"]);
        });
    }

    #[test]
    fn the_files_of_a_directory_that_somebody_may_not_change() {
        on_each_database(|registry| {
            let closed = ownership_change("ada", add(&["top.md", "a/b.md", "a/c/d.md", "a0.md"]));
            registry.execute("g", &closed).expect("added");
            let mut open = ownership_change("ada", add(&["a/open.md"]));
            open.mode = "group".to_owned();
            registry.execute("g", &open).expect("added");
            let denied = |directory: &str, user: &str| {
                let names = registry.denied_names("g", directory, user).expect("names");
                let mut names: Vec<String> = names.into_iter().collect();
                names.sort();
                names
            };
            assert_eq!(denied("", "bob"), ["a0.md", "top.md"]);
            assert_eq!(denied("a", "bob"), ["b.md"]);
            assert_eq!(denied("a", "ada"), Vec::<String>::new());
        });
    }

    #[test]
    fn records_follow_what_moves_and_stay_with_what_is_overwritten() {
        on_each_database(|registry| {
            let run = |owner: &str, effect| {
                registry
                    .execute("g", &ownership_change(owner, effect))
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
                .execute(
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
                    .execute("g", &ownership_change(owner, effect))
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
            // What a version before wrote.
            let old = r#"{"owner": "a", "mode": "group", "act": {"Found": {"added": [], "written": [], "removed": []}}}"#;
            assert!(OwnershipChange::read(old).is_some());
        });
    }

    #[test]
    fn a_mode_that_is_asked_for_is_for_the_owner_s_files() {
        on_each_database(|registry| {
            let run = |owner: &str, effect| {
                registry
                    .execute("g", &ownership_change(owner, effect))
                    .expect("done");
            };
            run("ada", add(&["hers"]));
            run("bob", add(&["his"]));
            let files = ["hers", "his", "new"].map(str::to_owned).to_vec();
            let mut wish = ownership_change("bob", OwnershipEffect::Touch { files });
            wish.mode = "owner_ro".to_owned();
            wish.asked = true;
            registry.execute("g", &wish).expect("done");
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
