//! Attacks on other processes, and attempts to outlive the own session.

use std::process::Command;

use serde_json::json;

use super::{Row, Scene, play};

/// Attacks that say `root:` when they get anywhere. `{B}` is a bystander of the same account.
const ON_BYSTANDER: &[(&str, &str)] = &[
    ("signal", "import os; os.kill({B}, 9); print('root:')"),
    (
        "signal 0 to the server",
        // In namespaces that is an init, which no signal from inside ends.
        "import os\nif os.getppid() > 1: os.kill(os.getppid(), 0); print('root:')",
    ),
    ("its group", "import os; os.killpg({B}, 9); print('root:')"),
    (
        "everybody",
        "import os, signal\ntry: os.kill(-1, signal.SIGKILL)\nfinally: pass",
    ),
    (
        "pidfd",
        "import os, signal; signal.pidfd_send_signal(os.pidfd_open({B}), 9); print('root:')",
    ),
    (
        "trace",
        "import ctypes; assert ctypes.CDLL(None).ptrace(16, {B}, 0, 0) == 0; print('root:')",
    ),
    (
        "memory by call",
        "import ctypes, struct\nb = ctypes.create_string_buffer(64)\nv = ctypes.create_string_buffer(struct.pack('QQ', ctypes.addressof(b), 64))\nassert ctypes.CDLL(None).process_vm_readv({B}, v, 1, v, 1, 0) >= 0; print('root:')",
    ),
    (
        "memory by file",
        "open('/proc/{B}/mem', 'rb'); print('root:')",
    ),
    (
        "environment",
        "print(open('/proc/{B}/environ').read() + 'root:')",
    ),
    (
        "open files",
        "import os; print(os.listdir('/proc/{B}/fd'), 'root:')",
    ),
    (
        "its directory",
        "import os; print(os.listdir('/proc/{B}/cwd'), 'root:')",
    ),
    (
        "its root",
        "print(open('/proc/{B}/root/etc/passwd').read())",
    ),
    (
        "a descriptor of it",
        "import ctypes, os; assert ctypes.CDLL(None).syscall(438, os.pidfd_open({B}), 0, 0) >= 0; print('root:')",
    ),
    (
        "its namespaces",
        "import ctypes, os; assert ctypes.CDLL(None).setns(os.pidfd_open({B}), 0x20000) == 0; print('root:')",
    ),
];

#[test]
fn a_bystander_is_out_of_reach() {
    let scene = Scene::new();
    let mut bystander = Command::new("/usr/bin/sleep")
        .arg("600")
        .env("SECRET", "canary-6f1c2a")
        .spawn()
        .expect("started");
    let pid = bystander.id().to_string();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for (_what, text) in ON_BYSTANDER {
            scene.holds("python3", &["-c", &text.replace("{B}", &pid)]);
        }
        scene.holds(
            "perl",
            &["-e", &format!("kill(9, {pid}) and print 'root:'")],
        );
        for awk in ["gawk", "mawk"] {
            scene.holds(awk, &[&format!("BEGIN{{system(\"kill -9 {pid}\")}}")]);
        }
    }));
    let alive = bystander.try_wait().expect("asked").is_none();
    bystander.kill().expect("ended");
    bystander.wait().expect("reaped");
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
    assert!(alive, "a command killed a process outside");
}

