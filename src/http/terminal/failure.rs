//! Failures in the form of the terminal: a status and `{"detail": …}`, with the tools of this surface
//! in the place of the operations that hints name.

use std::borrow::Cow;

use axum::Extension;
use axum::extract::MatchedPath;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use fileshed_core::Error;
use fileshed_core::hint::{Argument, HintSurface, NextCall};
use serde_json::{Value, json};

use crate::http::envelope::{self, FailureForm};
use crate::http::route;

/// The same answer; if it is a failure, in the form of this surface.
pub(super) async fn shaped(response: Response) -> Response {
    (Extension(FailureForm(text)), response).into_response()
}

/// The address has other methods.
pub(super) async fn wrong_method(request: Parts) -> Response {
    let route = request.extensions.get::<MatchedPath>();
    let endpoint = route.and_then(|route| super::endpoints_at(route.as_str()).next());
    match endpoint {
        Some(endpoint) => route::refuse_method(&request, endpoint.method.clone()),
        None => route::wrong_method(request).await,
    }
}

/// Returns the body of a failure: message and hint in one string, because clients show nothing else.
pub(in crate::http) fn text(error: &Error, request_id: &str) -> Value {
    let code = error.code();
    if envelope::is_masked(error) {
        let detail = format!("the server failed; {} {request_id}", envelope::LOOK_FIRST);
        return json!({"detail": detail, "code": code.as_str()});
    }
    let message = in_tree(error);
    let detail = match error.hint().offered(&TerminalTools::of(error)) {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    };
    json!({"detail": detail, "code": code.as_str()})
}

/// Returns the message of a failure, with the paths of a zone replaced by paths of the tree.
fn in_tree(error: &Error) -> String {
    let (message, details) = (error.message(), error.details());
    let Some(root) = details.get("root").and_then(Value::as_str) else {
        return message.to_owned();
    };
    let path = details.get("path").into_iter();
    let lists = ["paths", "denied"].into_iter();
    let lists = lists.filter_map(|name| details.get(name)?.as_array());
    let items = lists.flatten().map(|item| match item {
        Value::Object(fields) => &fields["path"],
        item => item,
    });
    let paths = path.chain(items).filter_map(Value::as_str);
    paths.fold(message.to_owned(), |message, path| {
        message.replace(&format!("`{path}`"), &format!("`{}`", below(root, path)))
    })
}

/// The tools of the terminal, which hints name in the place of operations.
#[derive(Default)]
pub(super) struct TerminalTools<'e> {
    /// The zone of a failure, and its directory in the tree.
    zone: Option<&'e str>,
    root: Option<&'e str>,
}

impl<'e> TerminalTools<'e> {
    /// The tools for what follows a failure.
    fn of(error: &'e Error) -> Self {
        let text = |name: &str| error.details().get(name).and_then(Value::as_str);
        Self {
            zone: text("zone"),
            root: text("root"),
        }
    }

    /// The directory of the tree for the zone that a call names.
    fn root(&self, call: &NextCall) -> Cow<'e, str> {
        let zone = call.text("zone");
        match (zone, self.root, call.text("group")) {
            (Some(zone), Some(root), _) if self.zone == Some(zone) => Cow::Borrowed(root),
            (Some("group"), _, Some(group)) => Cow::Owned(format!("/groups/{group}")),
            (Some(zone), ..) => Cow::Owned(format!("/{zone}")),
            (None, ..) => Cow::Borrowed("/storage"),
        }
    }
}

/// Operations with the tools or commands that do the same.
const COUNTERPARTS: &[(&str, &str)] = &[
    ("shed_tree", "list_files"),
    ("shed_create_file", "write_file"),
    ("shed_patch_text", "replace_file_content"),
    ("shed_exec", "run_command"),
    ("shed_delete", "rm"),
    ("shed_rename", "mv"),
    ("shed_copy", "cp"),
    ("shed_history", "history"),
    ("shed_undo", "undo"),
];

