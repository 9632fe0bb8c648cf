//! Users who call with what they are signed in to Open WebUI with.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};

use serde_json::{Value, json};

use fileshed_test_support::jwt::{now, sign, token, with};
use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Answer as Answered, Client, PATIENCE, Setup, TestApp, wait_until};

const WEBUI_SECRET: &str = "webui-secret";
const STATUS: &str = "/api/v1/users/user/status";
const SESSIONS: &str = "/api/v1/auths/";

fn claims(user: &str) -> Value {
    json!({"id": user, "typ": "session", "jti": "1", "iat": now(), "exp": now() + 300})
}

fn session(user: &str) -> String {
    sign(WEBUI_SECRET, &claims(user))
}

fn account(user: &str) -> Value {
    json!({"id": user, "email": format!("{user}@example.org"), "name": format!("Name of {user}"),
           "role": "user", "profile_image_url": "", "token": "again", "token_type": "Bearer"})
}

/// Answers as Open WebUI does: `known` says whose a credential is.
fn webui(known: impl Fn(&str) -> Option<Value> + Send + Sync + 'static) -> StandIn {
    StandIn::answering(move |asked: &Asked| {
        let is_session = asked.bearer().starts_with("eyJ");
        match (asked.path.as_str(), known(asked.bearer())) {
            // Keys, and what automations have, are refused here.
            (SESSIONS, Some(account)) if is_session && account["via"].is_null() => {
                Answer::json(&account)
            }
            (SESSIONS, Some(_)) => Answer::status(403, &json!({"detail": "Forbidden"})),
            (STATUS, Some(account)) => Answer::json(&account),
            _ => Answer::refused(),
        }
    })
}

fn setup() -> Setup {
    TestApp::with().env("FILESHED_NAMESPACE", "plain")
}

fn online(webui: &StandIn) -> Setup {
    setup().env("FILESHED_OPENWEBUI_API_URL", &webui.url())
}

fn offline() -> Setup {
    setup().env("FILESHED_WEBUI_SECRET_KEY", WEBUI_SECRET)
}

fn write(client: &Client<'_>) -> Answered {
    let note = json!({"zone": "documents", "path": "a.md", "content": "x"});
    let answer = client.call("shed_create_file", &note);
    assert!(!answer.text.contains("eyJ"), "{}", answer.text);
    answer
}

#[track_caller]
fn is_user(server: &TestApp, client: &Client<'_>, user: &str) {
    write(client).data();
    let file = format!("users/{user}/Documents/data/a.md");
    assert!(server.data().join(&file).exists(), "{file}");
}

fn author(client: &Client<'_>) -> String {
    let log =
        json!({"zone": "documents", "cmd": "git", "args": ["log", "-1", "--format=%an <%ae>"]});
    let answer = client.call("shed_exec", &log);
    answer.data()["stdout"].as_str().unwrap().trim().to_owned()
}

