//! Protection by namespaces: files outside of the view can be neither seen nor touched.

use fileshed_test_support::skip;
use std::os::unix::fs::MetadataExt;

use serde_json::json;

use super::helper::{needs_namespaces, ways};
use super::{Scene, installed};

#[test]
fn the_root_holds_the_system_and_the_rooms() {
    if !needs_namespaces() {
        return;
    }
    let scene = Scene::new();
    for place in [
        "/home", "/root", "/var", "/srv", "/sys", "/proc", "/run", "/mnt", "/dev/mem",
    ] {
        let ended = scene.attack("stat", &["-c", "%F", place]);
        let output = ended.expect("stat is installed").output;
        assert!(output.contains("No such file"), "{place}: {output}");
    }
    for place in ["/usr/bin", "/dev/null", "{Z}", "{H}"] {
        let ended = scene.attack("stat", &["-c", "%F", place]);
        let ended = ended.expect("stat is installed");
        assert_eq!(ended.status, Some(0), "{place}: {}", ended.output);
    }
}

#[test]
fn nobody_learns_or_changes_what_is_written_about_a_file_outside() {
    if !needs_namespaces() {
        return;
    }
    let scene = Scene::new();
    let about = || {
        let secret = std::fs::metadata(scene.path("other/secret")).expect("there");
        (secret.mode(), secret.mtime(), secret.atime(), secret.uid())
    };
    let before = about();
    for (program, arguments) in [
        ("chmod", vec!["666", "{S}"]),
        ("touch", vec!["-d", "@0", "{S}"]),
        ("chown", vec!["1", "{S}"]),
        (
            "python3",
            vec!["-c", "import os; os.utime('{S}', (0, 0)); print('found')"],
        ),
        (
            "python3",
            vec!["-c", "import os; os.stat('{S}'); print('found')"],
        ),
        (
            "python3",
            vec!["-c", "import os; os.chdir('{O}'); print('found')"],
        ),
        (
            "python3",
            vec![
                "-c",
                "import os; os.chdir('../../../../..' + '{O}'); print('found')",
            ],
        ),
        ("stat", vec!["-c", "found", "{S}"]),
        ("find", vec!["{O}", "-printf", "found"]),
        ("find", vec!["/", "-samefile", "{S}", "-printf", "found"]),
        ("realpath", vec!["-e", "{S}"]),
        ("test", vec!["-e", "{S}"]),
    ] {
        let Some(ended) = scene.attack(program, &arguments) else {
            continue;
        };
        assert_ne!(ended.status, Some(0), "{program} {arguments:?}");
        assert!(!ended.output.contains("found\n"), "{}", ended.output);
        assert_eq!(about(), before, "{program} {arguments:?}");
    }
}

#[test]
fn no_library_is_loaded_from_a_room() {
    let scene = Scene::new();
    let Some(library) = some_library() else {
        skip("no library of sqlite3 to plant");
        return;
    };
    scene.plant(&library, "planted.so");
    for (program, arguments) in [
        (
            "python3",
            vec![
                "-c",
                "import ctypes; ctypes.CDLL('./planted.so'); print('loaded')",
            ],
        ),
        (
            "gawk",
            vec!["-l", "./planted.so", "BEGIN { print \"loaded\" }"],
        ),
        (
            "sqlite3",
            vec![":memory:", ".load ./planted.so", "SELECT 'loaded'"],
        ),
        (
            "perl",
            vec![
                "-MDynaLoader",
                "-e",
                "print 'loaded' if DynaLoader::dl_load_file('./planted.so')",
            ],
        ),
    ] {
        for separate in ways() {
            let ended = scene.attack_in(separate, program, &arguments, &json!({}));
            let Some(ended) = ended else { continue };
            let loaded =
                ended.output.lines().any(|line| line == "loaded") && !ended.output.contains("rror");
            assert!(!loaded, "{program}, separate {separate}: {}", ended.output);
        }
    }
    // It is no fault of the library.
    let check = std::process::Command::new("/usr/bin/python3")
        .args(["-c", &format!("import ctypes; ctypes.CDLL('{library}')")])
        .status();
    assert!(check.is_ok_and(|status| status.success()));
}

/// A library that any program can load.
fn some_library() -> Option<String> {
    installed("python3")?;
    [
        "/usr/lib/x86_64-linux-gnu/libz.so.1",
        "/usr/lib/aarch64-linux-gnu/libz.so.1",
    ]
    .into_iter()
    .find(|place| std::path::Path::new(place).exists())
    .map(str::to_owned)
}

#[test]
fn whatever_is_started_ends_with_the_command() {
    let scene = Scene::new();
    let script = "import os, time\nfor _ in range(5):\n  if os.fork() == 0:\n    if os.fork() == 0:\n      time.sleep(600)\n    os._exit(0)\nprint('started')";
    let Some(ended) = scene.attack("python3", &["-c", script]) else {
        return;
    };
    assert!(ended.output.contains("started"), "{}", ended.output);
    assert_eq!(super::processes::left_of(&ended.marker), 0);
}
