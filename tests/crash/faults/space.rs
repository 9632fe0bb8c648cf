//! The quota against commands: one that reaches it is ended, none that frees space fails for it.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::faults::unprivileged;
use fileshed_test_support::{Answer, Client, Setup, has_program, within};

const MEBIBYTE: u64 = 1 << 20;

/// Zones that commands write to.
pub(crate) const ZONES: [&str; 3] = ["storage", "documents", "group"];

/// A server with so many MiB for each user and each group.
fn quota(megabytes: u64) -> Option<Setup> {
    let megabytes = megabytes.to_string();
    let setup = unprivileged::setup()?
        .env("FILESHED_QUOTA_PER_USER_MB", &megabytes)
        .env("FILESHED_QUOTA_PER_GROUP_MB", &megabytes);
    Some(setup)
}

/// So many bytes of text that nothing compresses, another one for each seed.
fn noise(mut seed: u64, size: u64) -> String {
    let digit = |_| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        char::from(b'0' + (seed % 64) as u8)
    };
    (0..size).map(digit).collect()
}

pub(crate) fn run(client: &Client<'_>, zone: &str, line: &[&str]) -> Answer {
    let (cmd, args) = line.split_first().unwrap();
    // The longest that a command may have: a busy machine is slow.
    let call = json!({"cmd": cmd, "args": args, "timeout": 300});
    client.call("shed_exec", &within(zone, call))
}

/// A file of so many bytes that nothing compresses.
pub(crate) fn fill(client: &Client<'_>, zone: &str, path: &str, size: u64) {
    let content = noise(0x2545_f491_4f6c_dd1d, size);
    let call = within(zone, json!({"path": path, "content": content}));
    client.call("shed_create_file", &call).data();
}

/// Every file of a zone with its size.
pub(crate) fn listed(client: &Client<'_>, zone: &str) -> Vec<(String, u64)> {
    let line = ["find", ".", "-type", "f", "-printf", "%s %P\n"];
    let answer = run(client, zone, &line);
    let text = answer.data()["stdout"].as_str().unwrap().to_owned();
    let line = |line: &str| {
        let (size, path) = line.split_once(' ').unwrap();
        (path.to_owned(), size.parse().unwrap())
    };
    let mut files: Vec<(String, u64)> = text.lines().map(line).collect();
    files.retain(|(path, _)| path != ".git");
    files.sort();
    files
}

fn paths(client: &Client<'_>, zone: &str) -> Vec<String> {
    let files = listed(client, zone).into_iter();
    files.map(|(path, _)| path).collect()
}

fn bytes(client: &Client<'_>, zone: &str) -> u64 {
    listed(client, zone).iter().map(|(_, size)| size).sum()
}

#[test]
fn what_a_command_writes_beyond_the_quota_is_put_back_to_the_last_commit() {
    let Some(setup) = quota(8) else { return };
    let server = setup.start();
    for zone in ["documents", "group"] {
        let client = server.as_user(&format!("user-{zone}"));
        fill(&client, zone, "a", 3 * MEBIBYTE);
        run(&client, zone, &["mkdir", "d", "e"]).data();
        run(&client, zone, &["touch", "empty"]).data();
        run(&client, zone, &["tar", "-cf", "t.tar", "a"]).data();
        let before = listed(&client, zone);
        for line in [
            &["cp", "-v", "a", "c"][..],
            &["cp", "-v", "a", "t.tar", "d"],
            &["cp", "-v", "a", "empty"],
            &["cp", "-rv", "a", "t.tar", "e"],
            &["install", "-Dv", "a", "new/below/it"],
            &["tar", "-xvf", "t.tar", "-C", "d"],
        ] {
            let answer = run(&client, zone, line);
            answer.refused(507, "QUOTA_EXCEEDED");
            let details = &answer.body["error"]["details"];
            assert!(details["returncode"].is_i64(), "{}", answer.text);
            assert!(details["stderr"].is_string(), "{}", answer.text);
            assert_eq!(details["undone"], true, "{}", answer.text);
            assert!(!details["stdout"].as_str().unwrap().is_empty(), "{line:?}");
            assert_eq!(listed(&client, zone), before, "{zone}: {line:?}");
        }
        // Empty directories that were there are.
        let tree = run(
            &client,
            zone,
            &["find", ".", "-mindepth", "1", "-type", "d"],
        );
        let tree = tree.data()["stdout"].as_str().unwrap().to_owned();
        let mut directories: Vec<&str> = tree.lines().collect();
        directories.sort_unstable();
        assert_eq!(directories, ["./d", "./e"]);
        let status = run(&client, zone, &["git", "status", "--porcelain"]);
        assert_eq!(status.data()["stdout"], "", "{zone}");
        // Changes that fit still work.
        run(&client, zone, &["rm", "t.tar"]).data();
        run(&client, zone, &["cp", "a", "b"]).data();
        assert_eq!(paths(&client, zone), ["a", "b", "empty"]);
    }
}

