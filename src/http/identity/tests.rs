//! Claims that need no server.

use axum::http::Request;
use fileshed_core::Role;
use fileshed_core::limiter::Limiter;

use super::*;

/// The caller of a request with these headers, where nothing has to be looked up.
fn caller(config: &Config, headers: &[(&str, &str)]) -> Caller {
    let authenticator = Authenticator::new(config, &Limiter::new(&Clock::default()), None);
    let mut request = Request::post("/shed_stats");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    let credential = authenticator
        .read(&parts, Accepts::Programs)
        .expect("a credential");
    match credential {
        Credential::Resolved(caller) => caller,
        Credential::Session(session, headers) => {
            let found = authenticator
                .find_session(&session, None, Sources::All)
                .expect("an answer")
                .expect("a user");
            headers.caller(found).expect("a caller")
        }
        Credential::PersonalToken(_, headers) | Credential::PageSession(_, headers) => {
            let ada = Principal::of(UserId::parse("ada").expect("an id"));
            headers.caller(ada).expect("a caller")
        }
    }
}

#[test]
fn conversation_and_message_are_read_in_every_mode() {
    let (chat, message) = ("x-openwebui-chat-id", "x-openwebui-message-id");
    let shared = Config::default();
    let keyed = Config {
        api_keys: vec![Secret::new("key")],
        ..Config::default()
    };
    let with_sessions = Config {
        webui_secret_key: Some(Secret::new("secret")),
        ..Config::default()
    };
    // {"alg":"HS256"}.{"id":"ada"}, signed with "secret".
    let session =
        "Bearer eyJhbGciOiJIUzI1NiJ9.eyJpZCI6ImFkYSJ9.m3S3PJ7FXmI8AJ9FpielREZvt5G141mrD9Y-rVJxWiI";
    for (config, who) in [
        (&shared, &[][..]),
        (
            &keyed,
            &[("authorization", "Bearer key"), ("x-user-id", "ada")],
        ),
        (&keyed, &[("authorization", "Bearer shed_x")]),
        (&with_sessions, &[("authorization", session)]),
    ] {
        let read = caller(config, &[who, &[(chat, "c"), (message, "m")]].concat());
        assert_eq!(read.chat.as_str(), "c", "{who:?}");
        assert_eq!(read.message.as_deref(), Some("m"), "{who:?}");
        let read = caller(config, &[who, &[(message, "")]].concat());
        assert_eq!(read.chat, Chat::default());
        assert_eq!(read.message, None);
    }
}

#[test]
fn a_gateway_says_which_role_its_user_has() {
    let keyed = Config {
        api_keys: vec![Secret::new("key")],
        ..Config::default()
    };
    for (text, role) in [
        ("admin", Role::Admin),
        ("user", Role::User),
        ("Admin", Role::User),
        ("", Role::User),
    ] {
        let headers = [
            ("authorization", "Bearer key"),
            ("x-user-id", "ada"),
            ("x-openwebui-user-role", text),
        ];
        assert_eq!(caller(&keyed, &headers).role, role, "{text}");
    }
}
