//! Permissions in a group: every call that changes a file, for its owner, another member and a stranger, in
//! every mode.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::groups::team::{self, assert_sound, done, file, owners, repository, run};
use fileshed_test_support::on_disk::{Repository, Tree, tree};
use fileshed_test_support::{Answer, Client, TestApp, skip, within};

/// A way to change the file `{d}/f.txt`, which holds two lines. Beside it is `{d}/mine.txt`, which
/// everybody may change; `{n}` is a free name.
enum Way {
    /// An operation with arguments.
    Call(&'static str, &'static str),
    /// A command.
    Command(&'static str, &'static [&'static str]),
    /// A file sent to an address, which stands for itself or for a form with it.
    Send(&'static str, &'static str),
}

use Way::{Call, Command, Send};

const WAYS: &[Way] = &[
    Call(
        "shed_create_file",
        r#"{"path": "{d}/f.txt", "content": "other\n", "mode": "group"}"#,
    ),
    Call(
        "shed_patch_text",
        r#"{"path": "{d}/f.txt", "content": "more\n"}"#,
    ),
    Call(
        "shed_patch_text",
        r#"{"path": "{d}/f.txt", "content": "x", "overwrite": true}"#,
    ),
    Call(
        "shed_patch_text",
        r#"{"path": "{d}/f.txt", "content": "x", "pattern": "one", "position": "replace"}"#,
    ),
    Call(
        "shed_patch_bytes",
        r#"{"path": "{d}/f.txt", "content": "00"}"#,
    ),
    Call(
        "shed_patch_bytes",
        r#"{"path": "{d}/f.txt", "content": "00", "overwrite": true}"#,
    ),
    Call(
        "shed_convert_eol",
        r#"{"path": "{d}/f.txt", "to": "windows"}"#,
    ),
    Call("shed_delete", r#"{"path": "{d}/f.txt"}"#),
    Call("shed_delete", r#"{"path": "{d}"}"#),
    Call(
        "shed_rename",
        r#"{"old_path": "{d}/f.txt", "new_path": "{n}"}"#,
    ),
    Call("shed_rename", r#"{"old_path": "{d}", "new_path": "{n}"}"#),
    Call("shed_lockedit_open", r#"{"path": "{d}/f.txt"}"#),
    Call(
        "shed_exec",
        r#"{"cmd": "echo", "args": ["x"], "stdout_file": "{d}/f.txt"}"#,
    ),
    Call(
        "shed_exec",
        r#"{"cmd": "ls", "args": ["missing"], "stderr_file": "{d}/f.txt"}"#,
    ),
    Call(
        "shed_copy_to_group",
        r#"{"src_zone": "storage", "src_path": "new.txt", "dest_path": "{d}/f.txt", "overwrite": true, "mode": "group"}"#,
    ),
    Call(
        "shed_copy_to_group",
        r#"{"src_zone": "storage", "src_path": "dir", "dest_path": "{d}", "overwrite": true}"#,
    ),
    Call(
        "shed_sqlite",
        r#"{"path": "{d}/old.db", "query": "SELECT 1 AS one", "output_csv": "{d}/f.txt"}"#,
    ),
    Send("PUT", "/files/content?zone=group&group=team&path={d}/f.txt"),
    Send(
        "POST",
        "/files/upload?zone=group&group=team&path={d}&overwrite=true",
    ),
    Command("rm", &["{d}/f.txt"]),
    Command("rm", &["-r", "{d}"]),
    Command("find", &[".", "-name", "f.txt", "-delete"]),
    Command("mv", &["{d}/f.txt", "{n}"]),
    Command("mv", &["{d}", "{n}"]),
    Command("mv", &["{d}/mine.txt", "{d}/f.txt"]),
    Command("cp", &["{d}/mine.txt", "{d}/f.txt"]),
    Command("cp", &["--remove-destination", "{d}/mine.txt", "{d}/f.txt"]),
    Command("install", &["-m", "644", "{d}/mine.txt", "{d}/f.txt"]),
    Command("truncate", &["-s", "0", "{d}/f.txt"]),
    Command("chmod", &["+x", "{d}/f.txt"]),
    Command("chmod", &["-R", "a+x", "{d}"]),
    Command("sed", &["-i", "s/one/two/", "{d}/f.txt"]),
    Command("find", &["{d}", "-name", "f.txt", "-delete"]),
    Command("sort", &["-o", "{d}/f.txt", "{d}/mine.txt"]),
    Command("uniq", &["{d}/mine.txt", "{d}/f.txt"]),
    Command("shuf", &["-o", "{d}/f.txt", "{d}/mine.txt"]),
    Command(
        "split",
        &[
            "-b",
            "1",
            "-a",
            "1",
            "--additional-suffix=.txt",
            "{d}/mine.txt",
            "{d}/",
        ],
    ),
    Command("xxd", &["{d}/mine.txt", "{d}/f.txt"]),
    Command("dos2unix", &["-n", "{d}/mine.txt", "{d}/f.txt"]),
    Command("unix2dos", &["{d}/f.txt"]),
    Command("iconv", &["-o", "{d}/f.txt", "{d}/mine.txt"]),
    Command("gzip", &["{d}/f.txt"]),
    Command("bzip2", &["{d}/f.txt"]),
    Command("xz", &["{d}/f.txt"]),
    Command("zstd", &["--rm", "{d}/f.txt"]),
    Command("tar", &["--remove-files", "-cf", "{d}/a.tar", "{d}/f.txt"]),
    Command("tar", &["-xf", "{d}/old.tar"]),
    Command("unzip", &["-o", "{d}/old.zip"]),
    Command("gunzip", &["-f", "{d}/f.txt.gz"]),
    Command("bunzip2", &["-f", "{d}/f.txt.bz2"]),
    Command("unxz", &["-f", "{d}/f.txt.xz"]),
    Command("convert", &["{d}/mine.ppm", "{d}/f.txt"]),
    Command(
        "ffmpeg",
        &["-y", "-i", "{d}/mine.srt", "-f", "srt", "{d}/f.txt"],
    ),
    Command("zip", &["-q", "{d}/f.txt", "{d}/mine.ppm"]),
    Command("sqlite3", &["{d}/f.txt", "INSERT INTO t VALUES (1)"]),
    Command("tee", &["{d}/f.txt"]),
    Command("shred", &["-u", "{d}/f.txt"]),
    Command("rename", &["s/f.txt/g.txt/", "{d}/f.txt"]),
    Command("patch", &["{d}/f.txt", "{d}/change.diff"]),
    Command("pandoc", &["-o", "{d}/f.txt", "{d}/mine.txt"]),
    Command("recode", &["latin1..ibmpc", "{d}/f.txt"]),
    Command("7z", &["x", "-y", "{d}/old.zip"]),
    Command("7za", &["x", "-y", "{d}/old.zip"]),
    Command("lz4", &["-f", "{d}/mine.txt", "{d}/f.txt"]),
    Command("yq", &["-y", "-i", ".", "{d}/f.txt"]),
    Command("uudecode", &["-o", "{d}/f.txt", "{d}/mine.uu"]),
    Command(
        "csplit",
        &["-f", "{d}/", "-b", "f.txt%.0d", "{d}/mine.txt", "1"],
    ),
    Command("git", &["rm", "-q", "{d}/f.txt"]),
    Command("git", &["mv", "{d}/f.txt", "{n}"]),
    Command("git", &["restore", "--source=HEAD~1", "{d}/f.txt"]),
    Command("git", &["checkout", "-q", "HEAD~1", "--", "{d}/f.txt"]),
    Command("git", &["checkout", "-q", "HEAD~1"]),
    Command("git", &["checkout", "-q", "-b", "{n}", "HEAD~1"]),
    Command("git", &["reset", "-q", "--hard", "HEAD~1"]),
    Command("git", &["revert", "--no-edit", "HEAD"]),
    Command("git", &["cherry-pick", "HEAD~1"]),
];

/// Ways that are not a change of `f.txt` itself and must not be taken for one.
const OTHERS: &[(&str, &[&str])] = &[
    ("touch", &["{d}/f.txt"]),
    ("chmod", &["000", "{d}/f.txt"]),
    ("chmod", &["-w", "{d}"]),
    ("cp", &["{d}/f.txt", "{n}"]),
    ("mkdir", &["-p", "{n}/x"]),
    ("git", &["commit", "--allow-empty", "-q", "-m", "empty"]),
    ("git", &["reset", "-q", "--soft", "HEAD~1"]),
    ("git", &["commit", "--amend", "-q", "-m", "mine"]),
    ("git", &["tag", "{n}"]),
    ("git", &["branch", "{n}"]),
];

/// A row, with a directory and a free name of its own.
fn filled(text: &str, number: usize, name: &str) -> String {
    text.replace("{d}", &format!("d{number}"))
        .replace("{n}", name)
}

impl Way {
    fn go(&self, client: &Client<'_>, number: usize, name: &str) -> Answer {
        match self {
            Call(operation, arguments) => {
                let arguments: Value =
                    serde_json::from_str(&filled(arguments, number, name)).unwrap();
                call(client, operation, arguments)
            }
            Command(command, arguments) => {
                let arguments: Vec<String> = arguments
                    .iter()
                    .map(|word| filled(word, number, name))
                    .collect();
                call(
                    client,
                    "shed_exec",
                    json!({"cmd": command, "args": arguments}),
                )
            }
            Send("PUT", address) => client.send("PUT", &filled(address, number, name), b"sent"),
            Send(method, address) => {
                let form = "--x\r\nContent-Disposition: form-data; name=\"file\"; \
                    filename=\"f.txt\"\r\n\r\nsent\r\n--x\r\n\
                    Content-Disposition: form-data; name=\"file\"; \
                    filename=\"g.txt\"\r\n\r\nsent\r\n--x--\r\n";
                let address = filled(address, number, name);
                let client = client
                    .clone()
                    .header("content-type", "multipart/form-data; boundary=x");
                client.send(method, &address, form.as_bytes())
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Call(operation, arguments) => format!("{operation} {arguments}"),
            Command(command, arguments) => format!("{command} {}", arguments.join(" ")),
            Send(method, address) => format!("{method} {address}"),
        }
    }

    /// Returns `true` if the call reaches files of other directories.
    fn is_everywhere(&self) -> bool {
        self.name().starts_with("find .")
    }
}

/// A call in the group.
fn call(client: &Client<'_>, operation: &str, mut arguments: Value) -> Answer {
    if operation == "shed_copy_to_group" || operation.starts_with("shed_group_") {
        arguments["group"] = "team".into();
        return client.call(operation, &arguments);
    }
    client.call(operation, &within("group", arguments))
}

fn missing(client: &Client<'_>) -> BTreeSet<String> {
    let commands = client.call("shed_allowed_commands", &json!({}));
    let list = commands.data()["documents"]["missing"].clone();
    serde_json::from_value(list).unwrap()
}

/// Modes, and who tries in each, in this order. All but the last one of a mode are refused, which
/// changes nothing, so the next one finds the same files.
const TRIALS: &[(&str, &[(&str, bool)])] = &[
    (
        "owner_ro",
        &[("eve", false), ("bob", false), ("ada", false)],
    ),
    ("owner", &[("eve", false), ("bob", false), ("ada", true)]),
    ("group", &[("eve", false), ("bob", true)]),
];

/// Ways that are tried at the same time.
const THREADS: usize = 2;

#[test]
fn every_way_asks_whose_file_it_is() {
    let app = team::setup().env("FILESHED_GROUPS", "headers").app();
    let missing = missing(&app.as_user("ada"));
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let name = std::thread::current().name().unwrap().to_owned();
        for _ in 0..THREADS {
            let thread = std::thread::Builder::new().name(name.clone());
            let tried = thread.spawn_scoped(scope, || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(way) = WAYS.get(number) else { break };
                    if let Command(command, _) = way
                        && missing.contains(*command)
                    {
                        skip(format_args!("{command} is not installed"));
                        continue;
                    }
                    if catch_unwind(AssertUnwindSafe(|| Team::new(&app, way, number).try_all()))
                        .is_err()
                    {
                        failed.lock().unwrap().push(way.name());
                    }
                }
            });
            tried.unwrap();
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A group in which one way is tried.
struct Team<'a> {
    way: &'a Way,
    ada: Client<'a>,
    bob: Client<'a>,
    eve: Client<'a>,
    home: PathBuf,
}

/// Files, history and records of a group.
#[derive(Debug, PartialEq)]
struct State {
    files: Tree,
    head: git2::Oid,
    owners: BTreeMap<String, (Option<String>, String)>,
}

impl<'a> Team<'a> {
    fn new(app: &'a TestApp, way: &'a Way, number: usize) -> Self {
        let id = format!("team-{number}");
        Self {
            way,
            // Of the groups of a user, the last request counts.
            ada: app.as_member(&format!("ada{number}"), &id),
            bob: app.as_member(&format!("bob{number}"), &id),
            eve: app
                .client()
                .header("Authorization", "Bearer service-key")
                .header("X-OpenWebUI-User-Id", "eve")
                .header("X-OpenWebUI-User-Group-Ids", "others")
                .header("X-OpenWebUI-User-Groups", "others"),
            home: app.data().join("groups").join(id),
        }
    }

    fn try_all(&self) {
        if self.way.name().starts_with("shed_copy_to_group") {
            for client in [&self.ada, &self.bob, &self.eve] {
                for path in ["new.txt", "dir/f.txt", "dir/g.txt"] {
                    let new = json!({"zone": "storage", "path": path, "content": "new\n"});
                    client.call("shed_create_file", &new).data();
                }
            }
        }
        if self.way.is_everywhere() {
            Self::file(&self.bob, "other/f.txt", "other\n", "owner_ro");
        }
        for (number, (mode, trials)) in TRIALS.iter().enumerate() {
            self.prepare(mode, number);
            for (user, is_allowed) in *trials {
                self.one(mode, user, *is_allowed, number);
            }
        }
        let status = json!({"cmd": "git", "args": ["status", "--porcelain"]});
        let status = call(&self.ada, "shed_exec", status);
        assert_eq!(status.data()["stdout"], "", "{}", status.text);
        let repository = Repository::at(&self.home.join("repo.git"), &self.home.join("data"));
        repository.assert_sound();
    }

    fn file(client: &Client<'_>, path: &str, content: &str, mode: &str) {
        let arguments = json!({"path": path, "content": content, "mode": mode});
        call(client, "shed_create_file", arguments).data();
    }

    fn run(&self, command: &str, words: &[&str]) {
        let arguments = json!({"cmd": command, "args": words});
        call(&self.ada, "shed_exec", arguments).data();
    }

    /// Makes the files of a row, of which `f.txt` has the mode.
    fn prepare(&self, mode: &str, number: usize) {
        let (ada, way) = (&self.ada, self.way);
        let d = format!("d{number}");
        Self::file(&self.bob, &format!("{d}/mine.txt"), "mine..\n", "group");
        Self::file(ada, &format!("{d}/f.txt"), "older\n", "group");
        for (tool, name, pack) in [("tar", "old.tar", "-cf"), ("zip", "old.zip", "-q")] {
            if matches!(way, Command(_, words) if words.iter().any(|word| word.ends_with(name))) {
                self.run(tool, &[pack, &format!("{d}/{name}"), &format!("{d}/f.txt")]);
            }
        }
        let change = "--- f.txt\n+++ f.txt\n@@ -1,2 +1,2 @@\n-one\n+three\n two\n";
        let encoded = "begin 644 mine\n#;VYE\n`\nend\n";
        let subtitle = "1\n00:00:00,000 --> 00:00:01,000\nmine\n";
        for (name, content) in [
            ("change.diff", change),
            ("mine.uu", encoded),
            ("mine.ppm", "P3 1 1 255 1 2 3\n"),
            ("mine.srt", subtitle),
        ] {
            if way.name().contains(name) {
                Self::file(ada, &format!("{d}/{name}"), content, "group");
            }
        }
        if way.name().contains("old.db") {
            let table = json!({"path": format!("{d}/old.db"), "query": "CREATE TABLE t (a)"});
            call(ada, "shed_sqlite", table).data();
        }
        for (tool, end) in [("gzip", ".gz"), ("bzip2", ".bz2"), ("xz", ".xz")] {
            if way.name().ends_with(end) {
                self.run(tool, &["-k", &format!("{d}/f.txt")]);
            }
        }
        Self::file(ada, &format!("{d}/f.txt"), "one\ntwo\n", "group");
        // Calls that only change files of one kind find a file of that kind.
        let [fresh, target] = ["made.zip", "f.txt"].map(|name| format!("{d}/{name}"));
        if let Command("zip", _) = way {
            self.run("zip", &["-q", &fresh, &format!("{d}/mine.txt")]);
            self.run("mv", &[&fresh, &target]);
        }
        if let Command("sqlite3", _) = way {
            self.run("sqlite3", &[&fresh, "CREATE TABLE t (a)"]);
            self.run("mv", &[&fresh, &target]);
        }
        let set = json!({"path": format!("{d}/f.txt"), "mode": mode});
        call(ada, "shed_group_set_mode", set).data();
    }

    /// One call, of which nothing is left if it is refused.
    fn one(&self, mode: &str, user: &str, is_allowed: bool, number: usize) {
        let caller = match user {
            "ada" => &self.ada,
            "bob" => &self.bob,
            _ => &self.eve,
        };
        let before = self.state();
        let answer = self.way.go(caller, number, &format!("{user}{number}"));
        let after = self.state();
        let name = self.way.name();
        let what = format!("{name} by {user}, mode {mode}: {}", answer.text);
        assert!(self.is_later(&before, &after), "history is lost: {what}");
        if user == "eve" {
            answer.refused(404, "GROUP_NOT_FOUND");
            assert!(!answer.text.contains("ada"), "{what}");
        } else if is_allowed && !self.way.is_everywhere() {
            answer.data();
            let open = name.starts_with("shed_lockedit_open");
            let quiet = name.contains("cherry-pick");
            let changed = (&before.files, before.head) != (&after.files, after.head);
            assert!(open || quiet || changed, "{what}");
            return;
        } else {
            answer.refused(403, "PERMISSION_DENIED");
            let message = answer.body["error"]["message"].as_str().unwrap();
            assert!(message.contains("f.txt`"), "{what}");
            assert!(!message.contains("ada"), "{what}");
        }
        assert_eq!(before, after, "{what}");
    }

    fn repository(&self) -> git2::Repository {
        let repository = git2::Repository::open_bare(self.home.join("repo.git")).unwrap();
        let data = self.home.join("data");
        repository.set_workdir(&data, false).unwrap();
        repository
    }

    /// The state, which is that of the last commit of the one branch.
    fn state(&self) -> State {
        let repository = self.repository();
        let head = repository.find_reference("HEAD").unwrap();
        assert_eq!(head.symbolic_target_bytes(), Some(&b"refs/heads/main"[..]));
        let head = repository.refname_to_id("refs/heads/main").unwrap();
        let committed = repository.find_commit(head).unwrap().tree().unwrap();
        let mut options = git2::DiffOptions::new();
        options.include_untracked(true);
        let changes = repository.diff_tree_to_workdir(Some(&committed), Some(&mut options));
        assert_eq!(
            changes.unwrap().deltas().len(),
            0,
            "a change that is no commit"
        );
        State {
            files: tree(&self.home.join("data")),
            head,
            owners: self.owners(),
        }
    }

    fn owners(&self) -> BTreeMap<String, (Option<String>, String)> {
        let info = call(&self.ada, "shed_group_info", json!({}));
        team::owners_in(info.data())
    }

    /// Returns `true` if the history of one state is a part of the other's.
    fn is_later(&self, before: &State, after: &State) -> bool {
        let repository = self.repository();
        let later = |commit, ancestor| repository.graph_descendant_of(commit, ancestor).unwrap();
        before.head == after.head || later(after.head, before.head)
    }
}

#[test]
fn what_is_no_change_of_a_protected_file_passes() {
    let server = team::app();
    let [ada, bob] = ["ada", "bob"].map(|user| server.as_user(user));
    for (number, (command, words)) in OTHERS.iter().enumerate() {
        let path = format!("d{number}/f.txt");
        file(&ada, &path, "one\n", "owner");
        let head = repository(&server).text(&["rev-parse", "HEAD"]);
        let name = format!("n{number}");
        let words: Vec<String> = words
            .iter()
            .map(|word| filled(word, number, &name))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = run(&bob, command, &words);
        assert_eq!(answer.data()["returncode"], 0, "{command}: {}", answer.text);
        assert_eq!(team::files(&server)[&path], b"one\n", "{command}");
        assert_eq!(
            owners(&bob)[&path],
            (Some("ada".to_owned()), "owner".to_owned())
        );
        // Its owner still can.
        let more = json!({"path": path, "content": "two\n"});
        done(&ada, "shed_patch_text", more);
        let past = repository(&server).text(&["rev-list", "HEAD"]);
        assert!(past.lines().any(|id| id == head), "{command} {words:?}");
        assert_eq!(
            repository(&server).text(&["symbolic-ref", "HEAD"]),
            "refs/heads/main"
        );
    }
    assert_sound(&server);
}
