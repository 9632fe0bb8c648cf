//! The registry on PostgreSQL: it moves there and back, and a database that goes away takes nothing
//! with it.

use serde_json::{Value, json};

use fileshed_test_servers::Postgres;
use fileshed_test_support::{Client, Server, Setup, create_team, wait_until};

const REGISTRY: &str = "access_auth.sqlite";

fn setup() -> Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "local")
}

fn create(client: &Client<'_>, zone: &str, path: &str) -> Value {
    let file = json!({"zone": zone, "path": path, "content": "text\n"});
    client.call("shed_create_file", &file).body
}

fn shown(client: &Client<'_>, zone: &str, path: &str) -> Value {
    let read = json!({"zone": zone, "cmd": "cat", "args": [path]});
    client.call("shed_exec", &read).body
}

/// Something in two zones, a locked edit, a group with a member, and a token, which is given back.
fn furnish(server: &Server) -> String {
    let ada = server.as_user("ada").chat("chat");
    for zone in ["storage", "documents"] {
        assert_eq!(create(&ada, zone, "kept.md")["success"], true);
    }
    ada.call(
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": "kept.md"}),
    )
    .data();
    let group = create_team("ada");
    assert_eq!(server.run(&group).code, Some(0));
    let token = server.run(&["token", "create", "--user", "ada"]).stdout;
    token.trim().to_owned()
}

fn everything_is_there(server: &Server, token: &str) {
    let ada = server.as_user("ada").chat("chat");
    for zone in ["storage", "documents"] {
        assert_eq!(
            shown(&ada, zone, "kept.md")["data"]["stdout"],
            "text\n",
            "{zone}"
        );
    }
    let by_token = server.with_token(token);
    assert_eq!(
        shown(&by_token, "storage", "kept.md")["data"]["stdout"],
        "text\n"
    );
    let other = server.as_user("ada").chat("other");
    let locked = json!({"zone": "storage", "path": "kept.md", "content": "x", "overwrite": true});
    let refused = other.call("shed_create_file", &locked).body;
    assert_eq!(refused["error"]["code"], "FILE_LOCKED", "{refused}");
    let groups = ada.call("shed_group_list", &json!({})).body;
    assert_eq!(groups["data"]["groups"][0]["name"], "Team", "{groups}");
}

fn stop(server: &mut Server) {
    server.terminate();
    assert_eq!(server.wait(), Some(0), "{}", server.log());
}

#[test]
fn a_registry_in_a_database_holds_what_a_file_holds() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let url = postgres.database();
    let mut server = setup().env("FILESHED_REGISTRY", &url).start();
    let token = furnish(&server);
    everything_is_there(&server, &token);
    assert!(!server.data().join(REGISTRY).exists());
    server.kill();
    let server = server.again();
    everything_is_there(&server, &token);
    let shown = server.run(&["config"]).stdout;
    assert!(
        !shown.contains(&url) && shown.contains("registry"),
        "{shown}"
    );
}

#[test]
fn a_registry_moves_into_a_database_and_back() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let url = postgres.database();
    let mut server = setup().start();
    let token = furnish(&server);
    let copy =
        |from: &str, to: &str| ["registry", "copy", "--from", from, "--to", to].map(str::to_owned);
    let run =
        |server: &Server, words: [String; 6]| server.run(&words.each_ref().map(String::as_str));
    let running = run(&server, copy("file", &url));
    assert!(
        running
            .stderr
            .contains("another fileshed process has this data directory open"),
        "{running:?}"
    );
    stop(&mut server);

    // Without its rows, the database is not taken for the registry of what is there.
    let elsewhere = server
        .setup()
        .clone()
        .env("FILESHED_REGISTRY", &url)
        .run(&["token", "list"]);
    assert!(
        elsewhere.stderr.contains("has no registry"),
        "{elsewhere:?}"
    );

    let copied = run(&server, copy("file", &url));
    assert_eq!(copied.code, Some(0), "{copied:?}");
    assert!(copied.stdout.contains("tokens\t1\n"), "{copied:?}");
    let alone = server.run(&["token", "list"]);
    assert!(
        alone.stderr.contains("is lost"),
        "the old rows are set aside: {alone:?}"
    );
    let mut moved = server.again_with("FILESHED_REGISTRY", &url);
    everything_is_there(&moved, &token);
    let ada = moved.as_user("ada").chat("chat");
    assert_eq!(create(&ada, "storage", "later.md")["success"], true);
    stop(&mut moved);

    let back = run(&server, copy(&url, "file"));
    assert_eq!(back.code, Some(0), "{back:?}");
    let server = server.again();
    everything_is_there(&server, &token);
    let ada = server.as_user("ada").chat("chat");
    assert_eq!(
        shown(&ada, "storage", "later.md")["data"]["stdout"],
        "text\n"
    );
}

#[test]
fn a_database_that_goes_away_takes_nothing_with_it() {
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let url = postgres.database();
    let server = setup().env("FILESHED_REGISTRY", &url).start();
    let token = furnish(&server);
    let ada = server.as_user("ada").chat("chat");
    postgres.stop();
    let refused = create(&ada, "storage", "new.md");
    assert_eq!(refused["error"]["code"], "DB_ERROR", "{refused}");
    // A change may have been made before the database went away.
    let bearer = server.with_token(&token);
    for answer in [
        refused.to_string(),
        bearer.get("/terminal/files/list").text,
        bearer.send("POST", "/fs/list_files", b"{}").text,
        bearer.get("/page/uploads").text,
    ] {
        assert!(answer.contains("read the current state, and"), "{answer}");
        assert!(answer.contains("the request id"), "{answer}");
    }
    assert!(server.logged("the database of the registry does not answer"));
    assert!(!refused.to_string().contains("test_0"), "{refused}");
    assert_eq!(server.client().get("/ready").status, 503);
    // No command starts without the database, and no message contains its password.
    let another = server.run(&["token", "list"]);
    assert!(another.stderr.contains("does not answer"), "{another:?}");
    postgres.go_on();
    wait_until("ready", || server.client().get("/ready").status == 200);
    everything_is_there(&server, &token);
    // The server may have to renew its lease before it writes.
    wait_until("it writes", || {
        create(&ada, "documents", "new.md")["success"] == true
    });
}

#[test]
fn a_database_elsewhere_is_reached_in_tls_and_has_to_be_believed() {
    let Some(postgres) = Postgres::start_with_tls() else {
        return;
    };
    let url = postgres.database();
    let doubtful = setup()
        .env("FILESHED_REGISTRY", &url)
        .run(&["serve", "--bind", "127.0.0.1:0"]);
    assert_eq!(doubtful.code, Some(1), "{doubtful:?}");
    assert!(doubtful.stderr.contains("certificate"), "{doubtful:?}");
    let believed = setup().env("SSL_CERT_FILE", &postgres.authority());
    let server = believed.env("FILESHED_REGISTRY", &url).start();
    let token = furnish(&server);
    everything_is_there(&server, &token);
    let name = "SELECT count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl";
    assert_eq!(postgres.run("postgres", name), "t");
}
