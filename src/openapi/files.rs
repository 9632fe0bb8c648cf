//! Paths that are not operations: whole files, links, and monitoring. They have no `operationId`,
//! so Open WebUI makes no tools of them.

use serde_json::{Map, Value, json};

use super::groups::{FILES, SERVER};

/// The paths, as they stand in the document.
pub(super) fn paths() -> Map<String, Value> {
    let paths = json!({
        "/files/upload": {
            "post": endpoint("Store the files of a form in a directory", &json!([
                zone(Some("uploads")), group(), query("path", "string", "The directory; made where it is missing."),
                query("overwrite", "boolean", "Replace files of the same name; else the new ones get another."),
                message(), chat(),
            ]), Some(form()), answers("Stored", &["400", "401", "403", "413", "429", "507"])),
        },
        "/files/uploads": {
            "post": endpoint("Begin the upload of one file in pieces (tus 1.0)", &json!([
                zone(Some("uploads")), group(), query("path", "string", "The directory; made where it is missing."),
                query("overwrite", "boolean", "Replace a file of the same name; else the new one gets another."),
                message(), chat(), tus(), header("Upload-Length", "integer", "Bytes of the whole file."),
                header("Upload-Metadata", "string", "The name of the file in base64: `filename bm90ZXMubWQ=`."),
            ]), None, no_content("201", "Begun: `Location` is the address of the upload", &["400", "401", "403", "412", "413", "429", "507"])),
        },
        "/files/uploads/{id}": {
            "head": endpoint("Ask how much of an upload has arrived", &json!([upload_id(), tus()]), None,
                no_content("200", "`Upload-Offset` and `Upload-Length`", &["401", "404", "412", "423"])),
            "patch": endpoint("Bring the next piece of an upload; the last one stores the file", &json!([
                upload_id(), tus(), header("Upload-Offset", "integer", "Bytes that have arrived before."),
            ]), Some(bytes("application/offset+octet-stream")),
                no_content("204", "`Upload-Offset`", &["400", "401", "403", "404", "409", "412", "413", "415", "423", "429", "507"])),
            "delete": endpoint("Give an upload up", &json!([upload_id(), tus()]), None,
                no_content("204", "Nothing of it is left", &["401", "403", "404", "412"])),
        },
        "/files/content": {
            "get": endpoint("Fetch a file, or a directory as a ZIP archive", &json!([
                zone(None), group(), required(path("Path of the file or directory inside its zone.")),
                query("inline", "boolean", "Show it instead of saving it."), chat(),
            ]), None, content(&["206", "304", "400", "401", "403", "404", "412", "416", "429"])),
            "put": endpoint("Store the body as one file", &json!([
                zone(None), group(), required(path("Path of the file inside its zone.")), message(), chat(),
            ]), Some(bytes("application/octet-stream")),
                answers("Replaced", &["201", "400", "401", "403", "412", "413", "429", "507"])),
        },
        "/files/archive": {
            "get": endpoint("Fetch several files and directories as one ZIP archive", &json!([
                zone(None), group(), required(path("Directory that holds them, inside its zone.")), names(), chat(),
            ]), None, content(&["400", "401", "403", "404", "429"])),
        },
        "/links/{token}": {
            "get": of_link("Open a link: the file, or the page that takes files", None,
                content(&["206", "304", "403", "404", "416", "429"])),
            "post": of_link("Bring files through an upload link", Some(form()),
                answers("Received", &["400", "403", "404", "413", "429", "507"])),
        },
        "/health": {"get": watched("The process answers, and says how commands are held.", &[])},
        "/ready": {"get": watched("Whether what the server needs is there.", &["503"])},
    });
    match paths {
        Value::Object(paths) => paths,
        _ => Map::new(),
    }
}

/// An endpoint of whole files.
fn endpoint(
    summary: &str,
    parameters: &Value,
    body: Option<Value>,
    responses: Map<String, Value>,
) -> Value {
    let endpoint = json!({"tags": [FILES], "summary": summary, "parameters": parameters});
    answered(endpoint, body, responses)
}

/// An endpoint that needs no credential but a link.
fn of_link(summary: &str, body: Option<Value>, responses: Map<String, Value>) -> Value {
    let token = json!({
        "name": "token",
        "in": "path",
        "required": true,
        "description": "The secret at the end of the link's address.",
        "schema": {"type": "string"},
    });
    let endpoint =
        json!({"tags": [FILES], "summary": summary, "security": [{}], "parameters": [token]});
    answered(endpoint, body, responses)
}

