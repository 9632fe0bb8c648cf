//! Tests of the connection that is written, over each earlier state of it.

use super::*;
use crate::config::Setting;
use grant::AccessGrant;

fn config(settings: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (name, value) in settings {
        let setting = Setting::find(name).expect(name);
        setting.field(&mut config).read(value).expect(name);
    }
    config
}

fn options() -> ConnectionOptions {
    ConnectionOptions {
        server_url: Some("http://fileshed:8000".parse().expect("an address")),
        auth: None,
        id: "fileshed".to_owned(),
        name: None,
        terminal: false,
        toolset: None,
    }
}

fn ours(settings: &[(&str, &str)], options: &ConnectionOptions) -> RegisteredConnection {
    RegisteredConnection::new(&config(settings), options, None).expect("a connection")
}

const KEY: (&str, &str) = ("api_keys", "first,second");

#[test]
fn a_new_one_is_whole_and_needs_nothing_more() {
    let ours = ours(&[KEY, ("groups", "headers")], &options());
    let new = ours.connection(None);
    let expected = json!({
        "type": "openapi",
        "url": "http://fileshed:8000",
        "path": "openapi.json",
        "spec_type": "url",
        "auth_type": "bearer",
        "key": "first",
        "headers": {
            "X-OpenWebUI-Chat-Id": "{{CHAT_ID}}",
            "X-OpenWebUI-Message-Id": "{{MESSAGE_ID}}",
            "X-OpenWebUI-User-Id": "{{USER_ID}}",
            "X-OpenWebUI-User-Name": "{{USER_NAME}}",
            "X-OpenWebUI-User-Email": "{{USER_EMAIL}}",
            "X-OpenWebUI-User-Role": "{{USER_ROLE}}",
            "X-OpenWebUI-User-Group-Ids": "{{USER_GROUP_IDS}}",
            "X-OpenWebUI-User-Groups": "{{USER_GROUPS}}",
            "Prefer": "return=minimal",
        },
        "config": {
            "enable": true,
            "function_name_filter_list": "",
            "access_grants": [
                {"principal_type": "user", "principal_id": "*", "permission": "read"},
            ],
        },
        "info": {"id": "fileshed", "name": "fileshed", "description": "Files that stay"},
    });
    assert_eq!(new, expected);
    assert_eq!(ours.connection(Some(&new)), new);
    assert!(ConnectionChange::between(Some(&new), &new).is_empty());
}

#[test]
fn headers_follow_the_way_users_are_named() {
    let names = |settings: &[(&str, &str)]| {
        let connection = ours(settings, &options()).connection(None);
        let headers = connection["headers"].as_object().expect("headers").clone();
        let names: Vec<String> = headers.into_iter().map(|(name, _)| name).collect();
        (text(&connection, "auth_type").to_owned(), names)
    };
    let chat = ["X-OpenWebUI-Chat-Id", "X-OpenWebUI-Message-Id", "Prefer"];
    assert_eq!(
        names(&[]),
        ("session".to_owned(), chat.map(str::to_owned).into())
    );
    // Signed users need no header of the connection.
    let (auth, signed) = names(&[KEY, ("forward_jwt_secret", "s")]);
    assert_eq!(
        (auth.as_str(), signed),
        ("bearer", chat.map(str::to_owned).into())
    );
    let (_, renamed) = names(&[KEY, ("header_user_id", "X-Who"), ("header_chat_id", "chat")]);
    assert_eq!(renamed[..3], ["Chat", "X-OpenWebUI-Message-Id", "X-Who"]);
}

#[test]
fn what_others_wrote_into_it_stays() {
    let existing = json!({
        "url": "http://old:1/",
        "path": "/openapi.json?toolset=core",
        "auth_type": "bearer",
        "key": "old",
        "future": {"b": 1, "a": [2]},
        "headers": {
            "X-Own": "1",
            "x-openwebui-chat-id": "something",
            "X-OpenWebUI-User-Id": "{{USER_ID}}",
            "X-OpenWebUI-User-Role": "guest",
        },
        "config": {"enable": false, "timeout": 5, "access_grants": []},
        "info": {"name": "Files", "id": "fileshed", "icon": "x"},
    });
    let session = ConnectionOptions {
        auth: Some(Auth::Session),
        ..options()
    };
    let renewed = ours(&[KEY], &session).connection(Some(&existing));
    let expected = json!({
        "url": "http://fileshed:8000",
        "path": "/openapi.json?toolset=core",
        "auth_type": "session",
        "key": "",
        "future": {"b": 1, "a": [2]},
        "headers": {
            "X-Own": "1",
            "x-openwebui-chat-id": "{{CHAT_ID}}",
            "X-OpenWebUI-User-Role": "guest",
            "X-OpenWebUI-Message-Id": "{{MESSAGE_ID}}",
            "Prefer": "return=minimal",
        },
        "config": {"enable": true, "timeout": 5, "access_grants": []},
        "info": {"name": "Files", "id": "fileshed", "icon": "x", "description": "Files that stay"},
        "type": "openapi",
        "spec_type": "url",
    });
    assert_eq!(renewed.to_string(), expected.to_string(), "order, too");
}

