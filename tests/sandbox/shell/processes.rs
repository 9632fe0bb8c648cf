//! The programs of a line: which may start, and that none is left.

use std::path::Path;

use fileshed_core::Code;
use fileshed_core::settings::NamespacePolicy;
use fileshed_test_support::wait_until;

use super::scene::{Scene, caller};

/// Both ways of confinement, where the machine has both.
fn scenes() -> Vec<Scene> {
    let without = Scene::with(|settings| settings.exec_namespaces = NamespacePolicy::Off);
    let with = Scene::new();
    if with.has_tree() {
        vec![with, without]
    } else {
        vec![without]
    }
}

#[test]
fn only_programs_of_the_whitelist_start() {
    for scene in scenes() {
        for program in [
            "python3", "perl", "gcc", "curlx", "mount", "su", "apt-get", "node",
        ] {
            let ran = scene.line(&format!("{program} --version"));
            assert!([126, 127].contains(&ran.status), "{program}: {ran:?}");
        }
        for line in [
            "cp /bin/cat ./cat && chmod +x cat && ./cat /storage/a",
            "printf '#!/bin/sh\\necho own\\n' > own && chmod +x own && ./own",
            "/lib64/ld-linux-x86-64.so.2 ./cat own",
        ] {
            let ran = scene.line(line);
            assert_ne!(ran.status, 0, "{line}: {ran:?}");
        }
        assert_eq!(
            scene
                .line("echo 'echo own' > own; sh own; sh -c 'echo inner'")
                .output,
            "own\ninner\n"
        );
    }
}

#[test]
fn nothing_of_a_line_is_left_when_it_ends() {
    for scene in scenes() {
        // A number that nobody else sleeps for.
        let own = format!("{}{:04}", std::process::id(), u32::from(scene.has_tree()));
        for line in [
            "sleep {} & echo started",
            "(sleep {} & sleep {} &) ; echo started",
            "nohup sleep {} >/dev/null 2>&1 & echo started",
            "set -m; sleep {} & sleep {} & echo started",
            "timeout {} sleep {} & setsid sleep {} & echo started",
            "set -m; (set -m; (sleep {} &) & sleep {}) & echo started",
        ] {
            let ran = scene.line(&line.replace("{}", &own));
            assert!(ran.output.contains("started"), "{line}: {ran:?}");
            wait_until("its processes have ended", || !is_running(&own));
        }
    }
}

/// Returns `true` if a process has this argument.
fn is_running(argument: &str) -> bool {
    let entries = std::fs::read_dir("/proc").expect("read").flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == argument.as_bytes())
        })
}

/// Returns `true` if a user has the file `ready`.
fn is_ready(data: &Path) -> bool {
    let homes = std::fs::read_dir(data.join("users")).into_iter().flatten();
    let mut homes = homes.flatten().map(|home| home.path());
    homes.any(|home| home.join("Storage/data/ready").exists())
}

#[test]
fn a_line_is_asked_to_end_with_all_that_it_started() {
    for scene in scenes() {
        let ran = scene
            .attend(
                &caller("alice"),
                "/storage",
                "trap 'echo asked > told; exit 7' TERM; sleep 1000 & touch ready; wait",
                &[],
                |job| {
                    let data = scene.directory.path().to_owned();
                    std::thread::spawn(move || {
                        // The trap is set before anything can be seen of the line.
                        wait_until("it is ready", || is_ready(&data));
                        job.terminate();
                    });
                },
            )
            .expect("ran");
        assert!([7, -15, 143].contains(&ran.status), "{ran:?}");
    }
}

#[test]
fn a_line_that_does_not_listen_is_ended() {
    for scene in scenes() {
        let ran = scene
            .attend(
                &caller("alice"),
                "/storage",
                "trap '' TERM INT HUP; while :; do sleep 1000; done",
                &[],
                |job| {
                    job.terminate();
                    job.kill();
                },
            )
            .expect("ran");
        assert!(
            ran.status < 0 || ran.status == 125 || ran.status == 137,
            "{ran:?}"
        );
    }
}

#[test]
fn a_fork_bomb_ends_at_the_limit_and_leaves_others_alone() {
    for scene in scenes() {
        // A shell that does not try again for a while where nothing can be started.
        let ran = scene.line("sh -c 'f() { f | f & f; }; f'; true");
        assert!(ran.refused.is_none(), "{ran:?}");
        assert_eq!(scene.line("echo alive").output, "alive\n");
    }
}

#[test]
fn a_line_that_cannot_be_ended_by_itself_reaches_no_other() {
    for scene in scenes() {
        let own = std::process::id();
        let ran = scene.line(&format!("kill -9 {own}"));
        assert_ne!(ran.status, 0, "{ran:?}");
    }
}

#[test]
fn lines_of_all_users_are_bounded_together() {
    let scene = Scene::with(|settings| {
        settings.exec_max_total = 1;
        settings.terminal_max_processes = 1;
    });
    // Two users have a process each, so that no user alone takes all permits.
    let ran = scene
        .attend(&caller("alice"), "/storage", "sleep 1000", &[], |job| {
            let others = scene.attend(&caller("bob"), "/storage", "sleep 1000", &[], |other| {
                let refused = scene.run(&caller("carol"), "/storage", "true", &[]);
                assert_eq!(refused.expect_err("refused").code(), Code::Busy);
                other.kill();
            });
            assert!(others.expect("ran").status < 0);
            job.kill();
        })
        .expect("ran");
    assert!(ran.status < 0, "{ran:?}");
    let ran = scene
        .run(&caller("bob"), "/storage", "true", &[])
        .expect("ran");
    assert_eq!(ran.status, 0);
}
