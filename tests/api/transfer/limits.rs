//! Size, quota and number, while bytes are still on their way.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use crate::transfer::form::{
    as_user, body, content_type, files, head, many_users, request, send, sizes_staged, staged,
};
use fileshed_test_support::{PATIENCE, Server, TestApp, eventually};

/// Sends a form of `total` bytes until the server answers; how much went out, and the answer.
fn pour(server: &Server, total: usize) -> (usize, String) {
    let (kind, length) = (content_type(), total.to_string());
    let mut headers = as_user("ada").to_vec();
    headers.extend([("Content-Type", kind.as_str()), ("Content-Length", &length)]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let start = request(server, "POST /files/upload?zone=storage", &headers);
    stream.write_all(start.as_bytes()).unwrap();
    stream.write_all(head("big").as_bytes()).unwrap();
    let mut most = 0;
    let piece = vec![0; 64 * 1024];
    let mut reader = stream.try_clone().unwrap();
    reader.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut written = 0;
    while written < total {
        if stream.write_all(&piece).is_err() {
            break;
        }
        written += piece.len();
        let sizes = sizes_staged(server, "ada");
        most = most.max(sizes.iter().sum::<u64>() as usize);
    }
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = reader.read_to_end(&mut answer);
    (most, String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn what_does_not_fit_is_not_collected() {
    for (quota, largest, code) in [("2", "50", "QUOTA_EXCEEDED"), ("50", "2", "FILE_TOO_LARGE")] {
        let server = many_users()
            .env("FILESHED_QUOTA_PER_USER_MB", quota)
            .env("FILESHED_MAX_FILE_SIZE_MB", largest)
            .start();
        let (most, answer) = pour(&server, 40 << 20);
        assert!(answer.contains(code), "{answer}");
        assert!(most <= 4 << 20, "{most} bytes were staged");
        eventually("nothing is staged", || {
            staged(&server, "ada").is_empty().then_some(())
        });
        assert!(files(&server, "ada").is_empty());
    }
}

#[test]
fn the_quota_holds_over_all_that_arrives_at_once() {
    let server = many_users().env("FILESHED_QUOTA_PER_USER_MB", "2").app();
    let content = vec![b'x'; 600 * 1024];
    let stored: usize = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..8)
            .map(|number| {
                let (server, content) = (&server, &content);
                scope.spawn(move || {
                    let zone = ["uploads", "storage", "documents"][number % 3];
                    let address = format!("/files/upload?zone={zone}");
                    let answer = send(&server.as_user("ada"), &address, &[("a", content)]);
                    if answer.status != 200 {
                        answer.refused(507, "QUOTA_EXCEEDED");
                    }
                    usize::from(answer.status == 200)
                })
            })
            .collect();
        senders
            .into_iter()
            .map(|sender| sender.join().unwrap())
            .sum()
    });
    assert!((1..=3).contains(&stored), "{stored}");
    let on_disk = files(&server, "ada");
    assert_eq!(on_disk.len(), stored);
    // To the byte: what is left fits, one more does not.
    let client = server.as_user("ada");
    let left = (2 << 20) - stored * content.len();
    let file = vec![b'y'; left + 1];
    send(&client, "/files/upload", &[("rest", &file)]).refused(507, "QUOTA_EXCEEDED");
    send(&client, "/files/upload", &[("rest", &file[1..])]).data();
    // The space of a replaced file counts as free for the new one.
    let again = "/files/upload?overwrite=true";
    send(&client, again, &[("rest", &file[1..])]).data();
    let stats = client.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["total"]["size_bytes"], 2 << 20);
}

#[test]
fn a_user_takes_some_places_and_not_all() {
    let server = many_users()
        .env("FILESHED_TRANSFER_MAX_PER_USER", "1")
        .start();
    let kind = content_type();
    let mut headers = as_user("ada").to_vec();
    headers.extend([("Content-Type", kind.as_str()), ("Content-Length", "1000")]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let start = request(&server, "POST /files/upload", &headers) + &head("slow");
    stream.write_all(start.as_bytes()).unwrap();
    eventually("the first is under way", || {
        (!staged(&server, "ada").is_empty()).then_some(())
    });
    let ada = server.as_user("ada");
    let busy = send(&ada, "/files/upload", &[("a", b"x")]);
    busy.refused(429, "BUSY");
    assert_eq!(busy.header("retry-after"), "5");
    ada.send("PUT", "/files/content?zone=storage&path=a", b"x")
        .refused(429, "BUSY");
    send(&server.as_user("bob"), "/files/upload", &[("a", b"x")]).data();
    // Operations do not wait behind it.
    let file = json!({"zone": "storage", "path": "a", "content": "x"});
    ada.call("shed_create_file", &file).data();
    drop(stream);
    eventually("the place is free", || {
        let answer = send(&ada, "/files/upload", &[("a", b"x")]);
        (answer.status == 200).then_some(())
    });
}

#[test]
fn a_request_holds_so_many_files() {
    let server = many_users().app();
    let client = server.as_user("ada");
    let names: Vec<String> = (0..501).map(|number| format!("d/{number}")).collect();
    let all: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), &b"x"[..]))
        .collect();
    let address = "/files/upload?zone=documents";
    send(&client, address, &all).refused(400, "INVALID_PARAMETER");
    assert!(files(&server, "ada").is_empty());
    assert_eq!(send(&client, address, &all[..500]).data()["count"], 500);
    let log = json!({"zone": "documents", "cmd": "git", "args": ["rev-list", "--count", "HEAD"]});
    assert_eq!(client.call("shed_exec", &log).data()["stdout"], "1\n");
    // The limit of a call's body is not that of a file.
    let server = TestApp::with().env("FILESHED_MAX_BODY_MB", "1").app();
    let large = vec![0; 3 << 20];
    send(&server.client(), "/files/upload", &[("a", &large)]).data();
    let form = body(&[("a", &large)]);
    let refused = server.client().post("shed_stats", &form);
    assert_eq!(refused.status, 413);
}