#[test]
fn open_webui_says_whose_a_credential_is() {
    let automation = sign(
        WEBUI_SECRET,
        &with(claims("carol"), &json!({"typ": "automation"})),
    );
    let (ada, carol) = (session_without_times("ada"), automation.clone());
    let webui = webui(move |credential| match credential {
        "sk-bob" => Some(account("bob")),
        _ if credential == ada => Some(account("ada")),
        _ if credential == carol => Some(with(account("carol"), &json!({"via": "automation"}))),
        _ => None,
    });
    let server = online(&webui).start();
    let ada = server.with_token(&session_without_times("ada"));
    is_user(&server, &ada, "ada");
    assert_eq!(author(&ada), "Name of ada <ada@example.org>");
    is_user(&server, &server.with_token("sk-bob"), "bob");
    is_user(&server, &server.with_token(&automation), "carol");
    for wrong in ["sk-eve", "eve", "a.b.c", &sign("guessed", &claims("ada"))] {
        let answer = write(&server.with_token(wrong));
        answer.refused(401, "UNAUTHORIZED");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    // No credential is nobody: there is no shared workspace here.
    write(&server.client()).refused(401, "UNAUTHORIZED");
    assert!(!server.data().join("shared").exists());
    assert!(!server.log().contains("eyJ") && !server.log().contains("sk-"));
}

#[test]
fn an_answer_is_remembered_for_its_credential_alone() {
    let webui = webui(|credential| credential.strip_prefix("sk-user-").map(account));
    let server = online(&webui).app();
    let users = ["ada", "bob", "dan"];
    for _ in 0..3 {
        for user in users {
            is_user(
                &server,
                &server.with_token(&format!("sk-user-{user}")),
                user,
            );
        }
        let wrong = write(&server.with_token("sk-made-up"));
        wrong.refused(401, "UNAUTHORIZED");
    }
    assert_eq!(webui.count(STATUS), users.len() + 1);
    assert_eq!(webui.count(SESSIONS), 0);
    // Parts, cases and neighbours of a credential that is known are others.
    for other in ["sk-user-", "SK-user-ada", "sk-user-ada,", "k-user-ada"] {
        let answer = write(&server.with_token(other));
        assert_eq!(answer.status, 401, "{other}: {}", answer.text);
    }
}

#[test]
fn many_calls_at_once_are_one_question() {
    let begun = Arc::new(AtomicUsize::new(0));
    let calls = Arc::clone(&begun);
    let webui = webui(move |credential| {
        wait_until("all have begun", || calls.load(Ordering::SeqCst) == 40);
        credential.strip_prefix("sk-user-").map(account)
    });
    let server = online(&webui).app();
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                let client = server.with_token("sk-user-ada");
                begun.fetch_add(1, Ordering::SeqCst);
                client.call("shed_parameters", &json!({})).data();
            });
        }
    });
    assert_eq!(webui.count(STATUS), 1);
}

#[test]
fn the_signature_is_enough_where_open_webui_is_not_named() {
    let server = offline().app();
    let client = |changes: &Value| {
        let token = sign(WEBUI_SECRET, &with(claims("ada"), changes));
        server.with_token(&token)
    };
    for changes in [
        json!({}),
        json!({"typ": null}),
        json!({"typ": "automation"}),
        json!({"exp": null}),
        json!({"exp": now() - 20}),
    ] {
        is_user(&server, &client(&changes), "ada");
    }
    for changes in [
        json!({"exp": now() - 40}),
        json!({"iat": now() + 60}),
        json!({"id": null}),
        json!({"id": ""}),
        json!({"id": "../ada"}),
        json!({"id": 5}),
        json!({"typ": "mfa"}),
        json!({"typ": ""}),
        json!({"typ": ["session"]}),
        // A token that Open WebUI signs for gateways is no session.
        json!({"id": null, "sub": "ada", "iss": "open-webui"}),
    ] {
        let answer = write(&client(&changes));
        assert_eq!(answer.status, 401, "{changes}: {}", answer.text);
    }
    for forged in [
        sign("guessed", &claims("ada")),
        token(WEBUI_SECRET, &json!({"alg": "none"}), &claims("ada")),
        token(WEBUI_SECRET, &json!({"alg": "HS512"}), &claims("ada")),
        session("ada") + "x",
    ] {
        write(&server.with_token(&forged)).refused(401, "UNAUTHORIZED");
    }
    let key = write(&server.with_token("sk-ada"));
    key.refused(401, "UNAUTHORIZED");
    assert!(key.text.contains("openwebui_api_url"), "{}", key.text);
    write(&server.client()).refused(401, "UNAUTHORIZED");
}

#[test]
fn where_both_are_known_both_must_agree() {
    let webui = webui(|credential| match credential {
        "sk-ada" => Some(account("ada")),
        // It lies about one of them, and took another back.
        _ if credential == session_without_times("bob") => Some(account("mallory")),
        _ if credential == session_without_times("ada") => Some(account("ada")),
        _ => None,
    });
    let server = online(&webui)
        .env("FILESHED_WEBUI_SECRET_KEY", WEBUI_SECRET)
        .app();
    let ada = server.with_token(&session_without_times("ada"));
    is_user(&server, &ada, "ada");
    assert_eq!(author(&ada), "Name of ada <ada@example.org>");
    is_user(&server, &server.with_token("sk-ada"), "ada");
    for user in ["bob", "dan"] {
        let answer = write(&server.with_token(&session_without_times(user)));
        answer.refused(401, "UNAUTHORIZED");
    }
    let before = webui.asked().len();
    let forged = sign("guessed", &claims("ada"));
    write(&server.with_token(&forged)).refused(401, "UNAUTHORIZED");
    assert_eq!(
        webui.asked().len(),
        before,
        "a forged one is not asked about"
    );
}

