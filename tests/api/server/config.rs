//! Configuration that an administrator writes, and the program's messages about it.

use std::path::Path;

use fileshed_test_support::{Finished, Server, Setup};

#[track_caller]
fn shows(finished: &Finished, line: &str) {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let found = finished.stdout.lines().any(|other| other == line);
    assert!(found, "{line} is missing in\n{}", finished.stdout);
}

#[track_caller]
fn complains(finished: &Finished, parts: &[&str]) {
    assert_eq!(finished.code, Some(1), "{finished:?}");
    for part in parts {
        assert!(
            finished.stderr.contains(part),
            "{part} is missing in\n{}",
            finished.stderr
        );
    }
}

fn config(setup: &Setup) -> Finished {
    setup.run(&["config"])
}

#[test]
fn defaults_are_those_of_the_specification() {
    let finished = config(&Server::with());
    for line in [
        "bind = \"127.0.0.1:8000\"  # default",
        "# api_keys = []  # default",
        "storage_base_path = \"./data\"  # default",
        "quota_per_user_mb = 1000  # default",
        "exec.sandbox = \"required\"  # default",
        "sqlite_readonly = false  # default",
    ] {
        shows(&finished, line);
    }
}

#[test]
fn a_flag_beats_the_environment_beats_the_file() {
    let toml = "quota_per_user_mb = 1\nquota_per_group_mb = 2\nmax_file_size_mb = 3\n\
                api_keys = [\"one\", \"two\"]\n[exec]\nsandbox = \"best_effort\"\nmax_per_user = 2\n";
    let setup = Server::with()
        .file("fileshed.toml", toml)
        .env("FILESHED_QUOTA_PER_GROUP_MB", "20")
        .env("FILESHED_MAX_FILE_SIZE_MB", "30")
        .flag("max-file-size-mb", "300");
    let finished = config(&setup);
    for line in [
        "quota_per_user_mb = 1  # file fileshed.toml",
        "quota_per_group_mb = 20  # environment FILESHED_QUOTA_PER_GROUP_MB",
        "max_file_size_mb = 300  # flag --max-file-size-mb",
        "exec.sandbox = \"best_effort\"  # file fileshed.toml",
        "exec.max_per_user = 2  # file fileshed.toml",
        "# api_keys = [\"********\", \"********\"]  # file fileshed.toml",
    ] {
        shows(&finished, line);
    }
}

#[test]
fn another_file_can_be_named() {
    let content = "durability = \"strict\"\n";
    let named = Server::with().file("other.toml", content);
    let by_flag = named.run(&["config", "--config", "other.toml"]);
    shows(&by_flag, "durability = \"strict\"  # file other.toml");
    let named = named.env("FILESHED_CONFIG", "other.toml");
    shows(
        &config(&named),
        "durability = \"strict\"  # file other.toml",
    );
    let missing = Server::with().env("FILESHED_CONFIG", "missing.toml");
    complains(
        &config(&missing),
        &[
            "environment FILESHED_CONFIG",
            "missing.toml",
            "cannot be read",
        ],
    );
}

#[test]
fn secrets_come_from_files_and_are_never_shown() {
    let setup = Server::with()
        .file("keys", "key-one\nkey-two\n")
        .env("FILESHED_API_KEYS_FILE", "keys");
    let finished = config(&setup);
    shows(
        &finished,
        "# api_keys = [\"********\", \"********\"]  # environment FILESHED_API_KEYS_FILE",
    );
    assert!(!finished.stdout.contains("key-one"));

    let server = setup.env("FILESHED_LOG_LEVEL", "trace").start();
    let answer = server
        .client()
        .header("Authorization", "Bearer key-two")
        .header("X-User-Id", "alice")
        .call("shed_parameters", &serde_json::json!({}));
    answer.data();
    assert!(server.logged("shed_parameters"));
    assert!(!server.log().contains("key-"), "{}", server.log());

    let both = Server::with()
        .file("keys", "key-one")
        .env("FILESHED_API_KEYS_FILE", "keys")
        .env("FILESHED_API_KEYS", "key-two");
    let finished = config(&both);
    complains(&finished, &["FILESHED_API_KEYS_FILE", "both set"]);
    assert!(!finished.stderr.contains("key-"), "{}", finished.stderr);
}

