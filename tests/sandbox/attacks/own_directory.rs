//! The directory that a job begins in.

use std::path::Path;

use serde_json::{Value, json};

use super::helper::Helper;
use super::scene::CANARY;
use super::{Scene, installed, loader, needs_namespaces};

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
    for (mark, is_removed) in [("renamed", false), ("removed", true)] {
        let handle = std::fs::File::open(&zone).expect("opened");
        let handle = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&handle));
        let kept = std::fs::File::open(&handle).expect("opened");
        std::fs::write(zone.join(mark), "").expect("written");
        let place = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&kept));
        if is_removed {
            std::fs::remove_dir_all(&zone).expect("removed");
        } else {
            std::fs::rename(&zone, scene.path("private/moved")).expect("renamed");
        }
        std::fs::create_dir(&zone).expect("made");
        std::fs::write(zone.join(CANARY), "").expect("written");
        let seen = output(&helper, &listing, Path::new(&place));
        if is_removed {
            // What has no name any more is mounted nowhere.
            assert!(!seen.contains(CANARY), "{seen}");
        } else {
            assert_eq!(seen, "a\nrenamed\n");
        }
        std::fs::remove_file(zone.join(CANARY)).expect("removed");
    }
}
