//! Command lines as models write them.

use serde_json::{Value, json};

use super::Case;

const FILES: &[(&str, &str, &str)] = &[
    ("storage", "a.md", "one x\ntwo\n"),
    ("storage", "d/b.md", "x\n"),
    ("documents", "a.md", "kept\n"),
];

#[expect(clippy::needless_pass_by_value, reason = "a table of values")]
fn exec(cmd: &str, args: Value, code: &'static str) -> Case {
    let arguments = json!({"zone": "storage", "cmd": cmd, "args": args});
    Case::new("shed_exec", arguments, code).with(FILES)
}

pub(super) fn cases() -> Vec<Case> {
    let command = "COMMAND_FORBIDDEN";
    let argument = "ARGUMENT_FORBIDDEN";
    let upload = &[("uploads", "up.csv", "a,b\n")];
    let uploaded = |cmd: &str, args: Value, code| {
        let arguments = json!({"zone": "uploads", "cmd": cmd, "args": args});
        Case::new("shed_exec", arguments, code).with(upload)
    };
    vec![
        exec("ls -la", json!([]), command),
        exec("grep 'one x' a.md", json!([]), command),
        exec("cat a.md | grep x", json!([]), command),
        exec("ls", json!(["-la", "|", "grep", "x"]), argument),
        exec("cat", json!(["a.md", "|", "wc", "-l"]), argument),
        exec("sort", json!(["a.md", ">", "b.md"]), argument),
        exec("mkdir e && touch e/f", json!([]), command),
        exec("bash", json!(["-c", "wc -l a.md"]), command),
        exec("sudo", json!(["cat", "a.md"]), command),
        exec("ssconvert", json!(["a.csv", "new.xlsx"]), command)
            .with(&[("storage", "a.csv", "a,b\n1,2\n")])
            .changing(&["new.xlsx"]),
        exec("gawk", json!(["{print $1}", "a.md"]), command),
        exec("LS", json!([]), command),
        exec("/bin/ls", json!(["d"]), command),
        exec("ls", json!(["/storage"]), "PATH_ESCAPE"),
        exec("ls", json!(["/"]), "PATH_ESCAPE"),
        exec("cat", json!(["/storage/a.md"]), "PATH_ESCAPE"),
        exec("cat", json!(["/documents/a.md"]), "PATH_ESCAPE"),
        exec("cat", json!(["storage/a.md"]), "PATH_STARTS_WITH_ZONE"),
        exec("cat", json!(["~/a.md"]), argument),
        exec("rm", json!(["-rf", "/"]), "PATH_ESCAPE").in_words(),
        exec("rm", json!(["-rf", "storage"]), "PATH_STARTS_WITH_ZONE").in_words(),
        exec("rm", json!(["-rf", "~"]), argument).in_words(),
        exec("cat", json!(["../x"]), "PATH_ESCAPE").in_words(),
        exec("python3", json!(["x.py"]), command).in_words(),
        exec("frobnicate", json!([]), command),
        exec("man", json!(["ls"]), command),
        exec("df", json!(["-h"]), command),
        exec("locate", json!(["b.md"]), command),
        exec("chmod", json!(["4755", "a.md"]), argument),
        exec("git", json!(["clone", "/d", "e"]), command),
        exec("git", json!(["frob"]), argument).in_words(),
        exec("find", json!([".", "-exec", "rm", "{}", "+"]), argument),
        exec(
            "find",
            json!([".", "-name", "*.md", "-exec", "cat", "{}", ";"]),
            argument,
        ),
        exec("antiword", json!(["a.md"]), command),
        exec("curl", json!(["https://example.org/a.csv"]), command),
        uploaded("rm", json!(["up.csv"]), command).changing(&["up.csv"]),
        uploaded("sort", json!(["-o", "up.csv", "up.csv"]), "ZONE_READONLY").changing(&["up.csv"]),
        uploaded("mkdir", json!(["d"]), command),
        uploaded("cp", json!(["up.csv", "b.csv"]), command),
    ]
}
