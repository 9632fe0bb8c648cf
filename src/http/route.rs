//! From an address to an operation, and the call itself.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use fileshed_core::caller::Cancellation;
use fileshed_core::{Caller, Code, Error, Teach};
use serde_json::{Map, Value};
use tokio::task::JoinError;

use super::request::Subject;
use super::{Server, body, envelope};
use crate::nearest::nearest;
use crate::ops::{Entry, OPERATIONS, Reply};

/// How long a call waits for its turn.
const TURN: Duration = Duration::from_secs(5);

/// One route an operation.
pub(super) fn operations() -> Router<Arc<Server>> {
    OPERATIONS.iter().fold(Router::new(), |router, entry| {
        let handler = move |State(server): State<Arc<Server>>, request: Request| async move {
            call(&server, entry, request).await
        };
        router.route(&format!("/{}", entry.id), post(handler))
    })
}

async fn call(server: &Arc<Server>, entry: &'static Entry, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let caller = match identify(server, &parts).await {
        Ok(caller) => caller,
        Err(error) => return envelope::failure(error),
    };
    let subject = Subject::of(&server.shed, &caller);
    let result = match body::read(body, server.body_limit).await {
        Ok(arguments) => run(server, entry, caller, arguments).await,
        Err(error) => Err(error.into()),
    };
    let mut response = envelope::answer(result);
    response.extensions_mut().insert(subject);
    response
}

/// Who calls.
pub(super) async fn identify(
    server: &Arc<Server>,
    parts: &axum::http::request::Parts,
) -> Result<Caller, Error> {
    let claim = server.gate.claim(parts)?;
    let place = server.gate.place(&claim).await?;
    let server = Arc::clone(server);
    let settled = tokio::task::spawn_blocking(move || {
        let _place = place;
        server.gate.settle(claim, &server.shed)
    });
    settled.await.map_err(RouteError::from)?
}

async fn run(
    server: &Arc<Server>,
    entry: &'static Entry,
    caller: Caller,
    arguments: Map<String, Value>,
) -> Result<Reply<Value>, Error> {
    let turn = tokio::time::timeout(TURN, Arc::clone(&server.calls).acquire_owned());
    let Ok(Ok(permit)) = turn.await else {
        return Err(RouteError::Busy.into());
    };
    // Dropped with this future when the client hangs up: a command ends, work on files completes.
    let _watch = Watch(caller.cancellation.clone());
    let shed = Arc::clone(&server.shed);
    let work = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        (entry.call)(&shed, &caller, arguments)
    });
    work.await.map_err(RouteError::from)?
}

struct Watch(Cancellation);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// An address that nothing has.
pub(super) async fn unknown(request: Request) -> Response {
    let path = request.uri().path();
    let name = path.trim_matches('/');
    envelope::failure(RouteError::Unknown {
        path: path.chars().take(100).collect(),
        meant: nearest(name, OPERATIONS.iter().map(|entry| entry.id)),
    })
}

/// A method that an address does not have; the router adds which ones it has.
pub(super) async fn wrong_method(request: Request) -> Response {
    if request.method() == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    envelope::failure(RouteError::Method {
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
    })
}

/// A handler that panicked.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the layer hands over the payload"
)]
pub(super) fn panicked(payload: Box<dyn Any + Send>) -> Response {
    envelope::failure(RouteError::Panic(text_of(&*payload)))
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("no text").to_owned()
}

/// Why a call did not reach its operation, or did not come back from it.
#[derive(Debug, thiserror::Error)]
pub(super) enum RouteError {
    /// Nothing there.
    #[error("there is nothing at `{path}`")]
    Unknown {
        path: String,
        meant: Option<&'static str>,
    },
    /// Something there, for another method.
    #[error("`{path}` does not take {method}")]
    Method { method: Method, path: String },
    /// No turn in time.
    #[error("the server is busy")]
    Busy,
    /// A panic, with its text for the log.
    #[error("panicked: {0}")]
    Panic(String),
}

impl From<JoinError> for RouteError {
    fn from(error: JoinError) -> Self {
        Self::Panic(match error.try_into_panic() {
            Ok(payload) => text_of(&*payload),
            Err(error) => error.to_string(),
        })
    }
}

