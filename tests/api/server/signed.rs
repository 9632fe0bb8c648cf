//! Users that a gateway signs.

use serde_json::{Value, json};

use fileshed_test_support::jwt::{now, sign, token, with};
use fileshed_test_support::{Client, Setup, TestApp};

const CALL: &str = "shed_create_file";
const SECRET: &str = "forwarding-secret";
const HEADER: &str = "X-OpenWebUI-User-Jwt";

fn setup() -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_FORWARD_JWT_SECRET", SECRET)
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_GROUPS", "headers")
}

fn gateway(server: &TestApp) -> Client<'_> {
    server
        .client()
        .header("Authorization", "Bearer service-key")
}

fn claims() -> Value {
    json!({
        "sub": "alice", "email": "alice@example.org", "name": "Alice Öne", "role": "user",
        "iss": "open-webui", "iat": now(), "exp": now() + 300,
    })
}

fn note() -> Value {
    json!({"zone": "documents", "path": "a.md", "content": "x"})
}

#[track_caller]
fn passes(client: &Client<'_>) {
    client.call(CALL, &note()).data();
}

#[track_caller]
fn refused(client: &Client<'_>, status: u16, code: &str) {
    let answer = client.call(CALL, &note());
    answer.refused(status, code);
    assert!(!answer.text.contains("eyJ"), "{}", answer.text);
    assert!(!answer.text.contains(SECRET), "{}", answer.text);
}

#[test]
fn who_is_signed_is_who_calls() {
    let server = setup().app();
    let signed = sign(SECRET, &claims());
    passes(&gateway(&server).header(HEADER, &signed));
    assert!(
        server
            .data()
            .join("users/alice/Documents/data/a.md")
            .exists()
    );
    let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "--format=%an <%ae>"]});
    let log = gateway(&server)
        .header(HEADER, &signed)
        // Headers without a signature are not believed.
        .header("X-OpenWebUI-User-Name", "Mallory")
        .header("X-OpenWebUI-User-Email", "mallory@example.org")
        .call("shed_exec", &log);
    assert_eq!(log.data()["stdout"], "Alice Öne <alice@example.org>\n");
    // The same user in two ways is no contradiction.
    let both = gateway(&server).header(HEADER, &signed);
    passes(&both.clone().header("X-OpenWebUI-User-Id", "alice"));
    passes(&both.clone().header("X-User-Id", "alice"));
    for name in ["X-OpenWebUI-User-Id", "X-User-Id"] {
        refused(&both.clone().header(name, "bob"), 403, "ACCESS_DENIED");
    }
}

#[test]
fn an_unsigned_user_is_nobody() {
    let server = setup().app();
    for client in [gateway(&server), server.as_user("alice")] {
        let answer = client.call(CALL, &note());
        answer.refused(401, "INVALID_USER");
        let hint = answer.body["error"]["hint"].as_str().unwrap_or_default();
        assert!(
            hint.contains("FORWARD_USER_INFO_HEADER_JWT_SECRET"),
            "{hint}"
        );
        assert!(hint.contains("x-openwebui-user-jwt"), "{hint}");
    }
    // The signature does not replace the key.
    let keyless = server.client().header(HEADER, &sign(SECRET, &claims()));
    refused(&keyless, 401, "UNAUTHORIZED");
}

#[test]
fn what_may_be_in_a_token() {
    let server = setup().app();
    let client = |changes: &Value| {
        let token = sign(SECRET, &with(claims(), changes));
        gateway(&server).header(HEADER, &token)
    };
    for changes in [
        json!({}),
        json!({"name": null, "email": null, "role": null}),
        json!({"name": "x".repeat(1000), "email": "a\nb"}),
        json!({"role": "anything"}),
        json!({"exp": now() - 20}),
        json!({"iat": now() + 20}),
        json!({"exp": now() as f64 + 0.5}),
    ] {
        passes(&client(&changes));
    }
    for changes in [
        json!({"exp": now() - 40}),
        json!({"iat": now() + 60}),
        json!({"nbf": now() + 60}),
        json!({"sub": null}),
        json!({"iss": null}),
        json!({"exp": null}),
        json!({"iat": null}),
        json!({"iss": "another"}),
        json!({"iss": ["open-webui"]}),
        json!({"sub": ""}),
        json!({"sub": " alice"}),
        json!({"sub": 7}),
        json!({"sub": "None"}),
        json!({"sub": "undefined"}),
        json!({"sub": "[object Object]"}),
        json!({"sub": "{{USER_ID}}"}),
        json!({"sub": "u".repeat(300)}),
        json!({"exp": "9999999999"}),
        json!({"exp": -1}),
    ] {
        refused(&client(&changes), 401, "INVALID_USER");
    }
    refused(&client(&json!({"role": "pending"})), 403, "ACCESS_DENIED");
}

