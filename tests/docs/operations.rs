//! docs/operations.md, made from the list of operations and a section about whole files. With
//! `FILESHED_WRITE_CATALOGUE=1` it is written anew.

use std::fmt::Write as _;

use fileshed::ops::{ALLOW_ZONE_IN_PATH, COMMON_ERRORS, GROUP_ERRORS, OPERATIONS, OperationTool};
use fileshed_core::{Code, Toolset};
use serde_json::{Map, Value};

use crate::page::read;
use fileshed_test_support::repository;

const HEAD: &str = "# Operations

Every operation is `POST /<name>` with a JSON object. This page is made from the program. What each operation promises exactly is in [SPEC.md](../SPEC.md#operations); `openapi/fileshed.json` has the same for programs. The first paragraph of an operation is for people, the second is what models read.

Every operation may also answer the codes of [all operations](#all-operations); [models.md](models.md#errors) explains each code. A short answer (`Prefer: return=minimal`) has the fields that are marked *short*, unless they say nothing new.

Whole files have [addresses of their own](#files-in-and-out) beside the operations.
";

/// The requests for whole files, which are no operations.
const WHOLE_FILES: &str = "
## Files in and out

Clients and scripts store and fetch whole files at the addresses below. These are no operations: no model is offered them. The parameters are in the address, percent-encoded, and the body is the file itself. Credentials, chats and failures are those of operations. [http.md](http.md#files-in-and-out) has examples, [SPEC.md](../SPEC.md#files-in-and-out) the exact behaviour.

| request | action | success |
| --- | --- | --- |
| `POST /files/upload` | Stores the files of a form (`multipart/form-data`) in a directory; all of them or none. | 200 |
| `GET /files/content`, `HEAD /files/content` | Fetches a file, or a directory as a ZIP archive. Takes `Range` and the conditions of HTTP. | 200, 206, 304 |
| `PUT /files/content` | Stores the body as one file, and makes missing directories. Takes `If-Match` and `If-None-Match`. | 201 new, 200 replaced |
| `GET /files/archive`, `HEAD /files/archive` | Fetches several entries of one directory as one ZIP archive. | 200 |
| `POST /files/uploads` | Begins the upload of one file in pieces, by the protocol [tus 1.0](https://tus.io/protocols/resumable-upload). The address of the upload is in `Location`. | 201 |
| `HEAD /files/uploads/{id}` | Tells how many bytes have arrived. | 200 |
| `PATCH /files/uploads/{id}` | Adds the next piece (`application/offset+octet-stream`); the last one stores the file, whose path is then in `Upload-Metadata` (`path`, in base64). | 204 |
| `DELETE /files/uploads/{id}` | Gives the upload up. | 204 |

| parameter | of | default | meaning |
| --- | --- | --- | --- |
| `zone` | all but `/files/uploads/{id}` | required; for `/files/upload` and `/files/uploads` `uploads` | `uploads`, `storage`, `documents`, `group` |
| `group` | the same | – | With the zone `group`: its id or name |
| `path` | the same | required; for `/files/upload` and `/files/uploads` `.` | `/files/content`: the file or directory. The others: the directory |
| `chat` | the same | that of the headers | The chat whose `uploads` are meant |
| `overwrite` | `/files/upload`, `/files/uploads` | `false` | `true` replaces a file of the same name; `false` gives the new file another name |
| `message` | requests that store | – | For the commit |
| `inline` | `GET /files/content` | `false` | `true` lets a browser show the file instead of saving it |
| `name` | `/files/archive` | required | An entry of the directory, once for each: `name=a.md&name=b.md` |
| `Tus-Resumable` | `/files/uploads`, as a header | required | `1.0.0` |
| `Upload-Length` | `POST /files/uploads`, as a header | required | Bytes of the whole file |
| `Upload-Metadata` | `POST /files/uploads`, as a header | required | The name of the file in base64: `filename bm90ZXMubWQ=` |
| `Upload-Offset` | `PATCH /files/uploads/{id}`, as a header | required | Bytes that have arrived before |
| `id` | `/files/uploads/{id}` | required | The end of `Location` |

`data` of `POST /files/upload` has `zone`, `files` (each with `name`, `path`, `size_bytes`, `created`) and `count`; of `PUT /files/content` `zone`, `path`, `size_bytes` and `created`, and the header `ETag` comes with it.

Errors: `INVALID_ZONE`, `PATH_ESCAPE`, `PATH_STARTS_WITH_ZONE`, `PROTECTED_PATH`, `INVALID_PATH`, `FILE_NOT_FOUND`, `NOT_A_FILE`, `FILE_LOCKED`, `FILE_TOO_LARGE`, `QUOTA_EXCEEDED`, `PERMISSION_DENIED`, `PRECONDITION_FAILED`, `RANGE_NOT_SATISFIABLE`.
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
    let page = page();
    let blocks = page.split("```sh\n").skip(1);
    let commands: Vec<Vec<String>> = blocks
        .filter_map(|block| shlex::split(block.split("\n```").next()?))
        .collect();
    for entry in OPERATIONS {
        let address = format!("localhost:8000/{}", entry.id);
        let command = commands.iter().find(|words| words.get(2) == Some(&address));
        let command =
            command.unwrap_or_else(|| panic!("no group of src/openapi/groups.rs has {}", entry.id));
        assert_eq!(command[4], entry.examples[0], "{}", entry.id);
    }
}

/// The addresses and parameters in the document for programs are those of the section.
#[test]
fn the_requests_for_whole_files_are_described() {
    let document = fileshed::openapi::document(Toolset::All);
    let paths = document["paths"].as_object().expect("paths");
    for (path, methods) in paths {
        if !path.starts_with("/files/") {
            continue;
        }
        assert!(WHOLE_FILES.contains(path.as_str()), "{path}");
        for operation in methods.as_object().expect("methods").values() {
            for parameter in members(&operation["parameters"]) {
                let name = format!("`{}`", text(&parameter["name"]));
                assert!(WHOLE_FILES.contains(&name), "{path}: {name}");
            }
        }
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
    contents.push_str("- **Files in and out**: [whole files](#files-in-and-out)\n");
    let common = format!(
        "{TAIL}\nCodes of all operations: {}.\n\nOperations with the parameter `group` may also answer {}. Operations with paths take `{ALLOW_ZONE_IN_PATH}` (boolean): a path may then begin with the name of a zone.\n",
        codes(COMMON_ERRORS),
        codes(GROUP_ERRORS)
    );
    format!("{HEAD}{contents}{sections}{WHOLE_FILES}{common}")
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
    match entry.errors.concat().as_slice() {
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