#[test]
fn what_a_command_wrote_beyond_the_quota_stays_in_storage() {
    let Some(setup) = quota(8) else { return };
    let server = setup.start();
    let client = server.as_user("ada");
    let (zone, grow) = ("storage", json!({"path": "more", "content": "x"}));
    fill(&client, zone, "a", 3 * MEBIBYTE);
    run(&client, zone, &["mkdir", "d"]).data();
    run(&client, zone, &["cp", "a", "d"]).data();
    let answer = run(&client, zone, &["cp", "a", "b"]);
    answer.refused(507, "QUOTA_EXCEEDED");
    assert_eq!(answer.body["error"]["details"]["undone"], false);
    run(&client, zone, &["cp", "a", "c"]).refused(507, "QUOTA_EXCEEDED");
    assert_eq!(paths(&client, zone), ["a", "b", "d/a"]);
    let create = || client.call("shed_create_file", &within(zone, grow.clone()));
    create().refused(507, "QUOTA_EXCEEDED");
    run(&client, zone, &["rm", "d/a"]).data();
    create().data();
}

#[test]
fn one_command_after_the_other_or_several_at_once_share_the_quota() {
    let Some(setup) = quota(16) else { return };
    let server = setup.start();
    for zone in ZONES {
        let client = server.as_user(&format!("user-{zone}"));
        fill(&client, zone, "a", 3 * MEBIBYTE);
        let succeeded = std::thread::scope(|scope| {
            let run = |thread: u32| {
                let client = client.clone();
                move || {
                    let copies = 0..4;
                    let done = copies.filter(|copy| {
                        let name = format!("copy {thread} {copy}");
                        let answer = run(&client, zone, &["cp", "a", &name]);
                        match answer.status {
                            200 => true,
                            429 | 503 => false,
                            _ => {
                                answer.refused(507, "QUOTA_EXCEEDED");
                                false
                            }
                        }
                    });
                    done.map(|copy| format!("copy {thread} {copy}"))
                        .collect::<Vec<_>>()
                }
            };
            let threads: Vec<_> = (0..3).map(|thread| scope.spawn(run(thread))).collect();
            let each = threads.into_iter().map(|thread| thread.join().unwrap());
            each.flatten().collect::<Vec<_>>()
        });
        let there = paths(&client, zone);
        let is_over = bytes(&client, zone) > 16 * MEBIBYTE;
        assert!(
            zone == "storage" || !is_over,
            "{zone}: {there:?}, {succeeded:?}\n{}",
            server.log()
        );
        let more = run(&client, zone, &["cp", "a", "more"]);
        assert!(!is_over || more.status == 507, "{}", more.text);
        for copy in &succeeded {
            assert!(
                there.contains(copy),
                "{zone}: {copy} of {succeeded:?} is gone: {there:?}"
            );
        }
        for (path, size) in listed(&client, zone) {
            let is_whole = zone != "storage" || succeeded.contains(&path);
            assert!(!is_whole || size == 3 * MEBIBYTE, "{zone}: {path}");
        }
    }
}

