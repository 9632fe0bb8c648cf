//! Uploads and downloads of a group's files: by request and by link.

use serde_json::{Value, json};

use crate::groups::team::{app, done, file, files, owners, setup};
use fileshed_test_support::Client;

/// The part of a link's address behind the server.
fn address(link: &Value) -> String {
    let url = link["download_url"].as_str().unwrap();
    url[url.find("/links/").unwrap()..].to_owned()
}

fn link(client: &Client<'_>, arguments: Value) -> Value {
    done(client, "shed_link_create", arguments)
}

#[test]
fn directories_come_as_archives() {
    let server = app();
    let [ada, bob, eve] = ["ada", "bob", "eve"].map(|user| server.as_user(user));
    file(&ada, "d/f.txt", "text", "owner");
    let content = "/files/content?zone=group&group=Team&path=d";
    let archive = bob.get(content);
    assert_eq!(archive.status, 200, "{}", archive.text);
    assert!(archive.text.contains("d/f.txt"));
    eve.get(content).refused(404, "GROUP_NOT_FOUND");
}

#[test]
fn a_link_works_as_long_as_its_maker_is_in_the_group() {
    let server = app();
    let [ada, bob] = ["ada", "bob"].map(|user| server.as_user(user));
    file(&ada, "f.txt", "text", "owner");
    let download = link(&bob, json!({"path": "f.txt"}));
    let upload = link(&bob, json!({"path": "inbox", "upload": true}));
    let anybody = server.as_user("eve");
    assert_eq!(anybody.get(&address(&download)).text, "text");
    let form = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nsent\r\n--x--\r\n";
    let sender = anybody
        .clone()
        .header("content-type", "multipart/form-data; boundary=x");
    let bring = || sender.send("POST", &address(&upload), form.as_bytes());
    assert_eq!(bring().status, 200, "{}", bring().text);
    assert_eq!(files(&server)["inbox/a.txt"], b"sent");
    assert_eq!(owners(&ada)["inbox/a.txt"].0.as_deref(), Some("bob"));
    let listed = bob.call("shed_link_list", &json!({})).data()["files"].clone();
    assert_eq!(listed[0]["source_group"], "team", "{listed}");

    let left = server.run(&["group", "remove", "--group", "team", "--members", "bob"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    anybody
        .get(&address(&download))
        .refused(404, "FILE_NOT_FOUND");
    bring().refused(404, "FILE_NOT_FOUND");
}

#[test]
fn a_gateway_that_names_no_group_any_more_ends_its_links() {
    let server = setup().env("FILESHED_GROUPS", "headers").app();
    let bob = server.as_member("bob", "team");
    let in_team = |path: &str| json!({"zone": "group", "group": "team", "path": path});
    let mut text = in_team("f.txt");
    text["content"] = "text".into();
    bob.call("shed_create_file", &text).data();
    let made = bob.call("shed_link_create", &in_team("f.txt"));
    let download = address(made.data());
    let anybody = server.client();
    assert_eq!(anybody.get(&download).text, "text");
    let elsewhere = server.as_member("bob", "another");
    elsewhere.call("shed_group_list", &json!({})).data();
    anybody.get(&download).refused(404, "FILE_NOT_FOUND");
}