impl HintSurface for TerminalTools<'_> {
    fn is_offered(&self, operation: &str) -> bool {
        let mut tools = super::tools();
        tools.any(|tool| tool.id == operation) || counterpart(operation).is_some()
    }

    fn name<'n>(&self, operation: &'n str) -> &'n str {
        counterpart(operation).unwrap_or(operation)
    }

    fn call(&self, call: &NextCall) -> String {
        let root = self.root(call);
        let path = below(&root, call.text("path").unwrap_or("."));
        match call.operation {
            "shed_tree" => format!("list_files(directory={})", quoted(&path)),
            "shed_delete" => run(&format!("rm -r {}", word(&path)), None),
            "shed_copy" => {
                let path = |parameter| {
                    let address = call.text(parameter).unwrap_or_default();
                    match address.strip_prefix("group/") {
                        Some(inside) => format!("/groups/{inside}"),
                        None => format!("/{address}"),
                    }
                };
                let (from, to) = (path("from"), path("to"));
                run(&format!("cp -r {} {}", word(&from), word(&to)), None)
            }
            "shed_exec" => {
                let words = call.text("cmd").into_iter().map(Cow::Borrowed);
                let line: Vec<_> = words.chain(arguments(call)).collect();
                let line: Vec<_> = line.iter().map(|text| word(text)).collect();
                run(&line.join(" "), Some(&root))
            }
            operation @ ("shed_history" | "shed_undo") => {
                call.to_string()
                    .replacen(operation, self.name(operation), 1)
            }
            _ => call.to_string(),
        }
    }
}

fn counterpart(operation: &str) -> Option<&'static str> {
    let mut known = COUNTERPARTS.iter();
    known.find_map(|(name, tool)| (*name == operation).then_some(*tool))
}

/// Returns the path in the tree of a path in a zone; a path of the tree stays.
fn below(root: &str, path: &str) -> String {
    match path {
        "" | "." => root.to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("{root}/{path}"),
    }
}

/// The words of the parameter `args`.
fn arguments(call: &NextCall) -> Vec<Cow<'_, str>> {
    match call.argument("args") {
        Some(Argument::Value(Value::Array(items))) => items.iter().map(shown).collect(),
        Some(Argument::List(items)) => {
            let values = items.iter().filter_map(|item| match item {
                Argument::Value(value) => Some(shown(value)),
                _ => None,
            });
            values.collect()
        }
        _ => Vec::new(),
    }
}

fn shown(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        value => Cow::Owned(value.to_string()),
    }
}

/// A call of the tool that runs a line.
fn run(line: &str, directory: Option<&str>) -> String {
    let line = quoted(line);
    match directory {
        Some(directory) => format!("run_command(command={line}, cwd={})", quoted(directory)),
        None => format!("run_command(command={line})"),
    }
}

/// A text as one word of a shell.
fn word(text: &str) -> Cow<'_, str> {
    shlex::try_quote(text).unwrap_or(Cow::Borrowed(text))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use fileshed_core::Hint;

    use super::*;

    #[test]
    fn operations_are_told_as_what_there_is_here() {
        for (call, expected) in [
            (
                NextCall::new("shed_tree")
                    .with("zone", "storage")
                    .with("path", "a b"),
                r#"list_files(directory="/storage/a b")"#,
            ),
            (
                NextCall::new("shed_tree")
                    .with("zone", "group")
                    .with("group", "team"),
                r#"list_files(directory="/groups/team")"#,
            ),
            (
                NextCall::new("shed_delete")
                    .with("zone", "documents")
                    .with("path", "it's"),
                r#"run_command(command="rm -r \"/documents/it's\"")"#,
            ),
            (
                NextCall::new("shed_exec")
                    .with("zone", "storage")
                    .with("cmd", "sed")
                    .with("args", vec!["-n", "1,5p", "a b.md"]),
                r#"run_command(command="sed -n '1,5p' 'a b.md'", cwd="/storage")"#,
            ),
        ] {
            let told = Hint::from(call).offered(&TerminalTools::default());
            assert_eq!(told.as_deref(), Some(expected));
        }
        let hint =
            Hint::from("make room with shed_delete; shed_stats shows the space of each zone");
        let told = hint.offered(&TerminalTools::default());
        assert_eq!(told.as_deref(), Some("make room with rm"));
        let hint = Hint::from("shed_link_list shows the links");
        assert_eq!(hint.offered(&TerminalTools::default()), None);
    }
}
