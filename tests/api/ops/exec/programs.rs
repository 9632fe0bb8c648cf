//! Honest programs run as they are written, whatever characters they hold.

use serde_json::json;

use crate::ops::stage::{content, done, file, installed, output, ran};
use fileshed_test_support::TestApp;

#[test]
fn programs_with_characters_of_a_shell() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "sales.csv", "a;120\nb;80\nc;300\n");
    file(&client, "storage", "x.json", "[{\"n\":1},{\"n\":5}]");
    file(
        &client,
        "storage",
        "notes.txt",
        "storage /x a|b\n$HOME `id` & co\n",
    );
    for (cmd, args, expected) in [
        (
            "awk",
            &[
                "-F;",
                "$2 > 100 {s += $2; n++} END {print n; print s}",
                "sales.csv",
            ][..],
            "2\n420\n",
        ),
        (
            "awk",
            &[
                "-v",
                "m=90",
                "-F;",
                "$2 < m || NR == 1 {print $1 \"|\" $2}",
                "sales.csv",
            ],
            "a|120\nb|80\n",
        ),
        (
            "sed",
            &["s/;/|/g;s/a/\\&/", "sales.csv"],
            "&|120\nb|80\nc|300\n",
        ),
        ("sed", &["-n", "/b/,$p", "sales.csv"], "b;80\nc;300\n"),
        (
            "sed",
            &["-E", "s#([a-z]);([0-9]+)#\\2>\\1#", "sales.csv"],
            "120>a\n80>b\n300>c\n",
        ),
        (
            "jq",
            &["-c", "[.[] | select(.n > 2) | .n] | add", "x.json"],
            "5\n",
        ),
        ("jq", &["-r", ".[0].n & 1, \"x;y\"", "x.json"], ""),
        ("grep", &["-E", "^(a|b);", "sales.csv"], "a;120\nb;80\n"),
        ("grep", &["-c", "storage", "notes.txt"], "1\n"),
        ("grep", &["-c", "/x", "notes.txt"], "1\n"),
        ("grep", &["-oF", "`id` &", "notes.txt"], "`id` &\n"),
        ("grep", &["-c", "$HOME", "notes.txt"], ""),
        ("cut", &["-d;", "-f2", "sales.csv"], "120\n80\n300\n"),
        (
            "sort",
            &["-t;", "-k2,2n", "sales.csv"],
            "b;80\na;120\nc;300\n",
        ),
        ("find", &[".", "-name", "*.csv", "-o", "-name", "x.*"], ""),
        (
            "find",
            &[".", "(", "-name", "s*", ")", "-size", "-2k"],
            "./sales.csv\n",
        ),
        ("expr", &["3", ">", "2"], "1\n"),
        ("bc", &["-q"], ""),
        (
            "sqlite3",
            &[":memory:", "SELECT 1 | 2; SELECT 3 > 2 AND 'a;b' <> '&';"],
            "3\n1\n",
        ),
    ] {
        if !installed(&client, cmd) {
            continue;
        }
        let data = ran(&client, "storage", cmd, args);
        if !expected.is_empty() {
            assert_eq!(
                (&data["stdout"], &data["returncode"]),
                (&json!(expected), &json!(0)),
                "{cmd} {args:?} {data}"
            );
        }
    }
}

/// exiftool takes U+2212 for a dash: a name that a wildcard stands for is no option to it.
#[test]
fn a_name_from_a_wildcard_is_no_option() {
    let server = TestApp::start();
    let client = server.client();
    if !installed(&client, "exiftool") {
        return;
    }
    file(&client, "storage", "\u{2212}if", "text");
    file(&client, "storage", "print STDOUT q(r),q(an)", "text");
    let data = ran(
        &client,
        "storage",
        "exiftool",
        &["-s3", "-FileName", "*if", "p*"],
    );
    let stdout = data["stdout"].as_str().unwrap();
    assert!(stdout.contains("\u{2212}if"), "{data}");
    assert!(
        !stdout.starts_with("ran") && !stdout.contains("\nran"),
        "{data}"
    );
}

