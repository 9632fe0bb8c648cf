//! Treatment of input by a terminal.

use fileshed_test_support::commands::{kill, running};
use fileshed_test_support::wait_until;
use serde_json::json;

use super::{setup, shell, start};

#[test]
fn lines_are_done_in_the_home_with_pipes_and_loops() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    shell.type_in("echo one > a; echo two > b; ls | wc -l\n");
    let shown = shell.until("\n2\r\n");
    assert!(shown.contains("ls | wc -l"), "echo: {shown:?}");
    shell.type_in("for i in 1 2 3; do echo \"<$i>\"; done && pwd\n");
    shell.until("<1>\r\n<2>\r\n<3>\r\n/storage\r\n");
    let read = app
        .as_user("ada")
        .get("/terminal/files/list?directory=/storage");
    assert!(read.text.contains("\"a\""), "{}", read.text);
}

#[test]
fn control_characters_are_signals() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    start(&mut shell, "cat");
    shell.type_in("still here\n");
    shell.until("still here\r\nstill here\r\n");
    shell.type_in("\x03");
    shell.until("$ ");
    shell.type_in("echo after $?\n");
    shell.until("\nafter 130\r\n");
    start(&mut shell, "cat");
    shell.type_in("end\n\x04");
    shell.until("\nend\r\n");
    shell.until("$ ");
    shell.type_in("echo after''wards\n");
    shell.until("\nafterwards\r\n");
}

#[test]
fn jobs_are_stopped_and_continued() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    start(&mut shell, "cat");
    shell.type_in("first\n");
    shell.until("first\r\nfirst\r\n");
    shell.type_in("\x1a");
    shell.until("Stopped");
    shell.until("$ ");
    start(&mut shell, "fg");
    shell.until("cat\r\n");
    shell.type_in("second\n");
    shell.until("second\r\nsecond\r\n");
    shell.type_in("\x03");
    shell.until("$ ");
    shell.type_in("echo do''ne\n");
    shell.until("\ndone\r\n");
}

#[test]
fn a_size_is_the_terminals() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    shell.say(&json!({"type": "resize", "cols": 101, "rows": 37}));
    // A ping gets no answer, and neither does an unknown message.
    shell.say(&json!({"type": "ping"}));
    shell.say(&json!({"type": "later", "than": "this"}));
    shell.type_in("stty size\n");
    shell.until("\n37 101\r\n");
    for odd in [
        json!({"type": "resize", "cols": 0, "rows": 0}),
        json!({"type": "resize", "cols": -1, "rows": "many"}),
        json!({"type": "resize"}),
        json!([1]),
    ] {
        shell.say(&odd);
    }
    shell.type_in("stty size\n");
    shell.until("\n37 101\r\n");
}

#[test]
fn bytes_are_bytes() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    shell.type_in(
        "stty raw -echo; printf 'go''ing\\n'; head -c 256 | od -An -v -tx1 | tr -d ' \\n'; stty sane\n",
    );
    shell.until("\ngoing\n");
    let all: Vec<u8> = (0..=255).collect();
    shell.type_bytes(&all);
    let hex: Vec<String> = all.iter().map(|byte| format!("{byte:02x}")).collect();
    shell.until(&hex.concat());
    shell.type_in("printf '\\377\\376\\000\\001' ; echo x''y\n");
    shell.until("xy\r\n");
}

#[test]
fn what_is_pasted_arrives_whole() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    let lines: Vec<String> = (0..20_000)
        .map(|line| format!("line {line} of a long text\n"))
        .collect();
    let text = lines.concat();
    start(&mut shell, "stty -echo; echo re''ads; wc -c; stty echo");
    shell.until("reads\r\n");
    shell.type_in(&text);
    shell.type_in("\x04");
    shell.until(&format!("{}\r\n", text.len()));
}

#[test]
fn documents_are_committed_when_the_shell_falls_quiet() {
    let app = setup().start();
    if !app.has_tree() {
        return;
    }
    let (_, mut shell) = shell(&app, "ada", "c1");
    shell.type_in("echo hello > /documents/a.txt; echo wri''tten\n");
    shell.until("\nwritten\r\n");
    let client = app.as_user("ada");
    let call = json!({"zone": "documents", "cmd": "git", "args": ["log", "--format=%an: %s", "--name-only"]});
    let mut log = String::new();
    wait_until("a commit", || {
        log = client.call("shed_exec", &call).text;
        log.contains("a.txt")
    });
    assert!(log.contains("Work in a terminal"), "{log}");
    // The shell is still there.
    shell.type_in("cat /documents/a.txt\n");
    shell.until("\nhello\r\n");
}

#[test]
fn a_shell_goes_on_while_a_command_has_documents() {
    let app = setup().start();
    if !app.has_tree() {
        return;
    }
    let client = app.as_user("ada");
    let file = json!({"zone": "documents", "path": "slow", "content": "x"});
    client.call("shed_create_file", &file).data();
    let (_, mut shell) = shell(&app, "ada", "c1");
    let args = json!(["-n", "99971", "slow"]);
    let line = json!({"zone": "documents", "cmd": "shred", "args": args, "timeout": 300});
    std::thread::scope(|scope| {
        let command = scope.spawn(|| client.call("shed_exec", &line));
        wait_until("the command runs", || !running("99971").is_empty());
        shell.type_in("echo hello > /documents/a.txt; echo wri''tten\n");
        shell.until("\nwritten\r\n");
        shell.type_in("cat /documents/a.txt\n");
        shell.until("\nhello\r\n");
        kill("99971");
        command.join().expect("answered").data();
    });
    // The first commit, by the command or by the shell, contains the file.
    let call = json!({"zone": "documents", "cmd": "git", "args": ["log", "--name-only"]});
    wait_until("a commit", || {
        client.call("shed_exec", &call).text.contains("a.txt")
    });
}

#[test]
fn what_is_undone_when_the_shell_falls_quiet_is_said_there() {
    let app = setup().start();
    if !app.has_tree() {
        return;
    }
    let client = app.as_user("ada");
    let place = json!({"zone": "documents", "path": "a.txt"});
    let file = json!({"zone": "documents", "path": "a.txt", "content": "before\n"});
    client.call("shed_create_file", &file).data();
    client.call("shed_lockedit_open", &place).data();
    let (_, mut shell) = shell(&app, "ada", "c1");
    shell.type_in("echo after > /documents/a.txt\n");
    shell.until("`a.txt` is open for a locked edit: its changes were undone");
    // The shell is still there.
    shell.type_in("cat /documents/a.txt\n");
    shell.until("\nbefore\r\n");
}

#[test]
fn a_file_that_is_removed_in_a_shell_is_in_the_bin() {
    let app = setup().start();
    let client = app.as_user("ada");
    for path in ["a", "b"] {
        let file = json!({"zone": "storage", "path": path, "content": path});
        client.call("shed_create_file", &file).data();
    }
    let (_, mut shell) = shell(&app, "ada", "c1");
    shell.type_in("rm a; echo rem''oved $?\n");
    shell.until("\nremoved 0\r\n");
    let rows = client.get("/page/bin").body["entries"].clone();
    let rows = rows.as_array().expect("entries");
    let paths: Vec<_> = rows.iter().map(|row| &row["path"]).collect();
    assert_eq!(paths, ["a"]);
    let back = json!({"zone": "storage", "path": "a", "restore": true});
    client.call("shed_delete", &back).data();
    shell.type_in("cat a b; echo\n");
    shell.until("\nab\r\n");
}