#[test]
fn what_config_prints_loads_again() {
    let setup = Server::with()
        .env("FILESHED_API_KEYS", "key-one,key-two")
        .env("FILESHED_OPENWEBUI_API_URL", "http://webui:8080")
        .env(
            "FILESHED_CORS_ORIGINS",
            "https://a.example, https://b.example",
        )
        .env("FILESHED_NETWORK_ALLOW", "intranet.example,10.0.0.0/8")
        .env("FILESHED_TRUSTED_PROXIES", "10.0.0.5,fd00::/8")
        .env("FILESHED_EXEC_MAX_PER_USER", "3");
    let first = config(&setup);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.stderr.contains("secrets are left out"), "{first:?}");
    let again = Server::with()
        .file("fileshed.toml", &first.stdout)
        .env("FILESHED_API_KEYS", "key-three");
    let second = config(&again);
    assert_eq!(second.code, Some(0), "{second:?}");
    let values = |finished: &Finished| -> Vec<String> {
        let lines = finished.stdout.lines();
        lines
            .map(|line| line.rsplit_once("  # ").expect("a source").0.to_owned())
            .filter(|line| !line.contains("api_keys"))
            .collect()
    };
    assert_eq!(values(&second), values(&first));
    shows(&second, "exec.max_per_user = 3  # file fileshed.toml");
    // The keys are those of now, and a mask is never one.
    shows(
        &second,
        "# api_keys = [\"********\"]  # environment FILESHED_API_KEYS",
    );
    for (name, masked) in [
        ("api_keys", "[\"********\"]"),
        ("webui_secret_key", "\"********\""),
    ] {
        let masked = Server::with().file("fileshed.toml", &format!("{name} = {masked}\n"));
        complains(&config(&masked), &[name, "is the mask"]);
    }
}

#[test]
fn all_faults_are_listed_at_once() {
    let toml = "quota_per_user = 5\nnetwork_mode = \"some\"\n[exec]\nsandbx = \"required\"\n";
    let setup = Server::with()
        .file("fileshed.toml", toml)
        .env("FILESHED_MAX_FILE_SIZE_MB", "many")
        .env("FILESHED_EXEC_SANDBOXX", "hidden-value")
        .env("FILESHED_API_KEYS", "")
        .env("FILESHED_EXEC_TIMEOUT_DEFAULT", "500")
        .flag("bind", "everywhere");
    let finished = setup.run(&["serve"]);
    complains(
        &finished,
        &[
            "8 faults",
            "file fileshed.toml: `quota_per_user` is not a setting, did you mean `quota_per_user_mb`?",
            "file fileshed.toml: `network_mode` = `some` must be one of disabled, safe, all",
            "file fileshed.toml: `exec.sandbx` is not a setting, did you mean `exec.sandbox`?",
            "environment FILESHED_MAX_FILE_SIZE_MB: `max_file_size_mb` = `many` must be a whole number",
            "`FILESHED_EXEC_SANDBOXX` is not a setting, did you mean `FILESHED_EXEC_SANDBOX`?",
            "environment FILESHED_API_KEYS: `api_keys` is empty",
            "`exec_timeout_default` = `500` must be at most `exec_timeout_max`, which is 300",
            "flag --bind: `bind` = `everywhere` must be an address with a port",
        ],
    );
    assert!(
        !finished.stderr.contains("hidden-value"),
        "{}",
        finished.stderr
    );
    assert!(!setup.path("data").exists(), "nothing is touched");
}

#[test]
fn a_file_that_is_no_toml_is_named_with_its_line_and_not_quoted() {
    let setup = Server::with().file(
        "fileshed.toml",
        "log_level = \"info\"\napi_keys = [\"hidden\n",
    );
    let finished = config(&setup);
    complains(&finished, &["fileshed.toml", "line 2"]);
    assert!(!finished.stderr.contains("hidden"), "{}", finished.stderr);
}

