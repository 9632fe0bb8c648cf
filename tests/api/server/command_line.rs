//! Properties of all commands: lists, help, and an address that is taken.

use std::net::TcpListener;

use fileshed_test_support::{Server, TestApp, create_team};
use serde_json::{Value, json};

#[test]
fn every_list_is_rows_with_tabs_and_json_with_the_same() {
    let server = TestApp::with_key();
    let file = json!({"zone": "storage", "path": "a.md", "content": "hello"});
    server.as_user("ada").call("shed_create_file", &file).data();
    for make in [
        &["token", "create", "--user", "ada", "--label", "laptop"][..],
        &create_team("ada,bob,ada"),
    ] {
        assert_eq!(server.run(make).code, Some(0), "{make:?}");
    }
    for (list, field, value) in [
        (["user", "list"], "tokens", json!(1)),
        (["user", "usage"], "bytes", json!(5)),
        (["tenant", "list"], "quota_mib", json!(1000)),
        (["token", "list"], "label", json!("laptop")),
        (["group", "list"], "members", json!(["ada", "bob"])),
    ] {
        let plain = server.run(&list).stdout;
        let listed = server.run(&[&list[..], &["--json"]].concat());
        let rows: Value = serde_json::from_str(&listed.stdout).expect("JSON");
        let row = rows[0].as_object().expect("an object");
        assert_eq!(row[field], value, "{rows}");
        let columns = plain.lines().next().unwrap_or_default().split('\t');
        assert_eq!(columns.count(), row.len(), "{plain}");
        assert_eq!(plain.lines().count(), rows.as_array().map_or(0, Vec::len));
    }
    let empty = TestApp::with_key().run(&["group", "list", "--json"]);
    assert_eq!(empty.stdout, "[]\n");
}

/// The status is that of other programs behind `| head`, which the signal SIGPIPE ends.
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let server = TestApp::with_key();
    let file = json!({"zone": "storage", "path": "a.md", "content": "hello"});
    server.as_user("ada").call("shed_create_file", &file).data();
    for words in [
        &["config"][..],
        &["openapi"],
        &["doctor"],
        &["--help"],
        &["user", "list"],
        &["user", "list", "--json"],
        &["user", "show", "--user", "ada"],
        &["tenant", "export", "--user", "ada"],
        &["openwebui", "connection"],
    ] {
        let finished = server.setup().run_unread(words);
        assert_eq!(finished.code, Some(141), "{words:?}: {finished:?}");
        for word in ["pipe", "panic", "cannot be written"] {
            assert!(!finished.stderr.contains(word), "{words:?}: {finished:?}");
        }
    }
}

#[test]
fn all_commands_name_what_they_are_about_in_the_same_way() {
    let server = TestApp::with_key();
    for words in [
        &["user", "show"][..],
        &["tenant", "show"],
        &["group", "add"],
        &["group", "remove"],
        &["group", "delete"],
        &["token", "revoke"],
        &["login-link"],
    ] {
        let help = server.run(&[words, &["--help"]].concat()).stdout;
        // No word has its meaning by its place.
        assert!(
            help.contains("Options:") && !help.contains("Arguments:"),
            "{help}"
        );
        assert_eq!(
            server.run(&[words, &["ada"]].concat()).code,
            Some(2),
            "{words:?}"
        );
    }
}

#[test]
fn help_has_values_and_defaults() {
    let help = Server::with().run(&["serve", "--help"]).stdout;
    for part in [
        "[default: disabled] [env: FILESHED_NETWORK_MODE] [possible values: disabled, safe, all]",
        "[default: none] [env: FILESHED_API_KEYS]",
        "[env: FILESHED_WEBDAV] [possible values: true, false]",
        "[possible values: error, warn, info, debug, trace]",
    ] {
        let flat = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "{part} is missing in\n{help}");
    }
    let refused = Server::with().run(&["serve", "--network-mode", "some"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("disabled, safe, all"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_taken_port_stops_the_start_before_anything_is_made() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("an address").to_string();
    let setup = Server::with();
    let refused = setup.run(&["serve", "--bind", &address]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("cannot listen on"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("--bind"), "{}", refused.stderr);
    assert!(!setup.path("data").exists(), "nothing is made");
}

#[test]
fn a_login_link_leads_to_the_server_that_runs() {
    let server = Server::with_key();
    let link = || server.run(&["login-link", "--user", "ada"]).stdout;
    let address = server.url("/page/sign-in/");
    assert!(link().starts_with(&address), "{} {address}", link());
    let public = server.run(&[
        "login-link",
        "--user",
        "ada",
        "--public-url",
        "https://a.example",
    ]);
    assert!(
        public.stdout.starts_with("https://a.example/page/"),
        "{public:?}"
    );
    // Without one, it is where the server would be.
    let none = TestApp::with_key();
    let made = none.run(&["login-link", "--user", "ada"]).stdout;
    assert!(made.starts_with("http://127.0.0.1:8000/page/"), "{made}");
}
