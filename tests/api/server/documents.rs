//! The OpenAPI documents: committed, served, and of use to Open WebUI.

use std::collections::BTreeSet;

use fileshed::openapi::{document, pretty};
use fileshed::ops::OPERATIONS;
use fileshed_core::Toolset;
use serde_json::{Map, Value, json};

use crate::mcp::client::Peer;
use fileshed_test_support::{TestApp, has_program, repository};

/// Most characters that the tools of a document may cost a model on every turn.
const BUDGET_ALL: usize = 27_000;
const BUDGET_CORE: usize = 10_000;

#[test]
fn the_committed_document_is_the_generated_one() {
    let path = repository().join("openapi/fileshed.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == pretty(Toolset::All).expect("a document"),
        "openapi/fileshed.json is out of date: cargo run -- openapi > openapi/fileshed.json"
    );
}

#[test]
fn the_program_prints_what_it_serves() {
    let server = TestApp::with_key();
    let all = server.client().get("/openapi.json");
    assert_eq!(
        (all.status, all.header("content-type")),
        (200, "application/json")
    );
    assert_eq!(all.body, document(Toolset::All));
    let printed = server.run(&["openapi"]);
    assert_eq!(printed.stdout, pretty(Toolset::All).expect("a document"));
    let core = server.client().get("/openapi.json?toolset=core");
    assert_eq!(core.body, document(Toolset::Core));
    let printed = server.run(&["openapi", "--toolset", "core"]);
    assert_eq!(printed.stdout, pretty(Toolset::Core).expect("a document"));
    let none = server.client().get("/openapi.json?toolset=half");
    none.refused(400, "INVALID_PARAMETER");
}

#[test]
fn a_document_that_is_known_is_not_sent_again() {
    let server = TestApp::start();
    let first = server.client().get("/openapi.json");
    let tag = first.header("etag").to_owned();
    for known in [
        tag.clone(),
        format!("W/{tag}"),
        format!("\"x\", {tag}"),
        "*".to_owned(),
    ] {
        let again = server
            .client()
            .header("If-None-Match", &known)
            .get("/openapi.json");
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{known}");
        assert_eq!(again.header("etag"), tag);
    }
    let other = server
        .client()
        .header("If-None-Match", "\"x\"")
        .get("/openapi.json");
    assert_eq!(other.status, 200);
}

#[test]
fn a_toolset_is_called_where_its_document_says() {
    let server = TestApp::start();
    let named = |toolset| -> Vec<String> {
        let document = document(toolset);
        let paths = document["paths"].as_object().cloned().unwrap_or_default();
        paths.into_iter().map(|(path, _)| path).collect()
    };
    let core = named(Toolset::Core);
    assert!(
        core.iter().all(|path| path.starts_with("/core/shed_")),
        "{core:?}"
    );
    let call = json!({"zone": "storage", "cmd": "ls"});
    for path in ["shed_exec", "core/shed_exec"] {
        server.call(path, &call).data();
    }
    assert!(!core.contains(&"/core/shed_maintenance".to_owned()));
    let foreign = server.call("core/shed_maintenance", &json!({}));
    foreign.refused(404, "UNKNOWN_OPERATION");
}

#[test]
fn people_browse_without_the_internet() {
    let server = TestApp::with_key();
    let redirect = server.client().get("/docs");
    assert_eq!(
        (redirect.status, redirect.header("location")),
        (303, "/docs/")
    );
    let page = server.client().get("/docs/");
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self'"), "{policy}");
    let script = server.client().get("/docs/swagger-initializer.js");
    assert!(script.text.contains("/openapi.json"), "{}", script.text);
    assert!(!page.text.contains("https://"), "{}", page.text);
    let bundle = server.client().get("/docs/swagger-ui-bundle.js");
    assert!(bundle.status == 200 && bundle.text.len() > 100_000);
}

