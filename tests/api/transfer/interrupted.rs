//! Uploads that do not end: nothing of them is ever seen, and nothing stays.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::json;

use crate::transfer::form::{
    as_user, content_type, files, head, many_users, request, send, sizes_staged, staged,
};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::{Server, TestApp, eventually, pause, variables, wait_until};

/// Half of an upload of 2 MB, whose first file is complete.
fn half(server: &Server, address: &str) -> TcpStream {
    let kind = content_type();
    let mut headers = as_user("ada").to_vec();
    headers.extend([
        ("Content-Type", kind.as_str()),
        ("Content-Length", "2000000"),
    ]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let line = format!("POST {address}");
    stream
        .write_all(request(server, &line, &headers).as_bytes())
        .unwrap();
    let first = format!("{}complete\r\n", head("first.txt"));
    stream.write_all(first.as_bytes()).unwrap();
    stream.write_all(head("second.txt").as_bytes()).unwrap();
    stream.write_all(&vec![b'x'; 900_000]).unwrap();
    stream.flush().unwrap();
    stream
}

/// Waits until what was sent is on disk.
fn arrived(server: &TestApp) {
    eventually("both files are staged", || {
        let sizes = sizes_staged(server, "ada");
        (sizes.len() == 2 && sizes.iter().sum::<u64>() > 800_000).then_some(())
    });
}

fn nothing(server: &TestApp) {
    let client = server.as_user("ada");
    let stats = client.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["total"]["size_bytes"], 0);
    let log = json!({"zone": "documents", "cmd": "git", "args": ["rev-list", "--count", "--all"]});
    let log = client.call("shed_exec", &log);
    assert_eq!(log.data()["stdout"].as_str().unwrap().trim(), "0");
}

#[test]
fn a_client_that_goes_away_leaves_nothing() {
    let server = many_users().start();
    for zone in ["uploads", "documents"] {
        let stream = half(&server, &format!("/files/upload?zone={zone}"));
        arrived(&server);
        assert_eq!(files(&server, "ada").len(), 2, "nothing has its name yet");
        drop(stream);
        eventually("nothing is staged", || {
            staged(&server, "ada").is_empty().then_some(())
        });
        assert!(files(&server, "ada").is_empty());
        nothing(&server);
    }
}

#[test]
fn a_killed_server_leaves_nothing() {
    for zone in ["uploads", "storage", "documents"] {
        let mut server = many_users().start();
        let _stream = half(&server, &format!("/files/upload?zone={zone}&path=in"));
        arrived(&server);
        server.kill();
        let server = server.again();
        nothing(&server);
        assert!(
            files(&server, "ada").is_empty(),
            "{:?}",
            files(&server, "ada")
        );
        let answer =
            crate::transfer::form::send(&server.as_user("ada"), "/files/upload", &[("a", b"x")]);
        assert_eq!(answer.data()["count"], 1);
    }
}

/// Latest moment after the last file, in microseconds.
const LATEST: u64 = 20_000;

/// Kills the server while an upload of many files is under way: when so many of them are staged, or
/// some microseconds after all of them are, while they get their names.
#[test]
fn a_killed_server_has_all_files_of_a_request_or_none() {
    let mut rng = Rng::new(variables::seed());
    let names: Vec<String> = (0..40)
        .map(|number| format!("d{}/{number}", number % 7))
        .collect();
    let all: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), &b"new"[..]))
        .collect();
    let old: Vec<(&str, &[u8])> = all.iter().map(|(name, _)| (*name, &b"old"[..])).collect();
    let address = "/files/upload?zone=documents&overwrite=true";
    for (round, enough) in [0, 13, 27, 40, 40, 40, 40, 40].into_iter().enumerate() {
        let mut server = many_users().start();
        // In every second round there is something to replace.
        let replaces = round % 2 == 0;
        if replaces {
            send(&server.as_user("ada"), address, &old).data();
        }
        let moment = if enough == all.len() {
            rng.below(LATEST)
        } else {
            0
        };
        let acknowledged = std::thread::scope(|scope| {
            let listener = server.address().to_owned();
            let body = crate::transfer::form::body(&all);
            let sender = scope.spawn(move || {
                let url = format!("http://{listener}{address}");
                let mut request = ureq::post(&url).header("Content-Type", &content_type());
                for (name, value) in as_user("ada") {
                    request = request.header(name, value);
                }
                request.send(&body[..]).is_ok()
            });
            wait_until("enough is staged", || {
                sender.is_finished() || sizes_staged(&server, "ada").len() >= enough
            });
            pause(moment);
            server.kill();
            sender.join().unwrap()
        });
        let server = server.again();
        let client = server.as_user("ada");
        let stats = client.call("shed_stats", &json!({}));
        let on_disk = files(&server, "ada");
        let new = on_disk
            .values()
            .filter(|content| *content == b"new")
            .count();
        assert!(
            new == 0 || new == all.len(),
            "round {round}: {new} of {}",
            all.len()
        );
        assert!(
            new > 0 || !acknowledged,
            "round {round}: what was acknowledged is gone"
        );
        let expected = if replaces || new > 0 { all.len() } else { 0 };
        assert_eq!(on_disk.len(), expected, "round {round}");
        assert_eq!(
            stats.data()["documents"]["files"],
            expected,
            "round {round}"
        );
        let clean = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
        assert_eq!(
            client.call("shed_exec", &clean).data()["stdout"],
            "",
            "round {round}"
        );
    }
}

#[test]
fn a_form_without_an_end_is_no_form() {
    let server = many_users().app();
    let client = server
        .as_user("ada")
        .header("Content-Type", &content_type());
    let whole = crate::transfer::form::body(&[("a.txt", b"content"), ("b.txt", b"more")]);
    for length in (0..whole.len() - 4).step_by(7) {
        let answer = client.send("POST", "/files/upload", &whole[..length]);
        answer.refused(400, "INVALID_PARAMETER");
    }
    assert!(files(&server, "ada").is_empty());
    nothing(&server);
}
