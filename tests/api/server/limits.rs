//! Every pool of the limiter, and the share that one user has of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use fileshed_core::fair::{Full, Grant, Occupancy};
use fileshed_core::limiter::{Limiter, Pool};
use serde_json::json;

use fileshed_test_support::TestApp;

/// Takes places until one is refused; those that were taken, and why.
fn take_all(limiter: &Limiter, pool: Pool, user: &str) -> (Vec<Grant>, Full) {
    let places = limiter.get(pool).unwrap();
    let mut taken = Vec::new();
    // Bytes are taken by the mebibyte.
    let amount = if pool == Pool::Bytes { 1 << 20 } else { 1 };
    loop {
        match places.try_take(user) {
            Ok(mut grant) => {
                grant.resize(amount);
                taken.push(grant);
            }
            Err(full) => return (taken, full),
        }
    }
}

#[test]
fn one_user_takes_no_pool() {
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_WEBUI_SECRET_KEY", "webui-secret")
        .env("FILESHED_OIDC_ISSUER", "http://127.0.0.1:1")
        .env("FILESHED_OIDC_CLIENT_ID", "fileshed")
        .app();
    let limiter = app.limiters().remove(0);
    for pool in Pool::ALL {
        // The listener opens this one, which a server in this process has not.
        if pool == Pool::Requests {
            continue;
        }
        assert!(limiter.get(pool).is_some(), "{pool:?} is not open");
        let (greedy, full) = take_all(&limiter, pool, "greedy");
        assert_eq!(full, Full::User, "{pool:?}");
        let (second, _) = take_all(&limiter, pool, "second");
        let Occupancy { held, total, .. } = limiter.occupancy(pool).unwrap();
        assert!(!greedy.is_empty() && !second.is_empty(), "{pool:?}");
        assert!(held < total, "{pool:?}: two users hold {held} of {total}");
        let (third, _) = take_all(&limiter, pool, "third");
        assert!(!third.is_empty(), "{pool:?}");
    }
}

#[test]
fn waits_of_one_user_are_bounded() {
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_NAMESPACE", "plain")
        .app();
    let terminal = |user: &str| {
        let client = app.client().header("Authorization", "Bearer terminal-key");
        client.header("X-User-Id", user)
    };
    let run = |user: &str, query: &str, command: &str| {
        let body = json!({"command": command}).to_string();
        let path = format!("/terminal/execute{query}");
        terminal(user).send("POST", &path, body.as_bytes())
    };
    let lasts = run("ada", "", "read line");
    let id = lasts.body["id"].as_str().unwrap();
    let status = format!("/terminal/execute/{id}/status");
    let limiters = app.limiters();
    let held: Vec<_> = limiters
        .iter()
        .map(|limiter| take_all(limiter, Pool::Waits, "users/ada"))
        .collect();
    let refused = terminal("ada").get(&format!("{status}?wait=300"));
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(terminal("ada").get(&status).status, 200);
    // Without a permit to wait, the start of a command is answered at once.
    let begun = run("ada", "?wait=300", "read line");
    assert_eq!(begun.body["status"], "running", "{begun:?}");
    let other = run("bob", "?wait=300", "echo done");
    assert_eq!(other.body["status"], "done", "{other:?}");
    drop(held);
    for id in [id, begun.body["id"].as_str().unwrap()] {
        let path = format!("/terminal/execute/{id}?force=true");
        assert_eq!(terminal("ada").send("DELETE", &path, b"").status, 200);
    }
}
