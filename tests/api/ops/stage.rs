//! Stage of the cases: a server with files, and each refusal checked in every respect.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use fileshed::ops::OperationTool;
use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::hints::Provocation;
use fileshed_test_support::{Answer, Client, Setup, TestApp, skip, team_of};

/// A case for each code that an operation declares.
pub(crate) type Provoked = &'static [(&'static str, fn(&Stage<'_>))];

/// The user whose name and files no other user may meet in an answer.
pub(crate) const NEIGHBOUR: &str = "ursula";

/// Text in the neighbour's files.
pub(crate) const SECRET: &str = "ursulas-secret";

/// A server with many users, whose directories have their names, and with small limits.
pub(crate) fn small() -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_GROUPS", "headers")
        .env("FILESHED_QUOTA_PER_GROUP_MB", "2")
        .env("FILESHED_QUOTA_PER_USER_MB", "2")
        .env("FILESHED_MAX_FILE_SIZE_MB", "1")
}

/// Asserts success of a call and gives `data`.
#[track_caller]
pub(crate) fn done(client: &Client<'_>, operation: &str, arguments: &Value) -> Value {
    client.call(operation, arguments).data().clone()
}

/// Makes a file.
#[track_caller]
pub(crate) fn file(client: &Client<'_>, zone: &str, path: &str, content: &str) {
    let arguments = json!({"zone": zone, "path": path, "content": content});
    done(client, "shed_create_file", &arguments);
}

/// Runs a command and gives `data`.
#[track_caller]
pub(crate) fn ran(client: &Client<'_>, zone: &str, cmd: &str, args: &[&str]) -> Value {
    let arguments = json!({"zone": zone, "cmd": cmd, "args": args});
    done(client, "shed_exec", &arguments)
}

/// Standard output of a command that succeeds.
#[track_caller]
pub(crate) fn output(client: &Client<'_>, zone: &str, cmd: &str, args: &[&str]) -> String {
    let data = ran(client, zone, cmd, args);
    assert_eq!(data["returncode"], 0, "{data}");
    data["stdout"].as_str().unwrap().to_owned()
}

/// Standard output of a command that succeeds, with nothing complained about.
#[track_caller]
pub(crate) fn content(client: &Client<'_>, zone: &str, path: &str) -> String {
    output(client, zone, "cat", &["--", path])
}

/// The directory of a zone's files on disk, on a server with plain namespaces.
pub(crate) fn place(server: &TestApp, user: &str, zone: &str) -> PathBuf {
    let home = server.data().join("users").join(user);
    home.join(match zone {
        "storage" => "Storage/data",
        "uploads" => "Uploads/default",
        _ => "Documents/data",
    })
}

/// Puts a file into the uploads of this client's conversation, as a person would. Files that exist before
/// the user's first call count for the quota.
pub(crate) fn upload(client: &Client<'_>, path: &str, content: impl AsRef<[u8]>) {
    let data = client.server().data();
    let home = match client.header_text("X-OpenWebUI-User-Id") {
        Some(user) => data.join("users").join(user),
        None => data.join("shared"),
    };
    let chat = client.header_text("X-OpenWebUI-Chat-Id");
    let at = home
        .join("Uploads")
        .join(chat.unwrap_or("default"))
        .join(path);
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, content).unwrap();
}

/// Makes a file in any zone.
#[track_caller]
pub(crate) fn bring(client: &Client<'_>, zone: &str, path: &str, content: &str) {
    match zone {
        "uploads" => upload(client, path, content),
        _ => file(client, zone, path, content),
    }
}

/// Returns `true` if a command is installed here; notes it as skipped otherwise.
pub(crate) fn installed(client: &Client<'_>, command: &str) -> bool {
    let commands = done(client, "shed_allowed_commands", &json!({}));
    let there = has(&commands["storage"]["available"], command);
    if !there {
        skip(format_args!("{command} is not installed"));
    }
    there
}

/// Returns `true` if a list contains a text.
pub(crate) fn has(list: &Value, text: &str) -> bool {
    list.as_array()
        .is_some_and(|items| items.iter().any(|item| item == text))
}

