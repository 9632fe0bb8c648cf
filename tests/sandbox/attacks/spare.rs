//! Jails that were made before there was a job for them: whose they are not, and that none is left.

use std::path::Path;

use serde_json::{Value, json};

use fileshed_test_support::{Server, wait_until};

use super::helper::{Helper, children, spare_of};
use super::scene::{CANARY, contents};
use super::{Row, Scene, installed, loader, needs_namespaces};

/// One of each kind; the whole book is played in such jails with `JAIL_SPARE=1`.
const ROWS: &[Row] = &[
    ("cat", &["{S}"]),
    ("cat", &["link"]),
    ("ls", &["-laR", "/"]),
    ("find", &["/", "-name", "secret"]),
    ("cp", &["{S}", "copy"]),
    ("cp", &["a", "{O}/left"]),
    ("rm", &["-rf", "{O}"]),
    ("touch", &["{S}"]),
    ("chmod", &["777", "{S}"]),
    ("ln", &["{S}", "copy"]),
    ("tee", &["dir/left"]),
    ("find", &[".", "-exec", "id", ";"]),
    ("awk", &["BEGIN{system(\"id\")}"]),
    (
        "python3",
        &["-c", "import os; print(open('/proc/1/environ').read())"],
    ),
    (
        "python3",
        &["-c", "import os; os.chroot('.'); print('uid=')"],
    ),
    (
        "python3",
        &[
            "-c",
            "import os\nfor fd in range(3, 1024):\n  try: print(os.listdir(fd), 'uid=')\n  except OSError: pass",
        ],
    ),
    (
        "python3",
        &["-c", "import socket; socket.socket(); print('uid=')"],
    ),
    ("python3", &["-c", "import os; os.setns(0); print('uid=')"]),
];

#[test]
fn attacks_in_a_jail_that_waited_achieve_nothing() {
    if !needs_namespaces() {
        return;
    }
    for (program, arguments) in ROWS {
        let scene = Scene::new().in_spare();
        scene.link();
        let outside = contents(&scene.path("other"));
        let fault = scene.fault(true, program, arguments, &json!({}), &outside);
        assert_eq!(fault, None, "{program} {arguments:?}");
    }
}

/// An order in the directory that comes with it.
fn order(scene: &Scene, program: &str, arguments: &[&str]) -> Value {
    let file = installed(program).expect("installed");
    json!({
        "file": file, "name": program, "arguments": arguments, "environment": [], "input": null,
        "owner": "somebody",
        "limits": {"memory": 1_u64 << 31, "cpu_seconds": 5, "file_size": 1_u64 << 24,
                   "open_files": 64, "processes": 64},
        "mounts": {"bind_mounts": [{"source": ".", "target": "/zone", "writable": true},
                                   {"source": scene.path("private"), "target": "/tmp", "writable": true}],
                   "directory": "/zone"},
        "access": {"execute": [file, loader()], "read": [], "write": ["/zone", "/tmp"],
                   "network": "none"},
        "supervised": true, "starts_others": false, "changes": true, "probe": false,
        "best_effort": false,
    })
}

fn output(helper: &Helper, order: &Value, directory: &Path) -> String {
    let (_, output) = helper.run(order, directory);
    String::from_utf8_lossy(&output).into_owned()
}

#[test]
fn a_job_finds_its_own_directory_whatever_has_its_name() {
    if !needs_namespaces() {
        return;
    }
    let scene = Scene::new();
    let helper = Helper::start("");
    let listing = order(&scene, "ls", &["-A"]);
    let zone = scene.path("zone");
    // Renamed, and removed; each time another directory has its name.
    for (mark, is_removed, waits) in [
        ("renamed", false, false),
        ("waited", false, true),
        ("removed", true, false),
        ("removed", true, true),
    ] {
        let handle = std::fs::File::open(&zone).expect("opened");
        let handle = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&handle));
        let kept = std::fs::File::open(&handle).expect("opened");
        std::fs::write(zone.join(mark), "").expect("written");
        if waits {
            helper.warm(&listing, &zone);
        }
        let place = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&kept));
        if is_removed {
            std::fs::remove_dir_all(&zone).expect("removed");
        } else {
            std::fs::rename(&zone, scene.path("private").join(mark)).expect("renamed");
        }
        std::fs::create_dir(&zone).expect("made");
        std::fs::write(zone.join(CANARY), "").expect("written");
        let seen = output(&helper, &listing, Path::new(&place));
        if is_removed {
            // A file without a name is mounted nowhere.
            assert!(!seen.contains(CANARY), "{seen}");
        } else {
            assert!(seen.contains(mark), "{seen}");
            assert!(!seen.contains(CANARY), "{seen}");
        }
        std::fs::remove_file(zone.join(CANARY)).expect("removed");
    }
}

