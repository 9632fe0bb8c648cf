//! docs/operations.md, made from the list of operations. With `FILESHED_WRITE_CATALOGUE=1` it is
//! written anew.

use std::fmt::Write as _;

use fileshed::ops::{ALLOW_ZONE_IN_PATH, COMMON_ERRORS, GROUP_ERRORS, OPERATIONS, OperationTool};
use fileshed_core::{Code, Toolset};
use serde_json::{Map, Value};

use crate::page::read;
use fileshed_test_support::repository;

const HEAD: &str = "# Operations

Every operation is `POST /<name>` with a JSON object. This page is made from the program. What each operation promises exactly is in [SPEC.md](../SPEC.md#operations); `openapi/fileshed.json` has the same for programs. The first paragraph of an operation is for people, the second is what models read.

Every operation may also answer the codes of [all operations](#all-operations). A short answer (`Prefer: return=minimal`) has the fields that are marked *short*, unless they say nothing new.
";

const TAIL: &str = "
## All operations
";

#[test]
fn the_operations_are_those_of_the_program() {
    let page = page();
    if std::env::var_os("FILESHED_WRITE_CATALOGUE").is_some() {
        std::fs::write(repository().join("docs/operations.md"), &page).expect("the page");
    }
    assert!(
        read("docs/operations.md") == page,
        "docs/operations.md is not that of the program: \
         FILESHED_WRITE_CATALOGUE=1 cargo test --test docs operations::"
    );
}

/// The requests themselves are run by the tests of each operation.
#[test]
fn the_commands_are_the_examples() {
    let page = read("docs/operations.md");
    let blocks = page.split("```sh\n").skip(1);
    let commands: Vec<Vec<String>> = blocks
        .filter_map(|block| shlex::split(block.split("\n```").next()?))
        .collect();
    for entry in OPERATIONS {
        let address = format!("localhost:8000/{}", entry.id);
        let command = commands.iter().find(|words| words.get(2) == Some(&address));
        let command = command.unwrap_or_else(|| panic!("{} has no command", entry.id));
        assert_eq!(command[4], entry.examples[0], "{}", entry.id);
    }
}

fn page() -> String {
    let document = fileshed::openapi::document(Toolset::All);
    let tags = document["tags"].as_array().expect("groups");
    let mut contents = "\n".to_owned();
    let mut sections = String::new();
    for tag in tags {
        let name = text(&tag["name"]);
        let entries: Vec<&OperationTool> = OPERATIONS
            .iter()
            .filter(|entry| {
                let operation = &document["paths"][format!("/{}", entry.id)]["post"];
                operation["tags"][0] == tag["name"]
            })
            .collect();
        if entries.is_empty() {
            continue;
        }
        let links: Vec<String> = entries
            .iter()
            .map(|entry| format!("[{0}](#{0})", entry.id))
            .collect();
        writeln!(contents, "- **{name}**: {}", links.join(", ")).expect("text");
        writeln!(sections, "\n## {name}\n\n{}", text(&tag["description"])).expect("text");
        for entry in entries {
            sections.push_str(&section(entry));
        }
    }
    let common = format!(
        "{TAIL}\nCodes of all operations: {}.\n\nOperations with the parameter `group` may also answer {}. Operations with paths take `{ALLOW_ZONE_IN_PATH}` (boolean): a path may then begin with the name of a zone.\n",
        codes(COMMON_ERRORS),
        codes(GROUP_ERRORS)
    );
    format!("{HEAD}{contents}{sections}{common}")
}

fn section(entry: &OperationTool) -> String {
    let request = (entry.request_schema)();
    let answer = (entry.response_schema)();
    let mut part = format!(
        "\n### {}\n\n{}. {}\n\n> {}\n",
        entry.id,
        entry.summary,
        toolset(entry),
        prose(entry.doc)
    );
    let parameters = parameters(&request);
    if parameters.is_empty() {
        part.push_str("\nNo parameters.\n");
    } else {
        part.push_str("\n| parameter | type | default | meaning |\n| --- | --- | --- | --- |\n");
        part.push_str(&parameters);
    }
    if let Some(example) = entry.examples.first() {
        write!(
            part,
            "\n```sh\ncurl -s localhost:8000/{} -d '{}'\n```\n",
            entry.id,
            example.replace('\'', "'\\''")
        )
        .expect("text");
    }
    part.push_str("\n| field of `data` | type | | meaning |\n| --- | --- | --- | --- |\n");
    fields(&answer, "", entry, &mut part);
    writeln!(part, "\nErrors: {}.", own_codes(entry)).expect("text");
    part
}

fn toolset(entry: &OperationTool) -> &'static str {
    if entry.core {
        "In both toolsets."
    } else {
        "Not in the toolset `core`."
    }
}

fn own_codes(entry: &OperationTool) -> String {
    match entry.errors {
        [] => "none of its own".to_owned(),
        own => codes(own),
    }
}

fn parameters(schema: &Value) -> String {
    let required: Vec<&str> = members(&schema["required"]).iter().map(text).collect();
    let rows = properties(schema).filter(|(name, _)| *name != ALLOW_ZONE_IN_PATH);
    let rows = rows.map(|(name, property)| {
        let default = match &property["default"] {
            _ if required.contains(&name) => "required".to_owned(),
            Value::Null => "–".to_owned(),
            value => format!("`{}`", value.to_string().trim_matches('"')),
        };
        let (kind, meaning) = (kind(property), meaning(property));
        format!("| `{name}` | {kind} | {default} | {meaning} |\n")
    });
    rows.collect::<Vec<String>>().concat()
}

/// One row for each field, those of objects and of lists of objects under it.
fn fields(schema: &Value, prefix: &str, entry: &OperationTool, part: &mut String) {
    for (name, property) in properties(schema) {
        let is_short =
            prefix.is_empty() && entry.short_answer.iter().any(|keep| keep.name() == name);
        let mark = if is_short { "short" } else { "" };
        let whole = format!("{prefix}{name}");
        writeln!(
            part,
            "| `{whole}` | {} | {mark} | {} |",
            kind(property),
            meaning(property)
        )
        .expect("text");
        fields(property, &format!("{whole}."), entry, part);
        fields(&property["items"], &format!("{whole}[]."), entry, part);
    }
}

fn kind(schema: &Value) -> String {
    match &schema["type"] {
        Value::String(name) if name == "array" => "list".to_owned(),
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().map(text).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

/// Returns the description of a property, and the values that it allows.
fn meaning(schema: &Value) -> String {
    let said = prose(text(&schema["description"]));
    let allowed: Vec<String> = members(&schema["enum"])
        .iter()
        .map(|value| format!("`{}`", text(value)))
        .collect();
    match (said.is_empty(), allowed.is_empty()) {
        (_, true) => said,
        (true, false) => allowed.join(", "),
        (false, false) => format!("{}: {}", said.trim_end_matches('.'), allowed.join(", ")),
    }
}

/// Text in a table of Markdown: calls stand in backticks, and nothing else is markup.
fn prose(said: &str) -> String {
    let mut shown = String::new();
    let mut rest = said;
    while let Some(place) = rest.find("shed_") {
        let (before, call) = rest.split_at(place);
        shown.push_str(&escaped(before));
        let end = call_length(call);
        if before.ends_with('`') {
            shown.push_str(&call[..end]);
        } else {
            write!(shown, "`{}`", call[..end].replace('|', "\\|")).expect("text");
        }
        rest = &call[end..];
    }
    shown + &escaped(rest)
}

fn escaped(said: &str) -> String {
    said.replace('|', "\\|")
        .replace('*', "\\*")
        .replace('<', "\\<")
        .replace('\n', " ")
}

/// Length of a name with its arguments, if it has some.
fn call_length(call: &str) -> usize {
    let name = call
        .find(|c: char| !(c.is_ascii_lowercase() || c == '_'))
        .unwrap_or(call.len());
    if !call[name..].starts_with('(') {
        return name;
    }
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (place, character) in call.char_indices().skip(name) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ')' if !is_quoted => return place + 1,
            _ => {}
        }
    }
    call.len()
}

fn codes(codes: &[Code]) -> String {
    let names: Vec<String> = codes
        .iter()
        .map(|code| format!("`{}`", code.as_str()))
        .collect();
    names.join(", ")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn members(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties: Option<&Map<String, Value>> = schema["properties"].as_object();
    let properties = properties.into_iter().flatten();
    properties.map(|(name, property)| (name.as_str(), property))
}
