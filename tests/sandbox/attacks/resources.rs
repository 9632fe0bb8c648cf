//! Attacks that want more of the machine than they may have.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::foreign::{Compiled, accounts};
use super::{Scene, helper, loader};

/// Asserts that an attack fails under these limits, and leaves only small files.
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

/// Limits of a command in the test of what the kernel counts.
const PROCESSES: u64 = 40;
const OPEN_FILES: u64 = 64;

/// The bound that keeps a command from using up a resource that others of its account, or of the machine,
/// need.
enum Bound {
    /// It has no call, or no file, to take any.
    NoCall,
    /// It gets no more than so many.
    AtMost(u64),
    /// It is counted for one process, or not at all.
    OfProcess,
}

use Bound::{AtMost, NoCall, OfProcess};

/// A resource that the kernel counts: its name in `counted.c`, the kernel's own names for its limits, and
/// the bound.
struct Counted(&'static str, &'static [&'static str], Bound);

/// Everything that a Linux kernel counts for an account, for a namespace of accounts or for the
/// machine, and that a program without privileges could take.
const COUNTED: &[Counted] = &[
    Counted("processes", &["Max processes"], AtMost(PROCESSES)),
    Counted("descriptors", &["Max open files"], AtMost(OPEN_FILES)),
    // One more than the limit is on its way when it is reached.
    Counted("descriptors_in_flight", &[], AtMost(OPEN_FILES + 1)),
    // Each epoll may watch each file under each number. When the account has none left, the server
    // ends the command that can have most.
    Counted(
        "epoll_watches",
        &["fs/epoll/max_user_watches"],
        AtMost(OPEN_FILES.pow(3)),
    ),
    Counted("pending_signals", &["Max pending signals"], AtMost(1024)),
    Counted("locked_memory", &["Max locked memory"], AtMost(8)),
    Counted(
        "pipe_pages",
        &["fs/pipe-user-pages-hard", "fs/pipe-user-pages-soft"],
        NoCall,
    ),
    Counted("leases", &[], NoCall),
    Counted(
        "inotify_instances",
        &[
            "user/max_inotify_instances",
            "fs/inotify/max_user_instances",
        ],
        NoCall,
    ),
    Counted(
        "inotify_watches",
        &["user/max_inotify_watches", "fs/inotify/max_user_watches"],
        NoCall,
    ),
    Counted(
        "fanotify_groups",
        &["user/max_fanotify_groups", "fs/fanotify/max_user_groups"],
        NoCall,
    ),
    Counted(
        "fanotify_marks",
        &["user/max_fanotify_marks", "fs/fanotify/max_user_marks"],
        NoCall,
    ),
    Counted("message_queues", &["Max msgqueue size"], NoCall),
    Counted("system_v_queues", &[], NoCall),
    Counted("system_v_semaphores", &[], NoCall),
    Counted("system_v_memory", &[], NoCall),
    Counted(
        "keys",
        &["kernel/keys/maxkeys", "kernel/keys/maxbytes"],
        NoCall,
    ),
    Counted("aio_contexts", &[], NoCall),
    Counted("io_uring", &[], NoCall),
    Counted("bpf", &[], NoCall),
    Counted("perf_events", &[], NoCall),
    Counted("secret_memory", &[], NoCall),
    Counted("terminals", &[], NoCall),
    Counted("fuse_requests", &[], NoCall),
    Counted("user_namespaces", &["user/max_user_namespaces"], NoCall),
    Counted("mount_namespaces", &["user/max_mnt_namespaces"], NoCall),
    Counted("process_namespaces", &["user/max_pid_namespaces"], NoCall),
    Counted("network_namespaces", &["user/max_net_namespaces"], NoCall),
    Counted("name_namespaces", &["user/max_uts_namespaces"], NoCall),
    Counted("message_namespaces", &["user/max_ipc_namespaces"], NoCall),
    Counted("group_namespaces", &["user/max_cgroup_namespaces"], NoCall),
    Counted("time_namespaces", &["user/max_time_namespaces"], NoCall),
    Counted("processor_time", &["Max cpu time"], OfProcess),
    Counted("file_size", &["Max file size"], OfProcess),
    Counted(
        "memory",
        &["Max address space", "Max data size", "Max stack size"],
        OfProcess,
    ),
    Counted("resident_memory", &["Max resident set"], OfProcess),
    Counted("dumps", &["Max core file size"], OfProcess),
    Counted("file_locks", &["Max file locks"], OfProcess),
    Counted(
        "priority",
        &[
            "Max nice priority",
            "Max realtime priority",
            "Max realtime timeout",
        ],
        OfProcess,
    ),
];

/// The limits that this kernel has for what it counts: those of processes, and those of accounts.
fn limits_of_the_kernel() -> Vec<String> {
    let limits = std::fs::read_to_string("/proc/self/limits").expect("read");
    let rows = limits.lines().skip(1).filter_map(|line| line.get(..26));
    let mut names: Vec<String> = rows.map(|name| name.trim_end().to_owned()).collect();
    let settings = Path::new("/proc/sys");
    for (directory, is_for_accounts) in [
        ("user", (|_| true) as fn(&str) -> bool),
        ("kernel/keys", |name| name.starts_with("max")),
        ("fs", |name| name.contains("-user-")),
        ("fs/epoll", |name| name.contains("_user_")),
        ("fs/fanotify", |name| name.contains("_user_")),
        ("fs/inotify", |name| name.contains("_user_")),
    ] {
        let entries = std::fs::read_dir(settings.join(directory));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_for_accounts(&name) {
                names.push(format!("{directory}/{name}"));
            }
        }
    }
    names
}

#[test]
fn what_the_kernel_counts_for_an_account_is_bounded_or_has_no_call() {
    let known = |name: &String| COUNTED.iter().any(|one| one.1.contains(&name.as_str()));
    let missing: Vec<_> = limits_of_the_kernel()
        .into_iter()
        .filter(|name| !known(name))
        .collect();
    assert!(missing.is_empty(), "a bound for each: {missing:?}");
    let Some(compiled) = Compiled::new("counted") else {
        return;
    };
    let program = &compiled.program();
    let tried = COUNTED.iter().filter(|one| !matches!(one.2, OfProcess));
    let names: Vec<&str> = tried.map(|one| one.0).collect();
    for account in accounts() {
        for separate in helper::ways() {
            for any_program in [false, true] {
                let scene = Scene::new();
                if let Some(account) = account {
                    scene.give(account);
                }
                let changes = json!({
                    "access": {"execute": [program, loader()], "any_program": any_program},
                    "limits": {"processes": PROCESSES, "open_files": OPEN_FILES},
                });
                let ended = scene.run_foreign(separate, account, program, &names, &changes);
                let what = format!(
                    "account {account:?}, separate {separate}, any program {any_program}: {}",
                    ended.output
                );
                let got: BTreeMap<&str, (u64, i32)> = ended
                    .output
                    .lines()
                    .filter_map(|line| {
                        let (name, numbers) = line.split_once(' ')?;
                        let (count, error) = numbers.split_once(' ')?;
                        Some((name, (count.parse().ok()?, error.parse().ok()?)))
                    })
                    .collect();
                for Counted(name, _, bound) in COUNTED {
                    let most = match bound {
                        NoCall => 0,
                        AtMost(most) => *most,
                        OfProcess => continue,
                    };
                    let (count, error) = got.get(name).unwrap_or_else(|| panic!("{name}: {what}"));
                    assert!(*count <= most && *error != 0, "{name}: {what}");
                }
            }
        }
    }
}
