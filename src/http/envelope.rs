//! The envelope of every response, and the mapping from failures to statuses.
//!
//! A handler answers a failure with [`failure`], which only remembers it; `seal` writes it out
//! once the request id is known. A failure of the server itself is not described: the caller gets
//! the request id, the log gets the rest.

use std::sync::Arc;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use fileshed_core::hint::Person;
use fileshed_core::trust::Trust;
use fileshed_core::{Answers, Caller, Client, Code, Core, Error, Hint, Mutex, diagnostics};
use serde_json::{Value, json};

use super::admission::{CallPermit, PermitSlot};
use super::response_body;
use crate::ops::{self, AnswerData, Reply, SuccessEnvelope, short_answer};
use crate::status::statuses;

/// The caller of a request: its namespace for the log, and the trust in it for the answer.
#[derive(Clone)]
pub(super) struct CallSubject {
    pub(super) namespace: String,
    /// The answer breaks off when it ends.
    pub(super) trust: Trust,
}

impl CallSubject {
    pub(super) fn of(core: &Core, caller: &Caller) -> Self {
        Self {
            namespace: core.store.namespace(caller),
            trust: caller.cancellation.trust().clone(),
        }
    }
}

/// A failure, kept with its response until that is written.
#[derive(Clone)]
struct FailureExtension(Arc<Error>);

/// The JSON text of an answer.
pub(super) fn text(data: &dyn AnswerData) -> Result<Vec<u8>, Error> {
    data.text()
        .map_err(|error| SerializeError { source: error }.into())
}

/// An answer as data.
pub(super) fn value(data: &dyn AnswerData) -> Result<Value, Error> {
    data.value()
        .map_err(|error| SerializeError { source: error }.into())
}

diagnostics! {
    /// The answer could not be serialized.
    #[derive(Debug, thiserror::Error)]
    #[error("the answer could not be written")]
    struct SerializeError {
        #[source]
        source: serde_json::Error = serde::de::Error::custom("…"),
    } => {
        code: InternalApiError,
        hint: "read the current state, and repeat the call if the change is missing",
    }
}

/// The answer of an operation.
pub(super) fn answer(result: Result<Reply<Value>, Error>) -> Response {
    match result {
        Ok(reply) => Json(SuccessEnvelope::new(reply.data, reply.message)).into_response(),
        Err(error) => failure(error),
    }
}

/// Writes a failure, with the id of its request, in the form of a surface that has its own.
#[derive(Clone, Copy)]
pub(super) struct FailureForm(pub(super) fn(&Error, &str) -> Value);

/// An answer that says what went wrong.
pub(super) fn failure(error: impl Into<Error>) -> Response {
    let error = error.into();
    let status = status(&error);
    (status, Extension(FailureExtension(Arc::new(error)))).into_response()
}

/// A failure that a handler returns.
pub(super) struct HandlerError(Error);

impl<E: Into<Error>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for HandlerError {
    fn into_response(self) -> Response {
        failure(self.0)
    }
}

/// Returns the failure that an answer remembers.
pub(super) fn error_of(response: &Response) -> Option<&Error> {
    let failure = response.extensions().get::<FailureExtension>();
    failure.map(|failure| &*failure.0)
}

/// The answer of a call that failed. It keeps the permit until it has been written out: it may hold the
/// output of a command.
pub(super) fn failure_of_call(error: Error, admitted: CallPermit) -> Response {
    let held: PermitSlot = Arc::new(Mutex::new(Some(admitted)));
    (Extension(held), failure(error)).into_response()
}

/// Writes a remembered failure into the answer and gives it back for the log.
pub(super) fn seal(response: Response, request_id: &str) -> (Response, Option<Arc<Error>>) {
    let (mut parts, body) = response.into_parts();
    let Some(FailureExtension(error)) = parts.extensions.remove::<FailureExtension>() else {
        return (Response::from_parts(parts, body), None);
    };
    let headers = &mut parts.headers;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if error.code() == Code::Unauthorized {
        let bearer = HeaderValue::from_static("Bearer");
        headers.entry(WWW_AUTHENTICATE).or_insert(bearer);
    }
    if let Some(seconds) = error.retry_after() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    let client = parts.extensions.get::<Client>().copied();
    let client = client.unwrap_or_default();
    let text = match parts.extensions.remove::<FailureForm>() {
        Some(FailureForm(write)) => write(&error, request_id),
        None => failure_envelope(&error, request_id, client),
    }
    .to_string();
    let held = parts.extensions.remove::<PermitSlot>();
    let admitted = held.and_then(|held| held.lock().take());
    let response = response_body::respond(parts, text, admitted);
    (response, Some(error))
}

/// The envelope of a failure that a person reads, on the page or behind a drive.
pub(super) fn failure_of_person(error: &Error, request_id: &str) -> Value {
    let hint = next_step(error).offered(&Person);
    let hint = hint.unwrap_or_else(|| "check the current state, and try again".to_owned());
    let words = PERSON_WORDS.iter();
    let hint = words.fold(hint, |hint, (model, person)| hint.replace(model, person));
    envelope(error, request_id, Answers::Full, &hint)
}

/// Words of hints for models, and for the person for whom a model would have acted.
const PERSON_WORDS: [(&str, &str); 4] = [
    ("repeat the call", "try again"),
    ("tell the user that ", ""),
    ("tell the user: ", ""),
    ("tell the user to ", ""),
];

/// Next step after a failure of the server itself, which may have come after the change.
pub(super) const LOOK_FIRST: &str = "read the current state, and repeat the call if the change is missing; \
     if it fails again, tell the administrator the request id";

fn next_step(error: &Error) -> Hint {
    if is_masked(error) {
        return LOOK_FIRST.into();
    }
    error.hint().clone()
}

/// The envelope of a failure.
pub(super) fn failure_envelope(error: &Error, request_id: &str, client: Client) -> Value {
    let hint = next_step(error).told(&ops::offered(client.toolset));
    envelope(error, request_id, client.answers, &hint)
}

fn envelope(error: &Error, request_id: &str, answers: Answers, hint: &str) -> Value {
    let code = error.code().as_str();
    let error = if is_masked(error) {
        let (message, details) = ("the server failed", json!({"request_id": request_id}));
        json!({"code": code, "message": message, "details": details, "hint": hint})
    } else if answers == Answers::Minimal {
        short_answer::failure(error, hint)
    } else {
        let (message, details) = (error.message(), error.details());
        json!({"code": code, "message": message, "details": details, "hint": hint})
    };
    json!({"success": false, "error": error})
}

/// Returns `true` if the failure is the server's own, of which callers learn no details.
pub(super) fn is_ours(code: Code) -> bool {
    matches!(code, Code::DbError | Code::InternalApiError)
}

/// Returns `true` if a caller is told only the request id of a failure. A failure that names a wrong
/// setting is not masked.
pub(super) fn is_masked(error: &Error) -> bool {
    is_ours(error.code()) && !error.details().contains_key("setting")
}

/// Returns the HTTP status of a failure.
pub(super) fn status(error: &Error) -> StatusCode {
    let scope = error.details().get("scope").and_then(Value::as_str);
    match statuses(error.code()) {
        [_, server] if scope == Some("server") => *server,
        [status, ..] => *status,
        [] => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