#[test]
fn whole_files_are_described_and_are_no_tools() {
    let document = document(Toolset::All);
    let paths = document["paths"].as_object().expect("paths");
    let server = TestApp::start();
    let mut others = BTreeSet::new();
    for (path, methods) in paths.iter().filter(|(path, _)| !path.starts_with("/shed_")) {
        for (method, operation) in methods.as_object().expect("methods") {
            assert_eq!(operation["operationId"], Value::Null, "{path}");
            let answer = server.client().send(&method.to_uppercase(), path, b"");
            assert_ne!(answer.status, 405, "{method} {path}");
            assert!(
                !answer.text.contains("UNKNOWN_OPERATION"),
                "{method} {path}"
            );
            others.insert(path.as_str());
        }
    }
    let expected = [
        "/files/archive",
        "/files/content",
        "/files/upload",
        "/files/uploads",
        "/files/uploads/{id}",
        "/health",
        "/links/{token}",
        "/ready",
    ];
    assert_eq!(others, BTreeSet::from(expected));
}

#[test]
fn every_operation_is_in_a_group_that_is_described() {
    for toolset in [Toolset::All, Toolset::Core] {
        let document = document(toolset);
        let names = |list: &Value, name: &dyn Fn(&Value) -> Value| -> BTreeSet<String> {
            let list = list.as_array().expect("a list").iter();
            list.filter_map(|item| name(item).as_str().map(str::to_owned))
                .collect()
        };
        let described = names(&document["tags"], &|tag| tag["name"].clone());
        let mut used = BTreeSet::new();
        for methods in document["paths"].as_object().expect("paths").values() {
            for operation in methods.as_object().expect("methods").values() {
                let groups = names(&operation["tags"], &Value::clone);
                assert_eq!(groups.len(), 1, "{operation}");
                used.extend(groups);
            }
        }
        assert_eq!(described, used);
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn look(value: &Value, document: &Value) {
        if let Some(name) = value["$ref"].as_str() {
            let found = document.pointer(name.trim_start_matches('#'));
            assert!(found.is_some(), "{name}");
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| look(item, document)),
            Value::Object(fields) => fields.values().for_each(|field| look(field, document)),
            _ => {}
        }
    }
    for toolset in [Toolset::All, Toolset::Core] {
        let document = document(toolset);
        look(&document, &document);
    }
}

#[test]
fn trying_it_out_works_with_each_credential() {
    let server = TestApp::with_key();
    let made = server.run(&["token", "create", "--user", "ada"]);
    let token = made.stdout.trim().to_owned();
    let document = document(Toolset::All);
    let schemes = &document["components"]["securitySchemes"];
    let given = |name: &str| match name {
        "token" => Some(token.clone()),
        "key" => Some("service-key".to_owned()),
        "user" => Some("ada".to_owned()),
        _ => None,
    };
    let mut tried = 0;
    for requirement in document["security"].as_array().expect("requirements") {
        let names = requirement.as_object().expect("schemes").keys();
        let mut client = server.client();
        for name in names.clone() {
            let scheme = &schemes[name];
            assert!(scheme.is_object(), "{name}");
            let Some(value) = given(name) else { continue };
            client = match scheme["scheme"].as_str() {
                Some(_) => client.header("Authorization", &format!("Bearer {value}")),
                None => client.header(scheme["name"].as_str().unwrap_or_default(), &value),
            };
        }
        if names.clone().any(|name| given(name).is_some()) {
            client.call("shed_stats", &json!({})).data();
            tried += 1;
        }
    }
    assert_eq!(tried, 2, "a token; a key and its user");
}

#[test]
fn open_webui_makes_a_usable_tool_of_every_operation() {
    for (toolset, budget) in [(Toolset::All, BUDGET_ALL), (Toolset::Core, BUDGET_CORE)] {
        let tools = tools(&document(toolset));
        let names: BTreeSet<&str> = tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let expected: BTreeSet<&str> = OPERATIONS
            .iter()
            .filter(|entry| toolset == Toolset::All || entry.core)
            .map(|entry| entry.id)
            .collect();
        assert_eq!(names, expected);
        for tool in &tools {
            assert!(
                tool["description"]
                    .as_str()
                    .is_some_and(|text| text.len() > 10),
                "{tool}"
            );
            let properties = tool["parameters"]["properties"]
                .as_object()
                .expect("properties");
            for (name, property) in properties {
                let place = format!("{}.{name}", tool["name"]);
                assert_plain(property, &place);
                let text = property["description"].as_str().unwrap_or_default();
                let (default, words) = (property.get("default"), property["enum"].as_array());
                if let (Some(default), Some(words)) = (default, words) {
                    assert!(words.contains(default), "{place}: {property}");
                }
                assert!(!text.contains('\n'), "{place}: {text:?}");
            }
            for name in tool["parameters"]["required"].as_array().expect("required") {
                assert!(
                    properties.contains_key(name.as_str().unwrap_or_default()),
                    "{tool}"
                );
            }
        }
        let cost = json!(tools).to_string().chars().count();
        println!(
            "{toolset:?}: {} tools, {cost} of {budget} characters",
            tools.len()
        );
        assert!(
            cost <= budget,
            "{toolset:?}: {cost} characters, {budget} are allowed"
        );
    }
}

