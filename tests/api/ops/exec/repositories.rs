//! Repositories in storage are their owner's: git runs with those that name nothing to start.

use serde_json::{Value, json};

use crate::ops::stage::{file, installed, output, place, ran, small};
use fileshed_test_support::{Client, TestApp};

/// A repository with a commit, in `mine`.
fn repository(client: &Client<'_>) -> bool {
    if !installed(client, "git") {
        return false;
    }
    output(client, "storage", "git", &["init", "mine"]);
    file(client, "storage", "mine/a.txt", "x\n");
    git(client, &["add", "a.txt"]);
    git(client, &["commit", "-m", "First"]);
    true
}

fn git(client: &Client<'_>, args: &[&str]) -> String {
    let args: Vec<&str> = ["-C", "mine"].iter().chain(args).copied().collect();
    output(client, "storage", "git", &args)
}

fn refusal(client: &Client<'_>, args: &[&str]) -> Value {
    let arguments = json!({"zone": "storage", "cmd": "git", "args": args});
    let answer = client.call("shed_exec", &arguments);
    assert_eq!(
        answer.code(),
        "COMMAND_FORBIDDEN",
        "{args:?} {}",
        answer.text
    );
    answer.body["error"].clone()
}

#[test]
fn honest_repositories_work() {
    let server = TestApp::with().env("FILESHED_NETWORK_MODE", "all").app();
    let client = server.client();
    if !repository(&client) {
        return;
    }
    for args in [
        &["remote", "add", "origin", "https://example.org/a.git"][..],
        &["remote", "set-url", "origin", "https://example.org/b.git"],
        &["branch", "topic"],
        &["checkout", "--track", "-b", "more", "topic"],
        &["branch", "-m", "most"],
        &["remote", "-v"],
        &["status"],
        &["log", "-p", "--stat"],
        &["reflog", "-p"],
        &["reflog"],
        &["reflog", "show", "HEAD"],
        &["blame", "a.txt"],
        &["stash", "list"],
        &["show", "HEAD"],
        &["diff", "HEAD"],
    ] {
        git(&client, args);
    }
    assert!(git(&client, &["blame", "-s", "a.txt"]).contains('x'));
    // Attributes name drivers that nothing defines.
    file(
        &client,
        "storage",
        "mine/.gitattributes",
        "* diff=x filter=x merge=x\n",
    );
    git(&client, &["add", "."]);
    assert!(git(&client, &["diff", "--cached"]).contains("+* diff=x"));
}

#[test]
fn a_repository_that_names_programs_or_ways_out_is_refused() {
    let server = small().app();
    let client = server.as_user("alice");
    if !repository(&client) {
        return;
    }
    let config = place(&server, "alice", "storage").join("mine/.git/config");
    let good = std::fs::read_to_string(&config).unwrap();
    file(&client, "storage", "mine/.gitattributes", "* diff=x\n");
    for (more, setting) in [
        (
            "[diff \"x\"]\n\ttextconv = /lib64/ld-linux-x86-64.so.2\n",
            "diff.x.textconv",
        ),
        ("[diff \"x\"]\n\tcommand = a\n", "diff.x.command"),
        ("[filter \"x\"]\n\tclean = a\n", "filter.x.clean"),
        ("[core]\n\tfsmonitor = a\n", "core.fsmonitor"),
        (
            "[http \"https://example.org/\"]\n\tproxy =\n",
            "http.https://example.org/.proxy",
        ),
        ("[remote \"origin\"]\n\tproxy = a\n", "remote.origin.proxy"),
        (
            "[url \"https://127.0.0.1/\"]\n\tinsteadOf = https://\n",
            "url.https://127.0.0.1/.insteadof",
        ),
        ("[include]\n\tpath = ../x\n", "include.path"),
        ("[credential]\n\thelper = a\n", "credential.helper"),
        ("[alias]\n\tx = log\n", "alias.x"),
        ("[core]\n\tworktree = /\n", "core.worktree"),
    ] {
        std::fs::write(&config, format!("{good}{more}")).unwrap();
        for args in [
            &["-C", "mine", "reflog", "-p"][..],
            &["-C", "mine", "blame", "a.txt"],
            &["-C", "./mine/", "status"],
            &["-C", "mine", "add", "."],
        ] {
            let error = refusal(&client, args);
            assert_eq!(error["details"]["path"], "mine/.git/config", "{error}");
            assert_eq!(error["details"]["setting"], setting, "{error}");
            assert!(error["hint"].as_str().unwrap().contains(setting), "{error}");
        }
    }
    std::fs::write(&config, &good).unwrap();
    git(&client, &["status"]);
    // Another program of the zone is not concerned.
    std::fs::write(&config, "[alias]\n\tx = log\n").unwrap();
    output(&client, "storage", "cat", &["mine/a.txt"]);
    output(&client, "storage", "git", &["init", "other"]);
}

