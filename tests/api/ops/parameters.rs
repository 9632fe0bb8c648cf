//! `shed_parameters`

use serde_json::json;

use crate::ops::stage::{Provoked, done};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[];

#[test]
fn limits_as_they_are_configured_and_nothing_else() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_QUOTA_PER_USER_MB", "7")
        .env("FILESHED_MAX_FILE_SIZE_MB", "3")
        .env("FILESHED_NETWORK_MODE", "safe")
        .env("FILESHED_SQLITE_READONLY", "true")
        .env("FILESHED_EXEC_MAX_PER_USER", "5")
        .env("FILESHED_LINK_EXPIRY_HOURS", "12")
        .app();
    let answer = server.as_user("alice").call("shed_parameters", &json!({}));
    let data = answer.data();
    for (name, value) in [
        ("quota_per_user_mb", json!(7)),
        ("max_file_size_mb", json!(3)),
        ("network_mode", json!("safe")),
        ("sqlite_readonly", json!(true)),
        ("exec_max_per_user", json!(5)),
        // A gateway calls.
        ("max_output_default", json!(16_000)),
        ("link_expiry_hours", json!(12)),
        ("link_max_per_user", json!(100)),
        ("transfer_max_per_user", json!(8)),
        ("max_files", json!(200_000)),
        ("history_factor", json!(5)),
        ("exec_temporary_max_mb", json!(300)),
        ("lock_max_age_hours", json!(24)),
        ("group_default_mode", json!("group")),
    ] {
        assert_eq!(data[name], value, "{name}");
    }
    let info = json!({
        "network_enabled": true, "network_upload_allowed": false, "groups_available": true,
        "mode": "isolated", "auto_login": false, "effective_root": "storage",
    });
    assert_eq!(data["_info"], info);
    for secret in [
        "service-key",
        "api_keys",
        "storage_base_path",
        "/data",
        "bind",
    ] {
        assert!(!answer.text.contains(secret), "{secret}");
    }
}

#[test]
fn the_network_is_off_unless_it_is_turned_on() {
    let server = TestApp::start();
    let data = done(&server.client(), "shed_parameters", &json!({}));
    assert_eq!(data["max_output_default"], 50_000);
    assert_eq!(data["network_mode"], "disabled");
    assert_eq!(data["_info"]["network_enabled"], false);
}
