//! A caller of several servers: it uses one after the other, remembers the answers, and never repeats a
//! call whose outcome is unknown.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::fleet::{Addresses, GROUP, SERVERS, USER, member};
use super::history::{Histories, now};
use super::specifications::{EditCall, FileCall, Mode, NameCall, Outcome, OwnedCall, Who};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{IMPATIENCE, pause, wait_until};

use Outcome::{Done, Refused};

/// Microseconds that a caller rests after a call whose outcome is unknown. The check tries every order of
/// those, so a fast machine must not make more of them while a fault lasts.
const AFTER_UNKNOWN: u64 = 100_000;

/// The same after a call that reached no server.
const AFTER_UNSENT: u64 = 5000;

/// Names of a file that is renamed.
pub(crate) const NAMES: usize = 4;

/// Lines of a text that is written as a whole, so that a piece of it can be told from all.
const LINES: usize = 60;

/// First content of files that are only renamed or edited.
const BEGINNING: &str = "made\n";

/// Zone of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Storage,
    Documents,
    Group,
}

pub(crate) const PLACES: [Place; 3] = [Place::Storage, Place::Documents, Place::Group];

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Documents => "documents",
            Self::Group => "group",
        }
    }

    /// Returns the name of an object in a history.
    fn object(self, path: &str) -> String {
        format!("{}:{path}", self.name())
    }

    fn arguments(self, mut arguments: Value) -> Value {
        arguments["zone"] = self.name().into();
        if self == Self::Group {
            arguments["group"] = GROUP.into();
        }
        arguments
    }
}

/// Outcome of a call.
enum Reply {
    /// It never reached a server.
    Unsent,
    /// The call may or may not have happened.
    Unknown,
    Refused(String),
    Data(Value),
}

/// The content of a file is unknown, because no answer came.
struct Unanswered;

/// A caller of the objects below the directory of a round.
pub(crate) struct Caller<'t> {
    who: Who,
    round: &'t str,
    addresses: &'t Addresses,
    histories: &'t Histories,
    rng: Rng,
    next: usize,
    own: [Option<Wire>; SERVERS],
    shared: [Option<Wire>; SERVERS],
    written: u64,
    /// Saves without an answer: the file may be saved while the caller still holds the lock.
    saved_in_part: BTreeSet<String>,
}

impl<'t> Caller<'t> {
    pub(crate) fn new(
        who: Who,
        round: &'t str,
        (addresses, histories): (&'t Addresses, &'t Histories),
        rng: Rng,
    ) -> Self {
        Self {
            who,
            round,
            addresses,
            histories,
            rng,
            next: who,
            own: Default::default(),
            shared: Default::default(),
            written: 0,
            saved_in_part: BTreeSet::new(),
        }
    }

    /// Calls until it is stopped, and reports of each call whether it was answered.
    pub(crate) fn work(&mut self, stopped: &AtomicBool, called: impl Fn(bool)) {
        while !stopped.load(Ordering::Relaxed) {
            let place = PLACES[self.rng.below(3) as usize];
            let was_answered = match self.rng.below(6) {
                0 => self.register(place),
                1 => self.log(place),
                2 => self.count(place),
                3 => self.rename(place),
                4 => self.edit(place),
                _ => self.own(),
            };
            called(was_answered.is_some());
        }
    }

    /// Makes what has to be there in the beginning.
    pub(crate) fn prepare(&mut self) {
        for place in PLACES {
            let counter = self.path("counter.txt");
            assert!(self.write(place, &counter, "n=0;\n").is_some());
            for path in [self.name_of(0), self.path("edited.txt")] {
                let (begun, object) = (now(), place.object(&path));
                let call = json!({"path": path, "content": BEGINNING});
                let reply = self.call(place, "shed_create_file", call);
                assert!(matches!(reply, Reply::Data(_)), "{path}");
                let made = EditCall::Make(BEGINNING.to_owned());
                self.histories.edits.answered(&object, begun, made);
            }
        }
    }

    /// Reads all objects from one server.
    pub(crate) fn look(&mut self, server: usize) {
        self.hang_up();
        for place in PLACES {
            for name in ["register.txt", "log.txt", "counter.txt"] {
                let path = self.path(name);
                self.answered_by(server, |all| all.read(place, &path));
            }
            for name in 0..NAMES {
                self.answered_by(server, |all| all.look_for(place, name));
            }
            self.answered_by(server, |all| all.read_edited(place));
        }
        self.answered_by(server, Self::look_at_owner);
    }

    /// Reads what this server says. One that is short of processor for a moment is asked again.
    fn answered_by(&mut self, server: usize, mut read: impl FnMut(&mut Self) -> Option<()>) {
        wait_until("it answers", || {
            self.next = server;
            read(self).is_some()
        });
    }

