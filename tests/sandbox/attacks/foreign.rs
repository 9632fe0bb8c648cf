//! Machine code of an attacker, compiled here and run as if every rule about arguments had been fooled.
//! Played with namespaces and without, under the account of the tests and one without any right, and with
//! each version of Landlock.

use fileshed_test_support::skip;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::helper::{self, under};
use super::processes::left_of;
use super::scene::contents;
use super::{Scene, loader};

/// The versions of Landlock's interface that have rights of their own.
const VERSIONS: [i32; 7] = [7, 6, 5, 4, 3, 2, 1];

/// A program of this directory, compiled; gone with its value.
pub(super) struct Compiled {
    /// A directory outside of every directory that a view shows, which another account can reach.
    directory: tempfile::TempDir,
}

impl Compiled {
    /// None without a compiler.
    pub(super) fn new(name: &str) -> Option<Self> {
        let directory = tempfile::tempdir_in("/var/tmp").expect("a directory");
        let rights = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory.path(), rights).expect("set");
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/sandbox/attacks/foreign")
            .join(format!("{name}.c"));
        let compiled = Self { directory };
        let gcc = Command::new("gcc")
            .args(["-O1", "-w", "-pthread", "-o"])
            .args([&compiled.program(), &source])
            .output();
        let Ok(output) = gcc else {
            skip("gcc is not installed");
            return None;
        };
        assert!(output.status.success(), "{output:?}");
        Some(compiled)
    }

    pub(super) fn program(&self) -> PathBuf {
        self.directory.path().join("program")
    }
}

/// The accounts to play under: that of the tests and, where it can become any, one that nothing else on
/// the machine has. Commands of root have kernel accounts of their own, those of account 0 have none.
pub(super) fn accounts() -> Vec<Option<u32>> {
    let mut accounts = vec![None];
    if rustix::process::geteuid().is_root() {
        accounts.push(Some(0));
        accounts.push(Some(100_000 + std::process::id() % 100_000));
    }
    accounts
}

/// A process of the account, in a group of its own.
pub(super) fn bystander(account: Option<u32>) -> std::process::Child {
    let mut command = match account {
        Some(account) => under(account, "/usr/bin/sleep"),
        None => Command::new("/usr/bin/sleep"),
    };
    command
        .arg("600")
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("started")
}

/// Returns the attributes of a process that other processes can see: its limits, and its scheduling.
fn about_process(pid: u32) -> String {
    let read = |file: &str| {
        std::fs::read_to_string(format!("/proc/{pid}/{file}")).expect("the process is there")
    };
    let stat = read("stat");
    let (_, fields) = stat.rsplit_once(") ").expect("fields");
    let fields: Vec<&str> = fields.split(' ').collect();
    let status = read("status");
    let processors = status
        .lines()
        .find(|line| line.starts_with("Cpus_allowed_list"));
    // Priority, nice, policy.
    format!(
        "{} {} {} {processors:?} {}",
        fields[15],
        fields[16],
        fields[38],
        read("limits")
    )
}

/// Returns the attributes of a file.
fn about_file(file: &Path) -> impl PartialEq + std::fmt::Debug + use<> {
    let about = std::fs::metadata(file).expect("still there");
    (
        (about.mode(), about.uid(), about.gid(), about.size()),
        (about.mtime(), about.mtime_nsec()),
        (about.ctime(), about.ctime_nsec()),
    )
}

/// Plays the whole program once; returns the attacks that succeeded.
pub(super) fn play(
    program: &Path,
    separate: bool,
    account: Option<u32>,
    changes: &Value,
) -> Vec<String> {
    let scene = Scene::new();
    let socket = UnixDatagram::bind(scene.path("other/socket")).expect("bound");
    socket.set_nonblocking(true).expect("set");
    if let Some(account) = account {
        scene.give(account);
    }
    let mut bystander = bystander(account);
    let pid = bystander.id();
    // Until it is what it will be.
    while !std::fs::read(format!("/proc/{pid}/cmdline"))
        .is_ok_and(|line| line.starts_with(b"/usr/bin/sleep\0") || line.starts_with(b"sleep\0"))
    {
        std::thread::yield_now();
    }
    let places = ["other", "other/secret", "."].map(|name| scene.path(name));
    let before = (
        about_process(pid),
        places.clone().map(|place| about_file(&place)),
        contents(&scene.path("other")),
    );
    let ended = scene.run_foreign(
        separate,
        account,
        program,
        &["{S}", "{O}", &pid.to_string(), "{O}/socket"],
        changes,
    );
    let mut faults: Vec<String> = ended
        .output
        .lines()
        .filter(|line| line.starts_with("GOT"))
        .map(str::to_owned)
        .collect();
    if !ended.output.starts_with("BEGUN") || !ended.output.contains("DONE") {
        faults.push(format!("it did not come to its end: {}", ended.output));
    }
    if bystander.try_wait().expect("asked").is_some() {
        faults.push("it ended another process".to_owned());
    } else {
        if about_process(pid) != before.0 {
            faults.push("it changed another process".to_owned());
        }
        bystander.kill().expect("ended");
        bystander.wait().expect("reaped");
    }
    if places.map(|place| about_file(&place)) != before.1 {
        faults.push("it changed what is written about a file".to_owned());
    }
    if contents(&scene.path("other")) != before.2 {
        faults.push("it changed files".to_owned());
    }
    if socket.recv(&mut [0; 8]).is_ok() {
        faults.push("it sent to a socket".to_owned());
    }
    faults
}

