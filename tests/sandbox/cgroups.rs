//! Bounds of commands with all that they start, where the server's control group is its own. A test makes
//! it such a group, on machines that have control groups of version 2.

use std::path::{Path, PathBuf};

use fileshed_test_support::{Answer, Client, Server, Setup, skip, wait_until};
use serde_json::json;

/// Memory of a command that the setting allows, in MiB.
const LIMIT: &str = "64";

/// Eight processes, each of which takes less than that and which together take more. Only the bound on all
/// of them ends them soon.
const HOGS: &str = "for i in 1 2 3 4 5 6 7 8; do \
    awk 'BEGIN { s = sprintf(\"%18000000d\", 1); while (1) n++ }' & done; wait";

/// A control group that is given to a server; gone with its value.
struct Delegated {
    directory: PathBuf,
}

impl Delegated {
    /// `None` if the machine has no control group to give.
    fn new(name: &str) -> Option<Self> {
        let skip = |why: &str| {
            skip(format_args!("{why}"));
            None
        };
        if !rustix::process::geteuid().is_root() {
            return skip("only root makes control groups");
        }
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("read");
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "));
        let Some(top) = mount.and_then(|line| line.split(' ').nth(4)) else {
            return skip("there are no control groups of version 2");
        };
        let top = Path::new(top);
        if std::fs::write(top.join("cgroup.subtree_control"), "+memory +pids").is_err() {
            return skip("control groups of version 2 have no controllers here");
        }
        let directory = top.join(format!("fileshed-test-{name}-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("made");
        Some(Self { directory })
    }

    /// A server that runs in it, or in a group below.
    fn server(&self, below: &str) -> Setup {
        let entrance = self.directory.join(below).join("cgroup.procs");
        let enter = format!("echo $$ > {} && exec \"$@\"", entrance.display());
        Server::with()
            .env("FILESHED_API_KEYS", "service-key")
            .env("FILESHED_EXEC_MEMORY_LIMIT_MB", LIMIT)
            .env("FILESHED_EXEC_PROGRAMS", "*")
            .through(&["/bin/sh", "-c", &enter, "sh"])
    }

    /// The groups of commands that are there, and whether anything runs in them.
    fn groups(&self) -> Vec<(PathBuf, bool)> {
        let entries = std::fs::read_dir(&self.directory)
            .expect("listed")
            .flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().contains(".command."))
            .filter_map(|entry| {
                let events = std::fs::read_to_string(entry.path().join("cgroup.events")).ok()?;
                Some((entry.path(), events.contains("populated 1")))
            })
            .collect()
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        let _linux_before_5_14 = std::fs::write(self.directory.join("cgroup.kill"), "1");
        wait_until("the group is empty", || {
            for entry in std::fs::read_dir(&self.directory)
                .into_iter()
                .flatten()
                .flatten()
            {
                let _no_group = std::fs::remove_dir(entry.path());
            }
            std::fs::remove_dir(&self.directory).is_ok() || !self.directory.exists()
        });
    }
}

fn execute(client: &Client<'_>, line: &str) -> Answer {
    let body = json!({"command": line}).to_string();
    client.send("POST", "/terminal/execute?wait=60", body.as_bytes())
}

fn text(answer: &Answer) -> String {
    let output = answer.body["output"].as_array().expect("a list");
    output
        .iter()
        .filter_map(|entry| entry["data"].as_str())
        .collect()
}

#[test]
fn a_line_is_ended_with_all_that_it_started_when_it_takes_too_much_together() {
    let Some(delegated) = Delegated::new("line") else {
        return;
    };
    let server = delegated.server("").start();
    assert!(server.logged("memory: 64 MiB for a command with all that it starts"));
    let health = server.client().get("/health");
    assert_eq!(health.body["memory_limit"], "command", "{}", health.text);
    let ada = server.as_user("ada");
    let ended = execute(&ada, HOGS);
    assert_eq!(ended.status, 200, "{}", ended.text);
    assert_eq!(ended.body["exit_code"], -9, "{}", ended.text);
    let said = text(&ended);
    for part in ["64 MiB", "exec_memory_limit_mb", "give it less input"] {
        assert!(said.contains(part), "{said}");
    }
    wait_until("nothing of it is left", || {
        delegated.groups().iter().all(|(_, runs)| !runs)
    });
    // Neither that user, in the same group, nor another is any worse off.
    for user in ["ada", "grace"] {
        let well = execute(&server.as_user(user), "echo well | cat");
        assert_eq!(well.body["exit_code"], 0, "{}", well.text);
        assert_eq!(text(&well), "well\n");
    }
}

#[test]
fn a_command_says_which_limit_ended_it() {
    let Some(delegated) = Delegated::new("exec") else {
        return;
    };
    let server = delegated.server("").start();
    let arguments = json!({"zone": "storage", "cmd": "sh", "args": ["-c", HOGS]});
    let refused = server.as_user("ada").call("shed_exec", &arguments);
    assert_eq!(refused.code(), "EXEC_ERROR", "{}", refused.text);
    let message = refused.body["message"].as_str().unwrap_or(&refused.text);
    assert!(
        message.contains("all processes that it starts"),
        "{}",
        refused.text
    );
    assert!(
        refused.text.contains("exec_memory_limit_mb"),
        "{}",
        refused.text
    );
    // A command that needs less memory still runs.
    let arguments = json!({"zone": "storage", "cmd": "sh", "args": ["-c", "echo fine"]});
    let ran = server.as_user("ada").call("shed_exec", &arguments);
    assert_eq!(ran.data()["stdout"], "fine\n", "{}", ran.text);
}

#[test]
fn groups_are_used_again_and_gone_with_the_server() {
    let Some(delegated) = Delegated::new("life") else {
        return;
    };
    let mut server = delegated.server("").start();
    for _ in 0..20 {
        let ran = execute(&server.as_user("ada"), "echo one | cat");
        assert_eq!(text(&ran), "one\n", "{}", ran.text);
    }
    let groups = delegated.groups();
    assert!((1..=4).contains(&groups.len()), "{groups:?}");
    server.kill();
    wait_until("nothing runs", || {
        delegated.groups().iter().all(|(_, runs)| !runs)
    });
    assert!(!delegated.groups().is_empty(), "a kill leaves them");
    // As a container does that has divided its group already.
    let server = delegated.server("fileshed.server").start();
    assert!(server.logged("with all that it starts"));
    let ran = execute(&server.as_user("ada"), "echo again");
    assert_eq!(text(&ran), "again\n", "{}", ran.text);
    let now = delegated.groups();
    assert!(now.iter().all(|group| !groups.contains(group)), "{now:?}");
    server.terminate();
    let mut server = server;
    assert_eq!(server.wait(), Some(0));
    assert_eq!(delegated.groups(), []);
}

#[test]
fn a_group_with_other_processes_is_left_alone() {
    let Some(delegated) = Delegated::new("shared") else {
        return;
    };
    let mut other = std::process::Command::new("/bin/sleep")
        .arg("600")
        .spawn()
        .expect("started");
    let entrance = delegated.directory.join("cgroup.procs");
    std::fs::write(entrance, other.id().to_string()).expect("moved");
    let server = delegated.server("").start();
    assert!(server.logged("its control group also has other processes"));
    let health = server.client().get("/health");
    assert_eq!(health.body["memory_limit"], "process", "{}", health.text);
    assert!(!delegated.directory.join("fileshed.server").exists());
    let ran = execute(&server.as_user("ada"), "echo well");
    assert_eq!(text(&ran), "well\n", "{}", ran.text);
    other.kill().expect("ended");
    other.wait().expect("reaped");
}
