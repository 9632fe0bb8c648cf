//! Cases that many operations share: zones and paths that no operation takes.

use serde_json::{Value, json};

use crate::ops::stage::{Stage, done};

pub(crate) fn invalid_zone(stage: &Stage<'_>) {
    let answer = stage.refuses_example("zone", "attic", &["`zone`", "`attic`"]);
    assert_eq!(answer.body["error"]["details"]["received"], "attic");
}

/// A write into uploads.
pub(crate) fn uploads(stage: &Stage<'_>) {
    stage.refuses_example("zone", "uploads", &["uploads"]);
    stage.refuses_example("zone", "UPLOADS", &["uploads"]);
}

pub(crate) fn escape(stage: &Stage<'_>) {
    let parameter = stage.path_parameter();
    for path in ["../x", "a/../../x", ".."] {
        let given = format!("`{path}`");
        stage.refuses_example(parameter, path, &[&format!("`{parameter}`"), &given]);
    }
}

pub(crate) fn zone_prefix(stage: &Stage<'_>) {
    let parameter = stage.path_parameter();
    for (zone, path) in [("storage", "Storage/x/y"), ("documents", "/documents/x/y")] {
        let arguments = stage.example(&json!({"zone": zone, parameter: path}));
        let given = format!("`{}`", path.trim_start_matches('/'));
        let answer = stage.refuses(&arguments, &[&format!("`{parameter}`"), &given]);
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("{parameter}=\"x/y\"")), "{hint}");
    }
    if parameter == "args" || crate::ops::cross_zone::way(stage.operation()).is_some() {
        return;
    }
    // Another zone's.
    let arguments = stage.example(&json!({"zone": "storage", parameter: "documents/x/y"}));
    let named = format!("`{parameter}`");
    let answer = stage.refuses(&arguments, &[&named, "`documents/x/y`"]);
    let hint = answer.body["error"]["hint"].as_str().unwrap();
    let call = format!("zone=\"documents\", {parameter}=\"x/y\"");
    assert!(hint.contains(&call), "{hint}");
}

pub(crate) fn protected(stage: &Stage<'_>) {
    let parameter = stage.path_parameter();
    for path in [".lfsig", "a/.fs_pepper/b", ".FS_PEPPER"] {
        let given = format!("`{path}`");
        stage.refuses_example(parameter, path, &[&format!("`{parameter}`"), &given]);
    }
}

/// The names of the server, and git's where the server writes history.
pub(crate) fn protected_with_git(stage: &Stage<'_>) {
    protected(stage);
    let parameter = stage.path_parameter();
    for path in [
        ".git",
        ".git/config",
        "a/.GIT/hooks/x",
        "git~1/x",
        ".git./x",
    ] {
        let arguments = stage.example(&json!({"zone": "documents", parameter: path}));
        let given = format!("`{path}`");
        stage.refuses(&arguments, &[&format!("`{parameter}`"), &given]);
    }
}

/// Paths that no system can hold.
pub(crate) fn unusable(stage: &Stage<'_>) {
    let parameter = stage.path_parameter();
    let named = format!("`{parameter}`");
    stage.refuses_example(parameter, "a\u{0}b", &[&named, "U+0000"]);
    stage.refuses_example(parameter, "a\nb", &[&named, "U+000A"]);
    stage.refuses_example(parameter, &"x".repeat(256), &[&named, "255"]);
    stage.refuses_example(parameter, &"x/".repeat(2000), &[&named, "3072"]);
}

/// The same, and the root of the zone.
pub(crate) fn unusable_or_root(stage: &Stage<'_>) {
    unusable(stage);
    let parameter = stage.path_parameter();
    for root in [".", "/", "a/.."] {
        stage.refuses_example(parameter, root, &[&format!("`{parameter}`"), "root"]);
    }
}

/// The same, and names that some system cannot hold.
pub(crate) fn unusable_or_odd(stage: &Stage<'_>) {
    unusable_or_root(stage);
    let parameter = stage.path_parameter();
    for name in [
        "CON", "nul.txt", "lpt1", "a<b", "a>b", "a\"b", "a|b", "a?b", "a*b", "dot.", "blank ",
    ] {
        let path = format!("new/{name}/file");
        let given = format!("`{name}`");
        stage.refuses_example(parameter, &path, &[&format!("`{parameter}`"), &given]);
    }
}

/// A part of the path that is a file.
pub(crate) fn through_a_file(stage: &Stage<'_>) {
    stage.file("storage", "plain", "x");
    stage.refuses_example(stage.path_parameter(), "plain/below", &["plain"]);
}

/// Makes a link that leads out. The hint of a refusal removes it.
pub(crate) fn way_out(stage: &Stage<'_>) {
    stage.file("storage", "kept", "x");
    let link = stage.place("storage").join("way-out");
    if link.symlink_metadata().is_err() {
        std::os::unix::fs::symlink("/etc", link).unwrap();
    }
}

/// A symbolic link that leads out, made behind the server's back.
pub(crate) fn escape_by_link(stage: &Stage<'_>) {
    escape(stage);
    way_out(stage);
    stage.refuses_example(stage.path_parameter(), "way-out/passwd", &["`way-out"]);
}