/// The status of each code, as the contract has it.
fn status(code: &str) -> u16 {
    match code {
        "INVALID_ZONE"
        | "INVALID_PATH"
        | "NOT_A_FILE"
        | "PATH_STARTS_WITH_ZONE"
        | "ARGUMENT_REQUIRED"
        | "PATTERN_NOT_FOUND"
        | "INVALID_FORMAT"
        | "MISSING_FILE_ID"
        | "NOT_A_FILESHED_LINK"
        | "CSV_EMPTY"
        | "CSV_PARSE_ERROR"
        | "MISSING_PARAMETER"
        | "INVALID_PARAMETER"
        | "INVALID_MODE"
        | "INVALID_GROUP_ID"
        | "INVALID_OWNER"
        | "EXEC_ERROR" => 400,
        "PATH_ESCAPE" | "PROTECTED_PATH" | "COMMAND_FORBIDDEN" | "ARGUMENT_FORBIDDEN"
        | "ZONE_READONLY" | "ZONE_FORBIDDEN" | "NOT_LOCK_OWNER" | "PERMISSION_DENIED"
        | "NOT_FILE_OWNER" => 403,
        "FILE_NOT_FOUND" | "COMMAND_NOT_FOUND" | "GROUP_NOT_FOUND" => 404,
        "FILE_EXISTS" | "NOT_IN_EDIT_MODE" | "TABLE_EXISTS" => 409,
        "PRECONDITION_FAILED" => 412,
        "FILE_TOO_LARGE" | "ZIP_BOMB" | "CSV_TOO_WIDE" => 413,
        "UNSUPPORTED_FILE_TYPE" => 415,
        "FILE_LOCKED" => 423,
        "BUSY" => 429,
        "GROUP_NOT_AVAILABLE"
        | "OPENWEBUI_API_UNAVAILABLE"
        | "OPENWEBUI_INSERT_ERROR"
        | "OPENWEBUI_GET_ERROR"
        | "OPENWEBUI_DELETE_ERROR" => 503,
        "TIMEOUT" => 504,
        "QUOTA_EXCEEDED" => 507,
        other => panic!("no status for {other}"),
    }
}