#[test]
fn a_proxy_is_trusted_by_its_address() {
    for value in [
        "proxy.internal",
        "10.0.0.5:8000",
        "10.0.0.0/33",
        "10.0.0.0/",
        "fd00::/129",
    ] {
        let setup = Server::with().env("FILESHED_TRUSTED_PROXIES", value);
        let parts = ["`trusted_proxies`", "must be addresses or networks"];
        complains(&config(&setup), &parts);
    }
}

#[test]
fn other_machines_need_a_key() {
    for bind in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8000"] {
        let open = Server::with().flag("bind", bind);
        complains(&open.run(&["serve"]), &["`bind`", "set `api_keys`"]);
        for (name, value) in [
            ("FILESHED_API_KEYS", "8f14e45fceea167a5a36"),
            ("FILESHED_OPENWEBUI_API_URL", "http://webui:8080"),
            ("FILESHED_WEBUI_SECRET_KEY", "webui-secret"),
        ] {
            let closed = open.clone().env(name, value);
            assert_eq!(config(&closed).code, Some(0), "{bind} {name}");
        }
    }
    shows(
        &config(&Server::with().flag("bind", "[::1]:9000")),
        "bind = \"[::1]:9000\"  # flag --bind",
    );
}

#[test]
fn other_machines_need_a_key_that_nobody_guesses() {
    let set = |bind: &str, name: &str, key: &str| Server::with().flag("bind", bind).env(name, key);
    for key in [
        "k",
        "change-me",
        "service-key",
        "aaaaaaaaaaaaaaaaaaaa",
        "change-me-change-me",
        "8f14e45fceea167a5a36,k",
    ] {
        for name in ["FILESHED_API_KEYS", "FILESHED_TERMINAL_API_KEYS"] {
            let open = set("0.0.0.0:0", name, key);
            let refused = open.run(&["serve"]);
            complains(&refused, &["`bind`", "openssl rand -hex 32"]);
            let local = set("127.0.0.1:0", name, key);
            assert_eq!(config(&local).code, Some(0), "{name} {key}");
            let doctor = local.run(&["doctor"]).stdout;
            assert!(doctor.contains("warning keys: "), "{doctor}");
        }
    }
    for key in ["8f14e45fceea167a5a36", "auto"] {
        let taken = set("0.0.0.0:0", "FILESHED_API_KEYS", key);
        assert_eq!(config(&taken).code, Some(0), "{key}");
    }
}

