//! Memory of the processes that start a command and hold it, and what the kernel counts for all
//! processes of an account together.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use fileshed_test_support::wait_until;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use serde_json::{Value, json};

use super::foreign::accounts;
use super::helper::{self, Helper};
use super::scene::{CANARY, installed};
use super::{Scene, loader, needs_namespaces};

/// Looks through all processes that it finds. The canary is put together, so that the program does
/// not find itself.
const SEARCH: &str = r"
import os
canary = ('canary-' + '6f1c2a').encode()
own = str(os.getpid())
for process in os.listdir('/proc'):
    if not process.isdigit() or process == own:
        continue
    for name in ('maps', 'environ', 'auxv', 'stack', 'syscall', 'cmdline'):
        try:
            text = open(f'/proc/{process}/{name}', 'rb').read()
        except OSError:
            continue
        if name in ('maps', 'environ', 'auxv') and text:
            print('GOT', process, name)
        if canary in text:
            print('GOT canary in', name)
    try:
        memory = open(f'/proc/{process}/mem', 'rb', 0)
        print('GOT', process, 'mem')
    except OSError:
        continue
    for line in open(f'/proc/{process}/maps'):
        first, last = (int(end, 16) for end in line.split()[0].split('-'))
        try:
            memory.seek(first)
            if canary in memory.read(last - first):
                print('GOT canary in', line)
        except (OSError, OverflowError, ValueError):
            pass
print('DONE')
";

fn order(scene: &Scene, program: &str, arguments: &[&str]) -> Value {
    let file: PathBuf = installed(program).expect("installed");
    let mut order = json!({
        "file": file, "name": program, "arguments": arguments,
        "environment": [["PATH", "/usr/bin"]], "input": null,
        "limits": {"memory": 1_u64 << 31, "cpu_seconds": 60, "file_size": 1_u64 << 24,
                   "open_files": 64, "processes": 64},
        "access": {"execute": [file, loader()], "read": [], "network": "none",
                   "write": [scene.path("zone"), scene.path("private")], "any_program": true},
        "mounts": null,
        "supervised": true, "starts_others": true, "makes_groups": true, "changes": true,
        "probe": false, "best_effort": false,
    });
    if helper::has_namespaces() {
        scene.separate(&mut order);
    }
    order
}

#[test]
fn no_process_of_a_jail_shows_what_others_have_run() {
    if !needs_namespaces() || installed("python3").is_none() {
        return;
    }
    for account in accounts() {
        for waits in [false, true] {
            let scene = Scene::new();
            if let Some(account) = account {
                scene.give(account);
            }
            let zone = scene.path("zone");
            let helper = Helper::start_as("", account);
            let mut others = order(&scene, "true", &[CANARY]);
            others["environment"] = json!([["SECRET", CANARY]]);
            others["name"] = CANARY.into();
            for _ in 0..3 {
                assert_eq!(helper.run(&others, &zone).0, Some(0));
            }
            let search = order(&scene, "python3", &["-c", SEARCH]);
            if waits {
                helper.warm(&search, &zone);
            }
            let (status, output) = helper.run(&search, &zone);
            let output = String::from_utf8_lossy(&output);
            assert_eq!(
                (status, &*output),
                (Some(0), "DONE\n"),
                "account {account:?}, in a jail that waited: {waits}"
            );
        }
    }
}

#[test]
fn descriptors_on_their_way_keep_no_command_from_starting() {
    const AT_ONCE: usize = 64;
    let pair = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    );
    let (from, _to) = pair.expect("a pair");
    let nothing = std::fs::File::open("/dev/null").expect("opened");
    let handles = [nothing.as_fd(); AT_ONCE];
    // More than a command may have open.
    for _ in 0..6 {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&handles));
        let text = [IoSlice::new(b"x")];
        rustix::net::sendmsg(&from, &text, &mut control, SendFlags::empty()).expect("sent");
    }
    let scene = Scene::new();
    for separate in helper::ways() {
        let ended = scene.attack_in(separate, "cat", &["a"], &json!({}));
        let ended = ended.expect("cat is installed");
        let what = (&*ended.output, ended.status);
        assert_eq!(what, ("one\ntwo\n", Some(0)), "separate: {separate}");
    }
}

/// Has many watches, says so, and stays.
const WATCHES: &str = r"
import select, socket, time
pairs = [socket.socketpair() for _ in range(12)]
polls = [select.epoll() for _ in range(24)]
for poll in polls:
    for pair in pairs:
        poll.register(pair[0].fileno())
        poll.register(pair[1].fileno())
open('ready', 'w').close()
time.sleep(600)
";

#[test]
fn who_has_most_watches_of_epoll_is_ended_where_none_is_left() {
    if installed("python3").is_none() {
        return;
    }
    for account in accounts() {
        let scenes = [Scene::new(), Scene::new()];
        if let Some(account) = account {
            for scene in &scenes {
                scene.give(account);
            }
        }
        let [greedy, modest] = &scenes;
        let helper = Helper::start_as("", account);
        let ready = |scene: &Scene| wait_until("it runs", || scene.path("zone/ready").exists());
        std::thread::scope(|scope| {
            let many = scope.spawn(|| {
                let order = order(greedy, "python3", &["-c", WATCHES]);
                helper.run(&order, &greedy.path("zone")).0
            });
            let few = scope.spawn(|| {
                let few = "open('ready', 'w').close(); input()";
                let few = few.replace(
                    "input()",
                    "import os, time\nwhile not os.path.exists('end'): time.sleep(0.01)",
                );
                let order = order(modest, "python3", &["-c", &few]);
                helper.run(&order, &modest.path("zone")).0
            });
            ready(greedy);
            ready(modest);
            helper.end_most_watches();
            assert_eq!(many.join().expect("it ended"), None, "killed");
            // No command with many watches is left.
            helper.end_most_watches();
            modest.write("zone/end", "");
            assert_eq!(few.join().expect("it ended"), Some(0));
        });
    }
}
