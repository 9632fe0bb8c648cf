//! Programs that an administrator adds: interpreters by name, and everything.

use fileshed_core::Settings;
use fileshed_core::settings::{NamespacePolicy, ProgramName};
use fileshed_test_support::{has_program, skip};

use super::scene::{Ran, Scene};

fn add(settings: &mut Settings, programs: &[&str]) {
    let read = |name: &&str| name.parse::<ProgramName>().expect("a name");
    settings.exec_programs = programs.iter().map(read).collect();
}

/// Scenes with these programs, in both ways of confinement where the machine has both.
pub(super) fn scenes(programs: &[&str]) -> Vec<Scene> {
    let with = Scene::with(|settings| add(settings, programs));
    let without = Scene::with(|settings| {
        add(settings, programs);
        settings.exec_namespaces = NamespacePolicy::Off;
    });
    if with.has_tree() {
        vec![with, without]
    } else {
        vec![without]
    }
}

#[track_caller]
fn expect(ran: &Ran, output: &str) {
    assert_eq!((ran.output.as_str(), ran.status), (output, 0), "{ran:?}");
    assert!(ran.refused.is_none(), "{ran:?}");
}

#[test]
fn a_listed_interpreter_runs_and_nothing_else_does() {
    if !has_program("python3") {
        return;
    }
    for scene in scenes(&["python3"]) {
        expect(&scene.line("python3 -c 'print(6 * 7)'"), "42\n");
        expect(
            &scene.line("echo 'import json, sqlite3, threading, subprocess; print(subprocess.run([\"cat\", \"a\"], capture_output=True).stdout)' > p.py; echo one > a; python3 p.py"),
            "b'one\\n'\n",
        );
        for line in [
            "perl -e 1",
            "cp /bin/cat cat && chmod +x cat && ./cat p.py",
            "python3 -c 'import os; os.execv(\"/usr/bin/perl\", [\"perl\", \"-e\", \"1\"])'",
            "python3 -c 'import os; os.symlink(\"a\", \"b\")'",
        ] {
            let ran = scene.line(line);
            assert_ne!(ran.status, 0, "{line}: {ran:?}");
        }
    }
}

#[test]
fn code_in_a_zone_is_data_beside_a_listed_interpreter() {
    if !(has_program("python3") && has_program("gcc")) {
        return;
    }
    for scene in scenes(&["python3"]) {
        let home = scene.directory.path().join("built.so");
        let built = std::process::Command::new("gcc")
            .args(["-shared", "-fPIC", "-x", "c", "-", "-o"])
            .arg(&home)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .and_then(|mut gcc| {
                use std::io::Write as _;
                gcc.stdin
                    .take()
                    .expect("piped")
                    .write_all(b"int answer(void) { return 42; }")?;
                gcc.wait()
            })
            .expect("gcc runs");
        assert!(built.success());
        let encoded = std::process::Command::new("base64")
            .arg("-w0")
            .arg(&home)
            .output()
            .expect("runs");
        let encoded = String::from_utf8_lossy(&encoded.stdout).into_owned();
        let ran = scene.line(&format!(
            "echo {encoded} | base64 -d > built.so; python3 -c 'import ctypes; print(ctypes.CDLL(\"./built.so\").answer())'"
        ));
        assert_ne!(ran.status, 0, "{ran:?}");
    }
}

#[test]
fn with_every_program_what_users_build_runs() {
    for scene in scenes(&["*"]) {
        expect(
            &scene.line("printf '#!/bin/sh\\necho own\\n' > own && chmod +x own && ./own"),
            "own\n",
        );
        expect(
            &scene.line("ln -s own link && ./link && readlink link"),
            "own\nown\n",
        );
        if has_program("perl") {
            expect(&scene.line("perl -e 'print 42'"), "42");
        }
        if has_program("gcc") {
            expect(
                &scene.line("echo 'int main(void) { return 42; }' > a.c && gcc a.c -o a.out && ./a.out; echo $?"),
                "42\n",
            );
        }
        if has_program("node") {
            expect(&scene.line("node -e 'console.log(6 * 7)'"), "42\n");
        }
        if has_program("python3") {
            expect(
                &scene.line("python3 -c 'import subprocess; print(subprocess.run([\"./own\"], capture_output=True).stdout)'"),
                "b'own\\n'\n",
            );
            expect(
                &scene.line("head -c 3 /dev/zero 2>/dev/null | wc -c | tr -d 0-9; echo done"),
                "\ndone\n",
            );
        }
    }
}