#[test]
fn what_was_promised_meanwhile_stays_when_a_command_is_ended() {
    if !has_program("xz") {
        return;
    }
    let Some(setup) = quota(6) else { return };
    let server = setup.env("FILESHED_HISTORY_FACTOR", "1000").start();
    for zone in ["storage", "documents"] {
        let client = server.as_user(&format!("user-{zone}"));
        fill(&client, zone, "a", 4 * MEBIBYTE);
        let (answer, promised) = std::thread::scope(|scope| {
            let command = scope.spawn(|| run(&client, zone, &["xz", "-1", "-k", "a"]));
            let mut promised = Vec::new();
            let mut number = 0;
            while !command.is_finished() {
                number += 1;
                let name = format!("note {number}");
                let call = json!({"path": name, "content": "written meanwhile\n"});
                let written = client.call("shed_create_file", &within(zone, call));
                // There may be too much by then.
                assert!([200, 507].contains(&written.status), "{}", written.text);
                if written.status == 200 {
                    promised.push(name);
                }
                for (line, name) in [
                    (&["mv", "a note", "moved"][..], "moved"),
                    (&["mkdir", "-p", "made"], "made"),
                ] {
                    let answer = run(&client, zone, line);
                    assert_eq!(answer.status, 200, "{} {}", answer.text, server.log());
                    if answer.data()["returncode"] == 0 {
                        promised.push(name.to_owned());
                    }
                }
            }
            (command.join().unwrap(), promised)
        });
        answer.refused(507, "QUOTA_EXCEEDED");
        let there = run(&client, zone, &["ls"]);
        let there = there.data()["stdout"].as_str().unwrap().to_owned();
        let there: Vec<&str> = there.lines().collect();
        let is_put_back = zone == "documents";
        let details = &answer.body["error"]["details"];
        assert_eq!(details["undone"], is_put_back, "{}", answer.text);
        assert_eq!(there.contains(&"a.xz"), !is_put_back, "{zone}: {there:?}");
        let log = server.log();
        assert!(!log.contains("damaged"), "{log}");
        for path in &promised {
            assert!(there.contains(&path.as_str()), "{zone}: {path}: {there:?}");
        }
    }
}

