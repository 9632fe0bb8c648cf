//! A server among others, at its end, and without descriptors.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::faults::unprivileged;
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{PATIENCE, Server, has_program, wait_until};

/// Makes one call on a connection of its own; `None` if no complete answer came.
fn attempt(address: &str, user: &str, operation: &str, arguments: &Value) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE * 2)).ok()?;
    let body = arguments.to_string();
    let head = format!(
        "POST /{operation} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer service-key\r\n\
         X-OpenWebUI-User-Id: {user}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split(' ').nth(1)?.parse().ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    Some((status, serde_json::from_str(body).ok()?))
}

fn content(server: &Server, user: &str, zone: &str, path: &str) -> Option<String> {
    let read = json!({"zone": zone, "cmd": "cat", "args": [path]});
    let answer = server.as_user(user).call("shed_exec", &read);
    let data = answer.data();
    (data["returncode"] == 0).then(|| data["stdout"].as_str().unwrap().to_owned())
}

/// Running calls end with their answers, commands included; no acknowledged change is lost, and a change
/// that was refused or cut off is whole or absent.
#[test]
fn a_stop_under_load_loses_nothing_and_ends_well() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let mut server = setup.start();
    let address = server.address().to_owned();
    let acknowledged: Mutex<BTreeMap<(String, &str, String), String>> = Mutex::default();
    let answers = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let slow = json!({"zone": "storage", "cmd": "sleep", "args": ["2"]});
            attempt(&address, "slow", "shed_exec", &slow)
        });
        for worker in 0..6 {
            let (address, acknowledged, answers) = (&address, &acknowledged, &answers);
            scope.spawn(move || {
                let user = format!("user-{}", worker % 3);
                let zone = if worker < 3 { "storage" } else { "documents" };
                for number in 0.. {
                    let path = format!("w{worker}-{number}.md");
                    let text = format!("{path}\n").repeat(200);
                    let file = json!({"zone": zone, "path": path, "content": text});
                    match attempt(address, &user, "shed_create_file", &file) {
                        Some((200, _)) => {
                            let key = (user.clone(), zone, path);
                            acknowledged.lock().unwrap().insert(key, text);
                            answers.fetch_add(1, Ordering::Relaxed);
                        }
                        Some((429 | 503, _)) => {}
                        Some((status, body)) => panic!("{status}: {body}"),
                        // The server takes nobody new.
                        None => return,
                    }
                }
            });
        }
        wait_until("answers", || answers.load(Ordering::Relaxed) >= 60);
        server.terminate();
        let (status, body) = slow.join().unwrap().expect("an answer");
        assert_eq!(
            (status, &body["data"]["returncode"]),
            (200, &json!(0)),
            "{body}"
        );
    });
    assert_eq!(server.wait(), Some(0), "{}", server.log());
    wait_until("the last line", || server.log().contains("stopped"));
    let again = server.again();
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= 60);
    for ((user, zone, path), text) in &acknowledged {
        let directory = if *zone == "storage" {
            "Storage"
        } else {
            "Documents"
        };
        let place = again
            .data()
            .join(format!("users/{user}/{directory}/data/{path}"));
        assert_eq!(
            std::fs::read_to_string(&place).unwrap(),
            *text,
            "{}",
            place.display()
        );
    }
    for user in ["user-0", "user-1", "user-2"] {
        let status = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
        let status = again.as_user(user).call("shed_exec", &status);
        assert_eq!(status.data()["stdout"], "", "{user}");
        let documents = again.data().join(format!("users/{user}/Documents"));
        Repository::at(&documents.join("repo.git"), &documents.join("data")).assert_sound();
    }
    assert!(!again.log().contains("repaired a zone"), "{}", again.log());
}

