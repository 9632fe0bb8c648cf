//! The limit of memory: honest work fits into the usual one, and a process that uses more is ended
//! whichever way it takes.

use fileshed_test_support::{Answer, Server, has_program, skip};
use serde_json::json;

/// With namespaces, where the machine has them, and without.
const NAMESPACES: [&str; 2] = ["auto", "off"];

fn exec(server: &Server, cmd: &str, args: &[&str]) -> Answer {
    let arguments = json!({"zone": "storage", "cmd": cmd, "args": args, "timeout": 300});
    server.call("shed_exec", &arguments)
}

/// Runs a line of the terminal to its end; its status and output.
fn line(server: &Server, line: &str) -> (Option<i64>, String) {
    let body = json!({"command": line, "wait": 300}).to_string();
    let answer = server
        .client()
        .send("POST", "/terminal/execute", body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text);
    (
        answer.body["exit_code"].as_i64(),
        answer.body["output"].to_string(),
    )
}

#[test]
fn films_of_1080_lines_are_encoded_at_the_usual_limit() {
    if !has_program("ffmpeg") {
        return;
    }
    for namespaces in NAMESPACES {
        let server = Server::with()
            .env("FILESHED_EXEC_NAMESPACES", namespaces)
            .start();
        let encoders = exec(&server, "ffmpeg", &["-encoders"]);
        if !encoders.text.contains("libx264") {
            skip("ffmpeg has no libx264");
            return;
        }
        let source = "testsrc=size=1920x1080:rate=25:duration=2";
        for args in [
            &["-f", "lavfi", "-i", source, "out.mp4"][..],
            &[
                "-i",
                "out.mp4",
                "-c:v",
                "libx264",
                "-crf",
                "28",
                "again.mp4",
            ],
        ] {
            let made = exec(&server, "ffmpeg", args);
            let data = made.data();
            assert_eq!(data["returncode"], 0, "{namespaces}: {}", made.text);
            // No banner, no statistics.
            assert_eq!(data["stderr"], "", "{namespaces}");
        }
        let typed = "ffmpeg -v error -threads 2 -i out.mp4 -threads 2 -y typed.mp4";
        assert_eq!(
            line(&server, typed),
            (Some(0), "[]".to_owned()),
            "{namespaces}"
        );
    }
}

#[test]
fn tables_are_worked_on_with_pandas_at_the_usual_limit() {
    let server = Server::with()
        .env("FILESHED_EXEC_PROGRAMS", "python3")
        .start();
    if !has_program("python3") {
        return;
    }
    if line(&server, "python3 -c 'import pandas'").0 != Some(0) {
        skip("pandas is not installed");
        return;
    }
    let program = "import pandas as p; t = p.DataFrame({'a': range(1000000)}); \
        t['b'] = t.a % 7; print(t.groupby('b').a.sum().to_csv())";
    let (status, output) = line(&server, &format!("python3 -c \"{program}\""));
    assert_eq!(status, Some(0), "{output}");
    assert!(output.contains("6,71428"), "{output}");
}

/// Takes memory until none is left, and keeps it.
const GREEDY: [(&str, &str); 2] = [
    (
        "heap",
        "import time\nkept = []\ntry:\n    while True: kept.append(b'x' * (1 << 20))\n\
         except MemoryError: time.sleep(600)",
    ),
    (
        "made read-only",
        "import ctypes, mmap, time\nlibc, kept = ctypes.CDLL(None), []\ntry:\n    while True:\n        \
         m = mmap.mmap(-1, 1 << 22, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n        \
         m.write(b'x' * (1 << 22))\n        \
         at = ctypes.addressof(ctypes.c_char.from_buffer(m))\n        \
         libc.mprotect(ctypes.c_void_p(at), 1 << 22, 1)\n        kept.append(m)\n\
         except (MemoryError, OSError): time.sleep(600)",
    ),
];

#[test]
fn a_process_that_uses_more_is_ended_and_the_limit_is_named() {
    if !has_program("python3") {
        return;
    }
    for namespaces in NAMESPACES {
        let server = Server::with()
            .env("FILESHED_EXEC_NAMESPACES", namespaces)
            .env("FILESHED_EXEC_PROGRAMS", "python3")
            .env("FILESHED_EXEC_MEMORY_LIMIT_MB", "64")
            .start();
        for (way, program) in GREEDY {
            let answer = exec(&server, "python3", &["-c", program]);
            answer.refused(400, "EXEC_ERROR");
            let message = answer.body["error"]["message"].as_str().expect("a message");
            let named = message.contains("64 MiB of memory");
            assert!(named, "{way}, {namespaces}: {}", answer.text);
            let (_, output) = line(&server, &format!("python3 -c \"{program}\""));
            assert!(
                output.contains("64 MiB of memory"),
                "{way}, {namespaces}: {output}"
            );
        }
    }
}

#[test]
fn threads_that_take_too_much_memory_are_not_blamed_on_processes() {
    if !has_program("python3") {
        return;
    }
    let server = Server::with()
        .env("FILESHED_EXEC_PROGRAMS", "python3")
        .env("FILESHED_EXEC_MEMORY_LIMIT_MB", "64")
        .start();
    let program = "import threading\nwait = threading.Event()\n\
        for n in range(100): threading.Thread(target=wait.wait, daemon=True).start()";
    let answer = exec(&server, "python3", &["-c", program]);
    assert_ne!(answer.data()["returncode"], 0, "{}", answer.text);
    let message = answer.body["message"].as_str().expect("a message");
    assert!(message.contains("exec_memory_limit_mb"), "{}", answer.text);
    assert!(
        message.contains("threads") && !message.contains("processes"),
        "{message}"
    );
    let (_, output) = line(&server, &format!("python3 -c \"{program}\""));
    assert!(
        output.contains("a limit: a process may use at most 64 MiB"),
        "{output}"
    );
}