fn answered(mut endpoint: Value, body: Option<Value>, responses: Map<String, Value>) -> Value {
    if let Some(body) = body {
        endpoint["requestBody"] = body;
    }
    endpoint["responses"] = responses.into();
    endpoint
}

fn watched(summary: &str, statuses: &[&str]) -> Value {
    let mut responses = answers("Yes", statuses);
    responses.insert(
        "200".to_owned(),
        json!({"description": "Yes", "content": {"application/json": {"schema": {"type": "object"}}}}),
    );
    json!({"tags": [SERVER], "summary": summary, "security": [{}], "responses": responses})
}

fn form() -> Value {
    let file = json!({"type": "string", "format": "binary"});
    json!({"required": true, "content": {"multipart/form-data": {"schema": {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "array", "items": file, "description": "The files, each a part of the form with a file name."}},
    }}}})
}

/// A body with the bytes of a file.
fn bytes(content_type: &str) -> Value {
    let schema = json!({"type": "string", "format": "binary"});
    json!({"required": true, "content": {content_type: {"schema": schema}}})
}

fn zone(default: Option<&str>) -> Value {
    let mut zone = query("zone", "string", "The zone of the file or directory.");
    zone["schema"]["enum"] = json!(["uploads", "storage", "documents", "group"]);
    match default {
        Some(default) => {
            zone["schema"]["default"] = default.into();
            zone
        }
        None => required(zone),
    }
}

fn group() -> Value {
    query("group", "string", "Id or name, with zone=group.")
}

fn message() -> Value {
    query(
        "message",
        "string",
        "Message of the commit, where there is a history.",
    )
}

fn names() -> Value {
    let mut names = required(query(
        "name",
        "array",
        "Names in the directory, each once: `name=a.md&name=b.md`.",
    ));
    names["schema"]["items"] = json!({"type": "string"});
    names
}

fn chat() -> Value {
    query(
        "chat",
        "string",
        "The conversation, where no header names it.",
    )
}

fn path(description: &str) -> Value {
    query("path", "string", description)
}

fn query(name: &str, kind: &str, description: &str) -> Value {
    json!({"name": name, "in": "query", "description": description, "schema": {"type": kind}})
}

fn header(name: &str, kind: &str, description: &str) -> Value {
    json!({
        "name": name, "in": "header", "required": true, "description": description, "schema": {"type": kind},
    })
}

fn tus() -> Value {
    header(
        "Tus-Resumable",
        "string",
        "The version of the protocol: `1.0.0`.",
    )
}

fn upload_id() -> Value {
    json!({
        "name": "id",
        "in": "path",
        "required": true,
        "description": "The end of the address of the upload.",
        "schema": {"type": "string"},
    })
}

fn required(mut parameter: Value) -> Value {
    parameter["required"] = true.into();
    parameter
}

/// An envelope, and the statuses besides 200.
fn answers(done: &str, statuses: &[&str]) -> Map<String, Value> {
    let envelope = json!({"type": "object"});
    let answer =
        json!({"description": done, "content": {"application/json": {"schema": envelope}}});
    with(answer, statuses)
}

/// Bytes, and the statuses besides 200.
fn content(statuses: &[&str]) -> Map<String, Value> {
    let bytes = json!({"type": "string", "format": "binary"});
    let answer = json!({"description": "The content", "content": {"application/octet-stream": {"schema": bytes}}});
    with(answer, statuses)
}

/// Headers alone, and the statuses besides.
fn no_content(status: &str, description: &str, statuses: &[&str]) -> Map<String, Value> {
    let mut responses = with(json!({}), statuses);
    responses.remove("200");
    responses.insert(status.to_owned(), json!({"description": description}));
    responses
}

fn with(answer: Value, statuses: &[&str]) -> Map<String, Value> {
    let mut responses = Map::from_iter([("200".to_owned(), answer)]);
    for &status in statuses {
        let is_failure = status.starts_with(['4', '5']);
        let response = if is_failure {
            json!({
                "description": "Refused",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
            })
        } else {
            json!({"description": match status {
                "201" => "Made",
                "206" => "A part",
                _ => "Not changed",
            }})
        };
        responses.insert(status.to_owned(), response);
    }
    responses
}