/// Parameters that one tool describes for all: a description would cost each of them a line.
const NAMED_WELL: &[&str] = &["allow_zone_in_path", "group", "message", "path", "zone"];

#[test]
fn every_parameter_and_field_has_a_description() {
    fn look(value: &Value, place: &str, fields: &mut usize) {
        let properties = value["properties"].as_object().into_iter().flatten();
        let parameters = value["parameters"].as_array().into_iter().flatten();
        let parameters = parameters.map(|one| (one["name"].as_str().unwrap_or_default(), one));
        let properties = properties.map(|(name, one)| (name.as_str(), one));
        for (name, described) in properties.chain(parameters) {
            *fields += 1;
            let text = described["description"].as_str().unwrap_or_default();
            assert!(
                says_something(name, text) || NAMED_WELL.contains(&name),
                "{place}.{name}: {text:?}"
            );
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| look(item, place, fields)),
            Value::Object(members) => {
                for (name, member) in members {
                    look(member, &format!("{place}/{name}"), fields);
                }
            }
            _ => {}
        }
    }
    let mut fields = 0;
    look(&document(Toolset::All), "", &mut fields);
    assert!(fields > 500, "{fields} fields were found");
}

/// Returns `true` if a description exists and says more than the name.
fn says_something(name: &str, text: &str) -> bool {
    let plain = |text: &str| -> String {
        let words = text.split(|character: char| !character.is_alphanumeric());
        let words = words.map(str::to_lowercase);
        words
            .filter(|word| !["the", "a", "an"].contains(&word.as_str()))
            .collect()
    };
    !plain(text).is_empty() && plain(text) != plain(name) && !text.starts_with("The parameter `")
}

#[test]
fn a_description_that_repeats_the_name_says_nothing() {
    for (name, text, expected) in [
        ("zone", "", false),
        ("zone", "Zone", false),
        ("file_size", "The file size.", false),
        ("zone", "The parameter `zone`.", false),
        ("zone", "Zone of the file", true),
    ] {
        assert_eq!(says_something(name, text), expected, "{name}: {text}");
    }
}

/// One plain type that every provider takes.
pub(crate) fn assert_plain(schema: &Value, place: &str) {
    let kind = schema["type"].as_str();
    assert!(
        matches!(
            kind,
            Some("string" | "integer" | "number" | "boolean" | "array" | "object")
        ),
        "{place}: {schema}"
    );
    for composed in ["$ref", "oneOf", "anyOf", "allOf"] {
        assert!(schema.get(composed).is_none(), "{place}: {schema}");
    }
    if kind == Some("array") {
        assert_plain(&schema["items"], place);
    }
}

/// Returns parameters of the path and the query as Open WebUI converts them: the plain type, the
/// description with the words of an enumeration, and the items of a list.
fn parameters(operation: &Value) -> (Map<String, Value>, Vec<Value>) {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let (name, schema) = (&parameter["name"], &parameter["schema"]);
        let text = [&schema["description"], &parameter["description"]];
        let text = text
            .iter()
            .find_map(|text| text.as_str())
            .unwrap_or_default();
        let mut text = text.to_owned();
        if let Some(words) = schema["enum"].as_array() {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            text = format!("{text}. Possible values: {}", words.join(", "));
        }
        let kind = schema["type"].as_str().unwrap_or("string");
        let mut property = json!({"type": kind, "description": text});
        if let (true, Some(items)) = (kind == "array", schema.get("items")) {
            property["items"] = items.clone();
        }
        if parameter["required"] == true {
            required.push(name.clone());
        }
        properties.insert(name.as_str().unwrap_or_default().to_owned(), property);
    }
    (properties, required)
}

