//! Terms of links: passwords, limits of downloads, folders, and HTML files.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;

use fileshed_core::fair::{FairSemaphore, Grant};
use fileshed_core::limiter::Pool;
use serde_json::{Value, json};

use crate::transfer::form::{many_users, send};
use fileshed_test_support::{Answer, Client, Server, TestApp, wait_until};

const PASSWORD: &str = "correct horse";

fn put(client: &Client<'_>, path: &str, content: &str) {
    let file = json!({"zone": "storage", "path": path, "content": content});
    client.call("shed_create_file", &file).data();
}

fn link(client: &Client<'_>, arguments: &Value) -> Value {
    client.call("shed_link_create", arguments).data().clone()
}

fn address(link: &Value) -> String {
    let url = link["download_url"].as_str().unwrap();
    url[url.find("/links/").unwrap()..].to_owned()
}

/// A link to a path of ada's storage, with more terms.
fn shared(server: &TestApp, path: &str, mut terms: Value) -> String {
    terms["zone"] = "storage".into();
    terms["path"] = path.into();
    address(&link(&server.as_user("ada"), &terms))
}

fn browser(server: &TestApp) -> Client<'_> {
    server.client().header("Accept", "text/html,*/*;q=0.8")
}

/// The cookie that an answer sets, as it is sent back.
fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie");
    assert!(set.contains("; HttpOnly; SameSite=Lax"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

fn enter(client: &Client<'_>, address: &str, password: &str) -> Answer {
    let form = form_urlencoded_of(password);
    let client = client
        .clone()
        .header("Content-Type", "application/x-www-form-urlencoded");
    client.send("POST", &format!("{address}/password"), form.as_bytes())
}

fn form_urlencoded_of(password: &str) -> String {
    format!("password={}", password.replace(' ', "+"))
}

/// A folder with a file, a folder, an HTML file, and what a link must not show.
fn furnish(server: &TestApp) {
    let ada = server.as_user("ada");
    put(&ada, "shared/secret plan.txt", "inside");
    put(&ada, "shared/deeper/page.html", "<b>inside</b>");
    put(&ada, "private.txt", "outside");
    let shared = server.data().join("users/ada/Storage/data/shared");
    let leads = |to: &str, from: &str| {
        std::os::unix::fs::symlink(to, shared.join(Path::new(from))).unwrap();
    };
    leads("../private.txt", "way-out.txt");
    leads("..", "way-up");
    std::fs::write(shared.join("deeper/<i>{script}.txt"), "odd").unwrap();
    std::fs::create_dir(shared.join(".git")).unwrap();
    std::fs::write(shared.join(".git/config"), "outside").unwrap();
}

#[test]
fn a_password_guards_every_address_of_a_link() {
    let server = many_users().app();
    furnish(&server);
    let folder = shared(&server, "shared", json!({"password": PASSWORD}));
    let file = shared(
        &server,
        "shared/secret plan.txt",
        json!({"password": PASSWORD}),
    );
    let upload = link(
        &server.as_user("ada"),
        &json!({"upload": true, "password": PASSWORD}),
    );
    let upload = address(&upload);
    let endpoints = [
        "",
        "/content",
        "/content?inline=true",
        "/list",
        "/list?path=deeper",
        "/content?path=deeper%2Fpage.html&inline=true",
        "/content?path=deeper",
    ];
    let program = server.client();
    for link in [&folder, &file, &upload] {
        for endpoint in endpoints {
            let address = format!("{link}{endpoint}");
            if link == &upload && !endpoint.is_empty() {
                program.get(&address).refused(404, "FILE_NOT_FOUND");
                continue;
            }
            let part = program.clone().header("Range", "bytes=0-1");
            let wrong = program
                .clone()
                .header("Cookie", "fileshed-link=AAAA; fileshed-download=AAAA");
            for client in [&program, &part, &wrong] {
                let answer = client.get(&address);
                answer.refused(401, "UNAUTHORIZED");
                assert!(answer.header("www-authenticate").starts_with("Basic "));
                assert_eq!(answer.body["error"]["details"], json!({}));
            }
            let head = program.send("HEAD", &address, b"");
            assert_eq!((head.status, head.text.as_str()), (401, ""));
            let page = browser(&server).get(&address);
            assert_eq!((page.status, page.header("www-authenticate")), (401, ""));
            assert!(page.text.contains("type=\"password\""), "{}", page.text);
            for hidden in [
                "secret", "plan", "shared", "deeper", "inside", "ada", "bytes",
            ] {
                assert!(
                    !page.text.contains(hidden),
                    "{address}: {hidden}: {}",
                    page.text
                );
            }
        }
    }
    send(&program, &upload, &[("a", b"x")]).refused(401, "UNAUTHORIZED");

    // Programs send it in a header.
    let basic = program
        .clone()
        .header("Authorization", "Basic eDpjb3JyZWN0IGhvcnNl");
    let named = program.clone().header("X-Link-Password", PASSWORD);
    for client in [&basic, &named] {
        assert_eq!(client.get(&file).text, "inside");
        assert_eq!(
            client.get(&folder).header("content-type"),
            "application/zip"
        );
        send(client, &upload, &[("a", b"x")]).data();
    }
    for wrong in ["", "correct horsf", "CORRECT HORSE"] {
        let client = program.clone().header("X-Link-Password", wrong);
        client.get(&file).refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn a_browser_keeps_the_password_as_a_cookie() {
    let server = many_users().app();
    furnish(&server);
    let terms = || json!({"password": PASSWORD});
    let folder = shared(&server, "shared", terms());
    let file = shared(&server, "shared/secret plan.txt", terms());
    let program = server.client();
    let wrong = enter(&browser(&server), &file, "not at all it");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, ""));
    assert!(
        wrong.text.contains("This is not the password."),
        "{}",
        wrong.text
    );
    let right = enter(&browser(&server), &file, PASSWORD);
    assert_eq!(right.status, 303, "{}", right.text);
    let token = file.strip_prefix("/links/").unwrap();
    assert_eq!(right.header("location"), format!("../{token}"));
    // Without a public URL, browsers keep it for the directory of the address that set it.
    assert!(!right.header("set-cookie").contains("Path"));
    let opened = browser(&server).header("Cookie", &cookie(&right));
    assert_eq!(opened.get(&file).text, "inside");
    assert_eq!(opened.get(&folder).status, 401);
    // Another password ends it, and so does its time.
    let id = id_of(&server, &file);
    change(&server, &json!({"id": id, "password": "battery staple"})).data();
    assert_eq!(opened.get(&file).status, 401);
    change(&server, &json!({"id": id, "password": PASSWORD})).data();
    let opened = browser(&server).header("Cookie", &cookie(&enter(&program, &file, PASSWORD)));
    assert_eq!(opened.get(&file).text, "inside");
    server.advance(25 * 3600);
    assert_eq!(opened.get(&file).status, 401);
    change(&server, &json!({"id": id, "password": ""})).data();
    assert_eq!(program.get(&file).text, "inside");
}

fn change(server: &TestApp, terms: &Value) -> Answer {
    let page = server
        .as_user("ada")
        .header("X-Fileshed-Page", "1")
        .header("Content-Type", "application/json");
    page.send("POST", "/page/link", terms.to_string().as_bytes())
}

fn id_of(server: &TestApp, address: &str) -> Value {
    let listed = server.as_user("ada").call("shed_link_list", &json!({}));
    let files = listed.data()["files"].as_array().unwrap().clone();
    let mut files = files.into_iter();
    let link = files.find(|link| link["download_url"].as_str().unwrap().ends_with(address));
    link.unwrap()["file_id"].clone()
}

#[test]
fn no_list_has_the_password_of_a_link() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    put(&ada, "a.txt", "x");
    let terms = json!({"zone": "storage", "path": "a.txt", "password": PASSWORD, "downloads": 3});
    let made = link(&ada, &terms);
    assert_eq!(
        (&made["password"], &made["downloads_left"]),
        (&json!(true), &json!(3))
    );
    let listed = ada.call("shed_link_list", &json!({}));
    let row = listed.data()["files"][0].clone();
    assert_eq!(
        (&row["password"], &row["downloads_max"]),
        (&json!(true), &json!(3))
    );
    let changed = change(&server, &json!({"id": made["file_id"], "downloads": 2}));
    assert_eq!(changed.data()["password"], true);
    let details = ada.get("/page/details?zone=storage&path=a.txt");
    let root = server
        .as_user("root")
        .header("X-OpenWebUI-User-Role", "admin");
    let all = root.get("/admin/api/links");
    let shown: Vec<&Value> = all.body["links"].as_array().unwrap().iter().collect();
    assert_eq!(shown.len(), 1, "{}", all.text);
    assert_eq!(shown[0]["password"], true);
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite")).unwrap();
    let hash: String = registry
        .query_row("SELECT password FROM links", [], |row| row.get(0))
        .unwrap();
    // A server that does not know passwords cannot read the zone, and does not open the link.
    let zone: String = registry
        .query_row("SELECT zone FROM links", [], |row| row.get(0))
        .unwrap();
    let zones = (zone.as_str(), &row["source_zone"]);
    assert_eq!(zones, ("guarded:storage", &json!("storage")));
    assert!(hash.starts_with("$argon2id$v=19$m=7168,t=5,p=1$"), "{hash}");
    for answer in [&listed, &changed, &details, &all] {
        assert!(!answer.text.contains("argon2"), "{}", answer.text);
        assert!(!answer.text.contains(hash.rsplit('$').next().unwrap()));
        assert!(!answer.text.contains(PASSWORD), "{}", answer.text);
    }
    // The address that lists have does not open it.
    server
        .client()
        .get(&address(&row))
        .refused(401, "UNAUTHORIZED");
}

#[test]
fn a_picture_with_terms_does_not_show_by_itself() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    put(&ada, "a.png", "x");
    for (terms, mark) in [
        (json!({}), "![a.png]("),
        (json!({"downloads": 1}), "[a.png]("),
        (json!({"password": PASSWORD}), "[a.png]("),
    ] {
        let mut call = json!({"zone": "storage", "path": "a.png"});
        call.as_object_mut()
            .unwrap()
            .extend(terms.as_object().unwrap().clone());
        let made = link(&ada, &call);
        let shown = made["clickable_link"].as_str().unwrap();
        assert!(shown.starts_with(mark), "{shown}");
        let listed = ada.call("shed_link_list", &json!({}));
        let last = listed.data()["files"].as_array().unwrap().last().unwrap();
        assert_eq!(last["clickable_link"], shown);
        ada.call("shed_link_delete", &json!({"file_id": made["file_id"]}))
            .data();
    }
}

