//! Files in and out as they are: `/terminal/files/upload`, `view`, `serve`, `archive` and links.

use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Answer, Client, Server, TestApp, skip};
use serde_json::json;

use super::{address, delete, get, names, post, refused, text, write};
use crate::groups::team;
use crate::transfer::content::unpacked;
use crate::transfer::form;

fn upload(client: &Client<'_>, directory: &str, files: &[(&str, &[u8])]) -> Answer {
    form::send(
        client,
        &address("/files/upload", &[("directory", directory)]),
        files,
    )
}

#[test]
fn an_upload_is_stored_and_stored_anew() {
    let app = TestApp::with_key();
    let ada = app.as_user("ada").chat("c1");
    for directory in [
        "/storage/new/dir/",
        "/documents/d",
        "/uploads",
        "/uploads/sub/",
    ] {
        for content in ["one", "three"] {
            let answer = upload(&ada, directory, &[("a b#c.txt", content.as_bytes())]);
            let path = format!("{}/a b#c.txt", directory.trim_end_matches('/'));
            assert_eq!(
                answer.body,
                json!({"path": path, "size": content.len()}),
                "{}",
                answer.text
            );
            assert_eq!(text(&ada, &path), content);
        }
    }
    // A directory without earlier uploads.
    let first = upload(
        &app.as_user("ada").chat("c3"),
        "/uploads/new/",
        &[("a", b"x")],
    );
    assert_eq!(first.body["path"], "/uploads/new/a", "{}", first.text);
    // Those of the conversation are this conversation's.
    assert_eq!(names(&ada, "/uploads"), ["a b#c.txt", "sub"]);
    assert!(names(&app.as_user("ada").chat("c2"), "/uploads").is_empty());
    let relative = upload(&ada, "work", &[("b.txt", b"x")]);
    assert_eq!(relative.body["path"], "/storage/work/b.txt");
    let two = upload(&ada, "/storage/two", &[("one", b"1"), ("two", b"22")]);
    assert_eq!(two.body, json!({"path": "/storage/two/one", "size": 1}));
    assert_eq!(names(&ada, "/storage/two"), ["one", "two"]);
}

#[test]
fn an_upload_into_documents_is_a_commit() {
    let app = TestApp::start();
    let client = app.client();
    upload(&client, "/documents/d", &[("a.md", b"one")]);
    upload(&client, "/documents/d", &[("a.md", b"two")]);
    let repository = Repository::of(&app.data().join("shared"));
    assert_eq!(repository.commits(), 2);
    let log = json!({"cmd": "git", "args": ["status", "--short"]});
    let clean = client.data_in("documents", "shed_exec", log);
    assert_eq!(clean["stdout"], "");
    repository.assert_sound();
}

#[test]
fn names_that_not_every_system_takes_become_ones_that_it_does() {
    let app = TestApp::start();
    let client = app.client();
    for (sent, stored) in [
        ("what?.txt", "what_.txt"),
        ("../../up.txt", "up.txt"),
        ("what?.txt", "what_ (2).txt"),
        ("what_.txt", "what_.txt"),
        (".fs_pepper", "_.fs_pepper"),
        ("gr\u{fc}n \u{65e5}.txt", "gr\u{fc}n \u{65e5}.txt"),
    ] {
        let answer = upload(&client, "/storage", &[(sent, b"x")]);
        assert_eq!(
            answer.body["path"],
            format!("/storage/{stored}"),
            "{}",
            answer.text
        );
    }
    // An existing file of such a name can be overwritten.
    let place = app.data().join("shared/Storage/data/odd*.txt");
    std::fs::write(place, "").expect("written");
    let answer = upload(&client, "/storage", &[("odd*.txt", b"anew")]);
    assert_eq!(answer.body["path"], "/storage/odd*.txt");
    assert_eq!(text(&client, "/storage/odd*.txt"), "anew");
}

