//! Archives with names of other systems, and formats that other programs unpack.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::makers::make;
use crate::ops::archives::{assert_holds, ready, roomy, run};
use crate::ops::calls;
use crate::ops::hints::hint;
use crate::ops::stage::{content, done, file};
use fileshed_test_support::{Client, has_program};

/// Unpacks an archive that the script makes and says what is in it; the answer.
#[track_caller]
fn unpacked(alice: &Client<'_>, place: &Path, arguments: &[&str], more: &Value) -> Option<Value> {
    let archive = place.join("a.zip");
    let made = [&[arguments[0], archive.to_str().unwrap()], &arguments[1..]].concat();
    let expected = make(&made)?;
    let mut unzip = json!({"zone": "storage", "src": "a.zip", "dest": "out"});
    unzip
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let answer = alice.call("shed_unzip", &unzip);
    let mut data = answer.data().clone();
    assert_holds(&place.join("out"), &expected, &arguments.join(" "));
    data["message"] = answer.body["message"].clone();
    std::fs::remove_dir_all(place.join("out")).unwrap();
    Some(data)
}

#[test]
fn one_strange_entry_keeps_no_other_out() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    let Some(data) = unpacked(&alice, &place, &["foreign"], &json!({})) else {
        return;
    };
    assert_eq!(data["files_count"], 8);
    assert_eq!(data["skipped"], json!(["repo/latest"]));
    let renamed = data["renamed"].as_array().unwrap();
    assert_eq!(renamed.len(), 6, "{renamed:?}");
    assert_eq!(
        renamed[0],
        json!({"from": "repo/What now?.md", "to": "repo/What now_.md"})
    );
    let message = data["message"].as_str().unwrap();
    for said in [
        "left out 1: `repo/latest`",
        "renamed 6: `repo/What now?.md` is now `repo/What now_.md`",
    ] {
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn backslashes_separate_names() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    let archive = place.join("proj.zip");
    let Some(expected) = make(&["backslashes", archive.to_str().unwrap()]) else {
        return;
    };
    let info = json!({"zone": "storage", "path": "proj.zip"});
    assert_eq!(done(&alice, "shed_zipinfo", &info)["files_count"], 2);
    let unzip = json!({"zone": "storage", "src": "proj.zip"});
    let data = done(&alice, "shed_unzip", &unzip);
    assert_eq!(data["destination"], ".");
    assert!(data.get("renamed").is_none(), "{data}");
    assert!(place.join("proj/empty").is_dir());
    std::fs::remove_file(archive).unwrap();
    assert_holds(&place, &expected, "proj");
}

#[test]
fn names_are_in_the_encoding_of_their_country() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    for (encoding, name, guess) in [
        ("cp932", "\u{5831}\u{544a}\u{66f8}.txt", "shift_jis"),
        ("cp932", "\u{8868}\u{30bd}\u{80fd}/a.txt", "shift_jis"),
        ("gbk", "\u{5e74}\u{5ea6}\u{62a5}\u{544a}.txt", "gbk"),
        ("cp866", "\u{41e}\u{442}\u{447}\u{451}\u{442}.txt", "ibm866"),
        ("cp850", "Gr\u{f6}\u{df}e.txt", "cp437"),
    ] {
        let Some(data) = unpacked(&alice, &place, &["encoded", encoding, name], &json!({})) else {
            return;
        };
        assert_eq!(data["encoding"], guess, "{name}");
        let said = format!("names were read as {guess}");
        assert!(data["message"].as_str().unwrap().contains(&said), "{data}");
    }
    // Two letters that are Polish here and French there.
    let name = "za\u{142}\u{105}cznik.txt";
    let given = json!({"encoding": "CP852"});
    let data = unpacked(&alice, &place, &["encoded", "cp852", name], &given).unwrap();
    assert!(data.get("encoding").is_none(), "{data}");
    let info = json!({"zone": "storage", "path": "a.zip", "encoding": "cp852"});
    assert_eq!(
        done(&alice, "shed_zipinfo", &info)["files"][0]["name"],
        name
    );
    let unknown = json!({"zone": "storage", "src": "a.zip", "encoding": "klingon"});
    let answer = alice.call("shed_unzip", &unknown);
    answer.refused(400, "INVALID_PARAMETER");
    assert!(answer.text.contains("`klingon`"), "{}", answer.text);
}

#[test]
fn what_the_finder_adds_is_left_out() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    let archive = place.join("A.zip");
    let Some(expected) = make(&["macos", archive.to_str().unwrap()]) else {
        return;
    };
    let data = done(
        &alice,
        "shed_unzip",
        &json!({"zone": "storage", "src": "A.zip"}),
    );
    assert_eq!(
        data["destination"], ".",
        "one directory, packed where it was"
    );
    assert_eq!(
        data["skipped"],
        json!(["__MACOSX/A/._x.txt", "A/.DS_Store"])
    );
    std::fs::remove_file(archive).unwrap();
    assert_holds(&place, &expected, "A");
}