/// Two servers on one directory work as one: the same files, locks, tokens and history.
#[test]
fn two_servers_on_one_directory_work_as_one() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let one = setup.start();
    let mut two = one.again();
    let servers = [&one, &two];
    std::thread::scope(|scope| {
        for (name, server) in servers.iter().enumerate() {
            for zone in ["storage", "documents"] {
                scope.spawn(move || {
                    let ada = server.as_user("ada").chat(&format!("chat-{name}"));
                    for number in 0..15 {
                        let path = format!("{name}-{number}.md");
                        let file = json!({"zone": zone, "path": path, "content": "text\n"});
                        ada.call("shed_create_file", &file).data();
                        let line = format!("{name}-{number}\n");
                        let log = json!({"zone": zone, "path": format!("log-{zone}.md"), "content": line});
                        ada.call("shed_patch_text", &log).data();
                    }
                });
            }
        }
    });
    for zone in ["storage", "documents"] {
        let log = content(&two, "ada", zone, &format!("log-{zone}.md")).unwrap();
        assert_eq!(log.lines().count(), 30, "{zone}: {log}");
        assert_eq!(
            content(&one, "ada", zone, "1-14.md").as_deref(),
            Some("text\n")
        );
    }
    let status = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
    assert_eq!(
        one.as_user("ada").call("shed_exec", &status).data()["stdout"],
        ""
    );
    let space = one.as_user("ada").call("shed_stats", &json!({}));
    assert_eq!(space.data()["storage"]["files"], 31, "{}", space.text);
    // A lock of one holds for the other, also when its server died.
    let edit = json!({"zone": "storage", "path": "0-0.md", "content": "other\n"});
    two.as_user("ada")
        .chat("a")
        .call("shed_lockedit_open", &edit)
        .data();
    let refused = || {
        one.as_user("ada")
            .chat("b")
            .call("shed_patch_text", &edit)
            .refused(423, "FILE_LOCKED");
    };
    refused();
    two.kill();
    refused();
    one.as_user("ada")
        .chat("a")
        .call("shed_lockedit_overwrite", &edit)
        .data();
    one.as_user("ada")
        .chat("a")
        .call("shed_lockedit_save", &edit)
        .data();
    assert_eq!(
        content(&one, "ada", "storage", "0-0.md").as_deref(),
        Some("other\n")
    );
}

/// While descriptors are used up, calls wait or are refused; then everything works again.
#[test]
fn used_up_descriptors_tear_nothing() {
    if !has_program("prlimit") {
        return;
    }
    for limit in [48, 64, 96] {
        let Some(setup) = unprivileged::setup() else {
            return;
        };
        let limit = format!("--nofile={limit}:{limit}");
        let launcher = setup.launcher().to_vec();
        let launcher = launcher.iter().map(String::as_str);
        let words: Vec<&str> = ["/usr/bin/prlimit", &limit]
            .into_iter()
            .chain(launcher)
            .collect();
        starve(setup.through(&words).start(), &limit);
    }
}

/// More callers than there are descriptors for.
fn starve(mut server: Server, limit: &str) {
    const WORKERS: usize = 24;
    const EACH: usize = 4;
    let address = server.address().to_owned();
    let refused = AtomicU64::new(0);
    let zone_of = |worker: usize| {
        if worker.is_multiple_of(2) {
            "storage"
        } else {
            "documents"
        }
    };
    let text_of = |worker: usize, number: usize| format!("{worker} {number}\n").repeat(500);
    let acknowledged: Vec<Option<usize>> = std::thread::scope(|scope| {
        let (address, refused) = (&address, &refused);
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                scope.spawn(move || {
                    let mut acknowledged = None;
                    for number in 0..EACH {
                        let file = json!({"zone": zone_of(worker), "path": format!("{worker}.md"),
                            "content": text_of(worker, number)});
                        match attempt(
                            address,
                            &format!("user-{}", worker % 6),
                            "shed_create_file",
                            &file,
                        ) {
                            Some((200, _)) => acknowledged = Some(number),
                            Some((429 | 500 | 503, _)) | None => {
                                refused.fetch_add(1, Ordering::Relaxed);
                            }
                            Some((status, body)) => panic!("{status}: {body}"),
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    println!("{limit}: {} refused", refused.load(Ordering::Relaxed));
    // Each file is whole, and no older than the last version that was acknowledged.
    for (worker, acknowledged) in acknowledged.into_iter().enumerate() {
        let user = format!("user-{}", worker % 6);
        let path = format!("{worker}.md");
        let found = content(&server, &user, zone_of(worker), &path);
        let number = (0..EACH).find(|number| found.as_ref() == Some(&text_of(worker, *number)));
        assert!(
            found.is_none() || number.is_some(),
            "{limit}: {worker}: {found:?}"
        );
        assert!(
            number >= acknowledged,
            "{limit}: {worker}: {number:?} {acknowledged:?}"
        );
        let file = json!({"zone": zone_of(worker), "path": path, "content": "at last\n"});
        let last = server.as_user(&user).call("shed_create_file", &file);
        assert_eq!(last.status, 200, "{limit}: {}\n{}", last.text, server.log());
    }
    for user in 0..6 {
        let status = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
        let status = server
            .as_user(&format!("user-{user}"))
            .call("shed_exec", &status);
        assert_eq!(
            status.status,
            200,
            "{limit}: {}\n{}",
            status.text,
            server.log()
        );
        assert_eq!(status.data()["stdout"], "", "{limit}");
    }
    server.terminate();
    assert_eq!(server.wait(), Some(0), "{}", server.log());
}
