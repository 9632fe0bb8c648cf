//! Archives of other programs are unpacked as those programs would unpack them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::ops::archives::{assert_holds, ready, roomy, run, script, unzipped};
use crate::ops::stage::done;
use fileshed_test_support::on_disk::{Tree, tree};

/// Makes an archive and says what is in it; `None` if there is no Python to make it.
#[track_caller]
pub(super) fn make(arguments: &[&str]) -> Option<Tree> {
    let made = script("unzip/makers.py", arguments)?;
    let made: BTreeMap<String, String> = serde_json::from_str(&made).unwrap();
    let decoded = made.into_iter();
    let decoded = decoded.map(|(name, content)| (name, STANDARD.decode(content).unwrap()));
    Some(decoded.collect())
}

/// An archive of empty files with all kinds of permission bits.
pub(super) fn modes(archive: &Path) -> Option<Tree> {
    make(&["modes", archive.to_str().unwrap()])
}

/// An archive of so many files of so many megabytes of zeros.
pub(super) fn zeros(archive: &Path, files: u32, megabytes: u32) -> Option<Tree> {
    let (files, megabytes) = (files.to_string(), megabytes.to_string());
    make(&["zeros", archive.to_str().unwrap(), &files, &megabytes])
}

#[test]
fn whatever_python_writes() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    for kind in [
        "stored",
        "deflated",
        "zip64",
        "streamed",
        "streamed_stored",
        "comments",
        "prefixed",
        "appended",
        "cp437",
        "unflagged",
        "unicode_field",
    ] {
        let archive = place.join(format!("{kind}.zip"));
        let Some(expected) = make(&[kind, archive.to_str().unwrap()]) else {
            return;
        };
        let unzip = json!({"zone": "storage", "src": format!("{kind}.zip")});
        let data = done(&alice, "shed_unzip", &unzip);
        assert_eq!(data["files_count"], expected.len(), "{kind}");
        assert_holds(&place.join(kind), &expected, kind);
        let info = json!({"zone": "storage", "path": format!("{kind}.zip")});
        let info = done(&alice, "shed_zipinfo", &info);
        assert_eq!(info["files_count"], expected.len(), "{kind}");
        let size: usize = expected.values().map(Vec::len).sum();
        assert_eq!(info["total_size"], size, "{kind}");
    }
    assert!(place.join("stored/hollow").is_dir());
    // A time without a place is taken as UTC.
    let changed = |path: &str| {
        let about = std::fs::metadata(place.join(path)).unwrap();
        let since = about
            .modified()
            .unwrap()
            .duration_since(SystemTime::UNIX_EPOCH);
        since.unwrap().as_secs()
    };
    assert_eq!(changed("stored/text.txt"), 981_173_106);
}

/// A tree as people have it.
pub(crate) fn furnish(place: &Path) {
    std::fs::create_dir_all(place.join("sub/deep/er")).unwrap();
    std::fs::create_dir(place.join("hollow")).unwrap();
    let large: Vec<u8> = (0..3_000_000_u32)
        .map(|at| (at / 1000).wrapping_mul(at) as u8)
        .collect();
    for (path, content) in [
        ("text.txt", &b"a line\n".repeat(500)[..]),
        ("empty", b""),
        ("large.bin", &large),
        ("sub/deep/er/\u{e9}t\u{e9} \u{6f22}.md", "\u{e9}".as_bytes()),
        ("sub/run.sh", b"#!/bin/sh\n"),
        ("na me & co", b"x"),
        (".hidden", b"x"),
    ] {
        std::fs::write(place.join(path), content).unwrap();
    }
    let run = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.join("sub/run.sh"), run).unwrap();
    let file = std::fs::File::options()
        .write(true)
        .open(place.join("text.txt"))
        .unwrap();
    let then = SystemTime::UNIX_EPOCH + fileshed_core::timings::seconds(1_234_567_891);
    file.set_modified(then).unwrap();
}

#[test]
fn whatever_other_programs_write() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    let source = tempfile::tempdir().unwrap();
    furnish(source.path());
    let expected = tree(source.path());
    for (name, program, arguments) in [
        ("info-zip", "zip", &["-qr"][..]),
        ("stored", "zip", &["-qr0"]),
        ("streamed", "zip", &["-qr", "-fd"]),
        ("bare", "zip", &["-qrDX"]),
        ("zip64", "zip", &["-qr", "-fz"]),
        ("seven", "7z", &["a", "-bso0", "-tzip"]),
        (
            "seven-utf8",
            "7z",
            &["a", "-bso0", "-tzip", "-mcu=on", "-mx=9"],
        ),
        ("java", "jar", &["cfM"]),
    ] {
        let archive = place.join(format!("{name}.zip"));
        let arguments = [arguments, &[archive.to_str().unwrap(), "."]].concat();
        if run(program, &arguments, source.path()).is_none() {
            continue;
        }
        let unzip = json!({"zone": "storage", "src": format!("{name}.zip")});
        let data = done(&alice, "shed_unzip", &unzip);
        assert_eq!(data["files_count"], expected.len(), "{name}");
        assert_holds(&place.join(name), &expected, name);
        assert_eq!(
            place.join(name).join("hollow").is_dir(),
            name != "bare",
            "{name}"
        );
        if name == "java" {
            // Info-ZIP misreads its names.
            continue;
        }
        // Info-ZIP takes out the same, with the same times and the same right to be run.
        let Some((reference, files)) = unzipped(&archive) else {
            continue;
        };
        assert_holds(&place.join(name), &files, name);
        for path in files.keys() {
            let about = |root: &Path| std::fs::metadata(root.join(path)).unwrap();
            let (ours, theirs) = (about(&place.join(name)), about(reference.path()));
            let seconds = |about: &std::fs::Metadata| {
                let since = about
                    .modified()
                    .unwrap()
                    .duration_since(SystemTime::UNIX_EPOCH);
                since.unwrap().as_secs()
            };
            // 7z has the whole time beside that of MS-DOS, which is the one that Info-ZIP reads.
            let most = if name.starts_with("seven") { 2 } else { 0 };
            let apart = seconds(&ours).abs_diff(seconds(&theirs));
            assert!(apart <= most, "{name}: {path}");
            let runs = |about: &std::fs::Metadata| about.permissions().mode() & 0o100;
            assert_eq!(runs(&ours), runs(&theirs), "{name}: {path}");
        }
    }
}

#[test]
fn passwords_are_asked_for_nowhere() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    let source = tempfile::tempdir().unwrap();
    furnish(source.path());
    for (name, program, arguments) in [
        ("classic", "zip", &["-qr", "-P", "secret"][..]),
        (
            "aes",
            "7z",
            &["a", "-bso0", "-tzip", "-psecret", "-mem=AES256"],
        ),
    ] {
        let archive = place.join(format!("{name}.zip"));
        let arguments = [arguments, &[archive.to_str().unwrap(), "."]].concat();
        if run(program, &arguments, source.path()).is_none() {
            continue;
        }
        let unzip = json!({"zone": "storage", "src": format!("{name}.zip")});
        let answer = alice.call("shed_unzip", &unzip);
        answer.refused(400, "INVALID_FORMAT");
        assert!(answer.text.contains("encrypted"), "{}", answer.text);
        assert!(!place.join(name).exists());
        // The entries of an encrypted archive can still be listed.
        let info = json!({"zone": "storage", "path": format!("{name}.zip")});
        done(&alice, "shed_zipinfo", &info);
    }
}