#[test]
fn what_is_packed_is_unpacked() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    std::fs::create_dir(place.join("q")).unwrap();
    for name in ["a\\b.txt", "Q: what.txt", "What now?.txt", "-"] {
        std::fs::write(place.join("q").join(name), "x").unwrap();
    }
    done(&alice, "shed_zip", &json!({"zone": "storage", "src": "q"}));
    let unzip = json!({"zone": "storage", "src": "q.zip", "dest": "out"});
    let data = done(&alice, "shed_unzip", &unzip);
    assert_eq!(data["files_count"], 4);
    for name in ["a\u{ff3c}b.txt", "Q: what.txt", "What now_.txt", "-"] {
        assert_eq!(content(&alice, "storage", &format!("out/q/{name}")), "x");
    }
}

#[test]
fn a_hint_unpacks_what_this_cannot() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    file(&alice, "storage", "in/secret.txt", &"secret".repeat(1000));
    for (archive, program, arguments) in [
        (
            "one/a.zip",
            "7z",
            &[
                "a",
                "-bso0",
                "-tzip",
                "-psecret",
                "one/a.zip",
                "./in/secret.txt",
            ][..],
        ),
        (
            "lzma.zip",
            "7z",
            &[
                "a",
                "-bso0",
                "-tzip",
                "-mm=LZMA",
                "lzma.zip",
                "./in/secret.txt",
            ],
        ),
        (
            "two/b.7z",
            "7z",
            &["a", "-bso0", "two/b.7z", "./in/secret.txt"],
        ),
        (
            "three/c.tar.gz",
            "tar",
            &["-czf", "three/c.tar.gz", "-C", "in", "secret.txt"],
        ),
        ("d.tgz", "tar", &["-czf", "d.tgz", "-C", "in", "secret.txt"]),
    ] {
        if !has_program(program) {
            continue;
        }
        std::fs::create_dir_all(place.join(archive).parent().unwrap()).unwrap();
        run(program, arguments, &place);
        let unzip = json!({"zone": "storage", "src": archive});
        let answer = alice.call("shed_unzip", &unzip);
        answer.refused(400, "INVALID_FORMAT");
        let hint = hint(&answer).replace("PASSWORD", "secret");
        let steps = calls::steps(&hint, "shed_unzip", &unzip);
        assert_eq!(steps.len(), 1, "{hint}");
        let ran = done(&alice, &steps[0].operation, &steps[0].arguments);
        assert_eq!(ran["returncode"], 0, "{hint}: {ran}");
        let mut found = String::new();
        for path in ["one/a", "lzma", "two/b", "three", "."] {
            if std::fs::read_to_string(place.join(path).join("secret.txt")).is_ok() {
                writeln!(found, "{path}").unwrap();
                std::fs::remove_file(place.join(path).join("secret.txt")).unwrap();
            }
        }
        assert_eq!(found.lines().count(), 1, "{archive}: {found}");
    }
}

#[test]
fn an_upload_is_moved_before_a_command_unpacks_it() {
    if !has_program("tar") {
        return;
    }
    let server = roomy().app();
    let alice = server.as_user("alice");
    let uploads = ready(&server, &alice, "alice", "uploads");
    ready(&server, &alice, "alice", "storage");
    std::fs::write(uploads.join("a.txt"), "a").unwrap();
    run("tar", &["-czf", "a.tar.gz", "a.txt"], &uploads);
    let unzip = json!({"zone": "storage", "src": "a.tar.gz", "src_zone": "uploads"});
    let answer = alice.call("shed_unzip", &unzip);
    answer.refused(400, "INVALID_FORMAT");
    let steps = calls::steps(hint(&answer), "shed_unzip", &unzip);
    assert_eq!(steps.len(), 2, "{}", hint(&answer));
    for step in &steps {
        done(&alice, &step.operation, &step.arguments);
    }
    assert_eq!(content(&alice, "storage", "a.txt"), "a");
}

#[test]
fn large_sizes_from_a_pipe() {
    if !has_program("zip") {
        return;
    }
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    std::fs::write(place.join("x.txt"), "x".repeat(5000)).unwrap();
    let pipe =
        "zip -q - x.txt < /dev/null | cat > piped.zip && cat x.txt | zip -q - - | cat > dash.zip";
    run("sh", &["-c", pipe], &place);
    for (archive, name) in [("piped.zip", "x.txt"), ("dash.zip", "-")] {
        let unzip = json!({"zone": "storage", "src": archive, "dest": archive.replace(".zip", "")});
        assert_eq!(done(&alice, "shed_unzip", &unzip)["files"], json!([name]));
    }
}
