//! Attacks that want more of the machine than they may have.

use serde_json::{Value, json};

use super::Scene;

/// What an attack asks for, and within which limits; each must fail, and what it leaves is small.
fn exhausts(program: &str, arguments: &[&str], limits: &Value) {
    let scene = Scene::new();
    let Some(ended) = scene.attack_with(program, arguments, &json!({"limits": limits})) else {
        return;
    };
    assert!(
        !ended.output.contains("fileshed jail"),
        "{program} did not start: {}",
        ended.output
    );
    assert_ne!(ended.status, Some(0), "{program} {arguments:?} got it");
    for entry in std::fs::read_dir(scene.path("zone")).expect("listed") {
        let size = entry.expect("there").metadata().expect("there").len();
        assert!(size <= 1 << 20, "{program} {arguments:?} left {size} bytes");
    }
}

#[test]
fn files_stay_small() {
    let small = json!({"file_size": 1 << 20});
    for (program, arguments) in [
        ("truncate", ["-s", "10T", "giant"].as_slice()),
        ("fallocate", &["-l", "2M", "giant"]),
        ("dd", &["if=/dev/zero", "of=giant", "bs=1M", "count=3"]),
        ("cp", &["/dev/zero", "giant"]),
        ("split", &["-b", "2M", "/dev/zero"]),
        (
            "mawk",
            &["BEGIN{while(1) print \"xxxxxxxxxxxxxxxxxxxxxxxx\" > \"giant\"}"],
        ),
        (
            "gawk",
            &["BEGIN{while(1) print \"xxxxxxxxxxxxxxxxxxxxxxxx\" > \"giant\"}"],
        ),
        (
            "sqlite3",
            &["giant", "CREATE TABLE t AS SELECT zeroblob(3000000)"],
        ),
        (
            "python3",
            &[
                "-c",
                "import os; os.posix_fallocate(os.open('giant', 66), 0, 1 << 30)",
            ],
        ),
        (
            "python3",
            &[
                "-c",
                "f = open('giant', 'wb'); f.seek(1 << 40); f.write(b'x'); f.flush()",
            ],
        ),
        (
            "perl",
            &[
                "-e",
                "open F, '>giant'; $SIG{XFSZ} = 'IGNORE'; while (print F 'x' x 9999) {} close F or die",
            ],
        ),
    ] {
        exhausts(program, arguments, &small);
    }
}

#[test]
fn memory_is_bounded() {
    let little = json!({"memory": 1 << 27});
    for (program, arguments) in [
        ("python3", ["-c", "x = b'x' * (1 << 30)"].as_slice()),
        ("python3", &["-c", "import mmap; mmap.mmap(-1, 1 << 30)"]),
        ("gawk", &["BEGIN{x = \"xxxxxxxx\"; while (1) x = x x}"]),
        ("mawk", &["BEGIN{x = \"xxxxxxxx\"; while (1) x = x x}"]),
        ("perl", &["-e", "$x = 'x' x (1 << 30)"]),
        ("jq", &["-n", "[range(100000000)]"]),
        ("sort", &["/dev/zero"]),
        ("tac", &["/dev/zero"]),
    ] {
        exhausts(program, arguments, &little);
    }
}

#[test]
fn time_is_bounded() {
    let short = json!({"cpu_seconds": 1});
    for (program, arguments) in [
        ("gawk", ["BEGIN{for(;;);}"].as_slice()),
        ("mawk", &["BEGIN{for(;;);}"]),
        // A second later the signal is one that nobody ignores.
        (
            "python3",
            &[
                "-c",
                "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
            ],
        ),
        ("md5sum", &["/dev/zero"]),
    ] {
        exhausts(program, arguments, &short);
    }
}

#[test]
fn open_files_are_few() {
    let few = json!({"open_files": 32});
    let all = "f = [open('a') for _ in range(40)]";
    exhausts("python3", &["-c", all], &few);
    let pipes = "import os\nfor _ in range(40): os.pipe()";
    exhausts("python3", &["-c", pipes], &few);
}

#[test]
fn limits_hold() {
    let scene = Scene::new();
    let ended = scene
        .attack("truncate", &["-s", "10T", "giant"])
        .expect("installed");
    assert_ne!(ended.status, Some(0));
    let memory = json!({"limits": {"memory": 1_u64 << 28}});
    if let Some(ended) = scene.attack_with("python3", &["-c", "x = b'x' * (1 << 30)"], &memory) {
        assert!(ended.output.contains("MemoryError"), "{}", ended.output);
    }
}