#[test]
fn terms_that_no_link_has() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    put(&ada, "a.txt", "x");
    let made = |terms: Value| {
        let mut call = json!({"zone": "storage", "path": "a.txt"});
        call.as_object_mut()
            .unwrap()
            .extend(terms.as_object().unwrap().clone());
        ada.call("shed_link_create", &call)
    };
    for (terms, parameter) in [
        (json!({"password": "short"}), "password"),
        (json!({"password": "x".repeat(129)}), "password"),
        (json!({"downloads": 0}), "downloads"),
        (json!({"downloads": 1_000_001}), "downloads"),
        (
            json!({"upload": true, "path": ".", "downloads": 1}),
            "downloads",
        ),
    ] {
        let answer = made(terms);
        answer.refused(400, "INVALID_PARAMETER");
        assert_eq!(answer.body["error"]["details"]["parameter"], parameter);
        assert!(!answer.text.contains("short\""), "{}", answer.text);
    }
    let id = made(json!({})).data()["file_id"].clone();
    for (terms, status, code) in [
        (
            json!({"id": id, "password": "short"}),
            400,
            "INVALID_PARAMETER",
        ),
        (
            json!({"id": id, "expires_hours": 0}),
            400,
            "INVALID_PARAMETER",
        ),
        (
            json!({"id": "a1b2", "downloads": 1}),
            400,
            "NOT_A_FILESHED_LINK",
        ),
        (json!({"downloads": 1}), 400, "INVALID_PARAMETER"),
    ] {
        change(&server, &terms).refused(status, code);
    }
    let bob = server.as_user("bob").header("X-Fileshed-Page", "1");
    let foreign = json!({"id": id, "password": ""}).to_string();
    bob.send("POST", "/page/link", foreign.as_bytes())
        .refused(400, "NOT_A_FILESHED_LINK");
}