#[test]
fn an_upload_that_cannot_be_leaves_nothing() {
    let app = TestApp::with().env("FILESHED_QUOTA_PER_USER_MB", "1").app();
    let client = app.client();
    write(&client, "/storage/file", "x");
    let large = vec![b'x'; 1_200_000];
    refused(
        &upload(&client, "/storage", &[("a", &large)]),
        507,
        "QUOTA_EXCEEDED",
        "",
    );
    refused(
        &upload(&client, "/", &[("a", b"x")]),
        403,
        "ZONE_FORBIDDEN",
        "`/`",
    );
    refused(
        &upload(&client, "/groups", &[("a", b"x")]),
        403,
        "ZONE_FORBIDDEN",
        "`/groups`",
    );
    refused(
        &upload(&client, "/logs", &[("a", b"x")]),
        403,
        "ZONE_READONLY",
        "`/logs`",
    );
    refused(
        &upload(&client, "/etc", &[("a", b"x")]),
        404,
        "FILE_NOT_FOUND",
        "`/etc`",
    );
    refused(
        &upload(&client, "/storage/file", &[("a", b"x")]),
        400,
        "INVALID_PATH",
        "`/storage/file`",
    );
    refused(
        &upload(&client, "", &[("a", b"x")]),
        400,
        "MISSING_PARAMETER",
        "`directory`",
    );
    refused(
        &upload(&client, "/storage", &[]),
        400,
        "MISSING_PARAMETER",
        "",
    );
    let no_form = client.send(
        "POST",
        &address("/files/upload", &[("directory", "/storage")]),
        b"{}",
    );
    refused(&no_form, 400, "INVALID_PARAMETER", "form");
    client.data_in("storage", "shed_lockedit_open", json!({"path": "file"}));
    refused(
        &upload(&client, "/storage", &[("file", b"y")]),
        423,
        "FILE_LOCKED",
        "`/storage/file`",
    );
    assert_eq!(names(&client, "/storage"), ["file"]);
    assert_eq!(text(&client, "/storage/file"), "x");
}

#[test]
fn who_may_not_write_does_not_upload() {
    let app = team::app();
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    upload(&ada, "/groups/Team", &[("own.md", b"a")]);
    team::call(
        &ada,
        "shed_group_set_mode",
        json!({"path": "own.md", "mode": "owner"}),
    )
    .data();
    let denied = upload(&bob, "/groups/Team", &[("own.md", b"b")]);
    refused(&denied, 403, "PERMISSION_DENIED", "`/groups/Team/own.md`");
    let nobody = upload(&app.as_user("eve"), "/groups/Team", &[("new.md", b"b")]);
    refused(&nobody, 404, "FILE_NOT_FOUND", "`/groups/Team`");
    let made = app.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let reader = app.with_token(made.stdout.trim());
    refused(
        &upload(&reader, "/storage", &[("a", b"x")]),
        403,
        "ACCESS_DENIED",
        "may only read",
    );
    let link = post(
        &reader,
        "/files/upload/link",
        &json!({"directory": "/storage"}),
    );
    refused(&link, 403, "ACCESS_DENIED", "may only read");
    assert_eq!(text(&ada, "/groups/Team/own.md"), "a");
    assert_eq!(
        upload(&app.client(), "/storage", &[("a", b"x")]).status,
        401
    );
}

