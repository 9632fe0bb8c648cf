//! Failures as clients of a terminal read them: a status and `{"detail": …}`.

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use fileshed_core::Error;
use serde_json::{Value, json};

use crate::http::envelope::{self, FailureForm};
use crate::http::route;

mod tools;

use tools::TerminalTools;

/// An answer that says what went wrong.
pub(super) fn answer(error: impl Into<Error>) -> Response {
    shaped(envelope::failure(error))
}

/// The same answer; if it is a failure, in the form of this surface.
pub(super) fn shaped(mut response: Response) -> Response {
    response.extensions_mut().insert(FailureForm(text));
    response
}

/// There is nothing at this address. Open WebUI takes any other status below 400 for a server of
/// another kind.
pub(super) async fn unknown(request: Request) -> Response {
    answer(route::unlisted(&request, super::BASE))
}

/// The address has other methods.
pub(super) async fn wrong_method(request: Request) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let endpoint = route.and_then(|route| super::endpoints_at(route.as_str()).next());
    shaped(match endpoint {
        Some(endpoint) => route::refuse_method(&request, endpoint.method.clone()),
        None => route::wrong_method(request).await,
    })
}

/// The text of a failure: what went wrong and what to do, in one string, because clients show
/// nothing else.
pub(in crate::http) fn text(error: &Error, request_id: &str) -> Value {
    let code = error.code();
    if envelope::is_masked(error) {
        let detail =
            format!("the server failed; tell the administrator the request id {request_id}");
        return json!({"detail": detail, "code": code.as_str()});
    }
    let message = in_tree(error);
    let detail = match error.hint().offered(&TerminalTools::of(error)) {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    };
    json!({"detail": detail, "code": code.as_str()})
}

/// The message of a failure with the paths that it names as paths of the tree, where it was met in
/// a zone.
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
        message.replace(
            &format!("`{path}`"),
            &format!("`{}`", tools::below(root, path)),
        )
    })
}