/// One case: a user of its own, on a server that has a neighbour.
pub(crate) struct Stage<'a> {
    server: &'a TestApp,
    entry: &'static OperationTool,
    code: &'static str,
    user: String,
    refusals: Cell<u32>,
    provoked: RefCell<Vec<Provocation>>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(
        server: &'a TestApp,
        entry: &'static OperationTool,
        code: &'static str,
    ) -> Self {
        Self {
            server,
            entry,
            code,
            user: format!("{}-{}", entry.id, code.to_lowercase()),
            refusals: Cell::new(0),
            provoked: RefCell::default(),
        }
    }

    /// Returns the refusals that were provoked in this case.
    pub(crate) fn provoked(&self) -> Vec<Provocation> {
        self.provoked.take()
    }

    fn note(&self, answer: &Answer) {
        let provocation = Provocation::of(self.entry.id, answer);
        self.provoked.borrow_mut().push(provocation);
    }

    /// The user of this case.
    pub(crate) fn client(&self) -> Client<'a> {
        self.server.as_user(&self.user)
    }

    /// Returns a client of another user.
    pub(crate) fn neighbour(&self) -> Client<'a> {
        self.server.as_user(NEIGHBOUR)
    }

    /// Another member of this user's group `team`.
    pub(crate) fn colleague(&self) -> Client<'a> {
        let name = format!("colleague-of-{}", self.user);
        self.server.as_member(&name, &team_of(&self.user))
    }

    /// A path of the group `team` on disk.
    pub(crate) fn shared(&self, path: &str) -> PathBuf {
        let groups = self.server.data().join("groups");
        groups.join(team_of(&self.user)).join("data").join(path)
    }

    /// Makes a file of the group that only the colleague may change.
    #[track_caller]
    pub(crate) fn theirs(&self, path: &str) {
        let arguments = json!({"zone": "group", "group": "team", "path": path,
            "content": "theirs\n", "mode": "owner"});
        done(&self.colleague(), "shed_create_file", &arguments);
    }

    /// Notes a refusal on a server that is set up in another way.
    pub(crate) fn refused_elsewhere(&self, answer: &Answer) {
        answer.refused(status(self.code), self.code);
        self.note(answer);
        self.refusals.set(1);
    }

    /// Returns `true` if a refusal was seen, or the case was skipped with a reason.
    pub(crate) fn is_settled(&self) -> bool {
        self.refusals.get() > 0
    }

    /// Says why the case cannot be made here.
    pub(crate) fn skip(&self, reason: &str) {
        skip(format_args!("{} {}: {reason}", self.entry.id, self.code));
        self.refusals.set(1);
    }

    #[track_caller]
    pub(crate) fn file(&self, zone: &str, path: &str, content: &str) {
        file(&self.client(), zone, path, content);
    }

    /// The directory of a zone's files on disk.
    pub(crate) fn place(&self, zone: &str) -> PathBuf {
        place(self.server, &self.user, zone)
    }

    /// A call of any operation that works.
    #[track_caller]
    pub(crate) fn done(&self, operation: &str, arguments: &Value) -> Value {
        done(&self.client(), operation, arguments)
    }

    /// The operation.
    pub(crate) fn operation(&self) -> &'static str {
        self.entry.id
    }

    /// The zones that the operation goes from and to.
    pub(crate) fn way(&self) -> (&'static str, &'static str) {
        crate::ops::cross_zone::way(self.entry.id).unwrap()
    }

    /// Makes a file in any zone.
    #[track_caller]
    pub(crate) fn bring(&self, zone: &str, path: &str, content: &str) {
        bring(&self.client(), zone, path, content);
    }

    /// The first example of the operation, with some arguments changed; all it needs is there.
    #[track_caller]
    pub(crate) fn example(&self, changes: &Value) -> Value {
        let mut arguments: Value = serde_json::from_str(self.entry.examples[0]).unwrap();
        calls::prepare(&self.client(), self.entry.id, &arguments);
        for (name, value) in changes.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        arguments
    }

    /// The name of the parameter that holds the path to change.
    pub(crate) fn path_parameter(&self) -> &'static str {
        match self.entry.id {
            "shed_rename" => "old_path",
            id if crate::ops::cross_zone::way(id).is_some() => "src",
            "shed_exec" => "stdout_file",
            "shed_zip" | "shed_unzip" => "dest",
            "shed_import" => "dest_subdir",
            "shed_copy_to_group" => "src_path",
            "shed_copy" => "from",
            _ => "path",
        }
    }

    /// Asserts the refusal of an example that was changed in one parameter: the message names
    /// both the parameter and the value.
    #[track_caller]
    pub(crate) fn refuses_example(&self, parameter: &str, value: &str, named: &[&str]) -> Answer {
        let arguments = self.example(&json!({ parameter: value }));
        self.refuses(&arguments, named)
    }

    /// Asserts the refusal of a call. Its message holds all of `named`.
    #[track_caller]
    pub(crate) fn refuses(&self, arguments: &Value, named: &[&str]) -> Answer {
        self.refuses_to(&self.client(), arguments, named)
    }

    /// Asserts the same refusal for another client.
    #[track_caller]
    pub(crate) fn refuses_to(
        &self,
        client: &Client<'_>,
        arguments: &Value,
        named: &[&str],
    ) -> Answer {
        let before = self.everything();
        let answer = client.call(self.entry.id, arguments);
        answer.refused(status(self.code), self.code);
        let message = answer.body["error"]["message"].as_str().unwrap();
        for part in named {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
        let place = self.server.data().display().to_string();
        for secret in [NEIGHBOUR, SECRET, "users/", "/data/", &place] {
            assert!(!answer.text.contains(secret), "{secret}: {}", answer.text);
        }
        let changed = differences(&before, &self.everything());
        assert!(changed.is_empty(), "{changed:?}: {}", answer.text);
        self.refusals.set(self.refusals.get() + 1);
        self.note(&answer);
        calls::follow_hint(client, &answer);
        answer
    }

    /// All files of this user and of the neighbour, and the space they use.
    fn everything(&self) -> BTreeMap<PathBuf, String> {
        let users = self.server.data().join("users");
        let mut found = BTreeMap::new();
        for user in [&self.user, NEIGHBOUR] {
            collect(&users.join(user), &mut found);
        }
        let team = self.server.data().join("groups").join(team_of(&self.user));
        for place in ["data", "editzone", "repo.git/refs/heads", "staging"] {
            below(&team.join(place), &mut found);
        }
        let stats = self.client().call("shed_stats", &json!({}));
        found.insert("stats".into(), stats.text);
        found
    }
}

/// Returns the paths that were added, removed or changed.
pub(crate) fn differences(
    before: &BTreeMap<PathBuf, String>,
    after: &BTreeMap<PathBuf, String>,
) -> Vec<PathBuf> {
    let paths = before.keys().chain(after.keys());
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    paths.filter(differs).cloned().collect()
}

/// Collects the files and directories of a user below a home, without those that the server makes for
/// itself on the first call.
pub(crate) fn collect(home: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for place in [
        "Storage/data",
        "Storage/editzone",
        "Documents/data",
        "Documents/editzone",
        "Documents/repo.git/refs/heads",
        "staging",
    ] {
        below(&home.join(place), found);
    }
    let uploads = std::fs::read_dir(home.join("Uploads"));
    for chat in uploads.into_iter().flatten().map_while(Result::ok) {
        below(&chat.path(), found);
    }
}

fn below(directory: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let entries = std::fs::read_dir(directory);
    for entry in entries.into_iter().flatten().map_while(Result::ok) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let own = path.extension().is_some_and(|end| end == "lock") || path.ends_with("data/.git");
        if kind.is_dir() {
            found.insert(path.clone(), "directory".to_owned());
            below(&path, found);
        } else if kind.is_file() && !own {
            let content = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            found.insert(path, content);
        } else if kind.is_symlink() || kind.is_fifo() {
            found.insert(path, "special".to_owned());
        }
    }
}