#[test]
fn machine_code_reaches_nothing() {
    let Some(compiled) = Compiled::new("attack") else {
        return;
    };
    let program = &compiled.program();
    let mut faults = Vec::new();
    for account in accounts() {
        for separate in helper::ways() {
            for version in VERSIONS {
                for writes in [true, false] {
                    let changes = json!({
                        "access": {"execute": [program, loader()], "version": version},
                        "changes": writes,
                    });
                    let got = play(program, separate, account, &changes);
                    faults.extend(got.iter().map(|fault| {
                        format!("account {account:?}, separate {separate}, version {version}, changes {writes}: {fault}")
                    }));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_planted_program_is_not_loaded() {
    let Some(compiled) = Compiled::new("attack") else {
        return;
    };
    let program = &compiled.program();
    for account in accounts() {
        for separate in helper::ways() {
            let scene = Scene::new();
            scene.plant(&program.to_string_lossy(), "planted");
            if let Some(account) = account {
                scene.give(account);
            }
            let changes = json!({"access": {"execute": [loader()]}});
            let arguments = ["{Z}/planted", "{S}", "{O}", "0", "-"];
            let ended = scene.run_foreign(separate, account, &loader(), &arguments, &changes);
            let what = format!("account {account:?}, separate {separate}: {}", ended.output);
            assert_ne!(ended.status, Some(0), "{what}");
            assert!(!ended.output.contains("BEGUN"), "{what}");
            assert!(ended.output.contains("planted"), "{what}");
        }
    }
}

/// Without namespaces the supervisor judges a mapping by a descriptor that another thread of the command
/// can exchange before the kernel goes on. A command with such a thread runs machine code already, and can
/// make more of it without a file: all other layers still hold.
#[test]
fn machine_code_of_a_zone_is_refused_and_gains_nothing_in_a_race() {
    let Some(compiled) = Compiled::new("race") else {
        return;
    };
    let program = &compiled.program();
    for account in accounts() {
        for separate in helper::ways() {
            let scene = Scene::new();
            scene.plant("/usr/bin/id", "planted");
            if let Some(account) = account {
                scene.give(account);
            }
            let system = loader().to_string_lossy().into_owned();
            let changes = json!({"access": {"execute": [program, loader()]}});
            let arguments = [system.as_str(), "{Z}/planted", "{S}"];
            let ended = scene.run_foreign(separate, account, program, &arguments, &changes);
            let what = format!("account {account:?}, separate {separate}: {}", ended.output);
            assert!(ended.output.contains("DONE"), "{what}");
            let got = ended
                .output
                .lines()
                .filter_map(|line| line.strip_prefix("GOT "));
            let in_a_race = "code of the zone in a race";
            let got: Vec<_> = got.filter(|got| separate || *got != in_a_race).collect();
            assert_eq!(got, ["code of the system", "code of its own"], "{what}");
        }
    }
}

#[test]
fn processes_of_one_command_are_few() {
    let Some(compiled) = Compiled::new("bomb") else {
        return;
    };
    let program = &compiled.program();
    for account in accounts() {
        for separate in helper::ways() {
            for kind in ["processes", "threads"] {
                let scene = Scene::new();
                if let Some(account) = account {
                    scene.give(account);
                }
                let changes = json!({
                    "access": {"execute": [program, loader()]},
                    "limits": {"processes": 40},
                });
                let ended = scene.run_foreign(separate, account, program, &[kind], &changes);
                let what = format!("account {account:?}, separate {separate}, {kind}");
                let made = ended.output.trim().strip_prefix("made ");
                let made: u32 = made
                    .and_then(|made| made.parse().ok())
                    .unwrap_or_else(|| panic!("{what}: {}", ended.output));
                assert!((1..=40).contains(&made), "{what}: {made}");
                assert_eq!(left_of(&ended.marker), 0, "{what}");
            }
        }
    }
}
