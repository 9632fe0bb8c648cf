//! Requests that clients send before any other.

use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Client, Server, TestApp};
use serde_json::{Value, json};

/// A client with the headers that the proxy sends for a user.
fn proxy<'a>(app: &'a TestApp, user: &str) -> Client<'a> {
    app.client()
        .header("Authorization", "Bearer terminal-key")
        .header("X-User-Id", user)
}

fn keyed() -> TestApp {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_GROUPS", "headers")
        .app()
}

fn write(client: &Client<'_>, place: &Value, path: &str, content: &str) {
    let mut file = json!({"path": path, "content": content});
    for (name, value) in place.as_object().expect("an object") {
        file[name] = value.clone();
    }
    client.call("shed_create_file", &file).data();
}

#[test]
fn what_there_is_needs_no_credential_and_tells_nothing_of_anybody() {
    let app = keyed();
    write(
        &app.as_user("ada"),
        &json!({"zone": "storage"}),
        "secret-plan",
        "x",
    );
    let asked = [
        "/terminal/api/config",
        "/terminal/system",
        "/terminal/info",
        "/terminal/health",
        "/terminal/openapi.json",
    ];
    for path in asked {
        let answer = app.client().get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        let known = proxy(&app, "ada").get(path);
        assert_eq!(known.told(), answer.told(), "{path}");
        for secret in [
            "ada",
            "secret-plan",
            "terminal-key",
            app.data().to_str().expect("a path"),
        ] {
            assert!(!answer.text.contains(secret), "{path}: {}", answer.text);
        }
    }
    for path in ["/ports", "/skills", "/skills/read?name=x", "/files/list"] {
        let answer = app.client().get(&format!("/terminal{path}"));
        assert_eq!(answer.status, 401, "{path}: {}", answer.text);
    }
}

#[test]
fn features_are_those_that_there_are() {
    let app = TestApp::start();
    let config = app.client().get("/terminal/api/config").body;
    let features = &config["features"];
    assert_eq!(features["notebooks"], false);
    assert_eq!(features["system"], true);
    let shell = app.client().send("POST", "/terminal/api/terminals", b"{}");
    assert_eq!(features["terminal"], shell.status == 200, "{}", shell.text);
    let ports = app.client().get("/terminal/ports");
    assert_eq!(ports.body, json!({"ports": []}));
    // Any other status would make it a server of another kind to Open WebUI.
    assert_eq!(app.client().get("/terminal/api/v1/policies").status, 404);
}