#[test]
fn attacks_on_the_token() {
    let server = setup().start();
    let good = sign(SECRET, &claims());
    let mut parts = good.rsplitn(2, '.');
    let (Some(signature), Some(text)) = (parts.next(), parts.next()) else {
        panic!("three parts")
    };
    let bob = sign("guessed", &with(claims(), &json!({"sub": "bob"})));
    let (bob, _) = bob.rsplit_once('.').expect("a signature");
    let alg = |name: &str| token(SECRET, &json!({"alg": name}), &claims());
    let none = alg("none");
    for text in [
        String::new(),
        "garbage".to_owned(),
        "a.b.c".to_owned(),
        sign("another-secret", &claims()),
        sign("", &claims()),
        none.rsplit_once('.').expect("a signature").0.to_owned() + ".",
        none,
        alg("HS512"),
        alg("RS256"),
        token(SECRET, &json!({"alg": "HS256", "crit": ["exp"]}), &claims()),
        format!("{bob}.{signature}"),
        format!("{text}."),
        format!("{text}.{}", &signature[1..]),
        format!("{good}="),
        format!("{good}.{signature}"),
        format!("Bearer {good}"),
        "A".repeat(12_000),
    ] {
        let client = gateway(&server).header(HEADER, &text);
        refused(&client, 401, "INVALID_USER");
        // The same beside a user that would be believed without a secret.
        let client = client.header("X-OpenWebUI-User-Id", "alice");
        refused(&client, 401, "INVALID_USER");
    }
    let twice = gateway(&server).header(HEADER, &good).header(HEADER, &good);
    refused(&twice, 401, "INVALID_USER");
    let odd = gateway(&server).header_bytes(HEADER, b"a.b.\xff");
    refused(&odd, 401, "INVALID_USER");
    let long = gateway(&server).header(HEADER, &"A".repeat(20_000));
    refused(&long, 413, "BODY_TOO_LARGE");
    assert!(!server.log().contains(SECRET) && !server.log().contains("eyJ"));
    assert!(!server.data().join("users").exists(), "nobody was let in");
}

#[test]
fn groups_come_with_the_service_key() {
    let server = setup().app();
    let client = gateway(&server)
        .header(HEADER, &sign(SECRET, &claims()))
        .header("X-OpenWebUI-User-Group-Ids", "team-id")
        .header("X-OpenWebUI-User-Groups", "Team");
    let list = client.call("shed_group_list", &json!({}));
    assert_eq!(list.data()["groups"][0]["id"], "team-id");
}

#[test]
fn a_personal_token_is_its_user_whatever_is_signed() {
    let server = setup().app();
    let made = server.run(&["token", "create", "--user", "alice"]);
    let secret = made.stdout.trim().to_owned();
    passes(&server.with_token(&secret));
    let signed = |user: &str| sign(SECRET, &with(claims(), &json!({"sub": user})));
    let beside = |text: &str| server.with_token(&secret).header(HEADER, text);
    passes(&beside(&signed("alice")));
    refused(&beside(&signed("bob")), 403, "ACCESS_DENIED");
    refused(&beside("garbage"), 401, "INVALID_USER");
}

#[test]
fn without_a_secret_a_signed_header_means_nothing() {
    let server = TestApp::with_key();
    let forged = sign("guessed", &with(claims(), &json!({"sub": "bob"})));
    passes(&server.as_user("alice").header(HEADER, &forged));
    let alone = gateway(&server).header(HEADER, &forged);
    refused(&alone, 401, "INVALID_USER");
}
