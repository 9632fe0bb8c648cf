//! Keys that the server makes for itself.

use std::os::unix::fs::PermissionsExt as _;

use fileshed_test_support::{Server, Setup};
use serde_json::json;

fn setup() -> Setup {
    Server::with()
        .env("FILESHED_TERMINAL_API_KEYS", "auto")
        .env("FILESHED_API_KEYS", "auto,own-key")
}

#[test]
fn a_key_is_made_once_shown_once_and_kept_for_the_server_alone() {
    let mut server = setup().start();
    let file = server.data().join(".fs_terminal_api_keys");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let key = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    let other = std::fs::read_to_string(server.data().join(".fs_api_keys")).unwrap();
    assert_eq!((key.len(), other.trim().len()), (64, 64));
    assert_ne!(key, other.trim());
    assert_eq!(server.log().matches(&key).count(), 1, "{}", server.log());

    let path = "/terminal/files/list?directory=/storage";
    let asked = |server: &Server, key: &str| {
        let client = server
            .client()
            .header("Authorization", &format!("Bearer {key}"));
        client.header("X-User-Id", "ada").get(path).status
    };
    assert_eq!(asked(&server, &key), 200);
    for wrong in ["auto", "own-key", other.trim()] {
        assert_ne!(asked(&server, wrong), 200, "{wrong}");
    }
    assert_eq!(server.client().get(path).status, 401);
    for key in [other.trim(), "own-key"] {
        let client = server
            .client()
            .header("Authorization", &format!("Bearer {key}"));
        let client = client.header("X-OpenWebUI-User-Id", "ada");
        client.call("shed_stats", &json!({})).data();
    }
    let shown = server.run(&["openwebui", "connection", "--terminal"]);
    assert!(shown.stdout.contains(&key), "{shown:?}");

    server.terminate();
    server.wait();
    let again = server.again();
    assert_eq!(asked(&again, &key), 200);
    assert!(!again.log().contains(&key), "{}", again.log());
}

#[test]
fn what_is_not_a_key_stops_the_start() {
    let server = setup().start();
    let file = server.data().join(".fs_terminal_api_keys");
    std::fs::write(&file, "short").unwrap();
    let refused = server.run(&["openwebui", "connection", "--terminal"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("has no key"), "{refused:?}");
}