/// A locked edit of another conversation, and of this one.
pub(crate) fn locked(stage: &Stage<'_>) {
    let parameter = stage.path_parameter();
    let arguments = stage.example(&json!({parameter: "held.md"}));
    stage.file("storage", "held.md", "held\n");
    stage.done(
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": "held.md"}),
    );
    let answer = stage.refuses(&arguments, &["`held.md`", "this conversation"]);
    assert!(answer.body["error"]["details"]["locked_at"].is_string());
    // The hint of the first refusal may have ended the edit.
    stage.done(
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": "held.md"}),
    );
    let other = stage.client().chat("other");
    let answer = stage.refuses_to(&other, &arguments, &["`held.md`", "another conversation"]);
    assert!(answer.body["error"]["details"]["locked_at"].is_string());
}

/// A file that nobody has open for a locked edit.
pub(crate) fn not_open(stage: &Stage<'_>) {
    stage.file("storage", "closed.md", "x");
    stage.refuses_example("path", "closed.md", &["`closed.md`"]);
}

/// A file that another conversation has open for a locked edit.
pub(crate) fn open_elsewhere(stage: &Stage<'_>) {
    let arguments = stage.example(&json!({}));
    let other = stage.client().chat("other");
    let answer = stage.refuses_to(
        &other,
        &arguments,
        &["`notes/todo.md`", "another conversation"],
    );
    assert!(answer.body["error"]["details"]["locked_at"].is_string());
}

/// Refusal of a file of the group that belongs to another member.
pub(crate) fn not_yours(stage: &Stage<'_>) {
    stage.theirs("theirs.md");
    let parameter = stage.path_parameter();
    // Without line ends to convert, `shed_convert_eol` would change nothing.
    let changes = json!({"zone": "group", "group": "team", parameter: "theirs.md",
        "to": "windows"});
    let answer = stage.refuses(&stage.example(&changes), &["`theirs.md`", "owner"]);
    let denied = json!([{"path": "theirs.md", "mode": "owner"}]);
    assert_eq!(answer.body["error"]["details"]["denied"], denied);
}

/// A file of the group that a colleague made by a call and then kept for itself, named by
/// `parameter`.
pub(crate) fn kept_by_a_colleague(stage: &Stage<'_>, operation: &str, made: &Value, call: &Value) {
    let in_team = |arguments: &Value| {
        let mut arguments = arguments.clone();
        arguments["zone"] = "group".into();
        arguments["group"] = "team".into();
        arguments
    };
    let colleague = stage.colleague();
    done(&colleague, operation, &in_team(made));
    let kept = json!({"group": "team", "path": "theirs", "mode": "owner"});
    done(&colleague, "shed_group_set_mode", &kept);
    stage.refuses(&in_team(call), &["`theirs`", "owner"]);
}

/// A mode that there is not.
pub(crate) fn invalid_mode(stage: &Stage<'_>) {
    for mode in ["everyone", "Owner", "rw"] {
        let changes = json!({"zone": "group", "group": "team", "mode": mode});
        let given = format!("`{mode}`");
        stage.refuses(&stage.example(&changes), &["`mode`", &given]);
    }
}

/// A path that begins with the name of the zone group.
pub(crate) fn group_prefix(stage: &Stage<'_>) {
    let answer = stage.refuses_example("path", "group/x/y", &["`path`", "`group/x/y`"]);
    let hint = answer.body["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("path=\"x/y\""), "{hint}");
}

/// A directory of the group.
pub(crate) fn shared_directory(stage: &Stage<'_>) {
    let arguments = json!({"zone": "group", "group": "team", "path": "d/a.md", "content": "x"});
    stage.done("shed_create_file", &arguments);
    stage.refuses_example("path", "d", &["`d`", "directory"]);
}

/// A file of the group that there is not.
pub(crate) fn not_shared(stage: &Stage<'_>) {
    stage.refuses_example("path", "missing.md", &["`missing.md`"]);
}

/// Refusal of a file that belongs to another member, and of a file without an owner.
pub(crate) fn owned_by_others(stage: &Stage<'_>) {
    stage.theirs("theirs.md");
    stage.refuses_example("path", "theirs.md", &["`theirs.md`", "another member"]);
    std::fs::write(stage.shared("stray.md"), "x").unwrap();
    stage.refuses_example("path", "stray.md", &["`stray.md`", "no owner"]);
}

/// A file of the group that another member has open for a locked edit.
pub(crate) fn not_lock_owner(stage: &Stage<'_>) {
    let shared = json!({"zone": "group", "group": "team", "path": "held.md", "content": "x"});
    for operation in ["shed_create_file", "shed_lockedit_open"] {
        crate::ops::stage::done(&stage.colleague(), operation, &shared);
    }
    let changes = json!({"zone": "group", "group": "team", "path": "held.md"});
    let colleague = stage.colleague();
    let holder = colleague.header_text("X-OpenWebUI-User-Id").unwrap();
    let answer = stage.refuses(&stage.example(&changes), &["`held.md`", holder]);
    assert_eq!(
        answer.body["error"]["details"]["holder"],
        json!({"id": holder})
    );
}