#[test]
fn every_way_into_a_repository_is_looked_at() {
    let server = small().app();
    let client = server.as_user("alice");
    if !repository(&client) {
        return;
    }
    let zone = place(&server, "alice", "storage");
    let write = |path: &str, content: &[u8]| {
        let path = zone.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    let bad = b"[alias]\n\tx = log\n";
    for (path, content, named) in [
        (
            "mine/.git/config.worktree",
            &bad[..],
            "mine/.git/config.worktree",
        ),
        ("mine/.git/commondir", b"../../x\n", "mine/.git/commondir"),
        (
            "mine/.git/objects/info/alternates",
            b"/x\n",
            "mine/.git/objects/info/alternates",
        ),
        (
            "mine/.git/modules/s/config",
            bad,
            "mine/.git/modules/s/config",
        ),
        ("mine/lib/.git/config", bad, "mine/lib/.git/config"),
        ("mine/lib/.git", b"gitdir: ../../x\n", "x/config"),
        ("mine/lib/.git", b"gitdir: /etc\n", "mine/lib/.git"),
        ("mine/lib/.git", b"gitdir: ../../../x\n", "mine/lib/.git"),
        ("mine/lib/.git", b"x\n", "mine/lib/.git"),
        ("mine/.git/config", b"[core\n", "mine/.git/config"),
    ] {
        let before = std::fs::read(zone.join(path)).ok();
        write("mine/.git/modules/s/HEAD", b"ref: refs/heads/main\n");
        write("x/config", bad);
        write(path, content);
        let error = refusal(&client, &["-C", "mine", "status"]);
        assert_eq!(error["details"]["path"], named, "{path} {error}");
        match before {
            Some(content) => write(path, &content),
            None => std::fs::remove_file(zone.join(path)).unwrap(),
        }
        let _ = std::fs::remove_dir_all(zone.join("mine/lib"));
        let _ = std::fs::remove_dir_all(zone.join("x"));
    }
    // From a folder inside, from above, and in a name that is no text.
    write("mine/d/e/f", b"");
    write("mine/.git/config.worktree", bad);
    refusal(&client, &["-C", "mine/d/e", "status"]);
    std::fs::remove_file(zone.join("mine/.git/config.worktree")).unwrap();
    let strange = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff");
    let strange = zone.join("mine").join(strange).join(".git");
    std::fs::create_dir_all(&strange).unwrap();
    std::fs::write(strange.join("config"), bad).unwrap();
    refusal(&client, &["-C", "mine", "status"]);
}

/// An archive may bring a repository into a zone whose own one the server keeps.
#[test]
fn a_repository_among_documents_is_looked_at() {
    let server = small().app();
    let client = server.as_user("alice");
    if !installed(&client, "git") {
        return;
    }
    file(&client, "documents", "a.md", "x\n");
    ran(&client, "documents", "git", &["status"]);
    let planted = place(&server, "alice", "documents").join("lib/.git/config");
    std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
    std::fs::write(&planted, "[core]\n\tfsmonitor = a\n").unwrap();
    for args in [
        &["status"][..],
        &["diff"],
        &["add", "."],
        &["-C", "lib", "status"],
    ] {
        let arguments = json!({"zone": "documents", "cmd": "git", "args": args});
        let answer = client.call("shed_exec", &arguments);
        assert_eq!(
            answer.code(),
            "COMMAND_FORBIDDEN",
            "{args:?} {}",
            answer.text
        );
    }
    // History is read without a look at the files.
    output(&client, "documents", "git", &["log", "-p"]);
}
