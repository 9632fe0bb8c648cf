//! Middleware of every request: its id, the limit on its headers, and its line in the log.
//!
//! The line has the caller, operation, duration and result; never contents, file names or secrets.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use fileshed_core::{Clock, Error, Mutex, diagnostics};

use super::admission::AdmissionError;
use super::envelope::CallSubject;
use super::identity::CookieUse;
use super::response_body::KeptPrivately;
use super::response_body::trusted;
use super::serve::stream::TargetHasFragment;
use super::serve::{HEADERS_MAX_BYTES, current};
use super::{Server, dav, envelope, header, terminal};

pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_MAX_BYTES: usize = 64;

/// Probes, and what Open WebUI fetches on every turn of every chat or every few seconds.
const ASKED_OFTEN: &[&str] = &[
    "health",
    "ready",
    "openapi.json",
    "terminal/api/config",
    "terminal/health",
    "terminal/openapi.json",
    "terminal/system",
    "list_ports",
    "list_processes",
    "list_skills",
];

/// The id of a request, for its handler.
#[derive(Clone)]
pub(super) struct RequestId(pub(super) String);

/// Outcome of a call, for the log, if its HTTP response does not show a failure.
#[derive(Clone, Default)]
pub(super) struct CallOutcome(Arc<Mutex<Called>>);

#[derive(Default)]
struct Called {
    operation: Option<&'static str>,
    error: Option<Arc<Error>>,
}

impl CallOutcome {
    /// Says which operation was called.
    pub(super) fn names(&self, operation: &'static str) {
        self.0.lock().operation = Some(operation);
    }

    /// Says that it failed.
    pub(super) fn failed(&self, error: Error) {
        self.0.lock().error = Some(Arc::new(error));
    }
}

/// Refuses headers that are larger than any call needs, targets with a fragment, which would be lost, and
/// requests beyond the limit of the listener, except those for the server's state.
pub(super) async fn limit_headers(request: Request, next: Next) -> Response {
    if request.extensions().get::<TargetHasFragment>().is_some() {
        return envelope::failure(FragmentError);
    }
    let is_probe = ["/health", "/ready"].contains(&request.uri().path());
    if !is_probe && let Err(full) = current::take_place(&current::client()) {
        return envelope::failure(AdmissionError::from(full));
    }
    let size: usize = request
        .headers()
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if size > HEADERS_MAX_BYTES {
        return envelope::failure(HeadersTooLarge);
    }
    next.run(request).await
}

/// Gives a request its id, logs it, and writes out its failure.
pub(super) async fn log_request(
    State(server): State<Arc<Server>>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut line = RequestLog {
        id: request_id(request.headers()),
        operation: operation(&request),
        started: server.core.store.clock.instant(),
        clock: server.core.store.clock.clone(),
        done: false,
    };
    request.extensions_mut().insert(RequestId(line.id.clone()));
    let cookie_use = CookieUse::default();
    request.extensions_mut().insert(cookie_use.clone());
    let response = next.run(request).await;
    let (mut response, mut error) = envelope::seal(response, &line.id);
    if let Some(outcome) = response.extensions_mut().remove::<CallOutcome>() {
        let called = outcome.0.lock();
        if let Some(operation) = called.operation {
            line.operation = operation.into();
        }
        error = error.or_else(|| called.error.clone());
    }
    let may_be_kept = response.extensions().get::<KeptPrivately>().is_some();
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if cookie_use.happened() && !may_be_kept {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Ok(id) = HeaderValue::from_str(&line.id) {
        headers.insert(X_REQUEST_ID, id);
    }
    if let Some(error) = &error {
        server.metrics.failed(error.code());
    }
    let trust = response.extensions().get::<CallSubject>();
    let trust = trust.map(|subject| subject.trust.clone());
    line.write(&mut response, error.as_deref());
    match trust {
        Some(trust) => response.map(|body| trusted(body, &trust)),
        None => response,
    }
}

fn request_id(headers: &HeaderMap) -> String {
    let is_sane = |id: &&str| {
        (1..=REQUEST_ID_MAX_BYTES).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    match header::text(headers, &X_REQUEST_ID).filter(is_sane) {
        Some(id) => id.to_owned(),
        None => uuid::Uuid::new_v4().to_string(),
    }
}

/// Returns the operation or endpoint of a request; names in the path of the URL are not logged.
fn operation(request: &Request) -> Cow<'static, str> {
    let Some(route) = request.extensions().get::<MatchedPath>() else {
        return "unknown".into();
    };
    if let Some(id) = terminal::endpoint_id(request.method(), route.as_str()) {
        return id.into();
    }
    let (name, placeholder) = match route.as_str().split_once('{') {
        Some((name, _)) => (name, "/…"),
        None => (route.as_str(), ""),
    };
    let name = name.trim_matches('/');
    match name.strip_prefix("core/").unwrap_or(name) {
        "" => "start".into(),
        "dav" => dav::operation(request.method()).into(),
        name => format!("{name}{placeholder}").into(),
    }
}

/// The line of a request in the log; a request that the client gave up has one, too.
struct RequestLog {
    id: String,
    operation: Cow<'static, str>,
    started: Instant,
    clock: Clock,
    done: bool,
}

impl RequestLog {
    fn write(mut self, response: &mut Response, error: Option<&Error>) {
        self.done = true;
        let operation = &*self.operation;
        let status = response.status().as_u16();
        let code = error.map_or("OK", |error| error.code().as_str());
        let latency_ms = self.clock.elapsed(self.started).as_millis() as u64;
        let subject = response.extensions_mut().remove::<CallSubject>();
        let namespace = subject
            .as_ref()
            .map_or("-", |subject| subject.namespace.as_str());
        let request_id = self.id.as_str();
        match error {
            Some(error) if envelope::is_ours(error.code()) => {
                let cause = with_causes(error);
                tracing::error!(
                    operation, status, code, latency_ms, namespace, request_id, cause, "request"
                );
            }
            _ if ASKED_OFTEN.contains(&operation) => {
                tracing::debug!(
                    operation, status, code, latency_ms, namespace, request_id, "request"
                );
            }
            _ => tracing::info!(
                operation, status, code, latency_ms, namespace, request_id, "request"
            ),
        }
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        if !self.done {
            let (operation, request_id) = (&*self.operation, self.id.as_str());
            let latency_ms = self.clock.elapsed(self.started).as_millis() as u64;
            tracing::info!(
                operation,
                latency_ms,
                request_id,
                "the client closed the connection"
            );
        }
    }
}

/// Returns the text of a failure with all its causes, for logs and administrators only.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

diagnostics! {
    /// Headers beyond any need.
    #[derive(Debug, thiserror::Error)]
    #[error("the headers have more than {HEADERS_MAX_BYTES} bytes")]
    struct HeadersTooLarge => {
        code: BodyTooLarge,
        hint: "send fewer or shorter headers",
    }
}

diagnostics! {
    /// A `#` in the target of a request.
    #[derive(Debug, thiserror::Error)]
    #[error("the address has a `#`, so the text after it would be lost")]
    struct FragmentError => {
        code: InvalidPath,
        hint: "write `%23` for a `#` that is part of a name",
    }
}