#[test]
fn a_jail_that_waits_has_nothing_of_a_job() {
    if !needs_namespaces() {
        return;
    }
    let scene = Scene::new();
    let helper = Helper::start("");
    let spare = helper.warm(&order(&scene, "true", &[]), &scene.path("zone"));
    let place = |name: &str| format!("/proc/{spare}/{name}");
    let mounts = std::fs::read_to_string(place("mountinfo")).expect("read");
    assert!(!mounts.contains(&scene.text("")), "{mounts}");
    let mut descriptors: Vec<String> = std::fs::read_dir(place("fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .map(|to| to.to_string_lossy().into_owned())
        .collect();
    descriptors.extend(std::fs::read_link(place("cwd")).map(|to| to.display().to_string()));
    for to in &descriptors {
        let of_a_job = to.contains(&scene.text("")) || to.contains("landlock");
        assert!(!of_a_job, "{descriptors:?}");
    }
    assert!(descriptors.len() <= 8, "{descriptors:?}");
}

#[test]
fn few_jails_wait_and_none_outlives_its_helper() {
    if !needs_namespaces() {
        return;
    }
    let scene = Scene::new();
    let zone = scene.path("zone");
    let helper = Helper::start("");
    for network in [json!("none"), json!({"proxy": {"port": 4321}})] {
        for any_program in [false, true] {
            let mut order = order(&scene, "true", &[]);
            order["access"]["network"] = network.clone();
            order["access"]["any_program"] = any_program.into();
            helper.warm(&order, &zone);
        }
    }
    wait_until("one or two wait", || {
        matches!(helper.children().len(), 1 | 2)
    });
    let waiting = helper.children();
    helper.kill();
    let is_gone = |process: &i32| {
        !Path::new(&format!("/proc/{process}")).exists() || state(*process) == Some('Z')
    };
    wait_until("they ended with their helper", || {
        waiting.iter().all(is_gone)
    });
}

fn state(process: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[test]
fn a_jail_that_waits_serves_whoever_comes_next_with_their_own_files() {
    if !needs_namespaces() {
        return;
    }
    let mut server = Server::with_key();
    let helper = fileshed_test_support::processes::helper;
    let (alice, bob) = (server.as_user("alice"), server.as_user("bob"));
    let secret = json!({"zone": "storage", "path": "secret.txt", "content": CANARY});
    alice.call("shed_create_file", &secret).data();
    let line = |cmd: &str, args: Value| json!({"zone": "storage", "cmd": cmd, "args": args});
    alice
        .call("shed_exec", &line("cat", json!(["secret.txt"])))
        .data();
    let helper = helper(server.process().as_raw_nonzero().get());
    let spare = spare_of(helper);
    std::thread::scope(|scope| {
        let sleeping = scope.spawn(|| bob.call("shed_exec", &line("sleep", json!(["5"]))).status);
        wait_until("bob's command has the jail", || !children(spare).is_empty());
        assert_eq!(sleeping.join().expect("answered"), 200);
    });
    for args in [json!(["-laR", "/"]), json!(["-la", ".."]), json!(["-la"])] {
        spare_of(helper);
        let answer = bob.call("shed_exec", &line("ls", args));
        assert!(!answer.text.contains("secret.txt"), "{}", answer.text);
    }
    spare_of(helper);
    let suspended = server.run(&["user", "suspend", "--user", "alice"]);
    assert!(suspended.code == Some(0));
    let refused = alice.call("shed_exec", &line("cat", json!(["secret.txt"])));
    refused.refused(403, "ACCESS_DENIED");
    server.run(&["user", "resume", "--user", "alice"]);
    spare_of(helper);
    let deleted = server.run(&["user", "delete", "--user", "alice", "--yes"]);
    assert!(deleted.code == Some(0));
    let empty = alice.call("shed_exec", &line("ls", json!(["-A"])));
    assert!(!empty.text.contains("secret"), "{}", empty.text);
    let spare = spare_of(helper);
    server.kill();
    wait_until("it ended with the server", || {
        !Path::new(&format!("/proc/{spare}")).exists() || state(spare) == Some('Z')
    });
}
