//! `fileshed doctor` and Open WebUI: whether it answers, and takes the key. The server is ready
//! without it.

use serde_json::json;

use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Server, Setup};

fn webui() -> StandIn {
    StandIn::answering(
        |asked: &Asked| match (asked.path.as_str(), asked.bearer()) {
            ("/api/version", "") => {
                Answer::json(&json!({"version": "0.12.4", "deployment_id": ""}))
            }
            ("/api/v1/users/?page=1", "sk-admin") => {
                Answer::json(&json!({"users": [], "total": 0}))
            }
            _ => Answer::refused(),
        },
    )
}

/// What is said of it.
fn said(setup: &Setup) -> String {
    let finished = setup.run(&["doctor"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let whole = finished.stdout + &finished.stderr;
    assert!(!whole.contains("sk-"), "{whole}");
    let line = whole.lines().find(|line| line.contains("openwebui"));
    line.unwrap_or_default().to_owned()
}

fn asking(url: &str) -> Setup {
    Server::with().env("FILESHED_OPENWEBUI_API_URL", url)
}

#[test]
fn it_says_whether_open_webui_answers_and_takes_the_key() {
    assert_eq!(said(&Server::with()), "");
    let webui = webui();
    let setup = asking(&webui.url());
    let plain = said(&setup);
    assert!(
        plain.starts_with("ok      openwebui: version 0.12.4 answers; no"),
        "{plain}"
    );
    let with = |key: &str| said(&setup.clone().env("FILESHED_OPENWEBUI_ADMIN_KEY", key));
    let good = with("sk-admin");
    assert!(
        good.starts_with("ok") && good.ends_with("and takes openwebui_admin_key"),
        "{good}"
    );
    let bad = with("sk-user");
    assert!(
        bad.starts_with("warning") && bad.contains("does not take"),
        "{bad}"
    );
}

#[test]
fn who_is_away_or_somebody_else_is_a_warning() {
    let away = said(&asking(&nobody()));
    assert!(
        away.starts_with("warning openwebui: does not answer at http://127.0.0.1:"),
        "{away}"
    );
    let page = StandIn::answering(|_: &Asked| Answer::bytes("<html>"));
    let other = said(&asking(&page.url()));
    assert!(other.contains("is not Open WebUI"), "{other}");
}

#[test]
fn the_server_is_ready_without_it() {
    let server = asking(&nobody()).start();
    assert_eq!(server.client().get("/ready").status, 200);
    assert_eq!(server.client().get("/health").status, 200);
    assert!(
        server.logged("openwebui: does not answer"),
        "{}",
        server.log()
    );
}
