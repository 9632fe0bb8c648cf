//! Callers that are admitted, the user that each of them is, and callers that are refused.

use serde_json::json;

use fileshed_test_support::{Client, Server, TestApp};

const CALL: &str = "shed_parameters";

#[track_caller]
fn passes(client: &Client<'_>) {
    client.call(CALL, &json!({})).data();
}

#[track_caller]
fn refused(client: &Client<'_>, status: u16, code: &str) {
    let answer = client.call(CALL, &json!({}));
    answer.refused(status, code);
    if code == "UNAUTHORIZED" {
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    for secret in ["service-key", "wrong-secret"] {
        assert!(!answer.text.contains(secret), "{}", answer.text);
    }
}

#[test]
fn shared_mode_lets_everybody_in_and_believes_no_user_header() {
    let server = Server::start();
    passes(&server.client());
    passes(&server.client().header("X-OpenWebUI-User-Id", "alice"));
    passes(
        &server
            .client()
            .header("X-OpenWebUI-User-Id", "alice")
            .header("X-User-Id", "bob"),
    );
    assert!(server.logged("shared"));
    // A credential that is sent must be right, even where none is needed.
    refused(&server.with_token("wrong-secret"), 401, "UNAUTHORIZED");
}

#[test]
fn shared_mode_serves_no_page_of_another_site() {
    let server = Server::start();
    let own = format!("http://{}", server.address());
    passes(&server.client().header("Origin", &own));
    for (name, value) in [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Host", "evil.example"),
    ] {
        refused(&server.client().header(name, value), 403, "ACCESS_DENIED");
    }
}

#[test]
fn a_service_key_speaks_for_the_user_it_names() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "first-key,service-key")
        .app();
    passes(&server.as_user("alice"));
    let gateway = |key: &str| {
        server
            .client()
            .header("Authorization", &format!("Bearer {key}"))
    };
    passes(&gateway("first-key").header("X-User-Id", "alice"));
    passes(&server.as_user("alice").header("X-User-Id", "alice"));
    passes(
        &server
            .as_user("alice")
            .header("X-OpenWebUI-User-Name", "Ursula %C3%96ne")
            .header("X-OpenWebUI-User-Email", "")
            .header("X-OpenWebUI-User-Role", "user"),
    );
    passes(
        &server
            .client()
            .header("authorization", "bearer service-key")
            .header("X-OpenWebUI-User-Id", "alice"),
    );

    for role in ["", "admin", "anything"] {
        passes(
            &server
                .as_user("alice")
                .header("X-OpenWebUI-User-Role", role),
        );
    }
    refused(
        &server
            .as_user("alice")
            .header("X-OpenWebUI-User-Role", "pending"),
        403,
        "ACCESS_DENIED",
    );

    refused(&gateway("service-key"), 401, "INVALID_USER");
    refused(
        &server.as_user("alice").header("X-User-Id", "bob"),
        403,
        "ACCESS_DENIED",
    );
}

#[test]
fn wrong_credentials_in_every_form() {
    let server = Server::with_key();
    let named = || server.client().header("X-OpenWebUI-User-Id", "alice");
    refused(&server.client(), 401, "UNAUTHORIZED");
    refused(&named(), 401, "UNAUTHORIZED");
    for value in [
        "",
        "Bearer",
        "Bearer ",
        "service-key",
        "Basic c2VydmljZS1rZXk6",
        "Bearer wrong-secret",
        "Bearer service-ke",
        "Bearer service-key2",
        "Bearer service-key,service-key",
        "Bearer service-key wrong-secret",
        "Bearer SERVICE-KEY",
    ] {
        refused(&named().header("Authorization", value), 401, "UNAUTHORIZED");
    }
    let long = format!("Bearer {}", "k".repeat(2000));
    refused(&named().header("Authorization", &long), 401, "UNAUTHORIZED");
    let odd = server.raw(
        b"POST /shed_parameters HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
          Authorization: Bearer service-key\xff\r\nX-User-Id: alice\r\n\r\n",
    );
    assert!(odd.starts_with("HTTP/1.1 401 "), "{odd}");
    let twice = server
        .as_user("alice")
        .header("Authorization", "Bearer service-key");
    refused(&twice, 401, "UNAUTHORIZED");
    let lines = server.log();
    assert!(
        !lines.contains("service-key") && !lines.contains("wrong-secret"),
        "{lines}"
    );
}

#[test]
fn identity_headers_that_cannot_be_meant() {
    let server = TestApp::with_key();
    for user in ["", "a\tb", &"u".repeat(257)] {
        refused(&server.as_user(user), 401, "INVALID_USER");
    }
    let gateway = || {
        server
            .client()
            .header("Authorization", "Bearer service-key")
    };
    refused(
        &gateway().header_bytes("X-OpenWebUI-User-Id", b"al\xffice"),
        401,
        "INVALID_USER",
    );
    refused(
        &server
            .as_user("alice")
            .header("X-OpenWebUI-User-Id", "alice"),
        401,
        "INVALID_USER",
    );
    refused(&gateway().header("X-User-Id", ""), 401, "INVALID_USER");
    for name in ["%0A", "%FF", &"%C3%96".repeat(200)] {
        let client = server
            .as_user("alice")
            .header("X-OpenWebUI-User-Name", name);
        refused(&client, 401, "INVALID_USER");
    }
    passes(&server.as_user(&"u".repeat(256)));
    passes(
        &server
            .as_user("alice")
            .header("X-OpenWebUI-User-Name", &"%C3%96".repeat(100)),
    );
}

