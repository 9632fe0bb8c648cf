//! Attacks on the helper, with canaries where nothing may reach.
//!
//! Each family has its tables: one row is one command line, played in a scene of its own, and
//! judged by what it shows, what it leaves in the zone and what is changed outside.

mod any_program;
mod execute;
mod foreign;
mod helper;
mod memory;
mod network;
mod processes;
mod read;
mod repository;
mod resources;
mod scene;
mod spare;
mod view;
mod write;

pub(crate) use helper::{has_namespaces, needs_namespaces, ways};
use scene::{Row, play};
pub(crate) use scene::{Scene, installed, loader};
use serde_json::json;

#[test]
fn a_command_works_in_its_room() {
    let scene = Scene::new();
    let ended = scene.attack("cat", &["a"]).expect("cat is installed");
    assert_eq!(
        (ended.output.as_str(), ended.status),
        ("one\ntwo\n", Some(0))
    );
    let ended = scene.attack("cp", &["a", "b"]).expect("cp is installed");
    assert_eq!(ended.status, Some(0), "{}", ended.output);
    assert!(scene.path("zone/b").exists());
}

#[test]
fn signals_have_their_usual_effect() {
    let scene = Scene::new();
    // Says what is ignored or held back, then has nothing to start.
    let ended = scene
        .attack("env", &["--list-signal-handling", "true"])
        .expect("env is installed");
    assert!(!ended.output.contains("IGNORE"), "{}", ended.output);
    assert!(!ended.output.contains("BLOCK"), "{}", ended.output);
}

#[test]
fn kernel_interfaces_are_closed() {
    let scene = Scene::new();
    let calls = "import ctypes, platform\nlibc = ctypes.CDLL(None, use_errno=True)\nx86 = platform.machine() == 'x86_64'\ncalls = dict(ptrace=101, unshare=272, mount=165, bpf=321, keyctl=250, io_uring_setup=425, userfaultfd=323, perf_event_open=298, memfd_create=319, process_vm_readv=310, open_by_handle_at=304, personality=135, x32_getpid=0x40000000 + 39, vmsplice=278, remap_file_pages=216, io_submit=209, fanotify_mark=301, mq_notify=244, inotify_rm_watch=255, accept=43, cachestat=451, nfsservctl=180) if x86 else dict(unshare=97, vmsplice=75, fanotify_mark=263, accept=202)\nfor name, number in calls.items():\n  result = libc.syscall(number, 0, 0, 0, 0, 0)\n  print(name, 'REFUSED' if result == -1 and ctypes.get_errno() in (1, 38) else 'open')";
    if let Some(ended) = scene.attack("python3", &["-c", calls]) {
        assert!(!ended.output.contains("open\n"), "{}", ended.output);
        assert!(ended.output.contains("unshare REFUSED"), "{}", ended.output);
    }
}

#[test]
fn an_unconfined_start_is_refused() {
    let scene = Scene::new();
    let ended = scene
        .attack_with("cat", &["a"], &json!({"access": {"execute": []}}))
        .expect("cat is installed");
    assert_eq!(ended.status, Some(125), "{}", ended.output);
    assert!(ended.output.contains("fileshed jail"), "{}", ended.output);
}