impl Teach for RouteError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::UnknownOperation,
            Self::Method { .. } => Code::MethodNotAllowed,
            Self::Busy => Code::Busy,
            Self::Panic(_) => Code::InternalApiError,
        }
    }

    fn hint(&self) -> String {
        match self {
            Self::Unknown {
                meant: Some(meant), ..
            } => format!("did you mean POST /{meant}?"),
            Self::Unknown { meant: None, .. } => {
                "GET /openapi.json lists the operations".to_owned()
            }
            Self::Method { path, .. } if crate::ops::find(path.trim_matches('/')).is_some() => {
                format!("send POST {path} with a JSON object")
            }
            Self::Method { path, .. } => format!("send GET {path}"),
            Self::Busy => "call again in a few seconds".to_owned(),
            Self::Panic(_) => "call again".to_owned(),
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        if matches!(self, Self::Busy) {
            details.insert("scope".to_owned(), "server".into());
        }
        details
    }

    fn retry_after(&self) -> Option<u64> {
        matches!(self, Self::Busy).then_some(TURN.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use fileshed_core::Shed;
    use serde_json::json;
    use tower::ServiceExt as _;

    use super::*;
    use crate::config::Config;
    use crate::http::app;

    fn entry(call: crate::ops::Call) -> &'static Entry {
        Box::leak(Box::new(Entry {
            call,
            ..OPERATIONS[0]
        }))
    }

    fn server(calls: u64) -> (tempfile::TempDir, Arc<Server>) {
        let directory = tempfile::tempdir().expect("a directory");
        let config = Config {
            core: fileshed_core::Settings::new(directory.path()),
            max_concurrent_calls: calls,
            ..Config::default()
        };
        let shed = Arc::new(Shed::open(config.core.clone()).expect("a shed"));
        (directory, Arc::new(Server::new(shed, &config)))
    }

    #[tokio::test]
    async fn a_panic_is_answered_without_its_text() {
        let (_directory, server) = server(1);
        let panics = entry(|_, _, _| panic!("the pepper is salt"));
        let error = run(&server, panics, Caller::default(), Map::new())
            .await
            .expect_err("it panics");
        let (response, error) = envelope::seal(envelope::failure(error), "request-1");
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = to_bytes(response.into_body(), 10_000)
            .await
            .expect("a body");
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["error"]["details"], json!({"request_id": "request-1"}));
        assert!(!body.to_string().contains("salt"), "{body}");
        let logged = error.expect("a failure").message().to_owned();
        assert_eq!(logged, "panicked: the pepper is salt");
        let permits = server.calls.available_permits();
        assert_eq!(permits, 1, "the turn is given back");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_a_turn_is_told_to_come_back() {
        let (_directory, server) = server(1);
        let _taken = server.calls.acquire().await.expect("a turn");
        let error = run(&server, &OPERATIONS[0], Caller::default(), Map::new())
            .await
            .expect_err("no turn is free");
        let (response, _) = envelope::seal(envelope::failure(error), "request-1");
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()["retry-after"], "5");
    }

    #[tokio::test]
    async fn a_client_that_goes_away_cancels_and_the_work_completes() {
        let (_directory, server) = server(1);
        let waits = entry(|_, caller, _| {
            while !caller.cancellation.is_cancelled() {
                std::thread::yield_now();
            }
            Ok(Reply::new(Value::Null, "done"))
        });
        let caller = Caller::default();
        let call = run(&server, waits, caller, Map::new());
        let left = tokio::time::timeout(Duration::from_millis(50), call).await;
        assert!(left.is_err(), "the client leaves first");
        // The turn comes back only when the work has ended by itself.
        let turn = tokio::time::timeout(TURN, server.calls.acquire()).await;
        assert!(turn.is_ok_and(|turn| turn.is_ok()));
    }

    #[tokio::test]
    async fn every_operation_refuses_who_is_nobody() {
        let (_directory, server) = server(1);
        let config = Config {
            api_keys: vec![crate::config::Secret::new("key")],
            ..Config::default()
        };
        let app = app(Arc::clone(&server.shed), &config);
        for entry in OPERATIONS {
            let request = Request::post(format!("/{}", entry.id))
                .body(axum::body::Body::empty())
                .expect("a request");
            let response = app.clone().oneshot(request).await.expect("an answer");
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{}", entry.id);
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
        }
    }
}