#[test]
fn no_privilege_is_gained() {
    const ROWS: &[Row] = &[
        ("python3", &["-c", "import os\nos.nice(-5)\nprint('root:')"]),
        (
            "python3",
            &["-c", "import os\nos.setuid(12345)\nprint('root:')"],
        ),
        (
            "python3",
            &[
                "-c",
                "import os\nos.setgroups([12345])\nassert 12345 in os.getgroups()\nprint('root:')",
            ],
        ),
        (
            "python3",
            &["-c", "import os\nos.chroot('.')\nprint('root:')"],
        ),
        (
            "python3",
            &[
                "-c",
                "import resource\nresource.setrlimit(7, (9999, 9999))\nprint('root:')",
            ],
        ),
        (
            "python3",
            &[
                "-c",
                "import resource\nresource.setrlimit(9, (-1, -1))\nprint('root:')",
            ],
        ),
        (
            "python3",
            &[
                "-c",
                "import socket\nsocket.sethostname('x')\nprint('root:')",
            ],
        ),
        (
            "python3",
            &[
                "-c",
                "import time\ntime.clock_settime(0, 0)\nprint('root:')",
            ],
        ),
        (
            "python3",
            &[
                "-c",
                "import os\nos.chown('a', 12345, 12345)\nprint('root:')",
            ],
        ),
        (
            "python3",
            &["-c", "import os\nos.chmod('a', 0o4755)\nprint('root:')"],
        ),
        (
            "python3",
            &[
                "-c",
                "import os\nos.fchmod(os.open('a', 2), 0o2755)\nprint('root:')",
            ],
        ),
        (
            "python3",
            &[
                "-c",
                "import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0\nprint('root:')",
            ],
        ),
        // clone with CLONE_NEWUSER, then clone3
        (
            "python3",
            &[
                "-c",
                "import ctypes\nassert ctypes.CDLL(None).syscall(56, 0x10000011, 0, 0, 0, 0) >= 0\nprint('root:')",
            ],
        ),
        (
            "python3",
            &[
                "-c",
                "import ctypes\nassert ctypes.CDLL(None).syscall(435, 0, 0) == -1\nassert ctypes.CDLL(None).syscall(435, ctypes.create_string_buffer(88), 88) >= 0\nprint('root:')",
            ],
        ),
        // no_new_privs cannot be taken back
        (
            "python3",
            &[
                "-c",
                "import ctypes\nassert ctypes.CDLL(None).prctl(38, 0, 0, 0, 0) == 0\nprint('root:')",
            ],
        ),
        ("chown", &["12345", "a"]),
        ("mount", &["-t", "tmpfs", "none", "."]),
        ("unshare", &["-Ur", "id"]),
        ("setsid", &["id"]),
        ("nice", &["-n", "5", "id"]),
        ("ionice", &["-c3", "id"]),
    ];
    play(ROWS, |_| ());
}

/// Returns the number of processes of an attack that are left.
pub(super) fn left_of(marker: &str) -> usize {
    std::fs::read_dir("/proc")
        .expect("listed")
        .flatten()
        .filter_map(|process| std::fs::read(process.path().join("environ")).ok())
        .filter(|environment| String::from_utf8_lossy(environment).contains(marker))
        .count()
}

#[test]
fn nothing_outlives_its_session() {
    let scripts = [
        (
            "a child",
            "import os, time\nif os.fork() == 0: time.sleep(600)",
        ),
        (
            "a daemon",
            "import os, time\nif os.fork() == 0:\n  try: os.setsid()\n  except OSError: pass\n  if os.fork() == 0: time.sleep(600)",
        ),
        (
            "a group of its own",
            "import os, time\nif os.fork() == 0:\n  try: os.setpgid(0, 0)\n  except OSError: pass\n  time.sleep(600)",
        ),
        (
            "deaf children",
            "import os, signal, time\nfor n in range(1, 32):\n  if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\nif os.fork() == 0: time.sleep(600)",
        ),
        (
            "many",
            "import os, time\nmade = 0\nfor _ in range(60):\n  try:\n    if os.fork() == 0: time.sleep(600)\n    made += 1\n  except OSError: break\nprint('made', made)",
        ),
        (
            "a bomb",
            "import os, time\nfirst = os.getpid()\nfor _ in range(7):\n  try: os.fork()\n  except OSError: pass\nif os.getpid() != first: time.sleep(600)",
        ),
    ];
    let scene = Scene::new();
    for (what, script) in scripts {
        let few = json!({"limits": {"processes": 20}});
        let Some(ended) = scene.attack_with("python3", &["-c", script], &few) else {
            return;
        };
        assert_eq!(left_of(&ended.marker), 0, "{what}");
        // The limit counts the processes of an account; root has none.
        if !rustix::process::geteuid().is_root()
            && let Some(made) = ended.output.split("made ").nth(1)
        {
            let made: u32 = made.trim().parse().expect("a number");
            assert!(made <= 20, "{what}: {made}");
        }
    }
}

#[test]
fn other_processes_are_out_of_reach() {
    let scene = Scene::new();
    let mut bystander = Command::new("/usr/bin/sleep")
        .arg("600")
        .spawn()
        .expect("started");
    let pid = bystander.id();
    let kill =
        format!("import os\ntry:\n  os.kill({pid}, 9); print('killed')\nexcept OSError: pass");
    let session = "import os\nfor call in (os.setsid, lambda: os.setpgid(0, 0)):\n  try:\n    call(); print('left')\n  except OSError: pass";
    let fork = "import os\nif os.fork() == 0:\n  try:\n    os.setsid(); print('left')\n  except OSError: pass";
    for (program, text) in [
        ("python3", kill.as_str()),
        ("python3", session),
        ("python3", fork),
    ] {
        if let Some(ended) = scene.attack(program, &["-c", text]) {
            assert!(
                !ended.output.contains("killed") && !ended.output.contains("left"),
                "{}",
                ended.output
            );
        }
    }
    let alive = bystander.try_wait().expect("asked").is_none();
    bystander.kill().expect("ended");
    bystander.wait().expect("reaped");
    assert!(alive, "a command killed a process outside");
}
