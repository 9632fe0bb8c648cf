//! The files of a line: the caller's tree, what may be changed of it, and what becomes of that.

use fileshed_core::history::subject;
use fileshed_core::settings::NamespacePolicy;
use fileshed_core::{Code, Core, Scope, ZoneName, ZonePath, lockedit};
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::skip;

use super::scene::{Scene, caller};

/// Lines and their output, in this order, in one scene.
const LINES: &[(&str, &str)] = &[
    ("pwd", "/storage\n"),
    ("echo $HOME", "/storage\n"),
    ("echo one > a && echo two >> a; cat a | tac", "two\none\n"),
    ("for i in 1 2 3; do echo $i; done | wc -l", "3\n"),
    ("cat /storage/a", "one\ntwo\n"),
    ("mkdir -p d/e && cd d/e && pwd", "/storage/d/e\n"),
    ("cd /documents && echo draft > a.md && ls", "a.md\n"),
    ("echo t > /tmp/t && cat /tmp/t && ls /storage", "t\na\nd\n"),
    ("x=$(sort -r a); echo \"$x\" | head -n 1", "two\n"),
    ("test -e /tmp/t || echo gone", "gone\n"),
    ("(exit 3); echo $?", "3\n"),
    ("printf '%s' \"$A\"", ""),
    ("awk 'BEGIN { system(\"echo inner\") }'", "inner\n"),
    ("find . -name a -exec wc -l {} +", "2 ./a\n"),
];

#[test]
fn a_line_of_the_shell_has_the_tree_before_it() {
    let scene = Scene::new();
    if !scene.has_tree() {
        skip("no mount namespaces");
        return;
    }
    for (line, output) in LINES {
        let ran = scene.line(line);
        assert_eq!((ran.output.as_str(), ran.status), (*output, 0), "{line}");
        assert!(ran.refused.is_none(), "{line}: {ran:?}");
    }
    let top = scene.line("ls /").output;
    for name in ["documents", "groups", "logs", "storage", "tmp", "uploads"] {
        assert!(top.lines().any(|line| line == name), "{top}");
    }
}

#[test]
fn files_without_a_name_count_as_temporary_space() {
    for policy in [NamespacePolicy::Off, NamespacePolicy::Auto] {
        let scene = Scene::with(|settings| {
            settings.exec_temporary_max_mb = 8;
            settings.exec_namespaces = policy;
        });
        let line = "exec 3>held; rm held; head -c 30000000 /dev/urandom >&3; sleep 600";
        let ran = scene.run(&caller("alice"), "/storage", line, &[]);
        let ran = ran.expect("it ran");
        let refused = ran.refused.expect("it was ended");
        assert_eq!(
            refused.code(),
            Code::QuotaExceeded,
            "{policy:?}: {refused:?}"
        );
    }
}

#[test]
fn what_a_line_writes_into_documents_is_a_commit_of_its_own() {
    let scene = Scene::new();
    let ran = scene
        .run(
            &caller("alice"),
            "/documents",
            "echo 1 > a.md; echo 2 > b.md",
            &[],
        )
        .expect("ran");
    assert_eq!(ran.status, 0, "{ran:?}");
    let home = home_of(&scene);
    let repository = Repository::of(&home);
    assert_eq!(
        repository.text(&["log", "-1", "--format=%s"]).trim(),
        subject("echo 1 > a.md; echo 2 > b.md")
    );
    assert_eq!(repository.text(&["ls-files"]), "a.md\nb.md");
    repository.assert_sound();
}

#[test]
fn a_name_that_is_kept_for_the_server_does_not_stay() {
    let scene = Scene::new();
    let ran = scene
        .run(
            &caller("alice"),
            "/documents",
            "mkdir -p x/.git && echo 1 > x/.git/config; echo 2 > a.md",
            &[],
        )
        .expect("ran");
    assert!(
        ran.remarks.iter().any(|remark| remark.contains("x/.git")),
        "{ran:?}"
    );
    let repository = Repository::of(&home_of(&scene));
    assert_eq!(repository.text(&["ls-files"]), "a.md");
}

#[test]
fn a_file_that_a_locked_edit_holds_stays_as_it_is() {
    let scene = Scene::new();
    let alice = caller("alice");
    for (zone, cwd) in [
        (ZoneName::Documents, "/documents"),
        (ZoneName::Storage, "/storage"),
    ] {
        let run = |line| scene.run(&alice, cwd, line, &[]).expect("ran");
        run("echo one > a.md");
        let zone = scene
            .core
            .store
            .zone_as_it_is(&alice, zone)
            .expect("a zone");
        let path = ZonePath::parse("path", "a.md").expect("a path");
        lockedit::open(&zone, &path).expect("opened");
        for line in [
            "echo two > a.md; echo three > b.md",
            "rm a.md",
            "mv a.md c.md; true",
        ] {
            let ran = run(line);
            assert!(
                ran.remarks.iter().any(|remark| remark.contains("a.md")),
                "{line}: {ran:?}"
            );
            assert_eq!(run("cat a.md b.md").output, "one\nthree\n", "{line}");
        }
    }
}