#[test]
fn what_was_said_replaces() {
    let said = ConnectionOptions {
        name: Some("Shed".to_owned()),
        toolset: Some(Toolset::All),
        ..options()
    };
    let group = vec![
        AccessGrant::to("group", "g1"),
        AccessGrant::to("user", "u1"),
    ];
    let ours = RegisteredConnection::new(&config(&[]), &said, Some(group)).expect("a connection");
    let existing = json!({
        "path": "openapi.json?toolset=core",
        "config": {"access_grants": [{"principal_type": "user", "principal_id": "*", "permission": "read"}]},
        "info": {"id": "fileshed", "name": "Files"},
    });
    let renewed = ours.connection(Some(&existing));
    assert_eq!(renewed["path"], "openapi.json");
    assert_eq!(renewed["info"]["name"], "Shed");
    assert_eq!(renewed["config"]["access_grants"][0]["principal_id"], "g1");
    assert_eq!(
        renewed["config"]["access_grants"][1]["principal_type"],
        "user"
    );
    // The same ones in another order, with a field more, are the same.
    let mut other = renewed;
    let grants = other["config"]["access_grants"]
        .as_array_mut()
        .expect("a list");
    grants.reverse();
    grants[0]["note"] = json!("x");
    assert_eq!(ours.connection(Some(&other)), other);
}

#[test]
fn broken_ones_are_mended() {
    let ours = ours(&[], &options());
    for headers in [json!(null), json!("nonsense"), json!("[1]"), json!(7)] {
        let broken = json!({"headers": headers, "config": null, "info": {"id": "fileshed"}});
        assert_eq!(ours.find(std::slice::from_ref(&broken)), Some(0));
        let mended = ours.connection(Some(&broken));
        assert_eq!(mended["headers"]["X-OpenWebUI-Chat-Id"], "{{CHAT_ID}}");
        assert_eq!(
            mended["config"],
            json!({"enable": true}),
            "it was granted to nobody"
        );
        assert_eq!(mended["info"]["name"], "fileshed");
    }
    let written = json!({"headers": "{\"X-Own\": \"1\", \"prefer\": \"wait=9\"}"});
    let headers = ours.connection(Some(&written))["headers"].clone();
    assert_eq!(
        (&headers["X-Own"], &headers["prefer"]),
        (&json!("1"), &json!("wait=9"))
    );
    assert!(headers.get("Prefer").is_none(), "what others wrote counts");
}

#[test]
fn it_is_found_by_its_id_among_tool_servers() {
    let ours = ours(&[], &options());
    let list = [
        json!({"type": "mcp", "info": {"id": "fileshed"}}),
        json!({"info": null, "url": "http://fileshed:8000/"}),
        json!("nonsense"),
        json!({"type": "openapi", "info": {"id": "fileshed"}, "url": "http://fileshed:8000"}),
    ];
    assert_eq!(ours.find(&list), Some(3));
    assert_eq!(ours.find(&list[..3]), None);
    assert_eq!(ours.rivals(&list[3], &list), ["http://fileshed:8000"]);
}

#[test]
fn the_address_of_this_server() {
    let place = |settings: &[(&str, &str)]| {
        let options = ConnectionOptions {
            server_url: None,
            ..options()
        };
        let connection = ours(settings, &options).connection(None);
        text(&connection, "url").to_owned()
    };
    assert_eq!(place(&[]), "http://127.0.0.1:8000");
    assert_eq!(place(&[("bind", "0.0.0.0:81")]), "http://127.0.0.1:81");
    assert_eq!(place(&[("bind", "[::1]:8000")]), "http://[::1]:8000");
    assert_eq!(
        place(&[("public_url", "https://x.org/shed/")]),
        "https://x.org/shed"
    );
}

#[test]
fn changes_show_no_secret() {
    let (old, new) = (
        json!({"key": "old-key", "url": "http://u:old@x", "headers": {"A": "old"}}),
        json!({"key": "new-key", "url": "http://y", "headers": {}}),
    );
    let lines = ConnectionChange::between(Some(&old), &new).lines("shed", true);
    let expected = [
        "would update the connection `shed`:",
        "  key: ********",
        "  url: http://y",
        "  headers.A is gone",
    ];
    assert_eq!(lines, expected);
}