/// A home that an administrator's lower limit, or another program, made too large.
#[test]
fn what_frees_space_works_in_a_home_that_holds_too_much() {
    let Some(setup) = quota(20) else { return };
    let mut server = setup.start();
    for zone in ZONES {
        let client = server.as_user(&format!("user-{zone}"));
        for path in ["a", "b", "d/c"] {
            fill(&client, zone, path, 3 * MEBIBYTE);
        }
    }
    for setting in ["FILESHED_QUOTA_PER_USER_MB", "FILESHED_QUOTA_PER_GROUP_MB"] {
        server.kill();
        server = server.again_with(setting, "2");
    }
    for zone in ZONES {
        let client = server.as_user(&format!("user-{zone}"));
        for line in [
            &["cp", "a", "x"][..],
            &["gzip", "-k", "a"],
            &["sort", "-o", "x", "a"],
        ] {
            let answer = run(&client, zone, line);
            answer.refused(507, "QUOTA_EXCEEDED");
            let message = answer.body["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains("7.0 MB too much"), "{message}");
            assert_eq!(paths(&client, zone), ["a", "b", "d/c"], "{zone}: {line:?}");
        }
        for line in [
            &["mkdir", "-v", "new"][..],
            &["mv", "-v", "a", "new/a"],
            &["chmod", "-v", "600", "b"],
            &["rm", "-v", "new/a"],
            &["truncate", "-s", "10", "b"],
            &["find", "d", "-name", "c", "-print", "-delete"],
            &["rename", "-v", "s/b/beta/", "b"],
        ] {
            let answer = run(&client, zone, line);
            assert_eq!(answer.data()["returncode"], 0, "{zone}: {}", answer.text);
            if line[0] != "truncate" {
                assert_ne!(answer.data()["stdout"], "", "{zone}: {line:?}");
            }
        }
        assert_eq!(listed(&client, zone), [("beta".to_owned(), 10)], "{zone}");
        run(&client, zone, &["cp", "beta", "again"]).data();
    }
}

#[test]
fn working_copies_count_and_stay_below_the_quota() {
    let Some(setup) = quota(8) else { return };
    let mut server = setup.start();
    for zone in ZONES {
        let client = server.as_user(&format!("user-{zone}"));
        let call =
            |operation: &str, arguments: Value| client.call(operation, &within(zone, arguments));
        fill(&client, zone, "a", 3 * MEBIBYTE);
        fill(&client, zone, "b", MEBIBYTE);
        fill(&client, zone, "c", 10);
        call("shed_lockedit_open", json!({"path": "a"})).data();
        let exec = |cmd: &str, args: &[&str]| {
            let line = json!({"path": "a", "cmd": cmd, "args": args});
            call("shed_lockedit_exec", line)
        };
        exec("sed", &["-i", "p", "."]).refused(507, "QUOTA_EXCEEDED");
        exec("truncate", &["-s", "5M", "."]).refused(507, "QUOTA_EXCEEDED");
        let size = exec("wc", &["-c", "."]).data()["stdout"].to_string();
        assert!(size.contains("3145728"), "{size}");
        let longer = "x".repeat(5 << 20);
        call(
            "shed_lockedit_overwrite",
            json!({"path": "a", "content": longer}),
        )
        .refused(507, "QUOTA_EXCEEDED");
        fill(&client, zone, "d", 256 << 10);
        call("shed_lockedit_open", json!({"path": "b"})).refused(507, "QUOTA_EXCEEDED");
        call("shed_lockedit_open", json!({"path": "c"})).data();
    }
    // Also for a server that finds them.
    server.kill();
    server = server.again();
    for zone in ZONES {
        let client = server.as_user(&format!("user-{zone}"));
        let call =
            |operation: &str, arguments: Value| client.call(operation, &within(zone, arguments));
        call("shed_lockedit_open", json!({"path": "b"})).refused(507, "QUOTA_EXCEEDED");
        // The space of the copy is the file's when it is saved.
        let more = "x".repeat(7 << 19);
        call(
            "shed_lockedit_overwrite",
            json!({"path": "a", "content": more}),
        )
        .data();
        call("shed_lockedit_save", json!({"path": "a"})).data();
        call("shed_lockedit_open", json!({"path": "b"})).data();
        call("shed_lockedit_cancel", json!({"path": "b"})).data();
        run(&client, zone, &["cp", "b", "e"]).data();
        run(&client, zone, &["cp", "b", "f"]).data();
    }
}

#[test]
fn there_are_only_so_many_files() {
    let Some(setup) = quota(8) else { return };
    let server = setup.env("FILESHED_MAX_FILES", "20").start();
    for zone in ZONES {
        let client = server.as_user(&format!("user-{zone}"));
        let names: Vec<String> = (0..18).map(|number| format!("f{number}")).collect();
        let mut line = vec!["touch"];
        line.extend(names.iter().map(String::as_str));
        run(&client, zone, &line).data();
        let before = listed(&client, zone);
        let answer = run(&client, zone, &["touch", "g1", "g2", "g3"]);
        answer.refused(507, "QUOTA_EXCEEDED");
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert!(message.contains("20 are allowed (max_files)"), "{message}");
        if zone == "storage" {
            run(&client, zone, &["rm", "g1", "g2", "g3"]).data();
        }
        assert_eq!(listed(&client, zone), before, "{zone}");
        run(&client, zone, &["touch", "g1", "g2"]).data();
        run(&client, zone, &["mkdir", "d"]).data();
        run(&client, zone, &["cp", "g1", "d"]).refused(507, "QUOTA_EXCEEDED");
        if zone == "storage" {
            run(&client, zone, &["rm", "d/g1"]).data();
        }
        let call = json!({"path": "one more", "content": ""});
        client
            .call("shed_create_file", &within(zone, call))
            .refused(507, "QUOTA_EXCEEDED");
        run(&client, zone, &["rm", "g2"]).data();
        run(&client, zone, &["cp", "g1", "d"]).data();
        assert_eq!(listed(&client, zone).len(), 20, "{zone}");
    }
}

#[test]
fn there_are_only_so_many_directories() {
    let Some(setup) = quota(8) else { return };
    let server = setup.env("FILESHED_MAX_FILES", "40").start();
    for zone in ZONES {
        let client = server.as_user(&format!("user-{zone}"));
        let made = (0..60).find_map(|number| {
            let answer = run(&client, zone, &["mkdir", &format!("d{number}")]);
            (answer.status != 200).then_some((number, answer))
        });
        let (number, refused) = made.expect("a bound");
        // One more is noticed at once or by the next command.
        assert!((40..=41).contains(&number), "{number}");
        refused.refused(507, "QUOTA_EXCEEDED");
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert!(message.contains("40 are allowed (max_files)"), "{message}");
        run(&client, zone, &["ls"]).data();
        run(&client, zone, &["rm", "-r", "d0", "d1"]).data();
        run(&client, zone, &["mkdir", "-p", "c"]).data();
    }
}

/// Bytes of a content of which no part was there before.
fn version(number: u64, size: u64) -> String {
    noise(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number + 1), size)
}