    /// Ends its edits.
    pub(crate) fn end_edits(&mut self) {
        self.hang_up();
        for place in PLACES {
            self.end_edit(place, "shed_lockedit_cancel", EditCall::Cancel);
        }
    }

    /// Ends its connections: the servers may be others by now.
    fn hang_up(&mut self) {
        (self.own, self.shared) = Default::default();
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.round)
    }

    fn name_of(&self, number: usize) -> String {
        self.path(&format!("names/{number}.txt"))
    }

    /// A call to the next server.
    fn call(&mut self, place: Place, operation: &str, arguments: Value) -> Reply {
        let server = self.next % SERVERS;
        self.next += 1;
        let (wires, user) = match place {
            Place::Group => (&mut self.shared, member(self.who)),
            _ => (&mut self.own, USER.to_owned()),
        };
        let (address, chat) = (self.addresses.of(server), format!("chat{}", self.who));
        let open = || Wire::connect_for(&address, &user, &chat, IMPATIENCE).ok();
        let Some(mut wire) = wires[server].take().or_else(open) else {
            pause(AFTER_UNSENT);
            return Reply::Unsent;
        };
        let unknown = || {
            pause(AFTER_UNKNOWN);
            Reply::Unknown
        };
        let Ok((status, mut answer)) = wire.call(operation, &place.arguments(arguments)) else {
            return unknown();
        };
        wires[server] = Some(wire);
        match status {
            200 => Reply::Data(answer["data"].take()),
            429 | 500.. => unknown(),
            _ => Reply::Refused(answer["error"]["code"].as_str().unwrap().to_owned()),
        }
    }

    fn a_text(&mut self) -> String {
        self.written += 1;
        format!("{} of {}", self.written, self.who)
    }

    fn register(&mut self, place: Place) -> Option<()> {
        let path = self.path("register.txt");
        match self.rng.below(7) {
            0 => self.remove(place, &path),
            1..=3 => {
                let line = format!("{}\n", self.a_text());
                self.write(place, &path, &line.repeat(LINES))
            }
            _ => self.read(place, &path),
        }
    }

    fn write(&mut self, place: Place, path: &str, text: &str) -> Option<()> {
        let call = FileCall::Write(text.to_owned());
        let arguments = json!({"path": path, "content": text, "overwrite": true});
        self.change_file(place, path, ("shed_create_file", arguments), call)
    }

    /// A change that a sound server does not refuse.
    fn change_file(
        &mut self,
        place: Place,
        path: &str,
        (operation, arguments): (&str, Value),
        call: FileCall,
    ) -> Option<()> {
        let (begun, object) = (now(), place.object(path));
        let files = &self.histories.files;
        match self.call(place, operation, arguments) {
            Reply::Data(_) => {
                files.answered(&object, begun, call);
                Some(())
            }
            Reply::Unknown => {
                files.unanswered(&object, begun, call);
                None
            }
            Reply::Unsent => None,
            Reply::Refused(code) => {
                let call = match (call, code.as_str()) {
                    (FileCall::Remove(_), "FILE_NOT_FOUND") => FileCall::Remove(false),
                    (FileCall::Replace(from, to, _), "PATTERN_NOT_FOUND") => {
                        FileCall::Replace(from, to, false)
                    }
                    (call, _) => panic!("{object}: {call:?} is {code}"),
                };
                files.answered(&object, begun, call);
                Some(())
            }
        }
    }

    fn remove(&mut self, place: Place, path: &str) -> Option<()> {
        let delete = ("shed_delete", json!({"path": path}));
        self.change_file(place, path, delete, FileCall::Remove(true))
    }

    /// Returns the text of a file; `None` if it does not exist.
    fn text(&mut self, place: Place, path: &str) -> Result<Option<String>, Unanswered> {
        match self.call(place, "shed_read", json!({"path": path})) {
            Reply::Data(data) => {
                assert_eq!(data["truncated"], false, "{path}");
                let lines = data["content"].as_str().unwrap().lines();
                let text = lines.map(|line| line.split_once('→').unwrap().1.to_owned() + "\n");
                Ok(Some(text.collect()))
            }
            Reply::Refused(code) => {
                assert_eq!(code, "FILE_NOT_FOUND", "{path}");
                Ok(None)
            }
            Reply::Unsent | Reply::Unknown => Err(Unanswered),
        }
    }

    fn read(&mut self, place: Place, path: &str) -> Option<()> {
        let begun = now();
        let text = self.text(place, path).ok()?;
        let read = FileCall::Read(text);
        let files = &self.histories.files;
        files.answered(&place.object(path), begun, read);
        Some(())
    }

    fn log(&mut self, place: Place) -> Option<()> {
        let path = self.path("log.txt");
        if self.rng.below(3) == 0 {
            return self.read(place, &path);
        }
        let line = self.a_text();
        let arguments = json!({"path": path, "content": format!("{line}\n"), "position": "end"});
        let addition = ("shed_patch_text", arguments);
        self.change_file(place, &path, addition, FileCall::Append(line))
    }

    /// Adds one to the number that it reads.
    fn count(&mut self, place: Place) -> Option<()> {
        let path = self.path("counter.txt");
        let begun = now();
        let text = self.text(place, &path).ok()?;
        let object = place.object(&path);
        let read = FileCall::Read(text.clone());
        self.histories.files.answered(&object, begun, read);
        let text = text.unwrap();
        let number = text.trim().trim_start_matches("n=").trim_end_matches(';');
        let number: u64 = number.parse().unwrap();
        let (from, to) = (format!("n={number};"), format!("n={};", number + 1));
        let arguments = json!({"path": path, "find": from, "content": to});
        let edit = ("shed_patch_text", arguments);
        self.change_file(place, &path, edit, FileCall::Replace(from, to, true))
    }

    fn rename(&mut self, place: Place) -> Option<()> {
        let from = self.rng.below(NAMES as u64) as usize;
        if self.rng.below(4) == 0 {
            return self.look_for(place, from);
        }
        let to = (from + 1 + self.rng.below(NAMES as u64 - 1) as usize) % NAMES;
        let (begun, object) = (now(), place.object(&self.path("names")));
        let arguments = json!({"old_path": self.name_of(from), "new_path": self.name_of(to)});
        let reply = self.call(place, "shed_rename", arguments);
        let renamed = |outcome| NameCall::Rename(from, to, outcome);
        let names = &self.histories.names;
        match reply {
            Reply::Data(_) => names.answered(&object, begun, renamed(Done)),
            Reply::Refused(code) => {
                assert!(
                    ["FILE_NOT_FOUND", "FILE_EXISTS"].contains(&code.as_str()),
                    "{object}: {code}"
                );
                names.answered(&object, begun, renamed(Refused));
            }
            Reply::Unknown => {
                names.unanswered(&object, begun, renamed(Done));
                return None;
            }
            Reply::Unsent => return None,
        }
        Some(())
    }

    fn look_for(&mut self, place: Place, name: usize) -> Option<()> {
        let begun = now();
        let is_there = self.text(place, &self.name_of(name)).ok()?.is_some();
        let object = place.object(&self.path("names"));
        let look = NameCall::Look(name, is_there);
        self.histories.names.answered(&object, begun, look);
        Some(())
    }

    /// Opens the file, adds a line to the copy, and saves it or not.
    fn edit(&mut self, place: Place) -> Option<()> {
        if self.rng.below(4) == 0 {
            return self.read_edited(place);
        }
        let path = self.path("edited.txt");
        let (who, begun, object) = (self.who, now(), place.object(&path));
        let edits = &self.histories.edits;
        let copy = match self.call(place, "shed_lockedit_open", json!({"path": path})) {
            Reply::Data(data) => data["content"].as_str().unwrap().to_owned(),
            Reply::Refused(code) => {
                assert_eq!(code, "FILE_LOCKED", "{object}");
                edits.answered(&object, begun, EditCall::Open(who, None));
                return Some(());
            }
            // The content that the call would have seen depends on when it happened; a later call finds it.
            Reply::Unknown => {
                edits.unanswered(&object, begun, EditCall::OpenUnseen(who));
                return None;
            }
            Reply::Unsent => return None,
        };
        edits.answered(&object, begun, EditCall::Open(who, Some(copy.clone())));
        let (begun, text) = (now(), format!("{copy}{}\n", self.a_text()));
        let arguments = json!({"path": path, "content": text});
        let reply = self.call(place, "shed_lockedit_overwrite", arguments);
        let overwritten = |outcome| EditCall::Overwrite(who, text, outcome);
        match reply {
            Reply::Data(_) => edits.answered(&object, begun, overwritten(Done)),
            Reply::Refused(code) => {
                expect_no_edit(&object, &code);
                edits.answered(&object, begun, overwritten(Refused));
            }
            Reply::Unknown => {
                edits.unanswered(&object, begun, overwritten(Done));
                return None;
            }
            Reply::Unsent => return None,
        }
        if self.rng.below(5) == 0 {
            self.end_edit(place, "shed_lockedit_cancel", EditCall::Cancel)
        } else {
            self.end_edit(place, "shed_lockedit_save", EditCall::Save)
        }
    }

    fn end_edit(
        &mut self,
        place: Place,
        operation: &str,
        ended: fn(Who, Outcome) -> EditCall,
    ) -> Option<()> {
        let path = self.path("edited.txt");
        let (begun, object) = (now(), place.object(&path));
        let reply = self.call(place, operation, json!({"path": path}));
        let edits = &self.histories.edits;
        match reply {
            Reply::Data(_) => edits.answered(&object, begun, ended(self.who, Done)),
            // The file is not what was opened any more, and nothing happens.
            Reply::Refused(code)
                if code == "PRECONDITION_FAILED" && self.saved_in_part.contains(&object) => {}
            Reply::Refused(code) => {
                expect_no_edit(&object, &code);
                edits.answered(&object, begun, ended(self.who, Refused));
            }
            Reply::Unknown => {
                let ended = ended(self.who, Done);
                if let EditCall::Save(who, _) = ended {
                    self.saved_in_part.insert(object.clone());
                    edits.unanswered(&object, begun, EditCall::SaveInPart(who));
                }
                edits.unanswered(&object, begun, ended);
                return None;
            }
            Reply::Unsent => return None,
        }
        Some(())
    }

    fn read_edited(&mut self, place: Place) -> Option<()> {
        let path = self.path("edited.txt");
        let begun = now();
        let text = self.text(place, &path).ok()?.unwrap();
        let edits = &self.histories.edits;
        edits.answered(&place.object(&path), begun, EditCall::Read(text));
        Some(())
    }

    /// Writes a file of the group, says who may change it, or removes it.
    fn own(&mut self) -> Option<()> {
        let mode = [Mode::Group, Mode::Owner][self.rng.below(2) as usize];
        let path = self.path("owned.txt");
        let (begun, object) = (now(), Place::Group.object(&path));
        let name = mode.name();
        let (operation, arguments, call): (_, _, Box<dyn Fn(Outcome) -> OwnedCall>) =
            match self.rng.below(3) {
                0 => {
                    let file = json!({"path": path, "content": "owned\n", "mode": name});
                    let who = self.who;
                    let written = move |outcome| OwnedCall::Write(who, mode, outcome);
                    ("shed_create_file", file, Box::new(written))
                }
                1 => {
                    let set = json!({"path": path, "mode": name});
                    let who = self.who;
                    let set_mode = move |outcome| OwnedCall::SetMode(who, mode, outcome);
                    ("shed_group_set_mode", set, Box::new(set_mode))
                }
                _ => {
                    let who = self.who;
                    let removed = move |outcome| OwnedCall::Remove(who, outcome);
                    ("shed_delete", json!({"path": path}), Box::new(removed))
                }
            };
        let reply = self.call(Place::Group, operation, arguments);
        let owned = &self.histories.owned;
        match reply {
            Reply::Data(_) => owned.answered(&object, begun, call(Done)),
            Reply::Refused(code) => {
                let call = match code.as_str() {
                    "FILE_NOT_FOUND" => OwnedCall::FindNothing,
                    "PERMISSION_DENIED" | "NOT_FILE_OWNER" => call(Refused),
                    _ => panic!("{object}: {:?} is {code}", call(Done)),
                };
                owned.answered(&object, begun, call);
            }
            Reply::Unknown => {
                owned.unanswered(&object, begun, call(Done));
                return None;
            }
            Reply::Unsent => return None,
        }
        Some(())
    }

    fn look_at_owner(&mut self) -> Option<()> {
        let (begun, path) = (now(), self.path("owned.txt"));
        let server = self.next;
        let mut seen = None;
        for page in 0.. {
            self.next = server;
            let arguments = json!({"offset": page * 500});
            let reply = self.call(Place::Group, "shed_group_info", arguments);
            let Reply::Data(data) = reply else {
                return None;
            };
            let files = data["files"].as_array().unwrap();
            if let Some(file) = files.iter().find(|file| file["path"] == *path) {
                let owner = file["owner"].as_str().unwrap();
                let owner = owner.trim_start_matches("member").parse().unwrap();
                let modes = [Mode::Group, Mode::Owner];
                let mode = modes.into_iter().find(|mode| file["mode"] == mode.name());
                seen = Some((owner, mode.unwrap()));
            }
            if files.len() < 500 {
                break;
            }
        }
        let owned = &self.histories.owned;
        owned.answered(&Place::Group.object(&path), begun, OwnedCall::Look(seen));
        Some(())
    }
}

#[track_caller]
fn expect_no_edit(object: &str, code: &str) {
    let known = ["NOT_IN_EDIT_MODE", "NOT_LOCK_OWNER", "FILE_LOCKED"];
    assert!(known.contains(&code), "{object}: {code}");
}