#[test]
fn a_link_gets_another_end_and_keeps_its_address() {
    let server = many_users().app();
    put(&server.as_user("ada"), "a.txt", "x");
    let file = shared(&server, "a.txt", json!({"expires_hours": 1}));
    let id = id_of(&server, &file);
    change(&server, &json!({"id": id, "expires_hours": 48})).data();
    assert_eq!(id_of(&server, &file), id);
    server.advance(3 * 3600);
    assert_eq!(server.client().get(&file).text, "x");
    change(&server, &json!({"id": id, "expires_hours": 1})).data();
    server.advance(3601);
    server.client().get(&file).refused(404, "FILE_NOT_FOUND");
    change(&server, &json!({"id": id, "expires_hours": 1})).refused(400, "NOT_A_FILESHED_LINK");
}

#[test]
fn a_download_is_an_answer_with_content() {
    let server = many_users().app();
    put(&server.as_user("ada"), "a.txt", "content");
    let file = shared(&server, "a.txt", json!({"downloads": 2}));
    let anybody = server.client();
    let left = || {
        let listed = server.as_user("ada").call("shed_link_list", &json!({}));
        listed.data()["files"][0]["downloads_left"].clone()
    };
    let head = anybody.send("HEAD", &file, b"");
    assert_eq!((head.status, head.header("content-length")), (200, "7"));
    let known = anybody.clone().header("If-None-Match", head.header("etag"));
    assert_eq!(known.get(&file).status, 304);
    let failed = anybody.clone().header("If-Match", "\"other\"").get(&file);
    assert_eq!(failed.status, 412);
    assert_eq!(
        anybody
            .clone()
            .header("Range", "bytes=9-")
            .get(&file)
            .status,
        416
    );
    // A browser is shown a button; what looks at links in advance uses nothing up.
    let page = browser(&server).get(&file);
    assert!(
        page.text.contains("2 downloads left") && page.text.contains("a.txt"),
        "{}",
        page.text
    );
    assert!(!page.text.contains("content\">content"), "{}", page.text);
    assert_eq!(left(), 2);

    let first = browser(&server).get(&format!("{file}/content"));
    assert_eq!((first.status, first.text.as_str()), (200, "content"));
    assert_eq!(left(), 1);
    // The same browser fetches again after a broken download.
    let same = browser(&server).header("Cookie", &cookie(&first));
    assert_eq!(same.get(&file).text, "content");
    let rest = same
        .clone()
        .header("Range", "bytes=3-")
        .get(&format!("{file}/content"));
    assert_eq!((rest.status, rest.text.as_str()), (206, "tent"));
    assert_eq!(left(), 1);
    // A part is a download to everybody else.
    let part = anybody.clone().header("Range", "bytes=1-").get(&file);
    assert_eq!((part.status, part.text.as_str()), (206, "ontent"));
    assert_eq!(left(), 0);
    for endpoint in ["", "/content", "/list"] {
        let address = format!("{file}{endpoint}");
        anybody.get(&address).refused(410, "LINK_USED_UP");
        assert_eq!(anybody.send("HEAD", &address, b"").status, 410);
        let page = browser(&server).get(&address);
        assert_eq!(page.status, 410);
        assert!(
            page.text.contains("<h1>This link is used up</h1>"),
            "{}",
            page.text
        );
        assert!(!page.text.contains("a.txt"), "{}", page.text);
    }
    assert_eq!(same.get(&file).text, "content");
    server.advance(4 * 3600 + 1);
    assert_eq!(same.get(&file).status, 410);
    // Its maker gives it more.
    change(
        &server,
        &json!({"id": id_of(&server, &file), "downloads": 1}),
    )
    .data();
    assert_eq!(anybody.get(&file).text, "content");
    anybody.get(&file).refused(410, "LINK_USED_UP");
    change(
        &server,
        &json!({"id": id_of(&server, &file), "downloads": 0}),
    )
    .data();
    assert_eq!(anybody.get(&file).text, "content");
}

