//! Commands without a shell: plain shell syntax is refused with an explanation, and the same characters in
//! a text are text.

use serde_json::json;

use crate::ops::stage::{content, done, file, installed, output};
use fileshed_test_support::TestApp;

#[test]
fn characters_of_a_shell_are_text() {
    let server = TestApp::start();
    let client = server.client();
    for name in ["a;b.csv", "R&D; plan.txt", "it`s.md", "x$(1.txt"] {
        file(&client, "storage", name, "inside\n");
        assert_eq!(content(&client, "storage", name), "inside\n", "{name}");
        output(&client, "storage", "cp", &[name, "copy"]);
        assert_eq!(content(&client, "storage", "copy"), "inside\n", "{name}");
    }
    for (cmd, args, expected) in [
        ("echo", &["R&D"][..], "R&D\n"),
        (
            "echo",
            &["a > b && c; d | e", "<p>x</p>"],
            "a > b && c; d | e <p>x</p>\n",
        ),
        ("printf", &["%s|%s;", "a", "b"], "a|b;"),
        ("date", &["-u", "-d", "@0", "+%F | %H"], "1970-01-01 | 00\n"),
        ("seq", &["-s", "|", "3"], "1|2|3\n"),
    ] {
        assert_eq!(
            output(&client, "storage", cmd, args),
            expected,
            "{cmd} {args:?}"
        );
    }
    if installed(&client, "pandoc") {
        file(&client, "storage", "a.md", "text");
        let args = ["-s", "--metadata", "title=R&D", "a.md", "-t", "html"];
        let page = output(&client, "storage", "pandoc", &args);
        assert!(page.contains("<title>R&amp;D</title>"), "{page}");
    }
    if installed(&client, "ffmpeg") {
        let wave = [
            &b"RIFF\x34\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0"[..],
            b"data\x10\0\0\0\0\0\x01\0\x02\0\x03\0\x04\0\x05\0\x06\0\x07\0",
        ];
        let place = server.data().join("shared/Storage/data/a.wav");
        std::fs::write(place, wave.concat()).unwrap();
        let filter = "[0:a]asplit[a][b];[a][b]amix=inputs=2[c]";
        let args = [
            "-v",
            "error",
            "-i",
            "a.wav",
            "-filter_complex",
            filter,
            "-map",
            "[c]",
            "b.wav",
        ];
        output(&client, "storage", "ffmpeg", &args);
        let listed = output(&client, "storage", "ls", &["b.wav"]);
        assert_eq!(listed, "b.wav\n");
    }
}

#[test]
fn shell_syntax_is_taught() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.txt", "x\n");
    for (args, hint) in [
        (json!(["a.txt", "|", "wc", "-l"]), "stdout_file"),
        (json!("a.txt | wc -l"), "stdout_file"),
        (json!(["a.txt", ">", "b.txt"]), "stdout_file"),
        (json!(["a.txt", "2>/dev/null"]), "args=[\"a.txt\"]"),
        (json!(["a.txt", "&&", "ls"]), "then shed_exec("),
        (json!(["a.txt", ";", "ls"]), "then shed_exec("),
        (json!(["$(ls)"]), "substituted"),
    ] {
        let arguments = json!({"zone": "storage", "cmd": "cat", "args": args});
        let answer = client.call("shed_exec", &arguments);
        answer.refused(403, "ARGUMENT_FORBIDDEN");
        let said = answer.body["error"]["hint"].as_str().unwrap();
        assert!(said.contains(hint), "{args}: {said}");
    }
    let arguments = json!({"zone": "storage", "cmd": "grep", "args": "-c \"^x\" a.txt"});
    assert_eq!(done(&client, "shed_exec", &arguments)["stdout"], "1\n");
}
