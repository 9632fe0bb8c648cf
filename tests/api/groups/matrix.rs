//! Who may do what to whose file: every way in which a file can change, for its owner, another
//! member and somebody else, in every mode.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::groups::team::{
    assert_clean, assert_sound, call, done, file, files, owners, repository, run, start,
};
use fileshed_test_support::{Answer, Client, Server, skip};

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
    Send("PUT", "/files/content?zone=group&group=Team&path={d}/f.txt"),
    Send(
        "POST",
        "/files/upload?zone=group&group=Team&path={d}&overwrite=true",
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
fn filled(text: &str, number: usize) -> String {
    text.replace("{d}", &format!("d{number}"))
        .replace("{n}", &format!("n{number}"))
}

impl Way {
    fn go(&self, client: &Client<'_>, number: usize) -> Answer {
        match self {
            Call(operation, arguments) => {
                let arguments: Value = serde_json::from_str(&filled(arguments, number)).unwrap();
                call(client, operation, arguments)
            }
            Command(command, arguments) => {
                let arguments: Vec<String> =
                    arguments.iter().map(|word| filled(word, number)).collect();
                call(
                    client,
                    "shed_exec",
                    json!({"cmd": command, "args": arguments}),
                )
            }
            Send("PUT", address) => client.send("PUT", &filled(address, number), b"sent"),
            Send(method, address) => {
                let form = "--x\r\nContent-Disposition: form-data; name=\"file\"; \
                    filename=\"f.txt\"\r\n\r\nsent\r\n--x\r\n\
                    Content-Disposition: form-data; name=\"file\"; \
                    filename=\"g.txt\"\r\n\r\nsent\r\n--x--\r\n";
                let address = filled(address, number);
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
}

fn missing(client: &Client<'_>) -> BTreeSet<String> {
    let commands = client.call("shed_allowed_commands", &json!({}));
    let list = commands.data()["documents"]["missing"].clone();
    serde_json::from_value(list).unwrap()
}

#[test]
fn every_way_asks_whose_file_it_is() {
    let halves = WAYS.chunks(WAYS.len().div_ceil(2));
    let outcomes: Vec<(u32, Vec<String>)> = std::thread::scope(|scope| {
        let halves: Vec<_> = halves.map(|ways| scope.spawn(|| rows(ways))).collect();
        halves
            .into_iter()
            .map(|half| half.join().unwrap())
            .collect()
    });
    let refused: u32 = outcomes.iter().map(|(refused, _)| refused).sum();
    println!("{refused} calls were refused, all of them without a trace");
    let failed: Vec<String> = outcomes
        .into_iter()
        .flat_map(|(_, failed)| failed)
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Each way for each user in each mode, on a server of their own: how many were refused, and what
/// failed.
fn rows(ways: &[Way]) -> (u32, Vec<String>) {
    let server = start();
    let clients = ["ada", "bob", "eve"].map(|user| server.as_user(user));
    let missing = missing(&clients[0]);
    for client in &clients {
        for path in ["new.txt", "dir/f.txt", "dir/g.txt"] {
            let arguments = json!({"zone": "storage", "path": path, "content": "new\n"});
            client.call("shed_create_file", &arguments).data();
        }
    }
    let mut number = 0;
    let mut refused = 0;
    let mut failed = Vec::new();
    for way in ways {
        if let Command(command, _) = way
            && missing.contains(*command)
        {
            skip(format_args!("{command} is not installed"));
            continue;
        }
        for mode in ["owner", "group", "owner_ro"] {
            for user in ["ada", "bob", "eve"] {
                number += 1;
                let one = std::panic::AssertUnwindSafe(|| row(&server, way, mode, user, number));
                match std::panic::catch_unwind(one) {
                    Ok(was_refused) => refused += u32::from(was_refused),
                    Err(_) => failed.push(format!("{} by {user}, mode {mode}", way.name())),
                }
            }
        }
    }
    assert_sound(&server);
    (refused, failed)
}

/// One call; whether it was refused.
fn row(server: &Server, way: &Way, mode: &str, user: &str, number: usize) -> bool {
    let [ada, bob] = ["ada", "bob"].map(|user| server.as_user(user));
    let d = format!("d{number}");
    file(&bob, &format!("{d}/mine.txt"), "mine..\n", "group");
    file(&ada, &format!("{d}/f.txt"), "older\n", "group");
    for (tool, name, pack) in [("tar", "old.tar", "-cf"), ("zip", "old.zip", "-q")] {
        if matches!(way, Command(_, words) if words.iter().any(|word| word.ends_with(name))) {
            let words = [pack, &format!("{d}/{name}"), &format!("{d}/f.txt")];
            run(&ada, tool, &words).data();
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
            file(&ada, &format!("{d}/{name}"), content, "group");
        }
    }
    if way.name().contains("old.db") {
        let table = json!({"path": format!("{d}/old.db"), "query": "CREATE TABLE t (a)"});
        done(&ada, "shed_sqlite", table);
    }
    for (tool, end) in [("gzip", ".gz"), ("bzip2", ".bz2"), ("xz", ".xz")] {
        if way.name().ends_with(end) {
            run(&ada, tool, &["-k", &format!("{d}/f.txt")]).data();
        }
    }
    file(&ada, &format!("{d}/f.txt"), "one\ntwo\n", "group");
    // What only changes files of its own kind finds one.
    let [fresh, target] = ["made.zip", "f.txt"].map(|name| format!("{d}/{name}"));
    if let Command("zip", _) = way {
        run(&ada, "zip", &["-q", &fresh, &format!("{d}/mine.txt")]).data();
        run(&ada, "mv", &[&fresh, &target]).data();
    }
    if let Command("sqlite3", _) = way {
        run(&ada, "sqlite3", &[&fresh, "CREATE TABLE t (a)"]).data();
        run(&ada, "mv", &[&fresh, &target]).data();
    }
    let set = json!({"path": format!("{d}/f.txt"), "mode": mode});
    done(&ada, "shed_group_set_mode", set);

    let state = || {
        (
            files(server),
            repository(server).text(&["rev-parse", "HEAD"]),
        )
    };
    let (before, records) = (state(), owners(&ada));
    let answer = way.go(&server.as_user(user), number);
    let after = state();
    let what = format!("{} by {user}, mode {mode}: {}", way.name(), answer.text);
    assert_clean(server);
    let head = repository(server).text(&["symbolic-ref", "HEAD"]);
    assert_eq!(head, "refs/heads/main", "{what}");
    let past = repository(server).text(&["rev-list", "HEAD"]);
    assert!(
        past.lines().any(|id| id == before.1),
        "history is lost: {what}"
    );
    let everywhere = way.name().starts_with("find .");
    match (mode, user) {
        (_, "eve") => {
            answer.refused(404, "GROUP_NOT_FOUND");
            assert!(!answer.text.contains("ada"), "{what}");
        }
        ("group", _) | ("owner", "ada") if !everywhere => {
            answer.data();
            let open = what.starts_with("shed_lockedit_open");
            let quiet = what.contains("cherry-pick");
            assert!(open || quiet || before != after, "{what}");
            return false;
        }
        _ => {
            answer.refused(403, "PERMISSION_DENIED");
            let message = answer.body["error"]["message"].as_str().unwrap();
            assert!(message.contains("f.txt`"), "{what}");
            assert!(!message.contains("ada"), "{what}");
        }
    }
    assert!(before == after, "{what}");
    assert_eq!(records, owners(&ada), "{what}");
    true
}

#[test]
fn what_is_no_change_of_a_protected_file_passes() {
    let server = start();
    let [ada, bob] = ["ada", "bob"].map(|user| server.as_user(user));
    for (number, (command, words)) in OTHERS.iter().enumerate() {
        let path = format!("d{number}/f.txt");
        file(&ada, &path, "one\n", "owner");
        let head = repository(&server).text(&["rev-parse", "HEAD"]);
        let words: Vec<String> = words.iter().map(|word| filled(word, number)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = run(&bob, command, &words);
        assert_eq!(answer.data()["returncode"], 0, "{command}: {}", answer.text);
        assert_eq!(files(&server)[&path], b"one\n", "{command}");
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