#[test]
fn a_limit_holds_for_requests_at_once() {
    let server = many_users().app();
    put(&server.as_user("ada"), "a.txt", "content");
    put(&server.as_user("ada"), "folder/b.txt", "content");
    for path in ["a.txt", "folder"] {
        let link = shared(&server, path, json!({"downloads": 1}));
        let statuses = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| server.client().get(&link).status))
                .collect();
            let mut statuses: Vec<u16> = asked.into_iter().map(|one| one.join().unwrap()).collect();
            statuses.sort_unstable();
            statuses
        });
        assert_eq!(statuses, [200, 410, 410, 410], "{path}");
    }
}

/// Takes all places that one user may have.
fn take(places: &FairSemaphore, user: &str) -> Vec<Grant> {
    std::iter::from_fn(|| places.try_take(user).ok()).collect()
}

#[test]
fn guesses_wait_for_each_other() {
    let server = many_users().app();
    put(&server.as_user("ada"), "a.txt", "content");
    let terms = json!({"password": PASSWORD});
    let (file, other) = (
        shared(&server, "a.txt", terms.clone()),
        shared(&server, "a.txt", terms),
    );
    let limiter = server.limiters().remove(0);
    let guess = |file: &str| {
        server
            .client()
            .header("X-Link-Password", PASSWORD)
            .get(file)
    };
    let cookie = cookie(&enter(&server.client(), &file, PASSWORD));
    let known = browser(&server).header("Cookie", &cookie);
    assert_eq!(known.get(&file).text, "content");
    // Of one link and one address: one is checked or waits for it. Of one link: one is checked.
    let id = id_of(&server, &file).as_str().unwrap().to_owned();
    for (pool, user) in [
        (Pool::LinkGuessers, format!("{id} nobody")),
        (Pool::LinkGuesses, id),
    ] {
        let places = limiter.get(pool).unwrap();
        let turn = take(&places, &user);
        assert_eq!(turn.len(), 1, "{pool:?}");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| guess(&file));
            wait_until("the guess waits", || places.occupancy().waiting > 0);
            assert_eq!(guess(&other).text, "content");
            // A browser that had the password guesses nothing.
            assert_eq!(known.get(&file).text, "content");
            drop(turn);
            assert_eq!(waits.join().unwrap().text, "content");
        });
    }
}

