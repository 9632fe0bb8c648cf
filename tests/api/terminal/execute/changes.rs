//! Changes by lines of the shell: versions, the quota, and names that a line may not create.

use fileshed_test_support::on_disk::{Repository, tree};
use fileshed_test_support::{Client, Server, TestApp, wait_until};
use serde_json::{Value, json};

use super::{execute, input, kill, last, ran, ran_with, started, status, stdout, written};

#[test]
fn what_a_line_does_in_documents_is_one_commit() {
    let server = TestApp::start();
    let client = server.client();
    let home = server.data().join("shared");
    let line = "mkdir notes && for n in 1 2 3; do echo $n > notes/$n.txt; done; sed -i s/2/two/ notes/2.txt";
    let answer = ran_with(&client, &json!({"command": line, "cwd": "/documents"}));
    assert_eq!(answer["exit_code"], 0, "{answer}");
    let repository = Repository::of(&home);
    let commits = repository.commits();
    let last = repository.text(&["log", "-1", "--format=%s"]);
    assert!(last.starts_with("mkdir notes"), "{last}");
    let changed = repository.text(&["show", "--format=", "--name-status", "HEAD"]);
    assert_eq!(changed, "A\tnotes/1.txt\nA\tnotes/2.txt\nA\tnotes/3.txt");
    assert_eq!(repository.text(&["show", "HEAD:notes/2.txt"]), "two");
    let read = ran_with(
        &client,
        &json!({"command": "cat notes/*", "cwd": "/documents"}),
    );
    assert_eq!(stdout(&read), "1\ntwo\n3\n", "{read}");
    assert_eq!(
        repository.commits(),
        commits,
        "who only reads commits nothing"
    );
    // Changes of a line that was killed are committed all the same.
    let body = json!({"command": "echo half > half.txt; sleep 600", "cwd": "/documents"});
    let id = execute(&client, "?wait=0", &body).body["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let half = home.join("Documents/data/half.txt");
    wait_until("half of it is written", || {
        std::fs::read_to_string(&half).is_ok_and(|text| text == "half\n")
    });
    assert_eq!(kill(&client, &id, "?force=true").body["status"], "killed");
    let changed = repository.text(&["show", "--format=", "--name-status", "HEAD"]);
    assert_eq!(changed, "A\thalf.txt");
}

/// Runs a line in `/storage` and returns its output.
fn line(client: &Client<'_>, line: &str) -> String {
    let answer = ran_with(client, &json!({"command": line, "cwd": "/storage"}));
    assert_eq!(answer["exit_code"], 0, "{answer}");
    stdout(&answer)
}

fn files(client: &Client<'_>) -> String {
    line(client, "find . -type f | sort")
}

/// Returns the last change of the storage.
fn last_change(client: &Client<'_>) -> Value {
    let listed = client.call("shed_history", &json!({"path": "storage", "limit": 1}));
    listed.data()["changes"][0].clone()
}

#[test]
fn what_a_line_does_in_storage_is_one_change_that_can_be_undone() {
    let server = TestApp::start();
    let client = server.client();
    line(&client, "mkdir old && echo a > old/a.md && echo b > b.md");
    assert_eq!(
        last_change(&client)["files"],
        json!(["storage/b.md created", "storage/old/a.md created"])
    );
    let before = files(&client);
    line(
        &client,
        "mkdir -p new/deep && echo c > new/deep/c.md && mv b.md old/b.md && touch old/empty",
    );
    let made = last_change(&client);
    assert_eq!(
        made["files"],
        json!([
            "storage/old/b.md moved",
            "storage/new/deep/c.md created",
            "storage/old/empty created"
        ])
    );
    client
        .call("shed_undo", &json!({"change": made["change"]}))
        .data();
    assert_eq!(files(&client), before);
    // Content that a program replaced is gone, so nothing is taken back, unless a part is enough.
    line(&client, "echo A > old/a.md; echo d > d.md");
    let replaced = json!({"change": last_change(&client)["change"]});
    let refused = client.call("shed_undo", &replaced);
    refused.refused(404, "FILE_NOT_FOUND");
    assert!(
        refused.text.contains("`storage/old/a.md` was not kept"),
        "{}",
        refused.text
    );
    let part = json!({"change": replaced["change"], "partial": true});
    client.call("shed_undo", &part).data();
    assert_eq!(files(&client), before);
    // A change that made more files than one change lists is not passed over.
    line(
        &client,
        "mkdir many && cd many && seq 1 5000 | split -l 1 -a 4",
    );
    assert_eq!(last_change(&client)["files"], json!(["storage changed"]));
    let more = json!({"change": last_change(&client)["change"]});
    client
        .call("shed_undo", &more)
        .refused(404, "FILE_NOT_FOUND");
    // The files of a repository belong together: git undoes its own changes.
    line(
        &client,
        "git init -q repo && cd repo && echo e > e.md && git add e.md && git -c user.name=a -c user.email=a@b commit -qm e",
    );
    assert_eq!(
        last_change(&client)["files"],
        json!(["storage/repo/e.md created"])
    );
    line(&client, "cd repo && echo f > f.md && git add f.md");
    assert_eq!(
        last_change(&client)["files"],
        json!(["storage/repo/f.md created"])
    );
}

#[test]
fn an_undo_in_a_repository_of_the_user_leaves_git_as_it_is() {
    let server = TestApp::start();
    let client = server.client();
    let place = server.data().join("shared/Storage/data/repo");
    line(
        &client,
        "git init -q repo && cd repo && echo old > a.md && git add a.md && git -c user.name=a -c user.email=a@b commit -qm a",
    );
    let undo = || {
        let change = last_change(&client)["change"].clone();
        client.call("shed_undo", &json!({"change": change})).data();
    };
    let expect_sound = || {
        let said = line(&client, "cd repo && git fsck --strict 2>&1");
        assert_eq!(said, "");
    };
    let git = tree(&place.join(".git"));
    assert!(git.contains_key("HEAD") && git.contains_key("index"));

    let edit = json!({"zone": "storage", "path": "repo/a.md", "content": "new\n"});
    client.call("shed_create_file", &edit).data();
    undo();
    assert_eq!(line(&client, "cat repo/a.md"), "old\n");
    line(&client, "echo b > repo/b.md && mv repo/a.md repo/c.md");
    undo();
    assert_eq!(line(&client, "ls repo"), "a.md\n");
    assert!(tree(&place.join(".git")) == git);
    expect_sound();

    // A file that git knows by now goes, and git still knows it.
    line(&client, "cd repo && echo b > b.md && git add b.md");
    let git = tree(&place.join(".git"));
    undo();
    assert_eq!(line(&client, "ls repo"), "a.md\n");
    assert!(tree(&place.join(".git")) == git);
    expect_sound();

    let whole = tree(&place);
    let remove = json!({"zone": "storage", "cmd": "rm", "args": ["-rf", "repo"]});
    client.call("shed_exec", &remove).data();
    assert!(!place.exists());
    undo();
    assert!(tree(&place) == whole);
    assert!(tree(&place.join(".git")) == git);
    expect_sound();
}

#[test]
fn files_that_a_line_moves_come_back_and_those_of_others_stay() {
    let server = TestApp::start();
    let client = server.client();
    line(&client, "mkdir old && echo a > old/a.md && echo b > b.md");
    let before = files(&client);
    // A file that was moved is not lost, whatever has its name and its inode now.
    line(
        &client,
        "mkdir kept && mv b.md kept/b.md && echo new > b.md",
    );
    let turned = last_change(&client);
    assert_eq!(
        turned["files"],
        json!(["storage/kept/b.md moved", "storage/b.md created"])
    );
    let change = json!({"change": turned["change"]});
    client.call("shed_undo", &change).data();
    assert_eq!(files(&client), before);
    line(
        &client,
        "mv b.md c.md && mv old/a.md b.md && mkdir old/new && touch old/new/x && find old/new/x -delete",
    );
    let turned = last_change(&client);
    assert_eq!(
        turned["files"],
        json!([
            "storage/c.md moved",
            "storage/b.md moved",
            "storage/old/new created"
        ])
    );
    let change = json!({"change": turned["change"]});
    client.call("shed_undo", &change).data();
    assert_eq!(
        (files(&client), line(&client, "cat b.md old/a.md")),
        (before.clone(), "b\na\n".to_owned())
    );
    line(&client, "find b.md -delete; echo other > c.md");
    let removed = last_change(&client);
    assert_eq!(
        removed["files"],
        json!(["storage/b.md deleted", "storage/c.md created"])
    );
    client
        .call("shed_undo", &json!({"change": removed["change"]}))
        .refused(404, "FILE_NOT_FOUND");
    line(&client, "rm c.md; echo b > b.md");
    assert_eq!(files(&client), before);
    // A directory that another call made meanwhile is not the line's.
    let started = json!({"command": "cat; echo x > mine.md", "cwd": "/storage"});
    let id = execute(&client, "?wait=0", &started).body["id"].clone();
    let theirs = json!({"zone": "storage", "old_path": "b.md", "new_path": "2026/b.md"});
    client.call("shed_rename", &theirs).data();
    let id = id.as_str().expect("an id");
    assert_eq!(input(&client, id, r"\x04").status, 200);
    wait_until("the line ends", || {
        status(&client, id, "").body["status"] == "done"
    });
    let mine = last_change(&client);
    assert_eq!(mine["files"], json!(["storage/mine.md created"]));
    client
        .call("shed_undo", &json!({"change": mine["change"]}))
        .data();
    assert!(files(&client).contains("2026/b.md"));
    let back = json!({"zone": "storage", "old_path": "2026/b.md", "new_path": "b.md"});
    client.call("shed_rename", &back).data();
    line(&client, "rmdir 2026");
}

#[test]
fn lines_one_after_another_commit_what_each_of_them_changed() {
    let server = TestApp::start();
    let client = server.client();
    let home = server.data().join("shared");
    let repository = Repository::of(&home);
    for (line, changed) in [
        (
            "mkdir -p a/b && echo 1 > a/b/one && echo 2 > a/two",
            "A\ta/b/one\nA\ta/two",
        ),
        ("echo more >> a/two", "M\ta/two"),
        ("exec 3<>a/two; printf X >&3", "M\ta/two"),
        ("mv a c", "D\ta/b/one\nD\ta/two\nA\tc/b/one\nA\tc/two"),
        ("echo within > c/b/one", "M\tc/b/one"),
        (
            "rm -r c/b && mkdir c/b && echo 3 > c/b/three",
            "D\tc/b/one\nA\tc/b/three",
        ),
        ("chmod +x c/two", "M\tc/two"),
        ("rm -r c && echo file > c", "A\tc\nD\tc/b/three\nD\tc/two"),
    ] {
        let answer = ran_with(&client, &json!({"command": line, "cwd": "/documents"}));
        assert_eq!(answer["exit_code"], 0, "{answer}");
        let shown = ["show", "--format=", "--no-renames", "--name-status", "HEAD"];
        assert_eq!(repository.text(&shown), changed, "{line}");
    }
    // Changes made without the server are committed with the next line in the zone, whatever the line does.
    let data = home.join("Documents/data");
    std::fs::write(data.join("besides.txt"), "x").expect("written");
    ran_with(&client, &json!({"command": "true", "cwd": "/documents"}));
    let shown = repository.text(&["show", "--format=", "--name-status", "HEAD"]);
    assert_eq!(shown, "A\tbesides.txt");
}

#[test]
fn what_does_not_fit_stays_and_the_output_says_so() {
    let app = TestApp::with().env("FILESHED_QUOTA_PER_USER_MB", "8").app();
    let client = app.client();
    ran(&client, "echo kept > kept.txt");
    let answer = ran(
        &client,
        "head -c 20000000 /dev/urandom > big.bin; echo written",
    );
    let process = last(&client);
    let entry = answer["output"]
        .as_array()
        .and_then(|output| output.last())
        .expect("entries");
    assert_eq!(entry["type"], "stderr", "{answer}");
    let said = written(&answer, "stderr");
    assert!(said.contains("the files that it wrote stay"), "{said}");
    let call = |operation: &str, path: &str| {
        let arguments = json!({"zone": "storage", "path": path, "content": "x"});
        client.call(operation, &arguments)
    };
    call("shed_create_file", "more.txt").refused(507, "QUOTA_EXCEEDED");
    assert_eq!(
        stdout(&ran(&client, "ls && rm big.bin")),
        "big.bin\nkept.txt\n"
    );
    call("shed_create_file", "more.txt").data();
    let log = client.get(&format!(
        "/terminal/files/read?path={}",
        process["log_path"].as_str().expect("a path")
    ));
    assert!(
        log.body["content"]
            .as_str()
            .expect("text")
            .contains("\"type\":\"stderr\"")
    );
}

#[test]
fn variables_that_steer_programs_are_refused() {
    let app = TestApp::start();
    let client = app.client();
    for name in [
        "LD_PRELOAD",
        "GIT_DIR",
        "PATH",
        "HOME",
        "https_proxy",
        "BASH_ENV",
        "a b",
    ] {
        let body = json!({"command": "true", "env": {name: "x"}});
        let answer = execute(&client, "", &body);
        assert!(
            (400..404).contains(&answer.status),
            "{name}: {} {}",
            answer.status,
            answer.text
        );
        let detail = answer.body["detail"].as_str().expect("text");
        assert!(detail.contains(name), "{detail}");
    }
    assert!(
        super::listed(&client).is_empty(),
        "what was refused leaves nothing"
    );
    let logs = client.get("/terminal/files/list?directory=/logs");
    assert_eq!(logs.body["entries"], json!([]));
}

#[test]
fn a_credential_that_only_reads_starts_and_ends_nothing() {
    let server = TestApp::with_key();
    let made = server.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let reader = server.with_token(made.stdout.trim());
    let refused = execute(&reader, "", &json!({"command": "true"}));
    assert_eq!(refused.status, 403, "{}", refused.text);
    let made = server.run(&["token", "create", "--user", "ada"]);
    let writer = server.with_token(made.stdout.trim());
    let id = started(&writer, "sleep 600");
    assert_eq!(status(&reader, &id, "").body["status"], "running");
    assert_eq!(super::input(&reader, &id, "x").status, 403);
    assert_eq!(kill(&reader, &id, "").status, 403);
    assert_eq!(kill(&writer, &id, "").body["status"], "killed");
}

#[test]
fn a_name_that_some_system_cannot_hold_is_another_when_the_line_is_over() {
    let server = Server::start();
    let client = server.client();
    let shared = server.data().join("shared");
    for zone in ["storage", "documents"] {
        let data = shared.join(match zone {
            "storage" => "Storage/data",
            _ => "Documents/data",
        });
        let cwd = format!("/{zone}");
        let run = |line: &str| ran_with(&client, &json!({"command": line, "cwd": cwd}));
        // It has the name that it was given while the line runs.
        let answer = run(
            "mkdir -p NUL/d && echo x > 'NUL/d/com1.txt' && cat NUL/d/com1.txt; touch 'x.' 'y ' fine",
        );
        assert_eq!(stdout(&answer), "x\n", "{answer}");
        let said = written(&answer, "stderr");
        for name in [
            "`NUL` is now `_NUL`: its name is a device name on Windows",
            "`NUL/d/com1.txt` is now `_NUL/d/_com1.txt`: its name is a device name on Windows",
            "`x.` is now `x`: its name ends with a dot or a blank",
            "`y ` is now `y`: its name ends with a dot or a blank",
        ] {
            assert!(said.contains(&format!("fileshed: {name}\n")), "{said}");
        }
        let found = run("find . -type f | sort");
        let files = "./_NUL/d/_com1.txt\n./fine\n./x\n./y\n";
        assert_eq!(stdout(&found).replace("./.git\n", ""), files, "{zone}");
        // A file that had such a name before the line began keeps it, even if the line changes or moves the
        // file.
        std::fs::write(data.join("aux"), "old").expect("written");
        let answer = run("echo new > aux; mv aux d; mkdir e; mv d e/aux");
        assert_eq!(written(&answer, "stderr"), "", "{answer}");
        let kept = std::fs::read_to_string(data.join("e/aux"));
        assert_eq!(kept.expect("there"), "new\n");
    }
    let repository = Repository::of(&shared);
    let versioned = repository.text(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(versioned, "_NUL/d/_com1.txt\ne/aux\nfine\nx\ny");
}

/// A line that runs, and changes a file when a file of this name comes.
fn waiting(client: &Client<'_>, name: &str, change: &str) -> String {
    let line = format!("echo begun; while [ ! -e {name} ]; do sleep 0.05; done; {change}");
    let id = started(client, &line);
    // Locks that exist now existed when the line began.
    wait_until("the line runs", || {
        stdout(&status(client, &id, "").body) == "begun\n"
    });
    id
}

#[test]
fn a_file_that_was_locked_when_a_line_began_is_as_it_was() {
    let app = TestApp::start();
    let (ours, theirs) = (app.client().chat("a"), app.client().chat("b"));
    ran(&ours, "echo old > a.md");
    let file = json!({"path": "a.md"});
    theirs.data_in("storage", "shed_lockedit_open", file.clone());
    let answer = ran(&ours, "echo new > a.md");
    let said = written(&answer, "stderr");
    assert!(said.contains("`a.md` is open for a locked edit"), "{said}");
    assert_eq!(stdout(&ran(&ours, "cat a.md")), "old\n");
    theirs.data_in("storage", "shed_lockedit_cancel", file);
}

/// A saved edit is not reverted with the changes of a line.
#[test]
fn an_edit_that_is_saved_while_a_line_runs_stays_saved() {
    let app = TestApp::start();
    let (ours, theirs) = (app.client().chat("a"), app.client().chat("b"));
    ran(&ours, "echo old > a.md; echo old > b.md");
    for path in ["a.md", "b.md"] {
        let file = json!({"path": path});
        theirs.data_in("storage", "shed_lockedit_open", file);
    }
    let id = waiting(&ours, "go", "echo line > b.md");
    let saved = json!({"path": "a.md", "content": "saved\n"});
    theirs.data_in("storage", "shed_lockedit_overwrite", saved.clone());
    theirs.data_in("storage", "shed_lockedit_save", json!({"path": "a.md"}));
    theirs.data_in("storage", "shed_lockedit_cancel", json!({"path": "b.md"}));
    ran(&ours, "touch go");
    let ended = status(&ours, &id, "?wait=60").body;
    assert_eq!(written(&ended, "stderr"), "", "{ended}");
    assert_eq!(stdout(&ran(&ours, "cat a.md b.md")), "saved\nline\n");
}

/// The line's change is kept, and the editor is told before it is replaced.
#[test]
fn what_a_line_changes_under_a_later_lock_is_not_lost() {
    let app = TestApp::start();
    let (ours, theirs) = (app.client().chat("a"), app.client().chat("b"));
    ran(&ours, "echo old > a.md");
    let id = waiting(&ours, "go", "echo line > a.md");
    theirs.data_in("storage", "shed_lockedit_open", json!({"path": "a.md"}));
    let edited = json!({"path": "a.md", "content": "edited\n"});
    theirs.data_in("storage", "shed_lockedit_overwrite", edited);
    // A second line would find the file locked, and undo what the first one does to it meanwhile.
    ours.data_in(
        "storage",
        "shed_create_file",
        json!({"path": "go", "content": ""}),
    );
    let ended = status(&ours, &id, "?wait=60").body;
    assert_eq!(written(&ended, "stderr"), "", "{ended}");
    assert_eq!(stdout(&ran(&ours, "cat a.md")), "line\n");
    let save = json!({"zone": "storage", "path": "a.md"});
    let save = theirs.call("shed_lockedit_save", &save);
    save.refused(412, "PRECONDITION_FAILED");
    assert_eq!(stdout(&ran(&ours, "cat a.md")), "line\n");
}
