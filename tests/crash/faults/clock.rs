//! A clock that jumps: the whole server with one that the test moves.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use fileshed::config::{Config, Secret};
use fileshed_core::settings::NamespaceStyle;
use fileshed_core::{Clock, Core, Scope, Settings, UserId};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use fileshed_test_support::{jwt, wait_until};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
const SECRET: &str = "signs-who-calls";

struct Moved {
    runtime: tokio::runtime::Runtime,
    app: Router,
    core: Arc<Core>,
    clock: Clock,
    /// Signed users instead of plain ones.
    signed: bool,
    _directory: tempfile::TempDir,
}

/// Headers of a caller.
type Headers = Vec<(&'static str, String)>;

impl Moved {
    fn new(signed: bool) -> Self {
        Self::with(signed, |_| {})
    }

    fn with(signed: bool, set: impl FnOnce(&mut Settings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut core = Settings::new(directory.path().join("data"));
        core.namespace = NamespaceStyle::Plain;
        core.helper = PathBuf::from(env!("CARGO_BIN_EXE_fileshed"));
        core.public_url = "http://localhost".parse().unwrap();
        set(&mut core);
        let config = Config {
            core: core.clone(),
            api_keys: vec![Secret::new("service-key")],
            forward_jwt_secret: signed.then(|| Secret::new(SECRET)),
            ..Config::default()
        };
        let clock = Clock::movable();
        let core = Arc::new(Core::open_at(core, clock.clone()).unwrap());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let app = fileshed::app(Arc::clone(&core), &config);
        Self {
            runtime,
            app,
            core,
            clock,
            signed,
            _directory: directory,
        }
    }

    fn user(&self, chat: &str) -> Headers {
        let mut headers = vec![
            ("authorization", "Bearer service-key".to_owned()),
            ("x-openwebui-chat-id", chat.to_owned()),
        ];
        if self.signed {
            let now = jwt::now();
            let payload = json!({"sub": "ada", "iss": "open-webui", "iat": now, "exp": now + 300});
            headers.push(("x-openwebui-user-jwt", jwt::sign(SECRET, &payload)));
        } else {
            headers.push(("x-openwebui-user-id", "ada".to_owned()));
        }
        headers
    }

    fn send(&self, method: &str, path: &str, headers: &Headers, body: &Value) -> (u16, Value) {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        self.runtime.block_on(async {
            let answer = self.app.clone().oneshot(request).await.unwrap();
            let status = answer.status().as_u16();
            let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
            (status, serde_json::from_slice(&body).unwrap_or_default())
        })
    }

    fn call(&self, headers: &Headers, operation: &str, arguments: &Value) -> (u16, Value) {
        self.send("POST", &format!("/{operation}"), headers, arguments)
    }

    #[track_caller]
    fn done(&self, headers: &Headers, operation: &str, arguments: &Value) -> Value {
        let (status, body) = self.call(headers, operation, arguments);
        assert_eq!(status, 200, "{operation} {arguments}: {body}");
        body["data"].clone()
    }
}

/// Credentials with an expiry date end when the clock says so, and work again when it is put back.
#[test]
fn tokens_and_links_follow_the_clock() {
    let moved = Moved::new(false);
    let ada = moved.user("chat");
    let file = json!({"zone": "storage", "path": "a.md", "content": "a\n"});
    moved.done(&ada, "shed_create_file", &file);
    let user = UserId::parse("ada").unwrap();
    let end = moved.clock.now() + jiff::SignedDuration::from_secs(3 * DAY);
    let token = moved
        .core
        .store
        .tokens()
        .create(&user, Scope::Write, Some(end), "")
        .unwrap();
    let token: Headers = vec![("authorization", format!("Bearer {}", token.secret))];
    let link = moved.done(
        &ada,
        "shed_link_create",
        &json!({"zone": "storage", "path": "a.md"}),
    );
    let link = link["download_url"]
        .as_str()
        .unwrap()
        .replace("http://localhost", "");
    let works = |what: &str, with_token: bool, with_link: bool| {
        let (status, body) = moved.call(&token, "shed_stats", &json!({}));
        assert_eq!(status, if with_token { 200 } else { 401 }, "{what}: {body}");
        let (status, body) = moved.send("GET", &link, &Vec::new(), &Value::Null);
        assert_eq!(status, if with_link { 200 } else { 404 }, "{what}: {body}");
        moved.done(&ada, "shed_stats", &json!({}));
    };
    works("now", true, true);
    moved.clock.advance(4 * DAY);
    works("four days later", false, true);
    moved.clock.advance(10 * DAY);
    works("two weeks later", false, false);
    moved.clock.advance(-14 * DAY);
    works("put back", true, true);
    moved.clock.advance(-400 * DAY);
    works("a year too early", true, true);
}

/// A lock of the future holds, and its owner ends it; one that a jump made old goes to who asks.
#[test]
fn locks_and_writes_survive_jumps() {
    for jump in [30 * HOUR, -400 * DAY] {
        let moved = Moved::new(false);
        let (one, two) = (moved.user("one"), moved.user("two"));
        for zone in ["storage", "documents"] {
            let file = json!({"zone": zone, "path": "a.md", "content": "before\n"});
            moved.done(&one, "shed_create_file", &file);
            let open = json!({"zone": zone, "path": "a.md"});
            moved.done(&one, "shed_lockedit_open", &open);
        }
        moved.clock.advance(jump);
        for zone in ["storage", "documents"] {
            let more = json!({"zone": zone, "path": "a.md", "content": "more\n"});
            let (status, body) = moved.call(&two, "shed_patch_text", &more);
            let expected = if jump > 0 { 200 } else { 423 };
            assert_eq!(status, expected, "{jump}: {zone}: {body}");
            if jump < 0 {
                moved.done(
                    &one,
                    "shed_lockedit_cancel",
                    &json!({"zone": zone, "path": "a.md"}),
                );
                moved.done(&two, "shed_patch_text", &more);
            }
            let read = json!({"zone": zone, "cmd": "cat", "args": ["a.md"]});
            let shown = moved.done(&one, "shed_exec", &read);
            assert_eq!(shown["stdout"], "before\nmore\n", "{jump}: {zone}");
        }
        // History goes on, newest first, whatever the dates say.
        let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "--format=%s"]});
        let log = moved.done(&one, "shed_exec", &log);
        assert_eq!(log["stdout"], "Update a.md\nCreate a.md\n", "{jump}");
    }
}