#[test]
fn a_right_password_is_answered_while_other_addresses_guess() {
    right_password_is_answered(&many_users().start(), |server, client| {
        (server.connect_from([127, 0, 0, client]), String::new())
    });
}

#[test]
fn a_right_password_is_answered_while_others_guess_through_the_same_proxy() {
    let server = many_users().env("FILESHED_TRUSTED_PROXIES", "127.0.0.1");
    right_password_is_answered(&server.start(), |server, client| {
        // Each client tries to pass for another one with each guess.
        let proxy = server.connect_from([127, 0, 0, 1]);
        let [high, low] = proxy.local_addr().unwrap().port().to_be_bytes();
        let line = format!("X-Forwarded-For: 10.0.{high}.{low}, 198.51.100.{client}\r\n");
        (proxy, line)
    });
}

/// Six clients try four passwords each at once, over connections with one more line of headers.
fn right_password_is_answered(
    server: &Server,
    connect: impl Fn(&Server, u8) -> (TcpStream, String),
) {
    put(&server.as_user("ada"), "a.txt", "content");
    let file = shared(server, "a.txt", json!({"password": PASSWORD}));
    let (addresses, of_each) = (6, 4);
    let guess = |client: u8| {
        let (mut guess, line) = connect(server, client);
        write!(
            guess,
            "GET {file} HTTP/1.1\r\nHost: {}\r\n{line}X-Link-Password: not at all it\r\n\r\n",
            server.address()
        )
        .unwrap();
        guess.set_nonblocking(true).unwrap();
        guess
    };
    let guesses: Vec<TcpStream> = (0..addresses * of_each)
        .map(|number| guess(2 + number % addresses))
        .collect();
    let answered = || {
        let answered = guesses.iter().filter(|guess| guess.peek(&mut [0]).is_ok());
        answered.count()
    };
    wait_until("a guess is answered", || answered() > 0);
    let right = server.client().header("X-Link-Password", PASSWORD);
    assert_eq!(right.get(&file).text, "content");
    // It waits for one guess of each address, and not for all.
    let before = answered();
    assert!(before <= usize::from(addresses) * 2, "{before}");
}

