//! Random operations of three members against a model: files, owners and history agree after each.

use std::collections::BTreeMap;

use serde_json::json;

use crate::groups::team::{MEMBERS, app, assert_sound, call, files, owners, repository, run};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::{Answer, Client, variables};

/// Steps, unless `FILESHED_TEST_STEPS` says otherwise.
const STEPS: u64 = 120;

/// Content, owner, mode.
type Model = BTreeMap<String, (String, String, String)>;

const DIRECTORIES: [&str; 4] = ["", "d/", "d_/", "x/"];
const MODES: [&str; 3] = ["owner", "group", "owner_ro"];

struct World<'a> {
    clients: [Client<'a>; 3],
    model: Model,
    rng: Rng,
}

fn may(model: &Model, user: &str, path: &str) -> bool {
    let below = format!("{path}/");
    model
        .iter()
        .filter(|(other, _)| *other == path || other.starts_with(&below))
        .all(|(_, (_, owner, mode))| mode == "group" || (mode == "owner" && owner == user))
}

/// A free name gets content, owner and mode, one that is overwritten only the content. Whether it
/// had that before.
fn move_file(model: &mut Model, from: &str, to: &str) -> bool {
    let (text, owner, mode) = model.remove(from).unwrap();
    let same = model.get(to).is_some_and(|old| old.0 == text);
    let moved = (text.clone(), owner, mode);
    model.entry(to.to_owned()).or_insert(moved).0 = text;
    same
}

/// A mode that is asked for counts where the file is the caller's.
fn wish(model: &mut Model, path: &str, user: &str, mode: &str) {
    let (_, owner, had) = model.get_mut(path).unwrap();
    if owner == user {
        mode.clone_into(had);
    }
}

/// Makes the directory of a file.
fn make_above(client: &Client<'_>, path: &str) {
    let directory = path.rsplit_once('/').map_or(".", |(above, _)| above);
    run(client, "mkdir", &["-p", directory]).data();
}

fn move_directory(model: &mut Model, from: &str, to: &str) {
    let all = std::mem::take(model).into_iter();
    model.extend(all.map(|(path, file)| match path.strip_prefix(from) {
        Some(rest) => (format!("{to}{rest}"), file),
        None => (path, file),
    }));
}

impl World<'_> {
    fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.rng.below(of.len() as u64) as usize]
    }

    fn has(&self, directory: &str) -> bool {
        self.model.keys().any(|path| path.starts_with(directory))
    }

    fn name(&mut self) -> String {
        let directory = self.pick(&DIRECTORIES);
        format!("{directory}{}", self.pick(&["a", "b", "c%", "D"]))
    }

    /// Makes one call, and applies it to the model if it is allowed.
    fn step(&mut self, number: u64) -> String {
        let who = self.rng.below(3) as usize;
        let user = MEMBERS[who];
        let client = self.clients[who].clone();
        let (path, other) = (self.name(), self.name());
        let mode = self.pick(&MODES);
        let there = self.model.contains_key(&path);
        let mut after = self.model.clone();
        let content = format!("{number} by {user}\n");
        let write = |after: &mut Model, path: &str, mode: &str| {
            let new = (content.clone(), user.to_owned(), mode.to_owned());
            let entry = after.entry(path.to_owned()).or_insert(new);
            entry.0.clone_from(&content);
        };
        let kind = self.rng.below(12);
        let (allowed, answer): (bool, Answer) = match kind {
            0 | 1 => {
                write(&mut after, &path, mode);
                wish(&mut after, &path, user, mode);
                let arguments = json!({"path": path, "content": content, "mode": mode});
                let allowed = may(&self.model, user, &path);
                (allowed, call(&client, "shed_create_file", arguments))
            }
            2 if there => {
                after.remove(&path);
                let allowed = may(&self.model, user, &path);
                (allowed, call(&client, "shed_delete", json!({"path": path})))
            }
            3 if there && !self.model.contains_key(&other) => {
                let old = after.remove(&path).unwrap();
                after.insert(other.clone(), old);
                let arguments = json!({"old_path": path, "new_path": other});
                (
                    may(&self.model, user, &path),
                    call(&client, "shed_rename", arguments),
                )
            }
            4 if there && path != other => {
                let text = self.model[&path].0.clone();
                let new = (text.clone(), user.to_owned(), "group".to_owned());
                after.entry(other.clone()).or_insert(new).0 = text;
                make_above(&client, &other);
                let same = after == self.model;
                let allowed = same || may(&self.model, user, &other);
                (allowed, run(&client, "cp", &[&path, &other]))
            }
            5 if there => {
                after.remove(&path);
                (may(&self.model, user, &path), run(&client, "rm", &[&path]))
            }
            6 if there => {
                write(&mut after, &path, "group");
                let script = format!("1c\\{}", content.trim_end());
                (
                    may(&self.model, user, &path),
                    run(&client, "sed", &["-i", &script, &path]),
                )
            }
            7 if there => {
                mode.clone_into(&mut after.get_mut(&path).unwrap().2);
                let arguments = json!({"path": path, "mode": mode});
                let answer = call(&client, "shed_group_set_mode", arguments);
                let owns = self.model[&path].1 == user;
                if !owns {
                    answer.refused(403, "NOT_FILE_OWNER");
                    return String::new();
                }
                (true, answer)
            }
            8 if self.has("d/") => {
                after.retain(|path, _| !path.starts_with("d/"));
                (
                    may(&self.model, user, "d"),
                    call(&client, "shed_delete", json!({"path": "d"})),
                )
            }
            9 | 10 if there && path != other => {
                let same = move_file(&mut after, &path, &other);
                make_above(&client, &other);
                let allowed =
                    may(&self.model, user, &path) && (same || may(&self.model, user, &other));
                (allowed, run(&client, "mv", &["-fT", &path, &other]))
            }
            11 if self.has("d/") && !self.has("x/") => {
                move_directory(&mut after, "d/", "x/");
                let allowed = may(&self.model, user, "d");
                (allowed, run(&client, "mv", &["-T", "d", "x"]))
            }
            _ => return String::new(),
        };
        let what = format!(
            "step {number}, kind {kind}: {user} {path} {other} {mode}: {}",
            answer.text
        );
        if allowed {
            answer.data();
            self.model = after;
        } else {
            assert_eq!(answer.code(), "PERMISSION_DENIED", "{what}");
        }
        what
    }
}

#[test]
fn files_owners_and_history_agree_with_a_model() {
    let server = app();
    let mut world = World {
        clients: MEMBERS.map(|user| server.as_user(user)),
        model: Model::new(),
        rng: Rng::new(variables::seed()),
    };
    for number in 0..variables::steps(STEPS) {
        let what = world.step(number);
        let found: BTreeMap<String, String> = files(&server)
            .into_iter()
            .map(|(path, content)| (path, String::from_utf8(content).unwrap()))
            .collect();
        let contents: BTreeMap<String, String> = world
            .model
            .iter()
            .map(|(path, (content, ..))| (path.clone(), content.clone()))
            .collect();
        assert_eq!(found, contents, "{what}");
        let records: BTreeMap<String, (Option<String>, String)> = world
            .model
            .iter()
            .map(|(path, (_, owner, mode))| (path.clone(), (Some(owner.clone()), mode.clone())))
            .collect();
        assert_eq!(owners(&world.clients[0]), records, "{what}");
        if number % 10 == 0 && number > 0 && !found.is_empty() {
            let committed = repository(&server).tree("HEAD");
            assert_eq!(committed, files(&server), "{what}");
        }
    }
    assert_sound(&server);
}