/// The same text each time.
fn session_without_times(user: &str) -> String {
    sign(WEBUI_SECRET, &json!({"id": user, "typ": "session"}))
}

#[test]
fn without_an_answer_a_signature_counts_and_nobody_is_called_wrong() {
    let server = setup()
        .env("FILESHED_OPENWEBUI_API_URL", &nobody())
        .env("FILESHED_WEBUI_SECRET_KEY", WEBUI_SECRET)
        .app();
    for _ in 0..5 {
        is_user(&server, &server.with_token(&session("ada")), "ada");
        let key = write(&server.with_token("sk-ada"));
        key.refused(503, "OPENWEBUI_API_UNAVAILABLE");
        assert_eq!(key.header("retry-after"), "10");
        assert!(!key.text.contains("127.0.0.1"), "{}", key.text);
        let forged = sign("guessed", &claims("ada"));
        write(&server.with_token(&forged)).refused(401, "UNAUTHORIZED");
    }
    assert_eq!(
        author(&server.with_token(&session("ada"))),
        "ada <ada@localhost>"
    );
}

#[test]
fn failures_are_no_answers_and_are_not_remembered() {
    let state = Arc::new(Mutex::new(500));
    let status = Arc::clone(&state);
    let webui = StandIn::answering(move |asked: &Asked| match *status.lock().unwrap() {
        200 if asked.path == STATUS => Answer::json(&account("ada")),
        // Something else than Open WebUI, at its address.
        299 => Answer::json(&json!(["ada"])),
        code => Answer::status(code, &json!({"detail": "no"})),
    });
    let server = online(&webui).app();
    for code in [500, 404, 429, 301, 299] {
        *state.lock().unwrap() = code;
        let answer = write(&server.with_token("sk-ada"));
        answer.refused(503, "OPENWEBUI_API_UNAVAILABLE");
        assert_eq!(answer.header("retry-after"), "10", "{code}");
    }
    *state.lock().unwrap() = 200;
    is_user(&server, &server.with_token("sk-ada"), "ada");
}

#[test]
fn who_waits_for_an_administrator_is_not_let_in() {
    let webui = webui(|credential| {
        let role = json!({"role": credential.strip_prefix("sk-")?});
        Some(with(account("ada"), &role))
    });
    let server = online(&webui).app();
    write(&server.with_token("sk-pending")).refused(403, "ACCESS_DENIED");
    for role in ["user", "admin", "anything"] {
        is_user(&server, &server.with_token(&format!("sk-{role}")), "ada");
    }
    let nobody = self::webui(|_| Some(with(account("ada"), &json!({"id": ""}))));
    let server = online(&nobody).app();
    write(&server.with_token("sk-ada")).refused(401, "UNAUTHORIZED");
}

#[test]
fn headers_are_not_believed_beside_a_session() {
    let webui = webui(|credential| credential.strip_prefix("sk-user-").map(account));
    let server = online(&webui)
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "headers")
        .app();
    let ada = || server.with_token("sk-user-ada");
    for name in ["X-OpenWebUI-User-Id", "X-User-Id"] {
        is_user(&server, &ada().header(name, "ada"), "ada");
        write(&ada().header(name, "bob")).refused(403, "ACCESS_DENIED");
    }
    let named = ada()
        .header("X-OpenWebUI-User-Name", "Mallory")
        .header("X-OpenWebUI-User-Email", "mallory@example.org")
        .header("X-OpenWebUI-User-Role", "admin")
        .header("X-OpenWebUI-User-Group-Ids", "team-id")
        .header("X-OpenWebUI-User-Groups", "Team");
    write(&named).data();
    assert_eq!(author(&named), "Name of ada <ada@example.org>");
    let groups = named.call("shed_group_list", &json!({}));
    assert_eq!(groups.data()["groups"], json!([]));
    let into = json!({"zone": "group", "group": "team-id", "path": "a.md", "content": "x"});
    let refused = named.call("shed_create_file", &into);
    refused.refused(404, "GROUP_NOT_FOUND");
    let all = named.call("shed_maintenance", &json!({"all": true}));
    all.refused(403, "ACCESS_DENIED");
    // The gateway of the same server is believed.
    let member = server.as_member("ada", "team-id");
    member.call("shed_create_file", &into).data();
    // Conversations are anybody's own.
    is_user(&server, &ada().chat("c1"), "ada");
}