#[test]
fn a_file_is_viewed_as_it_is_and_can_do_nothing() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/a b.html", "<script>alert(1)</script>");
    write(&client, "/storage/d/x.docx", "x");
    let view = get(&client, "/files/view", &[("path", "/storage/a b.html/")]);
    assert_eq!(view.text, "<script>alert(1)</script>");
    assert_eq!(view.header("content-type"), "text/html; charset=utf-8");
    assert!(view.header("content-disposition").starts_with("inline"));
    let policy = view.header("content-security-policy");
    assert!(
        policy.contains("sandbox") && !policy.contains("allow-scripts"),
        "{policy}"
    );
    let preview = [("path", "/storage/d/x.docx"), ("preview", "true")];
    let preview = get(&client, "/files/view", &preview);
    assert_eq!((preview.status, preview.text.as_str()), (200, "x"));
    assert_ne!(preview.header("content-type"), "application/pdf");
    let part = client.clone().header("Range", "bytes=1-6");
    let part = get(&part, "/files/view", &[("path", "/storage/a b.html")]);
    assert_eq!((part.status, part.text.as_str()), (206, "script"));
    for (path, names) in [
        ("/storage/none", "`/storage/none`"),
        ("/storage/d", "`/storage/d`"),
        ("/", "`/`"),
    ] {
        refused(
            &get(&client, "/files/view", &[("path", path)]),
            404,
            "FILE_NOT_FOUND",
            names,
        );
    }
    refused(
        &get(&client, "/files/view", &[]),
        400,
        "MISSING_PARAMETER",
        "`path`",
    );
    let far = client.clone().header("Range", "bytes=900-");
    let far = get(&far, "/files/view", &[("path", "/storage/a b.html")]);
    refused(&far, 416, "RANGE_NOT_SATISFIABLE", "");
}

#[test]
fn a_page_is_served_apart_from_everything() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/site/in dex.html", "<p>hi");
    write(&client, "/storage/site/style.css", "p {}");
    let page = client.get("/terminal/files/serve/storage/site/in%20dex.html");
    assert_eq!((page.status, page.text.as_str()), (200, "<p>hi"));
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("sandbox allow-scripts") && !policy.contains("same-origin"),
        "{policy}"
    );
    assert!(page.header("content-disposition").starts_with("inline"));
    let style = client.get("/terminal/files/serve/storage/site/style.css");
    assert!(style.header("content-type").starts_with("text/css"));
    let no_text = client.get("/terminal/files/serve/storage/%FF");
    refused(&no_text, 400, "INVALID_PATH", "UTF-8");
    let missing = client.get("/terminal/files/serve/storage/none");
    refused(&missing, 404, "FILE_NOT_FOUND", "`/storage/none`");
    let above = client.get("/terminal/files/serve/storage/..%2F..%2Fetc/passwd");
    refused(&above, 404, "FILE_NOT_FOUND", "`/etc/passwd`");
}

/// Returns names and sizes of the entries of an archive; `None` if no program reads archives.
#[track_caller]
fn packed(client: &Client<'_>, paths: &[&str], name: &str) -> Option<serde_json::Value> {
    let answer = post(client, "/files/archive", &json!({"paths": paths}));
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "application/zip")
    );
    let disposition = answer.header("content-disposition");
    assert!(
        disposition.contains(&format!("filename=\"{name}\"")),
        "{disposition}"
    );
    unpacked(&answer.bytes)
}

#[test]
fn what_is_selected_comes_as_one_archive() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/d/a.md", "12");
    write(&client, "/storage/d/e/b.md", "123");
    write(&client, "/storage/one.md", "1");
    write(&client, "/documents/one.md", "1234");
    post(
        &client,
        "/files/mkdir",
        &json!({"path": "/storage/d/empty"}),
    );
    for (paths, name, expected) in [
        (
            vec!["/storage/d/"],
            "d.zip",
            json!({"d/a.md": 2, "d/e/b.md": 3, "d/empty/": 0}),
        ),
        (vec!["/storage/one.md"], "one.md.zip", json!({"one.md": 1})),
        (
            vec![
                "/storage/one.md",
                "/storage/d/e",
                "/documents/one.md",
                "/storage/one.md",
            ],
            "download.zip",
            json!({"one.md": 1, "e/b.md": 3, "documents/one.md": 4}),
        ),
        (
            vec!["/documents"],
            "documents.zip",
            json!({"documents/one.md": 4}),
        ),
        (vec!["d/e/b.md"], "b.md.zip", json!({"b.md": 3})),
        (
            vec!["/"],
            "download.zip",
            json!({
                "documents/one.md": 4, "storage/one.md": 1, "storage/d/a.md": 2,
                "storage/d/e/b.md": 3, "storage/d/empty/": 0, "uploads/": 0, "logs/": 0,
            }),
        ),
    ] {
        let found = packed(&client, &paths, name);
        assert_eq!(
            found.unwrap_or_else(|| expected.clone()),
            expected,
            "{paths:?}"
        );
    }
    let missing = json!({"paths": ["/storage/one.md", "/storage/none"]});
    let missing = post(&client, "/files/archive", &missing);
    refused(&missing, 404, "FILE_NOT_FOUND", "`/storage/none`");
    let outside = post(&client, "/files/archive", &json!({"paths": ["/etc"]}));
    refused(&outside, 404, "FILE_NOT_FOUND", "`/etc`");
    for nothing in [json!({"paths": []}), json!({})] {
        let answer = post(&client, "/files/archive", &nothing);
        refused(&answer, 400, "MISSING_PARAMETER", "`paths`");
    }
}

