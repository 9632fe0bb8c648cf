//! One caller in one zone, who remembers what was acknowledged.
//!
//! A caller has one call under way at a time. When the server dies, the zone is either as before
//! this call or as after it; a command that was killed may have got half way, and only there, and
//! in documents the history has what was there before it.

use std::collections::BTreeSet;
use std::io::Error;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::archive;
use crate::overwrite::{Overwrite, Way};
use fileshed_test_support::Server;
use fileshed_test_support::moment::Moment;
use fileshed_test_support::on_disk::{Repository, Tree, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::wire::Wire;

/// Names that are in use at once, so that calls meet the same file often.
const NAMES: u64 = 8;

/// Largest content in bytes, before its checksum.
const LARGEST: u64 = 60_000;

/// One caller in one zone.
pub(crate) struct Worker {
    pub(crate) user: &'static str,
    pub(crate) zone: &'static str,
    rng: Rng,
    /// Expected files of the zone, as far as they were acknowledged.
    files: Tree,
    /// The call in progress, with its effect.
    pending: Option<Pending>,
    /// The file whose lock was acknowledged.
    locked: Option<String>,
    /// Content of the working copy, as far as it was acknowledged.
    copy: Vec<u8>,
    /// Content of the last write to the working copy.
    sent_copy: Option<Vec<u8>>,
    counter: u64,
    pub(crate) acknowledged: u64,
    /// Commands that died in the middle of a file.
    pub(crate) torn: u64,
}

/// A call without an answer.
struct Pending {
    after: Tree,
    /// The way in which a command writes.
    way: Way,
    /// The call opens or ends a locked edit.
    about_lock: bool,
}

/// Outcome of a call.
enum Outcome {
    Done,
    /// The server is gone.
    Gone,
}

impl Worker {
    pub(crate) fn new(user: &'static str, zone: &'static str, rng: Rng) -> Self {
        Self {
            user,
            zone,
            rng,
            files: Tree::new(),
            pending: None,
            locked: None,
            copy: Vec::new(),
            sent_copy: None,
            counter: 0,
            acknowledged: 0,
            torn: 0,
        }
    }

    /// Works until the server is gone.
    pub(crate) fn work(&mut self, address: &str, moment: &Moment) {
        let Ok(mut wire) = Wire::connect(address, self.user, "work") else {
            return;
        };
        loop {
            let before = self.acknowledged;
            let Outcome::Done = self.step(&mut wire) else {
                return;
            };
            if self.acknowledged > before {
                moment.answered();
            }
        }
    }

    /// Returns the directory of the zone on disk.
    pub(crate) fn directory(&self, home: &Path) -> PathBuf {
        let zone = if self.zone == "storage" {
            "Storage"
        } else {
            "Documents"
        };
        home.join(zone).join("data")
    }

    /// Compares the disk with what may be there, and goes on from what is.
    #[track_caller]
    pub(crate) fn settle(&mut self, server: &Server, home: &Path) {
        let who = format!("{} {}", self.user, self.zone);
        let found = tree(&self.directory(home));
        let pending = self.pending.take();
        let fits = found == self.files
            || pending.as_ref().is_some_and(|pending| {
                let Pending { after, way, .. } = pending;
                way.may_leave(&found, &self.files, after)
            });
        assert!(
            fits,
            "{who}: {}",
            difference(&found, &self.files, pending.as_ref())
        );
        let before = std::mem::replace(&mut self.files, found);
        let mut wire = Wire::open(server, self.user, "other");
        if let Some(path) = &self.locked
            && !pending.as_ref().is_some_and(|pending| pending.about_lock)
        {
            let call = json!({"zone": self.zone, "path": path, "content": "x"});
            let (status, answer) = wire.call("shed_patch_text", &call).unwrap();
            assert_eq!(
                (status, &answer["error"]["code"]),
                (423, &"FILE_LOCKED".into()),
                "{who}"
            );
            let mut holder = Wire::open(server, self.user, "work");
            let data = holder.data(
                "shed_lockedit_open",
                &json!({"zone": self.zone, "path": path}),
            );
            let copy = data["content"].as_str().unwrap().as_bytes().to_vec();
            let sent = self.sent_copy.take();
            let known = copy == self.copy || Some(&copy) == sent.as_ref();
            assert!(known, "{who}: the working copy of `{path}`");
            self.copy = copy;
        } else {
            // The lock may have been taken or released.
            for path in self.files.keys() {
                let call = json!({"zone": self.zone, "path": path});
                let (status, answer) = wire.call("shed_force_unlock", &call).unwrap();
                assert!(status == 200 || status == 409, "{who}: {answer}");
            }
            self.locked = None;
        }
        if let Some(pending) = pending {
            self.clear_up(&mut wire, &before, &pending, home);
        }
    }

    /// Takes away what a dead command left of its own.
    fn clear_up(&mut self, wire: &mut Wire, before: &Tree, pending: &Pending, home: &Path) {
        let paths: BTreeSet<String> = self.files.keys().chain(before.keys()).cloned().collect();
        for path in paths {
            let (found, old) = (self.files.get(&path), before.get(&path));
            if found == old || found == pending.after.get(&path) {
                continue;
            }
            self.torn += 1;
            if let Some(old) = old.filter(|_| self.zone == "documents") {
                let kept = Repository::of(home).bytes(&["show", &format!("HEAD^:{path}")]);
                assert!(kept == *old, "{}: the history of `{path}`", self.user);
            }
            if found.is_some() {
                wire.data("shed_delete", &json!({"zone": self.zone, "path": path}));
                self.files.remove(&path);
            }
        }
    }

    /// The files as they should be now.
    pub(crate) fn files(&self) -> &Tree {
        &self.files
    }

    fn name(&mut self) -> String {
        match self.rng.below(NAMES) {
            number if number % 3 == 0 => format!("below/{number}/file"),
            number => format!("file {number}"),
        }
    }

    fn content(&mut self) -> String {
        self.counter += 1;
        let length = self.rng.below(LARGEST) as usize;
        let line = format!("{} {} {}\n", self.user, self.zone, self.counter);
        with_checksum(&line.repeat(length / line.len() + 1))
    }

    fn step(&mut self, wire: &mut Wire) -> Outcome {
        let path = self.name();
        if self.locked.as_ref() == Some(&path) {
            return self.edit(wire, &path);
        }
        let choice = self.rng.below(20);
        let there = self.files.contains_key(&path);
        let zone = self.zone;
        match choice {
            0..=3 => {
                let content = self.content();
                let call = json!({"zone": zone, "path": path, "content": content});
                self.change(wire, "shed_create_file", &call, |files| {
                    files.insert(path, content.into_bytes());
                })
            }
            4 | 5 => {
                let content = self.content();
                let call =
                    json!({"zone": zone, "path": path, "content": content, "overwrite": true});
                self.change(wire, "shed_patch_text", &call, |files| {
                    files.insert(path, content.into_bytes());
                })
            }
            6 if there => {
                let call = json!({"zone": zone, "path": path});
                self.change(wire, "shed_delete", &call, |files| {
                    files.remove(&path);
                })
            }
            7 if there => {
                let to = self.name();
                if self.files.contains_key(&to) {
                    return Outcome::Done;
                }
                let call = json!({"zone": zone, "old_path": path, "new_path": to});
                self.change(wire, "shed_rename", &call, |files| {
                    let content = files.remove(&path).unwrap();
                    files.insert(to, content);
                })
            }
            8..=15 => self.overwrite(wire, &path),
            16 if there => {
                let call = json!({"zone": zone, "cmd": "cat", "args": [path],
                    "stdout_file": "printed"});
                self.change(wire, "shed_exec", &call, |files| {
                    files.insert("printed".to_owned(), files[&path].clone());
                })
            }
            17 if there && self.locked.is_none() => self.open(wire, path),
            18 | 19 => self.unpack(wire),
            _ => Outcome::Done,
        }
    }

    /// An archive comes, is unpacked into a directory that is there or not, and all of it goes.
    fn unpack(&mut self, wire: &mut Wire) -> Outcome {
        let zone = self.zone;
        if !self.files.contains_key("a.zip") {
            let content = archive::bytes();
            let call = json!({"zone": zone, "path": "a.zip", "content": STANDARD.encode(&content),
                "file_type": "bytes", "content_format": "base64"});
            return self.change(wire, "shed_create_file", &call, |files| {
                files.insert("a.zip".to_owned(), content);
            });
        }
        if self.files.keys().any(|path| path.starts_with("unpacked/d")) {
            let call = json!({"zone": zone, "path": "unpacked"});
            return self.change(wire, "shed_delete", &call, |files| {
                files.retain(|path, _| !path.starts_with("unpacked/"));
            });
        }
        let own = "unpacked/own".to_owned();
        if !self.files.contains_key(&own) && self.rng.below(2) == 0 {
            let content = self.content();
            let call = json!({"zone": zone, "path": own, "content": content});
            return self.change(wire, "shed_create_file", &call, |files| {
                files.insert(own, content.into_bytes());
            });
        }
        let call = json!({"zone": zone, "src": "a.zip", "dest": "unpacked"});
        self.change(wire, "shed_unzip", &call, |files| {
            let unpacked = archive::files();
            files.extend(unpacked.map(|(path, content)| (format!("unpacked/{path}"), content)));
        })
    }

    /// A command changes a file, perhaps over another.
    fn overwrite(&mut self, wire: &mut Wire, path: &str) -> Outcome {
        let locked = self.locked.as_deref();
        let command = match Overwrite::unpack(&self.files, path) {
            Some(unpack) => unpack,
            None if self.files.contains_key(path) => {
                Overwrite::draw(&mut self.rng, &self.files, path, locked)
            }
            None => return Outcome::Done,
        };
        let call = json!({"zone": self.zone, "cmd": command.cmd, "args": command.args});
        let pending = Pending {
            after: command.after,
            way: command.way,
            about_lock: false,
        };
        self.ask(wire, "shed_exec", &call, pending)
    }

    fn open(&mut self, wire: &mut Wire, path: String) -> Outcome {
        let call = json!({"zone": self.zone, "path": path});
        let pending = Pending {
            after: self.files.clone(),
            way: Way::AtOnce,
            about_lock: true,
        };
        let outcome = self.ask(wire, "shed_lockedit_open", &call, pending);
        if let Outcome::Done = outcome {
            self.copy = self.files[&path].clone();
            self.locked = Some(path);
        }
        outcome
    }

    /// Writes the working copy, or saves it.
    fn edit(&mut self, wire: &mut Wire, path: &str) -> Outcome {
        if self.rng.below(2) == 0 {
            let content = self.content();
            let call = json!({"zone": self.zone, "path": path, "content": content});
            let after = self.files.clone();
            self.sent_copy = Some(content.clone().into_bytes());
            let pending = Pending {
                after,
                way: Way::AtOnce,
                about_lock: false,
            };
            let outcome = self.ask(wire, "shed_lockedit_overwrite", &call, pending);
            if let Outcome::Done = outcome {
                self.copy = content.into_bytes();
            }
            return outcome;
        }
        let call = json!({"zone": self.zone, "path": path});
        let mut after = self.files.clone();
        after.insert(path.to_owned(), self.copy.clone());
        let pending = Pending {
            after,
            way: Way::AtOnce,
            about_lock: true,
        };
        let outcome = self.ask(wire, "shed_lockedit_save", &call, pending);
        if let Outcome::Done = outcome {
            self.locked = None;
        }
        outcome
    }

    fn change(
        &mut self,
        wire: &mut Wire,
        operation: &str,
        call: &Value,
        effect: impl FnOnce(&mut Tree),
    ) -> Outcome {
        let mut after = self.files.clone();
        effect(&mut after);
        let pending = Pending {
            after,
            way: Way::AtOnce,
            about_lock: false,
        };
        self.ask(wire, operation, call, pending)
    }

    /// Makes the call and takes note of what it answers.
    fn ask(&mut self, wire: &mut Wire, operation: &str, call: &Value, pending: Pending) -> Outcome {
        self.pending = Some(pending);
        let answer: Result<(u16, Value), Error> = wire.call(operation, call);
        let Ok((status, answer)) = answer else {
            return Outcome::Gone;
        };
        assert_eq!(
            status, 200,
            "{} {operation} {call:.300}: {answer}",
            self.user
        );
        if operation == "shed_exec" {
            assert_eq!(answer["data"]["returncode"], 0, "{call:.300}: {answer}");
        }
        if let Some(pending) = self.pending.take() {
            self.files = pending.after;
        }
        self.acknowledged += 1;
        Outcome::Done
    }
}

/// Content that tells whether it is whole.
pub(crate) fn with_checksum(text: &str) -> String {
    format!("{text}{}", checksum(text.as_bytes()))
}

/// Returns the checksum at the end of such content.
pub(crate) fn checksum(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// Describes the first file that is neither as before nor as after the call.
fn difference(found: &Tree, before: &Tree, pending: Option<&Pending>) -> String {
    let first = |content: Option<&Vec<u8>>| match content {
        None => "nothing".to_owned(),
        Some(content) => {
            let line = content
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            format!(
                "{} ({} bytes)",
                String::from_utf8_lossy(line),
                content.len()
            )
        }
    };
    let mut text = String::from("the disk is not what was acknowledged:");
    let after = pending.map_or(before, |pending| &pending.after);
    for path in found.keys().chain(before.keys()).chain(after.keys()) {
        let (a, b, c) = (found.get(path), before.get(path), after.get(path));
        if a != b || a != c {
            let (a, b, c) = (first(a), first(b), first(c));
            text = format!("{text}\n`{path}` is {a}, was {b}, was to be {c}");
        }
    }
    text
}