#[test]
fn what_is_not_offered_says_so() {
    let app = keyed();
    for (method, path, said) in [
        ("POST", "/notebooks", "notebooks cannot be run here"),
        (
            "POST",
            "/notebooks/7/execute",
            "notebooks cannot be run here",
        ),
        ("DELETE", "/notebooks/7", "notebooks cannot be run here"),
        ("GET", "/proxy/8080", "cannot be reached"),
        ("GET", "/proxy/8080/", "cannot be reached"),
        ("PUT", "/proxy/8080/a/b?c=d", "cannot be reached"),
    ] {
        let answer = proxy(&app, "ada").send(method, &format!("/terminal{path}"), b"");
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        let detail = answer.body["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(said), "{path}: {detail}");
    }
}

#[test]
fn the_prompt_is_short_and_true() {
    let app = TestApp::with()
        .env("FILESHED_QUOTA_PER_USER_MB", "77")
        .env("FILESHED_EXEC_MEMORY_LIMIT_MB", "333")
        .env("FILESHED_NETWORK_MODE", "safe")
        .app();
    let answer = app.client().get("/terminal/system").body;
    let prompt = answer["prompt"].as_str().expect("a prompt");
    assert!(prompt.chars().count() < 900, "{prompt}");
    for fact in [
        "77 MiB",
        "/storage",
        "/documents",
        "/uploads",
        "/groups/",
        "333 MiB",
        "downloads",
        "what other commands overwrite or delete cannot",
    ] {
        assert!(prompt.contains(fact), "{fact}: {prompt}");
    }
    let health = app.client().get("/health").body;
    let has_tree = !prompt.contains("relative to the working directory");
    assert_eq!(health["namespaces"], has_tree, "{prompt}");
    let alone = TestApp::start();
    let answer = alone.client().get("/terminal/system");
    assert!(answer.text.contains("without network"), "{}", answer.text);
}

#[test]
fn skills_of_the_home_and_of_groups_are_found_and_read() {
    let app = keyed();
    let (ada, storage) = (app.as_member("ada", "g1"), json!({"zone": "storage"}));
    let skill = |name: &str, text: &str| {
        format!("---\nname: {name}\ndescription: {text}\n---\n\nDo {text}.\n")
    };
    let base = ".agents/skills";
    write(
        &ada,
        &storage,
        &format!("{base}/b/SKILL.md"),
        &skill("weekly report", "tables"),
    );
    write(&ada, &storage, &format!("{base}/b/scripts/make.sh"), "echo");
    write(&ada, &storage, &format!("{base}/b/z.txt"), "z");
    write(
        &ada,
        &storage,
        &format!("{base}/a/SKILL.md"),
        "---\ndescription: unnamed\n---\nx",
    );
    write(
        &ada,
        &storage,
        &format!("{base}/none/SKILL.md"),
        "no front matter",
    );
    write(&ada, &storage, &format!("{base}/empty/other.md"), "x");
    let group = json!({"zone": "group", "group": "team"});
    write(
        &ada,
        &group,
        &format!("{base}/c/SKILL.md"),
        &skill("shared", "together"),
    );
    write(
        &ada,
        &group,
        &format!("{base}/d/SKILL.md"),
        &skill("weekly report", "hidden"),
    );

    let terminal = proxy(&app, "ada");
    let listed = terminal.get("/terminal/skills").body;
    let found = |name: &str, text: &str, location: &str, scope: &str| {
        let id = format!("terminal:{}", name.replace(' ', "%20"));
        json!({"id": id, "name": name, "description": text, "location": location, "scope": scope})
    };
    let report = found(
        "weekly report",
        "tables",
        "/storage/.agents/skills/b/SKILL.md",
        "global",
    );
    let expected = json!([
        found(
            "a",
            "unnamed",
            "/storage/.agents/skills/a/SKILL.md",
            "global"
        ),
        report,
        found(
            "shared",
            "together",
            "/groups/team/.agents/skills/c/SKILL.md",
            "team"
        ),
    ]);
    assert_eq!(listed, expected);

    let read = terminal
        .get("/terminal/skills/read?name=weekly%20report")
        .body;
    let mut expected = report.clone();
    expected["content"] = "Do tables.".into();
    expected["resources"] = json!(["scripts/make.sh", "z.txt"]);
    assert_eq!(read, expected);
    let shared = terminal.get("/terminal/skills/read?name=shared").body;
    assert_eq!(shared["content"], "Do together.");
    let none = terminal.get("/terminal/skills/read?name=x");
    assert_eq!(none.status, 404, "{}", none.text);
    assert_eq!(proxy(&app, "bob").get("/terminal/skills").body, json!([]));
    let foreign = proxy(&app, "bob").get("/terminal/skills/read?name=shared");
    assert_eq!(foreign.status, 404, "{}", foreign.text);
}

#[test]
fn skills_are_there_where_nobody_can_be_asked_for_groups() {
    let webui = StandIn::answering(|_: &Asked| Answer::status(500, &json!({})));
    let app = TestApp::with()
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .env("FILESHED_GROUPS", "openwebui")
        .app();
    let answer = proxy(&app, "ada").get("/terminal/skills");
    assert_eq!(
        (answer.status, &answer.body),
        (200, &json!([])),
        "{}",
        answer.text
    );
}

#[test]
fn the_log_names_what_was_called() {
    let server = Server::with().env("FILESHED_LOG_LEVEL", "debug").start();
    for path in [
        "/files/list",
        "/skills",
        "/api/config",
        "/notebooks",
        "/nothing",
    ] {
        server.client().get(&format!("/terminal{path}"));
    }
    for name in [
        "list_entries",
        "list_skills",
        "terminal/api/config",
        "terminal/notebooks",
        "unknown",
    ] {
        assert!(
            server.logged(&format!("operation=\"{name}\"")),
            "{name}: {}",
            server.log()
        );
    }
}

#[test]
fn another_method_is_refused_in_words_of_the_terminal() {
    let app = keyed();
    let answer = proxy(&app, "ada").send("PUT", "/terminal/files/list", b"{}");
    assert_eq!(answer.status, 405, "{}", answer.text);
    assert_eq!(answer.body["code"], "METHOD_NOT_ALLOWED");
    let detail = answer.body["detail"].as_str().expect("a detail");
    assert!(detail.contains("`/terminal/files/list`"), "{detail}");
}
