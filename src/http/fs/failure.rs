//! Failures as callers of compact tools read them: `{"error", "path"}`, one text that says all.

use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use fileshed_core::files::ToolError;
use fileshed_core::hint::{Argument, HintSurface, NextCall};
use fileshed_core::{Code, Error, REFUSED, unusable};
use serde_json::{Value, json};

use super::find;
use crate::http::envelope::{self, FailureForm};
use crate::http::identity::IdentityError;
use crate::http::route;

/// Message for a credential that is bound to another user than the one the request names.
const MISMATCH: &str = "tool/user-id mismatch: this tool was bound to a different user session and \
    cannot be reused";

/// Gives a response the form of this surface if it is a failure.
pub(super) async fn flat(mut response: Response) -> Response {
    if let Some(error) = envelope::error_of(&response) {
        if is_of_tool(error.code()) {
            *response.status_mut() = StatusCode::OK;
        }
        response.extensions_mut().insert(FailureForm(body));
    }
    response
}

/// Returns `true` if a failure is the tool's own, so that its status is 200: no failure of the
/// credential, the server or the URL.
fn is_of_tool(code: Code) -> bool {
    !matches!(
        code,
        Code::Unauthorized
            | Code::InvalidUser
            | Code::AccessDenied
            | Code::Busy
            | Code::BodyTooLarge
            | Code::OpenwebuiApiUnavailable
            | Code::UnknownOperation
            | Code::MethodNotAllowed
            | Code::DbError
            | Code::InternalApiError
    )
}

/// Returns the body of a failed call's response.
pub(in crate::http) fn body(error: &Error, request_id: &str) -> Value {
    let details = error.details();
    let path = details.get("asked").or_else(|| details.get("path"));
    json!({
        "error": text(error, request_id),
        "path": path.and_then(Value::as_str).unwrap_or_default(),
    })
}

/// Returns one message with the failure and the hint.
fn text(error: &Error, request_id: &str) -> String {
    let details = error.details();
    if details.contains_key("setting") && details.contains_key("reason") {
        return unusable(error, "storage");
    }
    if envelope::is_masked(error) {
        return format!("the server failed; {} {request_id}", envelope::LOOK_FIRST);
    }
    let message = error.message();
    let begins = match error.cause::<IdentityError>() {
        Some(IdentityError::NotItsUser) => return MISMATCH.to_owned(),
        Some(_) if is_nobody(error.code()) => format!("{REFUSED}: "),
        _ => String::new(),
    };
    // Messages of the tools already contain the hint.
    let says_all = !matches!(error.cause::<ToolError>(), None | Some(ToolError::Path(_)));
    match error.hint().offered(&CompactSurface) {
        Some(hint) if !says_all => format!("{begins}{message}; {hint}"),
        _ => format!("{begins}{message}"),
    }
}

/// Returns `true` if a failure says that the request names no caller.
pub(super) fn is_nobody(code: Code) -> bool {
    matches!(code, Code::Unauthorized | Code::InvalidUser)
}

/// The tools of this surface, in the place of the operations that hints speak of.
pub(super) struct CompactSurface;

/// Operations with the compact tools that do the same.
const COUNTERPARTS: &[(&str, &str)] = &[
    ("shed_tree", "list_files"),
    ("shed_create_file", "write_file"),
    ("shed_patch_text", "edit_file"),
    ("shed_delete", "remove_file"),
    ("shed_history", "history"),
    ("shed_undo", "undo"),
];

fn counterpart(operation: &str) -> Option<&'static str> {
    let found = COUNTERPARTS.iter().find(|(name, _)| *name == operation);
    found.map(|(_, tool)| *tool)
}

impl HintSurface for CompactSurface {
    fn is_offered(&self, operation: &str) -> bool {
        find(operation).is_some() || counterpart(operation).is_some()
    }

    fn name<'n>(&self, operation: &'n str) -> &'n str {
        counterpart(operation).unwrap_or(operation)
    }

    fn call(&self, call: &NextCall) -> String {
        let name = self.name(call.operation);
        match call.argument("path") {
            _ if matches!(name, "history" | "undo") => {
                call.to_string().replacen(call.operation, name, 1)
            }
            Some(Argument::Value(path)) => format!("{name}(path={path})"),
            _ => name.to_owned(),
        }
    }
}

/// The address has other methods.
pub(super) async fn wrong_method(request: Parts) -> Response {
    let name = route::asked_path(&request).rsplit('/').next();
    let taken = match name.and_then(find) {
        Some(_) => Method::POST,
        None => Method::GET,
    };
    route::refuse_method(&request, taken)
}
