//! Start, health and end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use fileshed_test_support::{PATIENCE, Server};

#[test]
fn health_and_readiness_ask_for_no_credential() {
    let server = Server::with_key();
    let health = server.client().get("/health");
    assert_eq!(health.status, 200);
    assert_eq!(health.body["status"], "ok");
    assert_eq!(health.body["version"], env!("CARGO_PKG_VERSION"));
    let ready = server.client().get("/ready");
    assert_eq!((ready.status, &ready.body["status"]), (200, &"ok".into()));
    assert!(ready.body["checks"].is_object());
    let path = server.data().display().to_string();
    assert!(!ready.text.contains(&path));
}

#[test]
fn the_start_page_leads_on_without_a_credential() {
    let server = Server::with_key();
    let page = server
        .client()
        .header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
        .get("/");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!page.text.contains("://"), "nothing comes from elsewhere");
    let links: Vec<&str> = page
        .text
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(links.contains(&"docs/"), "{links:?}");
    for link in links {
        assert_eq!(
            server.client().get(&format!("/{link}")).status,
            200,
            "{link}"
        );
    }
    let plain = server.client().header("Accept", "*/*").get("/");
    assert_eq!(
        (plain.status, plain.header("content-type")),
        (200, "application/json")
    );
    assert_eq!(plain.body["docs"], "/docs/");
    let path = server.data().display().to_string();
    assert!(!page.text.contains(&path) && !plain.text.contains(&path));
}

#[test]
fn the_log_says_where_the_server_is_and_what_is_connected() {
    let alone = Server::start();
    for line in [
        format!("url=http://{}", alone.address()),
        "sandbox: commands are".to_owned(),
        "callers: shared mode".to_owned(),
        format!(
            "links: begin with http://{}, for this machine",
            alone.address()
        ),
        "openwebui: not connected".to_owned(),
    ] {
        assert!(alone.logged(&line), "{line} is missing in\n{}", alone.log());
    }
    let closed = Server::with()
        .env("FILESHED_API_KEYS", "hidden-key")
        .env("FILESHED_OPENWEBUI_API_URL", "http://127.0.0.1:9")
        .env("FILESHED_PUBLIC_URL", "https://files.example.org")
        .start();
    for line in [
        "url=https://files.example.org",
        "callers: 1 service keys with users in headers, sessions of Open WebUI",
        "links: begin with https://files.example.org",
        "openwebui: does not answer at http://127.0.0.1:9",
    ] {
        assert!(
            closed.logged(line),
            "{line} is missing in\n{}",
            closed.log()
        );
    }
    assert!(!closed.log().contains("hidden-key"));
    // Links that only this machine can open are a warning where there are other people.
    let unreachable = Server::with_key();
    assert!(unreachable.logged("WARN fileshed::cli::start: links: begin with http://127."));
}

#[test]
fn what_is_fetched_on_every_turn_has_no_line() {
    let server = Server::start();
    for path in ["/openapi.json", "/health", "/ready"] {
        assert_eq!(server.client().get(path).status, 200);
    }
    server
        .call("shed_parameters", &serde_json::json!({}))
        .data();
    assert!(server.logged("shed_parameters"));
    for operation in ["openapi.json", "\"health", "\"ready"] {
        let line = format!("operation=\"{}\"", operation.trim_matches('"'));
        assert!(!server.log().contains(&line), "{}", server.log());
    }
}

#[test]
fn health_tells_full_isolation_from_less() {
    let server = Server::start();
    let health = server.client().get("/health");
    let doctor = server.run(&["doctor"]).stdout;
    let is_whole = doctor.contains("ok      sandbox: ");
    let expected = match (&health.body["sandbox"], &health.body["namespaces"]) {
        (sandbox, _) if sandbox == "off" => "no_commands",
        (_, namespaces) if *namespaces == true && is_whole => "full",
        _ => "reduced",
    };
    assert_eq!(
        health.body["isolation"], expected,
        "{}\n{doctor}",
        health.text
    );
}

#[test]
fn a_stop_is_heard_as_soon_as_the_server_listens() {
    for _ in 0..10 {
        let mut server = Server::start();
        server.terminate();
        assert_eq!(server.wait(), Some(0), "{}", server.log());
    }
}

#[test]
fn a_stop_lets_a_running_request_finish() {
    let mut server = Server::start();
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let head = format!(
        "POST /shed_parameters HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\n\
         Content-Length: 20\r\n\r\n",
        server.address()
    );
    stream.write_all(head.as_bytes()).expect("a head");
    let mut ready = [0; 25];
    stream
        .read_exact(&mut ready)
        .expect("the server waits for the body");
    assert_eq!(&ready, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"{\"a\"").expect("half a request");
    server.terminate();
    assert!(server.logged("stopping"));
    assert!(
        TcpStream::connect(server.address()).is_err(),
        "nobody new is let in"
    );
    stream
        .write_all(b":            1}\n")
        .expect("the other half");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(server.wait(), Some(0));
    assert!(server.logged("stopped"));
}

#[test]
fn a_server_that_ends_is_not_ready_and_answers_for_a_while() {
    let mut server = Server::with()
        .env("FILESHED_INSTANCE_DRAIN_SECONDS", "3600")
        .start();
    let call = || {
        server
            .call("shed_parameters", &serde_json::json!({}))
            .status
    };
    assert_eq!((server.client().get("/ready").status, call()), (200, 200));
    server.terminate();
    assert!(server.logged("draining"));
    let ready = server.client().get("/ready");
    assert_eq!(
        (ready.status, &ready.body["status"]),
        (503, &"draining".into())
    );
    assert_eq!((call(), server.client().get("/health").status), (200, 200));
    // A second signal ends the server at once.
    server.terminate();
    assert_eq!(server.wait(), Some(0), "{}", server.log());
}

#[test]
fn doctor_tries_what_the_file_system_promises() {
    let server = Server::start();
    let plain = server.run(&["doctor"]).stdout;
    assert!(!plain.contains("storage "), "{plain}");
    let tried = server.run(&["doctor", "--storage"]).stdout;
    for promise in ["replace", "exclusive", "links", "append", "case"] {
        let line = format!("ok      storage {promise}: ");
        assert!(tried.contains(&line), "{promise}: {tried}");
    }
    let left = std::fs::read_dir(server.data()).expect("listed");
    let names = left.map(|item| item.expect("an item").file_name());
    let kept = |name: &std::ffi::OsString| !name.to_string_lossy().starts_with("promises");
    assert!(names.into_iter().all(|name| kept(&name)));
}

#[test]
fn an_idle_connection_does_not_hold_up_a_stop() {
    let mut server = Server::start();
    let _idle = TcpStream::connect(server.address()).expect("a connection");
    server
        .call("shed_parameters", &serde_json::json!({}))
        .data();
    server.terminate();
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn an_address_in_use_is_a_clear_end() {
    let server = Server::start();
    let finished = Server::with().run(&["serve", "--bind", server.address()]);
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("in use"), "{}", finished.stderr);
}
