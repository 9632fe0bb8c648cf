//! `rm` where there is a bin: it moves there what it removes of the storage, and is `rm` otherwise.

use serde_json::{Value, json};

use crate::ops::stage::{done, file, output, place, ran, small};
use fileshed_test_support::{Client, TestApp};

/// Lines of `rm`, in a directory as [`fill`] makes it.
const LINES: &[&[&str]] = &[
    &["a"],
    &["a", "b c", ".h"],
    &["a", "missing", "b c"],
    &["missing", "a", "-f"],
    &["-f", "missing"],
    &["missing/a"],
    &["-f", "a/b"],
    &["a/"],
    &["-rf", "a/"],
    &["d"],
    &["-d", "d"],
    &["-d", "empty/"],
    &["-r", "d/", "empty", "a"],
    &["-r", "d", "d/e"],
    &["-R", "d/e", "d"],
    &["-rf", "."],
    &["-rf", "d/."],
    &["-rf", "d/../a"],
    &["*"],
    &["-rf", "*"],
    &["d/*", "nothing*"],
    &["link"],
    &["-r", "link"],
    &["link/"],
    &["-r", "link/"],
    &["link/f"],
    &["-rf", "dangling", "d/up"],
    &["d/up/a"],
    &["-i", "a"],
    &["-I", "a", "d"],
    &["-rI", "d", "a"],
    &["--interactive=never", "a"],
    &["--interactive=always", "a"],
    &["--rec", "--forc", "d", "missing"],
    &["--one-file-system", "--preserve-root", "-r", "d"],
    &["-v", "a"],
    &["-v", "empty", "-d"],
    &["--", "-x", "--", "a"],
    &["-x"],
    &["ä ö", "it's"],
    &["-f"],
    &[],
];

/// Makes one of everything.
fn fill(app: &TestApp, user: &str) {
    let client = &app.as_user(user);
    ran(client, "storage", "mkdir", &["-p", "d/e", "empty"]);
    for path in ["a", "b c", ".h", "d/f", "d/e/g", "-x", "--", "ä ö", "it's"] {
        file(client, "storage", path, path);
    }
    let data = place(app, user, "storage");
    for (link, target) in [("link", "d"), ("dangling", "nowhere"), ("d/up", "..")] {
        std::os::unix::fs::symlink(target, data.join(link)).expect("linked");
    }
}

/// Runs `rm` and returns its results and the files that are left.
fn removed(app: &TestApp, user: &str, args: &[&str]) -> (Value, Value, Value, String) {
    let client = app.as_user(user);
    fill(app, user);
    let arguments = json!({"zone": "storage", "cmd": "rm", "args": args});
    let body = client.call("shed_exec", &arguments).body;
    let left = output(&client, "storage", "find", &["."]);
    let mut left: Vec<&str> = left.lines().collect();
    left.sort_unstable();
    let data = &body["data"];
    let answer = |name| data[name].clone();
    let said = (answer("returncode"), answer("stdout"), answer("stderr"));
    let refused = body["error"]["message"].clone();
    (said.0, said.1, json!([said.2, refused]), left.join("\n"))
}

#[test]
fn what_it_says_and_leaves_is_what_the_program_does() {
    let kept = small().env("FILESHED_BIN_DAYS", "30").app();
    let gone = small().env("FILESHED_BIN_DAYS", "0").app();
    for (at, args) in LINES.iter().enumerate() {
        let user = format!("user-{at}");
        let by_program = removed(&gone, &user, args);
        assert_eq!(removed(&kept, &user, args), by_program, "{args:?}");
    }
}

/// Zone and path of what is in the bin, what was deleted last first.
fn bin(client: &Client<'_>) -> Vec<String> {
    let rows = client.get("/page/bin").body["entries"].clone();
    let path = |row: &Value| format!("{}:{}", row["zone"], row["path"]).replace('"', "");
    rows.as_array().expect("a list").iter().map(path).collect()
}

#[test]
fn each_name_is_one_entry_of_the_bin() {
    let app = small().env("FILESHED_BIN_DAYS", "30").app();
    let ada = app.as_user("ada");
    fill(&app, "ada");
    ran(&ada, "storage", "rm", &["-r", "d/", "link", "a", "*c"]);
    assert_eq!(
        bin(&ada),
        ["storage:b c", "storage:a", "storage:link", "storage:d"]
    );
    let restored = json!({"zone": "storage", "path": "d", "restore": true});
    done(&ada, "shed_delete", &restored);
    assert_eq!(output(&ada, "storage", "cat", &["d/e/g"]), "d/e/g");
    // The way through a link is that of the kernel.
    let data = place(&app, "ada", "storage");
    std::os::unix::fs::symlink("d/e", data.join("far")).expect("linked");
    file(&ada, "storage", "d/x", "below");
    ran(&ada, "storage", "rm", &["d/up/it's", "far/g"]);
    assert_eq!(bin(&ada)[..2], ["storage:d/e/g", "storage:it's"]);
    // In a versioned zone, the history has the removed file.
    file(&ada, "documents", "a", "text");
    ran(&ada, "documents", "rm", &["a"]);
    assert_eq!(bin(&ada)[0], "storage:d/e/g");
    let back = ["checkout", "HEAD~1", "--", "a"];
    ran(&ada, "documents", "git", &back);
}

#[test]
fn what_goes_into_the_bin_still_counts() {
    let app = small().env("FILESHED_BIN_DAYS", "30").app();
    let ada = app.as_user("ada");
    file(&ada, "storage", "a", "ten bytes.");
    let before = done(&ada, "shed_stats", &json!({}));
    ran(&ada, "storage", "rm", &["a"]);
    let after = done(&ada, "shed_stats", &json!({}));
    assert_eq!(after["bin"]["size_bytes"], 10);
    assert_eq!(after["total"], before["total"]);
}
