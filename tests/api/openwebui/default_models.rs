//! `fileshed openwebui register --default-for`: models that have the connection switched on in a new chat.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Finished, TestApp};

/// Open WebUI's settings: a default for all models, and entries of some.
#[derive(Default)]
struct Kept {
    defaults: Value,
    entries: Vec<Value>,
    connections: Value,
}

type Shared = Arc<Mutex<Kept>>;

const LIST: &str = "/api/v1/configs/models";

fn keeping(kept: &Shared, list: &'static str, field: &'static str) -> StandIn {
    let kept = Arc::clone(kept);
    StandIn::answering(move |asked: &Asked| {
        let mut kept = kept.lock().unwrap();
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        match (asked.method.as_str(), path) {
            (_, "/api/version") => Answer::json(&json!({"version": "0.12.4"})),
            _ if asked.bearer() != "sk-admin" => Answer::refused(),
            ("GET", path) if path == list => Answer::json(&json!({field: kept.connections})),
            ("POST", path) if path == list => {
                kept.connections = asked.json()[field].take();
                Answer::json(&json!({field: kept.connections}))
            }
            ("GET", "/api/models") => Answer::json(&json!({"data": models(&kept)})),
            ("GET", LIST) => Answer::json(&kept.defaults),
            ("POST", LIST) => {
                kept.defaults = asked.json();
                Answer::json(&kept.defaults)
            }
            ("GET", "/api/v1/models/model") => {
                let same =
                    |entry: &&Value| query == format!("id={}", entry["id"].as_str().unwrap());
                match kept.entries.iter().find(same) {
                    Some(entry) => Answer::json(entry),
                    None => Answer::refused(),
                }
            }
            ("POST", "/api/v1/models/import") => {
                for new in asked.json()["models"].as_array().unwrap() {
                    kept.entries.retain(|entry| entry["id"] != new["id"]);
                    kept.entries.push(new.clone());
                }
                Answer::json(&json!(true))
            }
            _ => Answer::status(400, &json!({"detail": "Not Found"})),
        }
    })
}

/// All models, each with what it has of its own, else with the default.
fn models(kept: &Kept) -> Vec<Value> {
    let default = &kept.defaults["DEFAULT_MODEL_METADATA"];
    let model = |id: &str| {
        let entry = kept.entries.iter().find(|entry| entry["id"] == id);
        let mut meta = entry.map_or(json!({}), |entry| entry["meta"].clone());
        for (name, value) in default.as_object().into_iter().flatten() {
            if meta[name].is_null() {
                meta[name] = value.clone();
            }
        }
        json!({"id": id, "name": format!("Model {id}"), "info": {"meta": meta}})
    };
    ["small", "large", "helper"].map(model).into()
}

fn kept() -> Shared {
    let helper = json!({
        "id": "helper", "base_model_id": "large", "name": "Helper", "params": {"system": "Help."},
        "meta": {"toolIds": ["other"], "description": "d"}, "access_grants": [{"principal_id": "*"}],
    });
    Arc::new(Mutex::new(Kept {
        defaults: json!({"DEFAULT_MODELS": "large", "DEFAULT_MODEL_METADATA": {"capabilities": {"vision": true}}}),
        entries: vec![helper],
        connections: json!([]),
    }))
}

fn register(webui: &StandIn, more: &[&str]) -> Finished {
    let setup = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    setup.run(&[&["openwebui", "register", "--no-verify"], more].concat())
}

#[track_caller]
fn says(finished: &Finished, line: &str) {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let said = &finished.stdout;
    assert!(said.lines().any(|said| said == line), "{said}");
}

const TOOLS: (&str, &str) = ("/api/v1/configs/tool_servers", "TOOL_SERVER_CONNECTIONS");
const ALREADY: &str = "it is on in new chats with these models already";

#[test]
fn chosen_models_have_it_switched_on_and_keep_all_else() {
    let kept = kept();
    let webui = keeping(&kept, TOOLS.0, TOOLS.1);
    let before = kept.lock().unwrap().entries.clone();
    let would = register(&webui, &["--default-for", "helper,small", "--dry-run"]);
    says(&would, "would switch it on in new chats with small, helper");
    assert_eq!(kept.lock().unwrap().entries, before);

    let done = register(&webui, &["--default-for", "helper,small"]);
    says(&done, "switched it on in new chats with small, helper");
    {
        let kept = kept.lock().unwrap();
        let mut helper = before[0].clone();
        helper["meta"]["toolIds"] = json!(["other", "server:fileshed"]);
        let new = json!({
            "id": "small", "name": "Model small", "params": {}, "meta": {"toolIds": ["server:fileshed"]},
        });
        assert_eq!(kept.entries, [new, helper]);
        assert_eq!(kept.defaults["DEFAULT_MODELS"], "large");
    }
    says(&register(&webui, &["--default-for", "small"]), ALREADY);

    let unknown = register(&webui, &["--default-for", "small,tiny", "--id", "second"]);
    assert_eq!(unknown.code, Some(1));
    let said = "no model with the id `tiny`; it has: small, large, helper";
    assert!(unknown.stderr.contains(said), "{}", unknown.stderr);
    let count = kept.lock().unwrap().connections.as_array().map(Vec::len);
    assert_eq!(count, Some(1), "nothing was registered");
}

#[test]
fn all_models_have_it_by_the_default_and_in_their_own_lists() {
    let kept = kept();
    let webui = keeping(&kept, TOOLS.0, TOOLS.1);
    let done = register(&webui, &["--default-for", "all"]);
    says(&done, "switched it on in new chats with all models, helper");
    {
        let kept = kept.lock().unwrap();
        let metadata = json!({"capabilities": {"vision": true}, "toolIds": ["server:fileshed"]});
        let expected = json!({"DEFAULT_MODELS": "large", "DEFAULT_MODEL_METADATA": metadata});
        assert_eq!(kept.defaults, expected);
        assert_eq!(kept.entries.len(), 1);
        let tools = &kept.entries[0]["meta"]["toolIds"];
        assert_eq!(tools, &json!(["other", "server:fileshed"]));
    }
    says(&register(&webui, &["--default-for", "all"]), ALREADY);
}

#[test]
fn a_terminal_is_chosen_for_models_and_the_way_by_hand_is_told() {
    let kept = kept();
    let (list, field) = (
        "/api/v1/configs/terminal_servers",
        "TERMINAL_SERVER_CONNECTIONS",
    );
    let webui = keeping(&kept, list, field);
    let done = register(&webui, &["--terminal", "--default-for", "helper"]);
    says(&done, "switched it on in new chats with helper");
    let meta = kept.lock().unwrap().entries[0]["meta"].clone();
    assert_eq!(meta["terminalId"], "fileshed");
    assert_eq!(meta["toolIds"], json!(["other"]));
    let plain = register(&webui, &["--terminal"]);
    assert!(
        plain.stdout.contains("Admin Settings, Models, Terminal"),
        "{plain:?}"
    );
    let webui = keeping(&kept, TOOLS.0, TOOLS.1);
    let plain = register(&webui, &[]);
    assert!(
        plain.stdout.contains("Admin Settings, Models, Tools"),
        "{plain:?}"
    );
}