#[test]
fn a_signed_user_beside_a_session_is_the_same_user() {
    let server = offline()
        .env("FILESHED_FORWARD_JWT_SECRET", "forwarding-secret")
        .app();
    let signed = |user: &str, secret: &str| {
        let claims = json!({"sub": user, "name": "Ada Öne", "email": "ada@example.org",
            "role": "user", "iss": "open-webui", "iat": now(), "exp": now() + 300});
        server
            .with_token(&session("ada"))
            .header("X-OpenWebUI-User-Jwt", &sign(secret, &claims))
    };
    is_user(&server, &server.with_token(&session("ada")), "ada");
    let ada = signed("ada", "forwarding-secret");
    write(&ada).data();
    let write_again = json!({"zone": "documents", "path": "b.md", "content": "x"});
    ada.call("shed_create_file", &write_again).data();
    assert_eq!(author(&ada), "Ada Öne <ada@example.org>");
    write(&signed("bob", "forwarding-secret")).refused(403, "ACCESS_DENIED");
    write(&signed("ada", "guessed")).refused(401, "INVALID_USER");
}

#[test]
fn personal_tokens_and_service_keys_are_never_asked_about() {
    let webui = webui(|_| Some(account("mallory")));
    let server = online(&webui).env("FILESHED_API_KEYS", "service-key").app();
    let made = server.run(&["token", "create", "--user", "ada"]);
    is_user(&server, &server.with_token(made.stdout.trim()), "ada");
    is_user(&server, &server.as_user("bob"), "bob");
    write(&server.with_token("shed_made-up")).refused(401, "UNAUTHORIZED");
    assert_eq!(webui.asked().len(), 0);
}

/// Opened when the test has seen enough.
type Door = Arc<(Mutex<bool>, Condvar)>;

#[test]
fn made_up_credentials_do_not_occupy_the_server() {
    let door = Door::default();
    let behind = Arc::clone(&door);
    let webui = webui(move |credential| {
        if credential.starts_with("sk-made-up") {
            let (open, opened) = &*behind;
            let open = open.lock().unwrap();
            drop(opened.wait_timeout_while(open, PATIENCE, |open| !*open));
        }
        (credential == session_without_times("ada")).then(|| account("ada"))
    });
    let server = online(&webui)
        .env("FILESHED_WEBUI_SECRET_KEY", WEBUI_SECRET)
        .env("FILESHED_API_KEYS", "service-key")
        .app();
    std::thread::scope(|scope| {
        let (answer, answers) = mpsc::channel();
        for number in 0..24 {
            let client = server.with_token(&format!("sk-made-up-{number}"));
            let answer = answer.clone();
            scope.spawn(move || {
                let _ = answer.send(client.call("shed_parameters", &json!({})));
            });
        }
        // One address has half of the places, so that others have some, too.
        wait_until("eight are asked about", || webui.count(STATUS) >= 8);
        // Others are served meanwhile, also a session that has to be asked about.
        is_user(&server, &server.as_user("bob"), "bob");
        is_user(
            &server,
            &server.with_token(&session_without_times("ada")),
            "ada",
        );
        for _ in 0..24 - 8 {
            let busy = answers.recv_timeout(PATIENCE).expect("an answer");
            busy.refused(503, "BUSY");
            assert_eq!(busy.header("retry-after"), "5");
        }
        assert_eq!(webui.count(STATUS), 8, "no more are asked about at once");
        *door.0.lock().unwrap() = true;
        door.1.notify_all();
    });
    // And afterwards there is room again.
    write(&server.with_token("sk-late")).refused(401, "UNAUTHORIZED");
}