#[test]
fn nobody_packs_the_files_of_another() {
    let app = team::app();
    team::make(&app, "club", "Club", &["ada"]);
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    write(&ada, "/groups/Club/a.md", "1");
    write(&ada, "/groups/Team/b.md", "1");
    let found = packed(&bob, &["/groups"], "groups.zip");
    assert_eq!(
        found.unwrap_or(json!({"Team/b.md": 1})),
        json!({"Team/b.md": 1})
    );
    let club = post(&bob, "/files/archive", &json!({"paths": ["/groups/Club"]}));
    refused(&club, 404, "FILE_NOT_FOUND", "`/groups/Club`");
}

#[test]
fn links_need_nothing_and_end_after_five_minutes() {
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .start();
    let ada = server.as_user("ada");
    write(&ada, "/storage/a.md", "hello");
    let link = get(&ada, "/files/download/link", &[("path", "/storage/a.md")]);
    let url = link.body["url"].as_str().unwrap().to_owned();
    let path = url
        .strip_prefix(&server.url(""))
        .expect("an address of this server");
    let fetched = server.client().get(path);
    assert_eq!((fetched.status, fetched.text.as_str()), (200, "hello"));
    let listed = ada.call("shed_link_list", &json!({}));
    let link = &listed.data()["files"][0];
    let moment = |name: &str| -> jiff::Timestamp { link[name].as_str().unwrap().parse().unwrap() };
    assert_eq!(
        moment("expires_at").as_second() - moment("created_at").as_second(),
        300
    );
    let link = address("/files/upload/link", &[("directory", "/storage/in")]);
    let link = ada.send("POST", &link, b"{}");
    let url = link.body["url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&server.url("")).unwrap();
    let form = server.client().header("Accept", "text/html").get(path);
    assert!(form.text.contains("<form"), "{}", form.text);
    let sent = form::send(&server.client(), path, &[("b.txt", b"sent")]);
    assert_eq!(sent.status, 200, "{}", sent.text);
    assert_eq!(text(&ada, "/storage/in/b.txt"), "sent");
    for (answer, names) in [
        (
            get(&ada, "/files/download/link", &[("path", "/storage/none")]),
            "`/storage/none`",
        ),
        (
            get(&ada, "/files/download/link", &[("path", "/storage/in")]),
            "`/storage/in`",
        ),
    ] {
        refused(&answer, 404, "FILE_NOT_FOUND", names);
    }
    let top = post(&ada, "/files/upload/link", &json!({"directory": "/groups"}));
    refused(&top, 403, "ZONE_FORBIDDEN", "`/groups`");
    assert_eq!(
        get(
            &server.client(),
            "/files/download/link",
            &[("path", "a.md")]
        )
        .status,
        401
    );
}

#[test]
fn an_address_is_not_fetched_without_a_network() {
    let app = TestApp::start();
    let client = app.client();
    let query = [
        ("directory", "/storage"),
        ("url", "http://127.0.0.1:1/a.csv"),
    ];
    let answer = client.send("POST", &address("/files/upload", &query), b"");
    refused(&answer, 403, "COMMAND_FORBIDDEN", "network");
    let uploads = [
        ("directory", "/uploads"),
        ("url", "http://127.0.0.1:1/a.csv"),
    ];
    let answer = client.send("POST", &address("/files/upload", &uploads), b"");
    assert_eq!(answer.status, 403, "{}", answer.text);
    assert!(names(&client, "/storage").is_empty());
}

#[test]
fn logs_are_read_and_nothing_else() {
    let server = TestApp::start();
    let client = server.client();
    let ran = client.send(
        "POST",
        "/terminal/execute?wait=20",
        br#"{"command": "echo hello"}"#,
    );
    if ran.status != 200 {
        skip(format_args!("no lines are run here: {}", ran.text));
        return;
    }
    let processes = get(&client, "/execute", &[]).body;
    let log = processes[0]["log_path"].as_str().unwrap().to_owned();
    let name = log.rsplit('/').next().unwrap();
    assert_eq!(names(&client, "/logs"), [name]);
    assert!(text(&client, &log).contains("hello"));
    let view = get(&client, "/files/view", &[("path", &log)]);
    assert!(view.text.contains("hello"));
    assert_eq!(
        get(&client, "/files/display", &[("path", &log)]).body["exists"],
        true
    );
    let listed = get(&client, "/files/list", &[("directory", "/logs/")]);
    assert_eq!(listed.body["writable"], false);
    assert_eq!(listed.body["entries"][0]["writable"], false);
    refused(&delete(&client, &log), 403, "ZONE_READONLY", &log);
    let write = post(
        &client,
        "/files/write",
        &json!({"path": log, "content": "x"}),
    );
    refused(&write, 403, "ZONE_READONLY", &log);
    let away = json!({"source": log, "destination": "/storage/a"});
    refused(
        &post(&client, "/files/move", &away),
        403,
        "ZONE_READONLY",
        &log,
    );
    let climbing = get(
        &client,
        "/files/read",
        &[("path", "/logs/../../etc/passwd")],
    );
    refused(&climbing, 404, "FILE_NOT_FOUND", "/etc/passwd");
}

#[test]
fn a_page_has_its_pictures_and_styles_in_it() {
    let app = TestApp::start();
    let client = app.client();
    let page = "<meta charset=iso-8859-1><link rel=stylesheet href='stil%20%C3%BC.css?1'>\
        <img src=\"図/点.svg\"><script src=a.js></script><a href=\"図/点.svg\">Größe</a>\
        <img src=\"../oben.svg\"><img src=\"/storage/oben.svg\"><img src=\"geheim.csv\">\
        <img src=\"https://example.org/x.png\"><img src=\"none.png\">";
    write(&client, "/storage/seite/Übersicht.html", page);
    write(&client, "/storage/seite/stil ü.css", "p { color: red }");
    write(&client, "/storage/seite/図/点.svg", "<svg/>");
    write(&client, "/storage/seite/a.js", "1");
    write(&client, "/storage/seite/geheim.csv", "a,b");
    write(&client, "/storage/oben.svg", "<svg/>");
    let address = "/terminal/files/serve/storage/seite/%C3%9Cbersicht.html";
    let served = client.get(address);
    let svg = "data:image/svg+xml;base64,PHN2Zy8+";
    let expected = page
        .replace(
            "'stil%20%C3%BC.css?1'",
            "'data:text/css;charset=utf-8;base64,cCB7IGNvbG9yOiByZWQgfQ=='",
        )
        .replace("<img src=\"図/点.svg\">", &format!("<img src=\"{svg}\">"))
        .replace("=a.js", "=data:text/javascript;charset=utf-8;base64,MQ==");
    assert_eq!(served.text, expected);
    assert_eq!(served.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(
        served.header("content-length"),
        served.bytes.len().to_string()
    );
    let policy = served.header("content-security-policy");
    for part in ["script-src data: ", "style-src data: ", "img-src data: "] {
        assert!(policy.contains(part), "{policy}");
    }
    // Its bytes are what they were for everybody else.
    let view = get(
        &client,
        "/files/view",
        &[("path", "/storage/seite/Übersicht.html")],
    );
    assert_eq!(view.text, page);
}