#[test]
fn a_browser_that_had_the_password_long_ago_does_not_wait_for_others() {
    let server = many_users().app();
    put(&server.as_user("ada"), "a.txt", "content");
    let file = shared(&server, "a.txt", json!({"password": PASSWORD}));
    let cookie = cookie(&enter(&server.client(), &file, PASSWORD));
    server.advance(25 * 3600);
    let known = browser(&server).header("Cookie", &cookie);
    assert_eq!(known.get(&file).status, 401);
    let limiter = server.limiters().remove(0);
    let id = id_of(&server, &file);
    let guesses = limiter.get(Pool::LinkGuesses).unwrap();
    let turn = take(&guesses, id.as_str().unwrap());
    assert_eq!(enter(&known, &file, PASSWORD).status, 303);
    assert_eq!(guesses.occupancy().waiting, 0);
    // Another password makes it a stranger.
    change(&server, &json!({"id": id, "password": "battery staple"})).data();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| enter(&known, &file, "battery staple"));
        wait_until("the stranger waits", || guesses.occupancy().waiting > 0);
        drop(turn);
        assert_eq!(waits.join().unwrap().status, 303);
    });
}

#[test]
fn a_client_that_hangs_up_frees_the_places_of_its_guess() {
    let server = many_users().app();
    put(&server.as_user("ada"), "a.txt", "content");
    let file = shared(&server, "a.txt", json!({"password": PASSWORD}));
    let limiter = server.limiters().remove(0);
    let held = |pool: Pool| limiter.occupancy(pool).unwrap().held;
    let wrong = ("X-Link-Password", "not at all it");
    server.hang_up(&file, wrong, || held(Pool::LinkGuesses) > 0);
    wait_until("the places are free", || {
        held(Pool::LinkGuesses) + held(Pool::LinkGuessers) == 0
    });
    let right = server.client().header("X-Link-Password", PASSWORD);
    assert_eq!(right.get(&file).text, "content");
}

#[test]
fn a_password_is_the_same_in_every_form_of_its_letters() {
    let server = many_users().app();
    put(&server.as_user("ada"), "a.txt", "content");
    let forms = [
        "sch\u{f6}ne gr\u{fc}\u{df}e",
        "scho\u{308}ne gru\u{308}\u{df}e",
    ];
    for made in forms {
        let file = shared(&server, "a.txt", json!({"password": made}));
        for given in forms {
            let client = server.client().header("X-Link-Password", given);
            assert_eq!(client.get(&file).text, "content", "{made} {given}");
        }
        let other = server
            .client()
            .header("X-Link-Password", "schone gru\u{df}e");
        assert_eq!(other.get(&file).status, 401);
    }
    // The limits count letters, not the marks of which they are put together.
    for (count, status) in [(7, 400), (8, 200), (128, 200), (129, 400)] {
        let terms =
            json!({"zone": "storage", "path": "a.txt", "password": "u\u{308}".repeat(count)});
        let made = server.as_user("ada").call("shed_link_create", &terms);
        assert_eq!(made.status, status, "{count}: {}", made.text);
    }
}

#[test]
fn slow_downloads_leave_the_list_of_a_folder_alone() {
    let server = many_users().app();
    furnish(&server);
    let folder = shared(&server, "shared", json!({}));
    let limiter = server.limiters().remove(0);
    let id = id_of(&server, &folder);
    let downloads = limiter.get(Pool::OneLinkTransfers).unwrap();
    let _taken = take(&downloads, id.as_str().unwrap());
    for page in ["", "/list", "/list?path=deeper"] {
        let shown = browser(&server).get(&format!("{folder}{page}"));
        assert_eq!(shown.status, 200, "{page}: {}", shown.text);
    }
    let content = format!("{folder}/content");
    server.client().get(&content).refused(429, "BUSY");
}

