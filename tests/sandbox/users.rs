//! One user looks for what belongs to another, with honest-looking commands through HTTP.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use fileshed_test_support::{Client, Server};

const CANARY: &str = "canary-a11ce5";

/// Lines that bob runs; `{A}` is alice's home, `{D}` the data directory, `{U}` the name of her chat.
const LINES: &[(&str, &[&str])] = &[
    ("ls", &["-la", ".."]),
    ("ls", &["-R", "../.."]),
    ("ls", &["{D}"]),
    ("cat", &["../../../alice/Storage/data/secret.txt"]),
    ("cat", &["{A}/Storage/data/secret.txt"]),
    ("cat", &["{A}/Documents/data/plan.md"]),
    ("cat", &["{D}/.fs_pepper"]),
    ("base64", &["{D}/.fs_pepper"]),
    ("head", &["-c", "99", "../../staging/secret"]),
    ("find", &["/", "-name", "secret.txt"]),
    ("find", &["{D}", "-type", "f"]),
    ("find", &["..", "-newer", "mine.txt"]),
    ("grep", &["-r", "canary", "/"]),
    ("grep", &["-r", "canary", ".."]),
    ("grep", &["-R", "canary", "."]),
    ("rg", &["canary", ".."]),
    ("rg", &["-uuu", "-L", "canary"]),
    ("tar", &["-cf", "all.tar", ".."]),
    ("tar", &["-cf", "all.tar", "-C", "{A}", "."]),
    ("tar", &["-chf", "all.tar", "link"]),
    ("zip", &["-0r", "all.zip", ".."]),
    ("zip", &["-0r", "all.zip", "link", "dir"]),
    ("7z", &["a", "-mx0", "all.7z", "{A}"]),
    ("cp", &["-r", "{A}/Storage/data", "copy"]),
    ("cp", &["-L", "link", "copy"]),
    ("cp", &["-rL", "dir", "copy"]),
    ("cp", &["mine.txt", "dir/secret.txt"]),
    ("mv", &["{A}/Storage/data/secret.txt", "."]),
    ("rm", &["-rf", "{A}"]),
    ("rm", &["-rf", "dir/"]),
    ("tee", &["link"]),
    ("truncate", &["-s", "0", "link"]),
    ("sed", &["-i", "s/c/x/", "link"]),
    ("sed", &["r {A}/Storage/data/secret.txt", "mine.txt"]),
    ("awk", &["1", "{A}/Storage/data/secret.txt"]),
    (
        "awk",
        &["BEGIN{while((getline l < \"{A}/Storage/data/secret.txt\")>0) print l}"],
    ),
    ("sort", &["link"]),
    ("diff", &["mine.txt", "dir/secret.txt"]),
    ("jq", &["-R", ".", "link"]),
    ("strings", &["{D}/access_auth.sqlite"]),
    (
        "sqlite3",
        &["{D}/access_auth.sqlite", "SELECT * FROM users"],
    ),
    (
        "sqlite3",
        &[
            "own.db",
            "ATTACH '{A}/Storage/data/secret.db' AS a; SELECT * FROM a.t",
        ],
    ),
    ("sqlite3", &["dir/secret.db", "SELECT * FROM t"]),
    (
        "sqlite3",
        &["own.db", "SELECT readfile('{A}/Storage/data/secret.txt')"],
    ),
    ("git", &["clone", "{A}/Documents/repo.git", "stolen"]),
    ("git", &["-C", "{A}/Documents/data", "log", "-p"]),
    ("git", &["--git-dir={A}/Documents/repo.git", "log", "-p"]),
    ("git", &["diff", "--no-index", "mine.txt", "link"]),
    ("git", &["grep", "--no-index", "canary"]),
    ("pandoc", &["link", "-t", "plain"]),
    ("pandoc", &["include.rst", "-t", "plain"]),
    ("xmllint", &["--noent", "xxe.xml"]),
    ("file", &["-f", "link"]),
    ("wc", &["--files0-from=link"]),
    ("strings", &["link"]),
    ("xxd", &["-p", "link"]),
    ("curl", &["file://{A}/Storage/data/secret.txt"]),
    ("exiftool", &["-@", "link"]),
    ("convert", &["text:link", "out.png"]),
    (
        "ffmpeg",
        &[
            "-f", "data", "-i", "link", "-map", "0", "-c", "copy", "-f", "data", "out.bin",
        ],
    ),
    ("readlink", &["-f", "link"]),
];

type Contents = BTreeMap<PathBuf, Vec<u8>>;

fn contents(directory: &Path, except: &Path) -> Contents {
    let mut found = Contents::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("there"));
            // Registries are the server's: it writes down what it did.
            let is_registry = path.to_string_lossy().contains(".sqlite");
            if path == except || is_registry {
            } else if kind.is_dir() {
                pending.push(path);
            } else if kind.is_file() {
                found.insert(path.clone(), std::fs::read(path).unwrap_or_default());
            }
        }
    }
    found
}

fn run(client: &Client<'_>, zone: &str, command: &str, args: &[String], file: &Value) -> String {
    let mut line = json!({"zone": zone, "cmd": command, "args": args});
    if !file.is_null() {
        line["stdout_file"] = file.clone();
    }
    client.call("shed_exec", &line).text
}