/// Bytes on disk of all objects of all histories.
fn objects(directory: &Path) -> u64 {
    let items = std::fs::read_dir(directory).unwrap();
    let length = |item: std::fs::DirEntry| match item.metadata() {
        Ok(metadata) if metadata.is_dir() => objects(&item.path()),
        Ok(metadata) if item.path().iter().any(|name| name == "objects") => metadata.blocks() * 512,
        _ => 0,
    };
    items.map(|item| length(item.unwrap())).sum()
}

#[test]
fn a_history_takes_only_so_much_space() {
    const SIZE: u64 = 1 << 18;
    let Some(setup) = quota(1) else { return };
    let setup = setup.env("FILESHED_HISTORY_FACTOR", "3");
    // Without packing, the measured size does not change by itself.
    let server = setup
        .env("FILESHED_HISTORY_PACK_OBJECTS", "1000000")
        .start();
    let write = |client: &Client<'_>, zone: &str, number: u64| {
        let call = json!({"path": "a", "content": version(number, SIZE)});
        client.call("shed_create_file", &within(zone, call))
    };
    for zone in ["documents", "group"] {
        let before = objects(&server.data());
        let client = server.as_user("ada");
        let versions = (0..100).find(|number| write(&client, zone, *number).status != 200);
        // Three MiB of contents that compress to three quarters.
        let versions = versions.expect("a bound");
        assert!((12..20).contains(&versions), "{versions}");
        let taken = objects(&server.data()) - before;
        assert!((3 << 20..7 << 19).contains(&taken), "{taken}");
        let refused = write(&client, zone, 100);
        refused.refused(507, "QUOTA_EXCEEDED");
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("the limit is 3 MiB (history_factor)"),
            "{message}"
        );
        for line in [["cp", "a", "b"], ["mv", "a", "b"], ["git", "stash", "list"]] {
            let answer = run(&client, zone, &line);
            if line[0] != "git" {
                answer.refused(507, "QUOTA_EXCEEDED");
            }
        }
        // The file and its history can still be read, and the file can be removed.
        let last = run(&client, zone, &["head", "-c", "64", "a"]);
        assert_eq!(last.data()["stdout"], version(versions - 1, 64));
        assert_eq!(
            run(&client, zone, &["git", "log", "-1"]).data()["returncode"],
            0
        );
        run(&client, zone, &["rm", "a"]).data();
        write(&client, zone, 101).refused(507, "QUOTA_EXCEEDED");
        // Storage has no history, and is not affected.
        write(&client, "storage", 1).data();
        let path = within("storage", json!({"path": "a"}));
        client.call("shed_delete", &path).data();
    }
    // An administrator allows more.
    let server = server.again_with("FILESHED_HISTORY_FACTOR", "4");
    for zone in ["documents", "group"] {
        write(&server.as_user("ada"), zone, 102).data();
    }
}

#[test]
fn temporary_files_of_commands_are_bounded_also_where_they_only_read() {
    let Some(setup) = quota(64) else { return };
    let server = setup.env("FILESHED_EXEC_TEMPORARY_MAX_MB", "4").start();
    let client = server.as_user("ada");
    let mut lines = String::new();
    for number in 0..400_000_u128 {
        writeln!(lines, "{:032x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).unwrap();
    }
    let file = json!({"zone": "storage", "path": "a", "content": lines});
    client.call("shed_create_file", &file).data();
    let answer = run(
        &client,
        "storage",
        &["sort", "-S", "1M", "a", "a", "a", "a"],
    );
    answer.refused(507, "QUOTA_EXCEEDED");
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("4 MB of temporary space"), "{message}");
    let staging = server.data().join("users/ada/staging");
    let left: Vec<_> = std::fs::read_dir(staging).unwrap().flatten().collect();
    assert!(
        left.iter()
            .all(|entry| entry.file_name().to_string_lossy().ends_with(".lock")),
        "{left:?}"
    );
    run(&client, "storage", &["wc", "-c", "a"]).data();
}