#[test]
fn a_program_that_looks_in_advance_uses_nothing_up() {
    let server = many_users().app();
    put(&server.as_user("ada"), "a.txt", "content");
    let once = shared(&server, "a.txt", json!({"downloads": 1}));
    let chat = server
        .client()
        .header("User-Agent", "Slackbot-LinkExpanding 1.0");
    for _ in 0..2 {
        let looked = chat.clone().header("Range", "bytes=0-32768").get(&once);
        assert!(
            looked.header("content-type").starts_with("text/html"),
            "{looked:?}"
        );
    }
    assert_eq!(server.client().get(&once).text, "content");
    assert_eq!(server.client().get(&once).status, 410);
}

#[test]
fn a_link_to_the_workspace_has_no_terms() {
    let server = many_users().app();
    for terms in [
        json!({"password": PASSWORD}),
        json!({"downloads": 1}),
        json!({"expires_hours": 1}),
    ] {
        let mut given = terms.clone();
        given["workspace"] = true.into();
        let refused = server.as_user("ada").call("shed_link_create", &given);
        refused.refused(400, "INVALID_PARAMETER");
    }
}

#[test]
fn an_html_file_is_never_a_page_of_this_address() {
    let server = many_users().app();
    furnish(&server);
    let file = shared(&server, "shared/deeper/page.html", json!({}));
    let folder = shared(&server, "shared", json!({}));
    let https = browser(&server).header("Sec-Fetch-Dest", "document");
    for (page, content) in [
        (file.clone(), format!("{file}/content?inline=true")),
        (
            format!("{folder}/list?path=deeper%2Fpage.html"),
            format!("{folder}/content?path=deeper%2Fpage.html&inline=true"),
        ),
    ] {
        let shown = https.get(&page);
        assert!(shown.text.contains("<iframe "), "{}", shown.text);
        assert!(
            shown.text.contains("sandbox=\"allow-scripts "),
            "{}",
            shown.text
        );
        assert!(!shown.text.contains("allow-same-origin"), "{}", shown.text);
        assert!(!shown.text.contains("<b>inside"), "{}", shown.text);
        // Browsers say by http only that they want a page: there is no frame that one could get out of.
        assert!(!browser(&server).get(&page).text.contains("<iframe"));
        for client in [&server.client(), &browser(&server), &https] {
            for content in [
                &content,
                &content
                    .replace("&inline=true", "")
                    .replace("?inline=true", ""),
            ] {
                let got = client.get(content);
                assert!(
                    got.header("content-disposition").starts_with("attachment"),
                    "{content}"
                );
                assert!(got.header("content-security-policy").ends_with("; sandbox"));
                assert_eq!(got.header("x-content-type-options"), "nosniff");
            }
        }
        let framed = browser(&server)
            .header("Sec-Fetch-Dest", "iframe")
            .get(&content);
        assert_eq!(framed.text, "<b>inside</b>");
        // A kept answer would be a page outside of the frame, too.
        assert_eq!(framed.header("cache-control"), "no-store");
        assert!(!framed.headers.contains_key("etag"), "{framed:?}");
        let policy = framed.header("content-security-policy");
        assert!(
            policy.contains("frame-ancestors 'self'; sandbox allow-scripts"),
            "{policy}"
        );
        assert!(!policy.contains("same-origin"), "{policy}");
    }
    // Other types that could pass for a page are saved as well.
    let ada = server.as_user("ada");
    for name in ["a.svg", "a.xhtml", "a.xml", "a.mhtml", "a.htm"] {
        put(&ada, &format!("shared/{name}"), "<a/>");
        let got = https.get(&format!("{folder}/content?path={name}&inline=true"));
        assert!(
            got.header("content-disposition").starts_with("attachment"),
            "{name}"
        );
    }
    put(&ada, "shared/a.png", "x");
    let got = https.get(&format!("{folder}/content?path=a.png&inline=true"));
    assert!(got.header("content-disposition").starts_with("inline"));
}