fn shows(bytes: &[u8], pepper: &[u8]) -> bool {
    use base64::Engine as _;
    let base64 = |what: &[u8]| base64::engine::general_purpose::STANDARD_NO_PAD.encode(what);
    let disguises = [
        CANARY.as_bytes().to_vec(),
        hex::encode(CANARY).into_bytes(),
        base64(CANARY.as_bytes()).as_bytes()[..16].to_vec(),
        pepper.to_vec(),
        base64(pepper).as_bytes()[..40].to_vec(),
        hex::encode(pepper).into_bytes(),
    ];
    disguises
        .iter()
        .any(|part| bytes.windows(part.len()).any(|window| window == part))
}

/// The one home of `users` that is not among `known`.
fn new_home(server: &Server, known: &[PathBuf]) -> PathBuf {
    let homes = std::fs::read_dir(server.data().join("users")).expect("listed");
    let mut homes = homes.flatten().map(|entry| entry.path());
    homes.find(|home| !known.contains(home)).expect("a home")
}

#[test]
fn no_command_finds_another_user() {
    let server = Server::with_key();
    let alice = server.as_user("alice").chat("alices-chat");
    let file = |zone: &str, path: &str| json!({"zone": zone, "path": path, "content": CANARY});
    for (zone, path) in [("storage", "secret.txt"), ("documents", "plan.md")] {
        alice.call("shed_create_file", &file(zone, path)).data();
    }
    alice
        .call("shed_exec", &json!({"zone": "uploads", "cmd": "ls"}))
        .data();
    let alices = new_home(&server, &[]);
    let chat = alices.join("Uploads/alices-chat");
    std::fs::create_dir_all(&chat).expect("made");
    std::fs::write(chat.join("upload.txt"), CANARY).expect("written");
    std::fs::create_dir_all(alices.join("staging")).expect("made");
    std::fs::write(alices.join("staging/secret"), CANARY).expect("written");
    rusqlite::Connection::open(alices.join("Storage/data/secret.db"))
        .and_then(|db| {
            db.execute_batch(&format!(
                "CREATE TABLE t(a); INSERT INTO t VALUES ('{CANARY}')"
            ))
        })
        .expect("made");
    let bob = server.as_user("bob").chat("bobs-chat");
    bob.call(
        "shed_create_file",
        &json!({"zone": "storage", "path": "mine.txt", "content": "mine\n"}),
    )
    .data();
    bob.call(
        "shed_create_file",
        &json!({"zone": "documents", "path": "mine.txt", "content": "mine\n"}),
    )
    .data();
    bob.call("shed_exec", &json!({"zone": "uploads", "cmd": "ls"}))
        .data();
    let bobs = new_home(&server, std::slice::from_ref(&alices));
    // Another conversation of bob's is not this one's either.
    let other_chat = bobs.join("Uploads/another-chat");
    std::fs::create_dir_all(&other_chat).expect("made");
    std::fs::write(other_chat.join("upload.txt"), CANARY).expect("written");
    let pepper = std::fs::read(server.data().join(".fs_pepper")).expect("there");
    for zone in ["Storage", "Documents"] {
        let room = bobs.join(zone).join("data");
        symlink(alices.join("Storage/data/secret.txt"), room.join("link")).expect("made");
        symlink(alices.join("Storage/data"), room.join("dir")).expect("made");
        let secret = alices.join("Storage/data/secret.txt");
        let secret = secret.display();
        let xxe = format!("<!DOCTYPE r [<!ENTITY x SYSTEM \"file://{secret}\">]><r>&x;</r>");
        std::fs::write(room.join("xxe.xml"), xxe).expect("written");
        std::fs::write(room.join("include.rst"), format!(".. include:: {secret}\n"))
            .expect("written");
    }
    let before = contents(&server.data(), &bobs);
    let chats = contents(&bobs.join("Uploads"), Path::new(""));
    let mut answered = 0;
    for zone in ["storage", "documents", "uploads"] {
        for (number, (command, args)) in LINES.iter().enumerate() {
            let place = |path: &Path| path.to_string_lossy().into_owned();
            let args: Vec<String> = args
                .iter()
                .map(|text| {
                    text.replace("{A}", &place(&alices))
                        .replace("{D}", &place(&server.data()))
                })
                .collect();
            let to_file = (zone != "uploads" && number % 2 == 0).then(|| format!("out-{number}"));
            let text = run(&bob, zone, command, &args, &json!(to_file));
            answered += 1;
            assert!(
                !shows(text.as_bytes(), &pepper),
                "{zone}: {command} {args:?}: {text}"
            );
            let after = contents(&server.data(), &bobs);
            assert!(
                before == after,
                "{zone}: {command} {args:?} changed something"
            );
        }
        // Files of another conversation, by the names that a model would try.
        for path in [
            "../another-chat/upload.txt",
            "another-chat/upload.txt",
            "../../Uploads",
        ] {
            let text = run(&bob, zone, "cat", &[path.to_owned()], &Value::Null);
            assert!(!shows(text.as_bytes(), &pepper), "{zone}: {path}: {text}");
        }
    }
    assert_eq!(answered, 3 * LINES.len());
    for zone in ["Storage", "Documents", "staging"] {
        for (path, content) in contents(&bobs.join(zone), Path::new("")) {
            assert!(!shows(&content, &pepper), "{}", path.display());
        }
    }
    assert!(chats == contents(&bobs.join("Uploads"), Path::new("")));
}
