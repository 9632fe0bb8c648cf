//! The page for people: its responses to a browser, their security headers, and the endpoints that only the
//! page uses.

use std::io::Read as _;

use serde_json::{Value, json};

use fileshed_test_support::{Answer, Server, TestApp, repository};

fn page(app: &TestApp) -> Answer {
    let browser = app.client().header("Accept", "text/html,*/*;q=0.8");
    browser.get("/")
}

/// The addresses of everything that the page names.
fn addresses(text: &str) -> Vec<String> {
    let parts = text.split(['"']).filter(|part| part.starts_with("page/"));
    parts.map(|part| format!("/{part}")).collect()
}

#[test]
fn nothing_but_what_the_server_brings_runs_in_the_page() {
    let app = TestApp::start();
    let page = page(&app);
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy");
    for rule in [
        "default-src 'none'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ] {
        assert!(policy.contains(rule), "{rule}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let scripts = |policy: &str| {
        let mut rules = policy.split("; ").map(str::to_owned);
        rules.find(|rule| rule.starts_with("script-src")).unwrap()
    };
    // An uploaded file is at another address of this site, and no script.
    let host = app.url("").replace("http://", "");
    assert_eq!(scripts(policy), format!("script-src {host}/page/assets/"));
    let named = TestApp::with()
        .env("FILESHED_API_KEYS", "key")
        .env("FILESHED_PUBLIC_URL", "https://files.example.org/shed")
        .app();
    let policy = |host: &str| {
        let browser = named.client().header("Accept", "text/html");
        let page = browser.header("Host", host).get("/");
        scripts(page.header("content-security-policy"))
    };
    let public = "files.example.org/shed/page/assets/";
    assert_eq!(
        policy("localhost:8000"),
        format!("script-src {public} localhost:8000/page/assets/")
    );
    for odd in ["[::1]:8000", "a;b", "a b"] {
        assert_eq!(policy(odd), "script-src 'self'", "{odd}");
    }
    assert_eq!(page.header("x-frame-options"), "DENY");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert!(!page.text.contains("<style"), "{}", page.text);
    for script in page.text.split("<script").skip(1) {
        assert!(script.contains("src="), "{script}");
        assert!(script.contains("></script>"), "{script}");
    }
    assert!(!page.text.contains("://"), "{}", page.text);
}

#[test]
fn what_the_page_is_made_of_is_kept_for_good_and_sent_packed() {
    let app = TestApp::with_key();
    let named = addresses(&page(&app).text);
    assert!(
        named.iter().any(|name| name.ends_with("/app.js")),
        "{named:?}"
    );
    for address in named {
        let plain = app.client().get(&address);
        assert_eq!(plain.status, 200, "{address}");
        let cache = plain.header("cache-control");
        assert!(cache.contains("immutable"), "{address}: {cache}");
        assert_eq!(plain.header("vary"), "accept-encoding");
        let tag = plain.header("etag").to_owned();
        let again = app.client().header("If-None-Match", &tag).get(&address);
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{address}");
        let known = app.client().header("If-None-Match", "\"other\"");
        assert_eq!(known.get(&address).status, 200, "{address}");
        let refused = app.client().header("Accept-Encoding", "gzip;q=0");
        assert_eq!(refused.get(&address).bytes, plain.bytes, "{address}");
    }
}

/// The answer for a browser that takes gzip: its headers and its body as it is sent. A client would unpack it.
fn sent(server: &Server, address: &str) -> (String, Vec<u8>) {
    let request = format!(
        "GET {address} HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\nAccept-Language: de\r\n\
         Accept-Encoding: br, gzip\r\nConnection: close\r\n\r\n",
        server.address()
    );
    let mut socket = std::net::TcpStream::connect(server.address()).unwrap();
    std::io::Write::write_all(&mut socket, request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let body = answer.split_off(end.unwrap() + 4);
    (String::from_utf8_lossy(&answer).into_owned(), body)
}

#[test]
fn a_browser_that_takes_gzip_gets_it() {
    let server = Server::start();
    let address = addresses(&page(&server).text).remove(0);
    let (head, body) = sent(&server, &address);
    assert!(head.contains("content-encoding: gzip"), "{head}");
    assert!(body.starts_with(&[0x1f, 0x8b]));
}

/// Bytes that are sent before the list shows, and all that the page can load.
const MOST_AT_FIRST: usize = 60_000;
const MOST_IN_ALL: usize = 600_000;

#[test]
fn little_is_sent_before_the_list_shows() {
    let server = Server::start();
    let browser = server.client().header("Accept", "text/html");
    let document = browser.header("Accept-Language", "de").get("/").text;
    let mut size = sent(&server, "/").1.len();
    let mut first: Vec<String> = addresses(&document);
    first.sort();
    first.dedup();
    let mut words = 0;
    for address in &first {
        let (head, body) = sent(&server, address);
        assert!(head.starts_with("HTTP/1.1 200"), "{address}: {head}");
        size += body.len();
        words += usize::from(address.contains("/words/"));
    }
    println!("{size} bytes are sent before the list shows");
    assert!(size <= MOST_AT_FIRST, "{size}");
    assert_eq!(words, 1, "the words of one language: {first:?}");

    // Their imports are among them.
    for address in &first {
        let (base, _) = address.rsplit_once('/').unwrap();
        for line in server.client().get(address).text.lines() {
            let from = line.split_once(" from \"./").map(|(_, from)| from);
            let is_import = line.starts_with("import ") || line.starts_with("} ");
            if let Some(from) = from.filter(|_| is_import) {
                let wanted = format!("{base}/{}", from.trim_end_matches("\";"));
                assert!(first.contains(&wanted), "{address} imports {wanted}");
            }
        }
    }

    let base = first[0].split('/').take(4).collect::<Vec<_>>().join("/");
    let place = repository().join("src/http/page/web");
    let languages = std::fs::read_dir(repository().join("src/http/words")).unwrap();
    let languages = languages.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = languages
        .map(|name| format!("words/{}", name.replace(".json", ".js")))
        .collect();
    for directory in ["", "lib/"] {
        for entry in std::fs::read_dir(place.join(directory)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.path().is_file() && name != "index.html" && name != "licences.txt" {
                names.push(format!("{directory}{name}"));
            }
        }
    }
    let all: usize = names
        .iter()
        .map(|name| sent(&server, &format!("{base}/{name}")).1.len())
        .sum();
    println!("{all} bytes are all that the page can load");
    assert!((MOST_AT_FIRST..=MOST_IN_ALL).contains(&all), "{all}");
}

#[test]
fn the_page_is_in_the_language_of_the_browser() {
    let app = TestApp::start();
    for (asked, tag, cancel) in [
        ("de-DE,de", "de", "Abbrechen"),
        ("fr,en", "en", "Cancel"),
        ("fr", "en", "Cancel"),
        ("de;q=0, en", "en", "Cancel"),
        ("de;q=0.2, en;q=0.1", "de", "Abbrechen"),
        ("de;q=0.1, en;q=0.2", "en", "Cancel"),
    ] {
        let browser = app.client().header("Accept", "text/html");
        let page = browser.header("Accept-Language", asked).get("/");
        assert!(
            page.text.contains(&format!("<html lang=\"{tag}\">")),
            "{}",
            page.text
        );
        assert!(page.header("vary").contains("accept-language"));
        let named = addresses(&page.text);
        let words = named.iter().find(|name| name.contains("/words/")).unwrap();
        let module = app.client().get(words);
        assert!(module.header("content-type").starts_with("text/javascript"));
        assert!(
            module.text.contains(&format!("\"cancel\":\"{cancel}\"")),
            "{}",
            module.text
        );
    }
}

/// A key that no language has would be shown as it is.
#[test]
fn every_word_of_the_sources_is_in_the_languages() {
    let read = |name: &str| std::fs::read_to_string(repository().join(name)).unwrap();
    let words: Value = serde_json::from_str(&read("src/http/words/en.json")).unwrap();
    let mut count = 0;
    let mut expect = |part: &str, text: &str, call: &str| {
        for rest in text.split(call).skip(1) {
            let key = rest.split('"').next().unwrap();
            assert!(words[part][key].is_string(), "{part}: {key}");
            count += 1;
        }
    };
    for entry in std::fs::read_dir(repository().join("src/http/page/web")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "js") {
            expect("page", &std::fs::read_to_string(path).unwrap(), "word(\"");
        }
    }
    for name in ["files/page.rs", "files/link/views.rs", "sign_in.rs"] {
        expect("links", &read(&format!("src/http/{name}")), ".say(\"");
    }
    expect("links", &read("src/http/files/page/upload.js"), " say(\"");
    assert!(count > 100, "{count}");
}

#[test]
fn what_is_not_part_of_the_page_is_nowhere() {
    let app = TestApp::start();
    let known = addresses(&page(&app).text).remove(0);
    let version = known.split('/').nth(3).unwrap();
    for address in [
        format!("/page/assets/{version}/other.js"),
        format!("/page/assets/{version}/../app.js"),
        format!("/page/assets/{version}/%2e%2e%2fapp.js"),
        "/page/assets/0000000000000000/app.js".to_owned(),
        "/page/other".to_owned(),
    ] {
        app.client().get(&address).refused(404, "UNKNOWN_OPERATION");
    }
}

/// A name that is not there would stop a part of the page only where somebody opens that.
#[test]
fn what_a_module_imports_is_there() {
    let place = repository().join("src/http/page/web");
    let module = |name: &str| std::fs::read_to_string(place.join(name)).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(&place).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = if name.rsplit_once('.').is_some_and(|(_, end)| end == "js") {
            module(&name)
        } else {
            continue;
        };
        let imports = text
            .lines()
            .filter_map(|line| line.strip_prefix("import { "));
        for (names, from) in imports.filter_map(|rest| rest.split_once(" } from \"./")) {
            let from = from.trim_end_matches("\";");
            if from.starts_with("lib/") {
                continue;
            }
            let other = module(from);
            let exports: Vec<&str> = other
                .lines()
                .filter(|line| line.starts_with("export "))
                .collect();
            for wanted in names.split(", ") {
                let wanted = wanted.split(" as ").next().unwrap_or_default();
                let has = |line: &&str| {
                    line.split(|c: char| !c.is_alphanumeric() && c != '_')
                        .any(|word| word == wanted)
                };
                assert!(exports.iter().any(has), "{name}: {wanted} of {from}");
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn programs_get_the_addresses_as_before() {
    let app = TestApp::start();
    for accepted in ["*/*", "application/json"] {
        let answer = app.client().header("Accept", accepted).get("/");
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.body["name"], "fileshed");
        assert_eq!(answer.body["openapi"], "/openapi.json");
    }
}

#[test]
fn a_directory_is_listed_whole_with_what_may_be_changed() {
    let app = TestApp::start();
    app.call(
        "shed_create_file",
        &json!({"zone": "documents", "path": "notes/a.md", "content": "text"}),
    )
    .data();
    let top = app.client().get("/page/list?zone=documents&path=.").body;
    assert_eq!(top["writable"], true);
    assert_eq!(names(&top), ["notes"], "git's own file is not shown");
    let inside = app
        .client()
        .get("/page/list?zone=documents&path=notes")
        .body;
    let file = &inside["entries"][0];
    assert_eq!(
        (
            &file["name"],
            &file["type"],
            &file["size"],
            &file["writable"]
        ),
        (&json!("a.md"), &json!("file"), &json!(4), &json!(true))
    );
    assert!(file["modified"].as_f64().is_some_and(|time| time > 0.0));
    let uploads = app.client().get("/page/list?zone=uploads&path=.").body;
    assert_eq!(uploads["writable"], false);
    let address = "/page/list?zone=documents&path=notes/a.md";
    app.client().get(address).refused(400, "INVALID_PATH");
    let address = "/page/list?zone=documents&path=../x";
    app.client().get(address).refused(403, "PATH_ESCAPE");
}

fn names(listing: &Value) -> Vec<&str> {
    let entries = listing["entries"].as_array().unwrap();
    let names = entries.iter().filter_map(|entry| entry["name"].as_str());
    names.collect()
}

#[test]
fn files_of_a_group_are_listed_with_whose_they_are() {
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "headers")
        .app();
    let (ada, bob) = app.team();
    for (path, mode) in [("mine.txt", "owner"), ("ours.txt", "group")] {
        let file =
            json!({"zone": "group", "group": "team", "path": path, "content": "x", "mode": mode});
        ada.call("shed_create_file", &file).data();
    }
    let address = "/page/list?zone=group&group=team&path=.";
    let (hers, his) = (ada.get(address).body, bob.get(address).body);
    let row = |listing: &Value, at: usize| {
        let entry = &listing["entries"][at];
        (
            entry["mode"].clone(),
            entry["own"].clone(),
            entry["writable"].clone(),
        )
    };
    assert_eq!(row(&hers, 0), (json!("owner"), json!(true), json!(true)));
    assert_eq!(row(&his, 0), (json!("owner"), Value::Null, json!(false)));
    assert_eq!(row(&his, 1), (json!("group"), Value::Null, json!(true)));
    assert_eq!(his["entries"][0]["owner"], "ada");
    // Another group of the same name.
    let stranger = app.as_member("eve", "other").get(address);
    assert_eq!(stranger.body["entries"], json!([]));
}

#[test]
fn a_search_finds_names_and_lines_of_the_caller_alone() {
    let app = TestApp::with_key();
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    let file = json!({"zone": "storage", "path": "a.txt", "content": "one\nthe needle\n"});
    ada.call("shed_create_file", &file).data();
    let found = ada.get("/page/search?query=NEEDLE").body;
    assert_eq!(found["results"][0]["path"], "/storage/a.txt");
    assert_eq!(found["results"][0]["lines"][0]["line"], 2);
    assert_eq!(
        bob.get("/page/search?query=needle").body["results"],
        json!([])
    );
    ada.get("/page/search?query=%20")
        .refused(400, "MISSING_PARAMETER");
    ada.get("/page/search").refused(400, "MISSING_PARAMETER");
}

#[test]
fn what_only_the_page_asks_wants_a_credential() {
    let app = TestApp::with_key();
    for address in [
        "/page/list?zone=storage&path=.",
        "/page/search?query=x",
        "/files/archive?zone=storage&path=.&name=a",
    ] {
        app.client().get(address).refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn an_open_editor_holds_its_file_and_gives_it_back() {
    let app = TestApp::with_key();
    let change = json!({"zone": "storage", "path": "note.md", "content": "x", "overwrite": true});
    let write = || app.as_user("ada").call("shed_patch_text", &change);
    assert_eq!(write().status, 200);
    let page = || app.as_user("ada").header("X-Fileshed-Page", "1");
    let lease = "/page/lease?zone=storage&path=note.md";
    let first = page().send("POST", lease, b"{}");
    let token = first.data()["token"].as_str().unwrap();
    write().refused(423, "FILE_LOCKED");
    let details = page().get("/page/details?zone=storage&path=note.md");
    assert_eq!(details.body["locked_by"], json!([null]));
    assert_eq!(details.body["links"], 0);

    let editor = || page().header("Lock-Token", &format!("<{token}>"));
    let again = editor().send("POST", lease, b"{}");
    assert_eq!(again.data()["token"], token);
    let saved = editor().call("shed_patch_text", &change);
    assert_eq!(saved.status, 200, "{saved:?}");
    // The header counts on the page alone.
    let program = app
        .as_user("ada")
        .header("Lock-Token", &format!("<{token}>"));
    let refused = program.call("shed_patch_text", &change);
    refused.refused(423, "FILE_LOCKED");

    let ended = editor().send("POST", "/page/lease/end?zone=storage&path=note.md", b"");
    assert_eq!(ended.data()["ended"], true);
    assert_eq!(write().status, 200);
}