#[test]
fn names_with_blanks_and_any_letters() {
    let server = TestApp::start();
    let client = server.client();
    for name in [
        "two words.txt",
        "R&D notes.txt",
        "naïve (1).txt",
        "\u{1f600}.txt",
        "it's.txt",
        "100%.txt",
        "a=b.txt",
        "#x.txt",
    ] {
        file(&client, "storage", name, name);
        assert_eq!(output(&client, "storage", "cat", &[name]), name);
        assert_eq!(
            output(&client, "storage", "wc", &["-c", name]),
            format!("{} {name}\n", name.len())
        );
        ran(&client, "storage", "cp", &[name, "copy"]);
        assert_eq!(content(&client, "storage", "copy"), name);
        let grep = output(&client, "storage", "grep", &["-lF", name, name]);
        assert_eq!(grep, format!("{name}\n"));
    }
}

/// The rules read no program that is in a file, and some awks have nothing of their own that stops it.
#[test]
fn whatever_awk_is_installed_reaches_nothing_but_its_zone() {
    let server = TestApp::start();
    let client = server.client();
    let outside = server.data().join("canary.txt");
    std::fs::write(&outside, "canary\n").unwrap();
    let outside = outside.display();
    let programs = [
        "system(\"echo started\")".to_owned(),
        "while ((\"echo started\" | getline l) > 0) print l".to_owned(),
        format!("print \"started\" | \"cat > {outside}\""),
        "print \"started\" | \"cat 1>&2\"".to_owned(),
        format!("while ((getline l < \"{outside}\") > 0) print l"),
        "while ((getline l < \"/etc/passwd\") > 0) print l".to_owned(),
        format!("print \"started\" > \"{outside}\""),
        "print \"started\" > \"made.txt\"".to_owned(),
    ];
    for program in programs {
        let text = format!("BEGIN {{ {program} }}\n");
        file(&client, "storage", "program.awk", &text);
        let line = json!({"zone": "storage", "cmd": "awk", "args": ["-f", "program.awk"]});
        let answer = client.call("shed_exec", &line);
        let ended = answer.data();
        let said = format!("{}{}", ended["stdout"], ended["stderr"]);
        assert_eq!(ended["stdout"], "", "{program}: {said}");
        assert!(!said.contains("canary\\n"), "{program}: {said}");
        let canary = std::fs::read_to_string(server.data().join("canary.txt")).unwrap();
        assert_eq!(canary, "canary\n", "{program}");
        assert_eq!(
            output(&client, "storage", "ls", &[]),
            "program.awk\n",
            "{program}: {said}"
        );
    }
    // The program does its ordinary work.
    file(&client, "storage", "a.csv", "a;1\nb;2\n");
    let sum = ["-F;", "{s += $2} END {print s}", "a.csv"];
    assert_eq!(output(&client, "storage", "awk", &sum), "3\n");
}

#[test]
fn archives_go_out_and_in() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "d/a.txt", "text");
    ran(&client, "storage", "tar", &["-cf", "d.tar", "d"]);
    assert_eq!(
        output(&client, "storage", "tar", &["-tf", "d.tar"]),
        "d/\nd/a.txt\n"
    );
    done(
        &client,
        "shed_delete",
        &json!({"zone": "storage", "path": "d"}),
    );
    output(&client, "storage", "tar", &["-xf", "d.tar"]);
    assert_eq!(content(&client, "storage", "d/a.txt"), "text");
    if installed(&client, "gzip") {
        output(&client, "storage", "tar", &["-czf", "d.tgz", "d"]);
        assert_eq!(
            output(&client, "storage", "tar", &["-tzf", "d.tgz"]),
            "d/\nd/a.txt\n"
        );
    }
}

#[test]
fn a_repository_of_ones_own_in_storage() {
    let server = TestApp::start();
    let client = server.client();
    if !installed(&client, "git") {
        return;
    }
    output(&client, "storage", "git", &["init", "mine"]);
    file(&client, "storage", "mine/a.txt", "x\n");
    output(&client, "storage", "git", &["-C", "mine", "add", "a.txt"]);
    output(
        &client,
        "storage",
        "git",
        &["-C", "mine", "commit", "-m", "First"],
    );
    let log = output(
        &client,
        "storage",
        "git",
        &["-C", "mine", "log", "--format=%s"],
    );
    assert_eq!(log, "First\n");
    // The zone itself is no repository, and none above it is found.
    let data = ran(&client, "storage", "git", &["log"]);
    assert_ne!(data["returncode"], 0, "{data}");
}
