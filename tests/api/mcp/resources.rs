//! Files as resources: listed, read, completed, and never those of others.

use std::collections::BTreeSet;

use fileshed_test_support::TestApp;
use serde_json::{Value, json};

use super::client::Peer;
use crate::ops::stage::small;

/// Every address that is listed, page by page.
fn listed(peer: &Peer<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() {
            json!({})
        } else {
            json!({"cursor": cursor})
        };
        let page = peer.request("resources/list", &params);
        let files = page["resources"].as_array().unwrap();
        assert!(files.len() <= 200, "{}", files.len());
        all.extend(
            files
                .iter()
                .map(|file| file["uri"].as_str().unwrap().to_owned()),
        );
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return all;
        }
    }
}

fn create(peer: &Peer<'_>, zone: &str, path: &str, content: &str) {
    let mut file = json!({"zone": zone, "path": path, "content": content});
    if zone == "group" {
        file["group"] = "team".into();
    }
    peer.done("shed_create_file", &file);
}

fn read(peer: &Peer<'_>, uri: &str) -> Value {
    let read = peer.request("resources/read", &json!({"uri": uri}));
    read["contents"][0].clone()
}

#[test]
fn files_of_all_zones_are_listed_and_read() {
    let server = small().app();
    let (ada, bob) = (
        Peer::new(server.as_user("ada")),
        Peer::new(server.as_user("bob")),
    );
    create(&ada, "storage", "a b/ü#1.md", "one\n");
    create(&ada, "documents", "d.txt", "two\n");
    create(&ada, "group", "g.json", "{}\n");
    let listed = listed(&ada);
    assert_eq!(
        listed,
        [
            "fileshed://documents/d.txt",
            "fileshed://group/team/g.json",
            "fileshed://storage/a%20b/%C3%BC%231.md"
        ]
    );
    for (uri, text, kind) in [
        (listed[0].as_str(), "two\n", "text/plain"),
        (&listed[1], "{}\n", "application/json"),
        (&listed[2], "one\n", "text/markdown"),
        (
            "fileshed://storage/",
            "fileshed://storage/a%20b/\n",
            "text/uri-list",
        ),
        (
            "fileshed://storage/a%20b",
            "fileshed://storage/a%20b/%C3%BC%231.md\n",
            "text/uri-list",
        ),
    ] {
        let content = read(&ada, uri);
        assert_eq!(content["uri"], uri);
        assert_eq!(content["text"], text, "{uri}");
        assert_eq!(content["mimeType"], kind, "{uri}");
    }
    // As people write it, where no header has to carry it.
    let older = Peer::new(server.as_user("ada")).speaking("2025-06-18");
    assert_eq!(
        read(&older, "fileshed://storage/a b/ü#1.md")["text"],
        "one\n"
    );
    // The bytes of a picture as they are.
    let png = b"\x89PNG\r\n\x1a\n\0\xff";
    let data = server.data().join("users").join("ada");
    std::fs::write(data.join("Storage/data/p.png"), png).unwrap();
    let content = read(&ada, "fileshed://storage/p.png");
    assert_eq!(
        (content["blob"].as_str(), content["mimeType"].as_str()),
        (Some("iVBORw0KGgoA/w=="), Some("image/png"))
    );
    std::fs::write(data.join("Storage/data/a.pdf"), b"%PDF-1.4\n").unwrap();
    let content = read(&ada, "fileshed://storage/a.pdf");
    assert_eq!(
        (content["blob"].as_str(), content["mimeType"].as_str()),
        (Some("JVBERi0xLjQK"), Some("application/pdf"))
    );
    std::fs::remove_file(data.join("Storage/data/a.pdf")).unwrap();
    // Other users do not see them.
    assert_eq!(self::listed(&bob), Vec::<String>::new());
    for uri in [
        "fileshed://storage/p.png",
        "fileshed://documents/d.txt",
        "fileshed://group/team-ada/g.json",
    ] {
        let refused = bob.refused("resources/read", &json!({"uri": uri}));
        assert_eq!(refused["code"], -32_602, "{uri}: {refused}");
    }
}