/// Open WebUI before 0.10 sends the templates of groups as they stand: all users would meet there.
#[test]
fn a_template_that_nobody_filled_names_nobody() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "headers")
        .app();
    let gateway = server
        .client()
        .header("Authorization", "Bearer service-key");
    for (name, template) in [
        ("X-OpenWebUI-User-Id", "{{USER_ID}}"),
        ("X-User-Id", "{{USER_ID}}"),
    ] {
        refused(&gateway.clone().header(name, template), 401, "INVALID_USER");
    }
    let ada = gateway.header("X-OpenWebUI-User-Id", "ada");
    for (name, template) in [
        ("X-OpenWebUI-User-Group-Ids", "{{USER_GROUP_IDS}}"),
        ("X-OpenWebUI-User-Groups", "{{USER_GROUPS}}"),
        ("X-OpenWebUI-Chat-Id", "{{CHAT_ID}}"),
        ("X-OpenWebUI-Message-Id", "{{MESSAGE_ID}}"),
    ] {
        refused(&ada.clone().header(name, template), 401, "INVALID_USER");
    }
    passes(&ada);
}

/// Placeholders of programs that have no value: all users would share one account under each.
const NO_VALUES: [&str; 14] = [
    "None",
    "none",
    "NULL",
    "null",
    "nil",
    "<nil>",
    "undefined",
    "Undefined",
    "NaN",
    "[object Object]",
    "[Object object]",
    "{{ user.id }}",
    "${USER_ID}",
    "{user_id}",
];

#[test]
fn a_value_that_a_gateway_did_not_have_is_no_user() {
    let server = TestApp::with_key();
    let gateway = server
        .client()
        .header("Authorization", "Bearer service-key");
    for id in NO_VALUES {
        for name in ["X-OpenWebUI-User-Id", "X-User-Id"] {
            let answer = gateway.clone().header(name, id).call(CALL, &json!({}));
            answer.refused(401, "INVALID_USER");
            let error = &answer.body["error"];
            let said = format!("{}{}", error["message"], error["hint"]);
            assert!(said.contains("fill"), "{id}: {said}");
        }
        // No token is made for such a user, and none names one.
        let made = server.run(&["token", "create", "--user", id]);
        assert_eq!(made.code, Some(2), "{id}: {made:?}");
        let made = server.run(&["group", "create", "--name", "g", "--members", id]);
        assert_eq!(made.code, Some(2), "{id}: {made:?}");
    }
    // Ids that only look similar are ids.
    for id in ["nonet", "annul", "null-1", "undefined2", "object", "nano"] {
        passes(&server.as_user(id));
    }
    // A name, a mail address or a conversation that a gateway did not have is none.
    let ada = server
        .as_user("ada")
        .header("X-OpenWebUI-User-Name", "None");
    passes(&ada.header("X-OpenWebUI-User-Email", "null"));
    let put = |chat: &str, name: &str| {
        let arguments = json!({"zone": "storage", "path": name, "content": "x"});
        server
            .as_user("ada")
            .chat(chat)
            .call("shed_create_file", &arguments)
    };
    put("None", "held").data();
    let held = json!({"zone": "storage", "path": "held"});
    server
        .as_user("ada")
        .chat("undefined")
        .call("shed_lockedit_open", &held)
        .data();
    server
        .as_user("ada")
        .call("shed_lockedit_save", &held)
        .data();
}

#[test]
fn a_value_that_a_gateway_did_not_have_is_no_group() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "headers")
        .app();
    let groups = |ids: &str| {
        let client = server
            .client()
            .header("Authorization", "Bearer service-key")
            .header("X-OpenWebUI-User-Id", "ada");
        client.header("X-OpenWebUI-User-Group-Ids", ids)
    };
    for ids in ["None", "null", "undefined", " NONE ", "[object Object]"] {
        let list = groups(ids).call("shed_group_list", &json!({}));
        assert_eq!(list.data()["groups"], json!([]), "{ids}");
    }
    for ids in ["team,None", "null,team", "[object Object],[object Object]"] {
        refused(&groups(ids), 401, "INVALID_USER");
    }
    let made = server.run(&["group", "create", "--id", "null", "--name", "g"]);
    assert_eq!(made.code, Some(2), "{made:?}");
}

#[test]
fn conversations_and_messages_are_short_texts() {
    let server = TestApp::with_key();
    for chat in ["", "temporary:5", "8c7f2c1e", &"c".repeat(256)] {
        passes(&server.as_user("alice").chat(chat));
    }
    passes(&server.as_user("alice").header("X-Session-Id", "s"));
    let message = |id: &str| server.as_user("alice").header("X-OpenWebUI-Message-Id", id);
    passes(&message(""));
    passes(&message(&"m".repeat(256)));
    refused(&message(&"m".repeat(257)), 400, "INVALID_PARAMETER");
    refused(
        &server.as_user("alice").chat(&"c".repeat(257)),
        400,
        "INVALID_PARAMETER",
    );
    refused(
        &server.as_user("alice").chat("one").chat("two"),
        401,
        "INVALID_USER",
    );
}

#[test]
fn header_names_are_the_administrators_choice() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_HEADER_USER_ID", "X-Gateway-User")
        .app();
    let gateway = || {
        server
            .client()
            .header("Authorization", "Bearer service-key")
    };
    passes(&gateway().header("X-Gateway-User", "alice"));
    refused(
        &gateway().header("X-OpenWebUI-User-Id", "alice"),
        401,
        "INVALID_USER",
    );
}

#[test]
fn logs_tell_users_apart_without_naming_them() {
    let server = Server::with_key();
    passes(&server.as_user("alice-the-first"));
    assert!(server.logged("namespace=\"users/"));
    assert!(!server.log().contains("alice"), "{}", server.log());
}