#[test]
fn a_link_to_a_folder_shows_that_folder_alone() {
    let server = many_users().app();
    furnish(&server);
    let folder = shared(&server, "shared", json!({}));
    let page = browser(&server).get(&folder);
    assert_eq!(page.status, 200);
    let token = folder.strip_prefix("/links/").unwrap();
    for shown in [
        "<h1>shared</h1>".to_owned(),
        format!("href=\"{token}/content\""),
        format!("href=\"{token}/content?path=secret%20plan.txt&#38;inline=true\""),
        format!("href=\"{token}/list?path=deeper\""),
        "6 B".to_owned(),
    ] {
        assert!(page.text.contains(&shown), "{shown}: {}", page.text);
    }
    for hidden in [".git", "way-out", "way-up", "private"] {
        assert!(!page.text.contains(hidden), "{hidden}: {}", page.text);
    }
    let policy = page.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    let deeper = browser(&server).get(&format!("{folder}/list?path=deeper"));
    assert!(
        deeper.text.contains("&#60;i&#62;&#123;script}.txt"),
        "{}",
        deeper.text
    );
    assert!(
        deeper.text.contains("<a href=\"list\">shared</a>"),
        "{}",
        deeper.text
    );
    // For programs it is data.
    let listed = server.client().get(&format!("{folder}/list"));
    let names: Vec<&str> = listed.data()["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["deeper", "secret plan.txt"]);
    let inside = server
        .client()
        .get(&format!("{folder}/content?path=secret%20plan.txt"));
    assert_eq!(inside.text, "inside");
    for archive in [folder.clone(), format!("{folder}/content?path=deeper")] {
        let got = server.client().get(&archive);
        assert_eq!(got.header("content-type"), "application/zip");
        assert!(!got.text.contains("way-out") && !got.text.contains(".git"));
    }
    for path in [
        "..",
        "../private.txt",
        "deeper/../../private.txt",
        "/private.txt",
        "way-out.txt",
        "way-up",
        "way-up/private.txt",
        "way-up/shared/../private.txt",
        ".git",
        ".git/config",
        "deeper/..%00",
        "missing",
        "storage/private.txt",
    ] {
        for endpoint in ["list", "content"] {
            let address = format!("{folder}/{endpoint}?path={}", path.replace('/', "%2F"));
            let answer = server.client().get(&address);
            answer.refused(404, "FILE_NOT_FOUND");
        }
    }
    // Of a large directory the first are shown.
    let many = server.data().join("users/ada/Storage/data/shared/many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..2003 {
        std::fs::write(many.join(format!("{number:04}")), "").unwrap();
    }
    let listed = server.client().get(&format!("{folder}/list?path=many"));
    assert_eq!(listed.data()["entries"].as_array().unwrap().len(), 2000);
    assert_eq!(listed.data()["more"], 3);
    let page = browser(&server).get(&format!("{folder}/list?path=many"));
    assert!(page.text.contains(">1999</a>") && !page.text.contains(">2000</a>"));
    assert!(
        page.text.contains("3 more are in the download."),
        "{}",
        page.text.len()
    );
    // A link to a file has nothing below it.
    let file = shared(&server, "shared/secret plan.txt", json!({}));
    server
        .client()
        .get(&format!("{file}/content?path=deeper"))
        .refused(404, "FILE_NOT_FOUND");
}

#[test]
fn pages_of_links_speak_the_language_of_the_browser() {
    let server = many_users().app();
    let upload = address(&link(&server.as_user("ada"), &json!({"upload": true})));
    for (asked, title) in [
        ("de-AT,de;q=0.9,en;q=0.8", "Dateien senden"),
        ("fr,en;q=0.8,de;q=0.5", "Send files"),
        ("ja", "Send files"),
    ] {
        let page = browser(&server)
            .header("Accept-Language", asked)
            .get(&upload);
        assert!(
            page.text.contains(&format!("<h1>{title}</h1>")),
            "{}",
            page.text
        );
    }
    let unknown = browser(&server)
        .header("Accept-Language", "de")
        .get("/links/x");
    assert!(
        unknown
            .text
            .contains("<h1>Dieser Link funktioniert nicht</h1>"),
        "{}",
        unknown.text
    );
}