#[test]
fn without_mount_namespaces_the_zone_of_the_beginning_is_there_by_relative_paths() {
    let scene = Scene::with(|settings| settings.exec_namespaces = NamespacePolicy::Off);
    assert!(!scene.has_tree());
    let ran =
        scene.line("echo one > a; mkdir d; cd d; cat ../a | wc -l; cd; ls; cat $TMPDIR/nothing");
    assert!(ran.output.starts_with("1\na\nd\n"), "{ran:?}");
    let data = scene.directory.path().to_string_lossy().into_owned();
    let documents = scene
        .run(&caller("alice"), "/documents", "echo x > x.md; ls", &[])
        .expect("ran");
    assert_eq!(documents.output, "x.md\n");
    for line in [
        "ls /",
        "cat /etc/passwd",
        &format!("ls {data}"),
        "ls ../../..",
        "cat ../../Documents/data/x.md",
    ] {
        let ran = scene.line(line);
        assert_ne!(ran.status, 0, "{line}: {ran:?}");
    }
}

#[test]
fn what_may_only_be_read_is_not_changed() {
    let scene = Scene::new();
    let alice = caller("alice");
    let uploads = scene
        .core
        .store
        .zone_as_it_is(&alice, ZoneName::Uploads)
        .expect("a zone");
    drop(uploads.made().expect("made"));
    let place = if scene.has_tree() {
        "/storage"
    } else {
        "/uploads"
    };
    let prefix = if scene.has_tree() { "/uploads/" } else { "" };
    for line in [
        format!("echo x > {prefix}x"),
        format!("mkdir {prefix}d"),
        format!("touch {prefix}x"),
        "echo x > /x".to_owned(),
        "touch /usr/x".to_owned(),
        "mkdir /documents/../x".to_owned(),
    ] {
        let ran = scene.run(&alice, place, &line, &[]).expect("ran");
        assert_ne!(ran.status, 0, "{line}: {ran:?}");
    }
}

#[test]
fn a_credential_that_only_reads_changes_nothing() {
    let scene = Scene::new();
    scene.line("echo one > a");
    let mut reader = caller("alice");
    reader.scope = Scope::Read;
    let ran = scene
        .run(
            &reader,
            "/storage",
            "cat a; echo two > a; echo three > b",
            &[],
        )
        .expect("ran");
    assert!(ran.output.starts_with("one\n"), "{ran:?}");
    assert_ne!(ran.status, 0);
    assert_eq!(scene.line("cat *").output, "one\n");
}

#[test]
fn one_user_sees_nothing_of_another() {
    let scene = Scene::new();
    scene.line("echo canary-a11ce > secret");
    let bob = caller("bob");
    let data = scene.directory.path().to_string_lossy().into_owned();
    for line in [
        "cat /storage/secret secret ../secret".to_owned(),
        format!("grep -r canary-a11ce {data}"),
        "grep -rs canary-a11ce . /tmp /groups /uploads /documents".to_owned(),
        "ls -R /storage /documents /groups /uploads /logs /tmp | grep secret".to_owned(),
    ] {
        let ran = scene.run(&bob, "/storage", &line, &[]).expect("ran");
        assert!(!ran.output.contains("canary-a11ce\n"), "{line}: {ran:?}");
        assert_ne!(ran.status, 0, "{line}: {ran:?}");
    }
}

#[test]
fn a_line_that_writes_more_than_fits_is_ended_and_what_it_wrote_stays() {
    let scene = Scene::with(|settings| settings.quota_per_user_mb = 8);
    scene.line("echo kept > kept");
    let grow = "i=0; while :; do i=$((i+1)); yes | head -c 1000000 > $0$i || exit; done";
    for name in ["f", "g"] {
        let ran = scene.line(&grow.replace("$0", name));
        let refused = ran.refused.as_ref().map(fileshed_core::Error::code);
        assert_eq!(refused, Some(Code::QuotaExceeded), "{ran:?}");
        let there = scene.line("ls").output;
        assert!(
            there.contains("f8\n") && there.contains("kept\n"),
            "{there}"
        );
    }
    let ran = scene.line("rm f* g*; ls");
    assert!(ran.refused.is_none(), "{ran:?}");
    // The bin of a zone that is over its quota has no room.
    let gone = "rm: what could not go into the bin is removed for good\n";
    assert_eq!(ran.output, format!("{gone}kept\n"));
}

#[test]
fn variables_of_the_caller_are_given_and_those_of_the_server_refused() {
    let scene = Scene::new();
    let alice = caller("alice");
    let ran = scene
        .run(
            &alice,
            "/storage",
            "echo \"$GREETING\"",
            &[("GREETING", "a b")],
        )
        .expect("ran");
    assert_eq!(ran.output, "a b\n");
    for name in ["LD_PRELOAD", "PATH", "GIT_DIR", "https_proxy", "PYTHONPATH"] {
        let refused = scene
            .run(&alice, "/storage", "true", &[(name, "x")])
            .expect_err("refused");
        assert_eq!(refused.code(), Code::InvalidParameter, "{name}");
    }
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let scene = Scene::new();
    for cwd in ["/storage/none", "/nowhere", "/groups/none/x"] {
        let refused = scene.run(&caller("alice"), cwd, "true", &[]);
        assert!(refused.is_err(), "{cwd}");
    }
}

/// Alice's directory on disk.
fn home_of(scene: &Scene) -> std::path::PathBuf {
    let core: &Core = &scene.core;
    let key = core.store.namespace(&caller("alice"));
    let users = scene.directory.path().join("users").join(&key);
    if users.exists() {
        users
    } else {
        scene.directory.path().join(key)
    }
}