/// A signed user is refused while the clock is wrong, and admitted when it is right again.
#[test]
fn signed_users_need_a_clock_that_is_right() {
    let moved = Moved::new(true);
    moved.done(&moved.user("chat"), "shed_stats", &json!({}));
    for jump in [2 * HOUR, -2 * HOUR] {
        moved.clock.advance(jump);
        let (status, body) = moved.call(&moved.user("chat"), "shed_stats", &json!({}));
        assert_eq!(
            (status, &body["error"]["code"]),
            (401, &json!("INVALID_USER")),
            "{jump}: {body}"
        );
        moved.clock.advance(-jump);
        moved.done(&moved.user("chat"), "shed_stats", &json!({}));
    }
}

/// The thread of the server removes uploads that have ended, and stops when it is told to.
#[test]
fn uploads_that_have_ended_are_removed_in_the_background() {
    let moved = Moved::with(false, |settings| {
        settings.uploads_retention_days = NonZeroU64::new(2);
    });
    let ada = moved.user("chat");
    let path = "/files/content?zone=uploads&path=a.txt";
    let (status, body) = moved.send("PUT", path, &ada, &json!("a"));
    assert_eq!(status, 201, "{body}");
    let uploads = moved
        .core
        .store
        .settings
        .storage_base_path
        .join("users/ada/Uploads/chat");
    let retention = moved.core.admin.start_retention().unwrap();
    assert!(uploads.join("a.txt").is_file());
    drop(retention);
    moved.clock.advance(2 * DAY + HOUR);
    let retention = moved.core.admin.start_retention().unwrap();
    wait_until("the uploads are gone", || !uploads.exists());
    drop(retention);
}