#[test]
fn what_is_no_resource_is_refused_with_what_to_do() {
    let server = TestApp::start();
    let peer = Peer::new(server.client());
    create(&peer, "storage", "a.md", "one\n");
    for uri in [
        "file:///etc/passwd",
        "fileshed://attic/a.md",
        "fileshed://storage/../documents/a.md",
        "fileshed://storage/%2e%2e/%2e%2e/etc/passwd",
        "fileshed://storage/none.md",
        "fileshed://group/none/a.md",
        "storage/a.md",
    ] {
        let refused = peer.refused("resources/read", &json!({"uri": uri}));
        assert_eq!(refused["code"], -32_602, "{uri}: {refused}");
        assert!(refused["data"]["hint"].as_str().is_some(), "{refused}");
        assert!(!refused.to_string().contains("/tmp"), "{refused}");
    }
    // Older clients know a code of its own for it.
    let older = Peer::new(server.client()).speaking("2025-06-18");
    let refused = older.refused(
        "resources/read",
        &json!({"uri": "fileshed://storage/none.md"}),
    );
    assert_eq!(refused["code"], -32_002, "{refused}");
    let large = server.data().join("shared/Storage/data/large.bin");
    std::fs::File::create(large)
        .unwrap()
        .set_len(100 << 20)
        .unwrap();
    let refused = peer.refused(
        "resources/read",
        &json!({"uri": "fileshed://storage/large.bin"}),
    );
    assert_eq!(refused["data"]["code"], "FILE_TOO_LARGE", "{refused}");
    let refused = peer.refused("resources/list", &json!({"cursor": "page 2"}));
    assert!(
        refused["message"].as_str().unwrap().contains("cursor"),
        "{refused}"
    );
}

#[test]
fn pages_have_every_file_once() {
    let server = TestApp::start();
    let peer = Peer::new(server.client());
    create(&peer, "documents", "first.md", "1");
    create(&peer, "storage", "z.md", "1");
    let data = server.data().join("shared/Storage/data");
    for directory in 0..30 {
        let directory = data.join(format!("d{directory}/e"));
        std::fs::create_dir_all(&directory).unwrap();
        for file in 0..20 {
            std::fs::write(directory.join(format!("{file}.txt")), "1").unwrap();
        }
    }
    let all = listed(&peer);
    let once: BTreeSet<&String> = all.iter().collect();
    assert_eq!((all.len(), once.len()), (602, 602));
    assert_eq!(all[0], "fileshed://documents/first.md");
    assert_eq!(all[601], "fileshed://storage/z.md");
    // Git's own file is none.
    assert!(all.iter().all(|uri| !uri.contains(".git")), "{all:?}");
}

#[test]
fn templates_say_how_addresses_are_made_and_paths_are_completed() {
    let server = small().app();
    let peer = Peer::new(server.as_user("ada"));
    create(&peer, "storage", "notes/today.md", "1");
    create(&peer, "storage", "notes/tomorrow.md", "1");
    create(&peer, "storage", "nothing.md", "1");
    create(&peer, "group", "plan.md", "1");
    let templates = peer.request("resources/templates/list", &json!({}));
    let templates = templates["resourceTemplates"].as_array().unwrap();
    let templates: Vec<&str> = templates
        .iter()
        .map(|one| one["uriTemplate"].as_str().unwrap())
        .collect();
    let [zones, groups] = templates[..] else {
        panic!("{templates:?}");
    };
    let complete = |template: &str, name: &str, value: &str, known: Value| {
        let completed = peer.request(
            "completion/complete",
            &json!({
                "ref": {"type": "ref/resource", "uri": template},
                "argument": {"name": name, "value": value},
                "context": {"arguments": known},
            }),
        );
        completed["completion"]["values"].clone()
    };
    let storage = json!({"zone": "storage"});
    assert_eq!(
        complete(zones, "zone", "", json!({})),
        json!(["documents", "storage", "uploads"])
    );
    assert_eq!(complete(zones, "zone", "st", json!({})), json!(["storage"]));
    assert_eq!(
        complete(zones, "path", "no", storage.clone()),
        json!(["notes/", "nothing.md"])
    );
    assert_eq!(
        complete(zones, "path", "notes/tom", storage.clone()),
        json!(["notes/tomorrow.md"])
    );
    assert_eq!(complete(zones, "path", "none/", storage.clone()), json!([]));
    assert_eq!(complete(zones, "path", "../", storage), json!([]));
    assert_eq!(complete(zones, "path", "n", json!({})), json!([]));
    assert_eq!(complete(groups, "group", "t", json!({})), json!(["team"]));
    assert_eq!(
        complete(groups, "path", "", json!({"group": "team"})),
        json!(["plan.md"])
    );
    // Completions do not contain other users' files.
    let bob = Peer::new(server.as_user("bob"));
    let completed = bob.request(
        "completion/complete",
        &json!({
            "ref": {"type": "ref/resource", "uri": zones},
            "argument": {"name": "path", "value": "no"},
            "context": {"arguments": {"zone": "storage"}},
        }),
    );
    assert_eq!(completed["completion"]["values"], json!([]));
}