#[test]
fn decisions_about_identity_go_together() {
    let set = |settings: &[(&str, &str)]| {
        let setup = settings
            .iter()
            .fold(Server::with(), |setup, (name, value)| {
                setup.env(&format!("FILESHED_{name}"), value)
            });
        config(&setup)
    };
    let url = ("OPENWEBUI_API_URL", "http://webui:8080");
    let key = ("API_KEYS", "service-key");
    let (openwebui, headers) = (("GROUPS", "openwebui"), ("GROUPS", "headers"));
    let admin = ("OPENWEBUI_ADMIN_KEY", "hidden-key");
    let signing = ("FORWARD_JWT_SECRET", "hidden-key");
    for (settings, said) in [
        (
            &[openwebui, key][..],
            "`groups` = `openwebui` needs `openwebui_api_url`",
        ),
        (
            &[admin, key],
            "`openwebui_admin_key` = `********` needs `openwebui_api_url`",
        ),
        (&[headers, url], "`groups` = `headers` needs `api_keys`"),
        (
            &[signing],
            "`forward_jwt_secret` = `********` needs `api_keys`",
        ),
    ] {
        let finished = set(settings);
        complains(&finished, &[said]);
        assert!(!finished.stderr.contains("hidden"), "{}", finished.stderr);
    }
    for settings in [
        &[openwebui, url][..],
        &[admin, url],
        &[headers, url, key],
        &[headers],
        &[signing, key],
        &[signing, url],
    ] {
        let finished = set(settings);
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
}

#[test]
fn sites_are_listed_one_by_one() {
    let listed = |text: &str| config(&Server::with().env("FILESHED_CORS_ORIGINS", text));
    shows(
        &listed("https://chat.example.org, http://localhost:3000"),
        "cors_origins = \"https://chat.example.org, http://localhost:3000\"  # environment FILESHED_CORS_ORIGINS",
    );
    for (text, said) in [
        ("*", "any page on the internet"),
        ("https://chat.example.org,null", "from a frame"),
        ("https://chat.example.org/path", "without a path"),
        ("chat.example.org", "must be sites like"),
    ] {
        complains(&listed(text), &["`cors_origins`", said]);
    }
}

#[test]
fn secrets_are_visible_ascii() {
    for keys in ["a,,b", "a b", " ", "schlüssel"] {
        let setup = Server::with().env("FILESHED_API_KEYS", keys);
        complains(&config(&setup), &["FILESHED_API_KEYS", "`api_keys`"]);
    }
}

#[test]
fn variables_of_an_orchestrator_are_not_ours() {
    let setup = Server::with()
        .env("FILESHED_PORT", "tcp://10.0.0.1:8000")
        .env("FILESHED_PORT_8000_TCP_ADDR", "10.0.0.1")
        .env("FILESHED_SERVICE_HOST", "10.0.0.1");
    assert_eq!(config(&setup).code, Some(0));
    let meant = Server::with().env("FILESHED_PORT", "9000");
    complains(&config(&meant), &["`FILESHED_PORT` is not a setting"]);
}

#[test]
fn help_names_every_setting_and_hides_the_helper() {
    let finished = Server::with().run(&["--help"]);
    assert_eq!(finished.code, Some(0));
    for setting in fileshed::config::SETTINGS {
        assert!(
            finished.stdout.contains(&format!("--{}", setting.flag())),
            "{}",
            setting.key
        );
        assert!(
            finished.stdout.contains(&setting.variable()),
            "{}",
            setting.key
        );
    }
    assert!(!finished.stdout.contains("jail"));
    let has_settings = |arguments: &[&str]| {
        let finished = Server::with().run(arguments);
        assert_eq!(finished.code, Some(0), "{arguments:?}");
        finished.stdout.contains("FILESHED_MAX_FILE_SIZE_MB")
    };
    assert!(has_settings(&["serve", "--help"]));
    for arguments in [
        &["-h"][..],
        &["user", "--help"],
        &["user", "list", "--help"],
        &["openwebui", "register", "--help"],
        &["config", "--help"],
        &["doctor", "--help"],
    ] {
        assert!(!has_settings(arguments), "{arguments:?}");
    }
    // They are taken all the same, before and after the name of the command.
    let said = "log_level = \"debug\"  # flag --log-level";
    shows(
        &Server::with().run(&["config", "--log-level", "debug"]),
        said,
    );
    shows(
        &Server::with().run(&["--log-level", "debug", "config"]),
        said,
    );
    let listed = Server::with().run(&["group", "list", "--storage-base-path", "elsewhere"]);
    assert!(listed.stderr.contains("elsewhere"), "{listed:?}");
    for (written, meant) in [
        (&["usr", "list"][..], "user"),
        (&["user", "lst"], "list"),
        (&["--storage-base-pth", "x"], "--storage-base-path"),
    ] {
        let finished = Server::with().run(written);
        assert_eq!(finished.code, Some(2));
        let similar = finished.stderr.contains("similar") && finished.stderr.contains(meant);
        assert!(similar, "{}", finished.stderr);
    }
    assert_eq!(Server::with().run(&["--nonsense"]).code, Some(2));
    assert_eq!(Server::with().run(&["doctor"]).code, Some(0));
    assert!(Path::new(env!("CARGO_BIN_EXE_fileshed")).exists());
}