/// Returns the tools that Open WebUI 0.12 offers a model for a document: one for each operation with an id.
/// Its description is that of the operation, or else the summary; its parameters are those of path and
/// query, and the properties of the JSON body once references are followed.
pub(crate) fn tools(document: &Value) -> Vec<Value> {
    let methods = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace",
    ];
    let none = Map::new();
    document["paths"]
        .as_object()
        .unwrap_or(&none)
        .values()
        .filter_map(Value::as_object)
        .flatten()
        .filter(|(method, operation)| {
            methods.contains(&method.as_str()) && operation["operationId"].is_string()
        })
        .map(|(_, operation)| {
            let text = operation
                .get("description")
                .or_else(|| operation.get("summary"));
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let body = resolved(body, document, &[]);
            let (mut properties, mut required) = parameters(operation);
            let of_body = body["properties"].as_object().cloned().unwrap_or_default();
            properties.extend(of_body);
            required.extend(body["required"].as_array().cloned().unwrap_or_default());
            json!({
                "name": operation["operationId"],
                "description": text,
                "parameters": {"type": "object", "properties": properties, "required": required},
            })
        })
        .collect()
}

/// A schema with its references followed, each at most once on the way down.
fn resolved(schema: &Value, document: &Value, seen: &[&str]) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        if seen.contains(&name) {
            return json!({});
        }
        let target = document
            .pointer(name.trim_start_matches('#'))
            .unwrap_or(&Value::Null);
        return resolved(target, document, &[seen, &[name]].concat());
    }
    let Value::Object(members) = schema else {
        return json!({});
    };
    let members = members.iter().map(|(key, value)| {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => properties
                .iter()
                .map(|(name, inner)| (name.clone(), resolved(inner, document, seen)))
                .collect(),
            ("items", inner) => resolved(inner, document, seen),
            ("oneOf" | "anyOf" | "allOf", Value::Array(inner)) => inner
                .iter()
                .map(|inner| resolved(inner, document, seen))
                .collect(),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    members.collect()
}

/// Whatever writes meets locks, and everything needs the registry.
#[test]
fn the_document_lists_refusals_of_requests_for_files() {
    let document = TestApp::start().client().get("/openapi.json").body;
    let writes = [
        "/files/upload post",
        "/files/uploads post",
        "/files/uploads/{id} head",
        "/files/uploads/{id} patch",
        "/files/content put",
    ];
    let mut locked = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        if !path.starts_with("/files/") {
            continue;
        }
        for (method, operation) in methods.as_object().unwrap() {
            let responses = operation["responses"].as_object().unwrap();
            for status in ["401", "403", "429", "500", "503"] {
                assert!(responses.contains_key(status), "{method} {path}: {status}");
            }
            if responses.contains_key("423") {
                locked.push(format!("{path} {method}"));
            }
        }
    }
    locked.sort_unstable();
    let mut writes = writes.map(str::to_owned);
    writes.sort_unstable();
    assert_eq!(locked, writes);
}

/// Programs that an administrator added are in the text of the tool that runs them, wherever it is read.
#[test]
fn added_programs_are_told() {
    let server = TestApp::with()
        .env("FILESHED_EXEC_PROGRAMS", "python3,node")
        .app();
    let document = server.client().get("/openapi.json").body;
    let described = &document["paths"]["/shed_exec"]["post"]["description"];
    let told = described.as_str().unwrap();
    let tools = Peer::new(server.client()).request("tools/list", &json!({}));
    let tools = tools["tools"].as_array().unwrap();
    let tool = tools
        .iter()
        .find(|tool| tool["name"] == "shed_exec")
        .unwrap();
    assert_eq!(tool["description"], told);
    if has_program("python3") {
        assert!(
            told.contains("cd); also ") && told.contains("python3"),
            "{told}"
        );
        let install = json!({"zone": "storage", "cmd": "pip", "args": ["install", "x"]});
        let refused = server.client().call("shed_exec", &install);
        let hint = refused.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("python3"), "{hint}");
    }
}