#[test]
fn with_every_program_a_line_has_processes_and_shared_memory_of_its_own() {
    let Some(scene) = scenes(&["*"]).into_iter().find(Scene::has_tree) else {
        skip("no mount namespaces");
        return;
    };
    expect(&scene.line("head -c 1000 /dev/zero | wc -c"), "1000\n");
    if std::path::Path::new("/proc/self/status").exists() {
        let ran = scene.line("ls /proc | grep -c '^[0-9]'");
        assert!(
            ran.output
                .trim()
                .parse::<u32>()
                .is_ok_and(|count| count < 10),
            "{ran:?}"
        );
    }
    if has_program("python3") {
        expect(
            &scene.line(
                "python3 -c 'import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [-1, -2]))'",
            ),
            "[1, 2]\n",
        );
        expect(&scene.line("cat <<'X' > s.py\nfrom multiprocessing import shared_memory\ns = shared_memory.SharedMemory(create=True, size=1000)\ns.buf[0] = 7\nprint(s.buf[0])\ns.close(); s.unlink()\nX\npython3 s.py"), "7\n");
    }
    if has_program("bash") {
        expect(&scene.line("bash -c 'cat <(echo inner)'"), "inner\n");
    }
}

#[test]
fn links_that_a_line_leaves_lead_no_operation_of_the_server_out() {
    use super::scene::caller;
    use fileshed_core::{ZoneName, ZonePath};
    for scene in scenes(&["*"]) {
        let outside = scene.directory.path().to_string_lossy().into_owned();
        std::fs::write(scene.directory.path().join("secret"), "canary").expect("written");
        let ran = scene.line(&format!(
            "echo one > a; ln -s /etc/passwd p; ln -s {outside} d; ln -s ../../.. up; ln -s a inner; ls | wc -l"
        ));
        expect(&ran, "5\n");
        let alice = caller("alice");
        let zone = scene
            .core
            .store
            .zone_as_it_is(&alice, ZoneName::Storage)
            .expect("a zone");
        for path in ["p", "d/secret", "up/secret"] {
            let path = ZonePath::parse("path", path).expect("a path");
            assert!(zone.data.read(&path).is_err(), "{path}");
        }
        let totals = zone.data.measure().expect("measured");
        assert!(totals.bytes < 1000, "{totals:?}");
        let documents = scene
            .run(
                &alice,
                "/documents",
                "ln -s /etc/passwd p; echo two > b.md",
                &[],
            )
            .expect("ran");
        assert_eq!(documents.status, 0, "{documents:?}");
        assert!(documents.refused.is_none(), "{documents:?}");
    }
}

#[test]
fn libraries_start_one_thread_and_home_is_no_document() {
    for scene in scenes(&["sh"]) {
        expect(
            &scene.line("echo $OPENBLAS_NUM_THREADS $OMP_NUM_THREADS $MKL_NUM_THREADS"),
            "1 1 1\n",
        );
        let alice = super::scene::caller("alice");
        let ran = scene
            .run(
                &alice,
                "/documents",
                "echo x > $HOME/.kept; ls .kept 2>/dev/null; true",
                &[],
            )
            .expect("ran");
        expect(&ran, "");
    }
}

#[test]
fn a_repository_is_begun_where_git_lies_anywhere() {
    for scene in scenes(&["sh", "git"]) {
        expect(
            &scene.line("git init r >/dev/null && ls -A r && git -C r branch --show-current"),
            ".git\nmain\n",
        );
    }
}
