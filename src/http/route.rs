//! From an address to an operation, and the call itself.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::{OriginalUri, Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use fileshed_core::{CallerView, Channel, Error, Hint, Toolset, diagnostics};

use super::admission::CallPermit;
use super::call::{Call, Surface};
use super::pool::PanicError;
use super::{Server, body, envelope, header, response_body};
use crate::ops::{self, Answer, Entry, OPERATIONS};
use fileshed_core::nearest::nearest;

/// Bytes of a body that is parsed where it arrives.
const SHORT_BODY: usize = 4 * 1024;

/// One route an operation and toolset that has it.
pub(super) fn operations() -> Router<Arc<Server>> {
    let mut router = Router::new();
    for toolset in [Toolset::All, Toolset::Core] {
        for entry in OPERATIONS.iter().filter(|entry| entry.is_in(toolset)) {
            let handler = move |State(server): State<Arc<Server>>, request: Request| async move {
                call(server, entry, toolset, request).await
            };
            router = router.route(&entry.path(toolset), post(handler));
        }
    }
    router
}

/// How operations are called.
const SURFACE: Surface = Surface::of_page(Channel::Operations);

async fn call(
    server: Arc<Server>,
    entry: &'static Entry,
    toolset: Toolset,
    request: Request,
) -> Response {
    let answered = SURFACE.answer(server, request, |mut call| async move {
        let answers = header::answers(&call.parts.headers);
        let client = &mut call.caller.client;
        (client.toolset, client.answers) = (toolset, answers);
        let client = *client;
        let mut response = run(call, entry).await.unwrap_or_else(envelope::failure);
        header::applied(&mut response, answers);
        response.extensions_mut().insert(client);
        Ok(response)
    });
    answered.await
}

/// Waits for the permit of a call, then reads its body, then runs it.
async fn run(mut call: Call, entry: &'static Entry) -> Result<Response, Error> {
    call.expect_scope(entry.changes)?;
    let mut permit = call.admit().await?;
    let limit = entry.body_max.min(call.server.body_limit);
    let body = call.read_body(limit, &mut permit).await?;
    if let Some(answer) = at_once(&call, entry, &body) {
        return Ok(response(written(answer), permit));
    }
    let work =
        move |view: CallerView<'_>, permit: &mut CallPermit| execute(view, entry, body, permit);
    let (result, permit) = call.run(permit, work).await?;
    Ok(response(result, permit))
}

/// The answer to a call that needs no thread; nothing where it needs one.
fn at_once(call: &Call, entry: &Entry, body: &[u8]) -> Option<Answer> {
    let at_once = entry.call.at_once.filter(|_| body.len() <= SHORT_BODY)?;
    let arguments = body::parse(body, |name| entry.is_known(name)).ok()?;
    at_once(&call.server.core, &call.caller, arguments)
}

fn response(result: Result<WrittenAnswer, Error>, admitted: CallPermit) -> Response {
    match result {
        Ok((None, text)) => response_body::json(text, admitted),
        Ok((Some(kind), picture)) => response_body::picture(&kind, picture, admitted),
        Err(error) => envelope::failure_of_call(error, admitted),
    }
}

/// The bytes of an answer, with their type where it is a picture.
type WrittenAnswer = (Option<Cow<'static, str>>, Vec<u8>);

fn written(answer: Answer) -> Result<WrittenAnswer, Error> {
    match answer.picture {
        Some(picture) => Ok((Some(picture.mime_type), picture.bytes)),
        None => Ok((None, envelope::text(&*answer.data)?)),
    }
}

/// Runs a call and writes its answer; blocks.
fn execute(
    view: CallerView<'_>,
    entry: &Entry,
    body: Vec<u8>,
    admitted: &mut CallPermit,
) -> Result<WrittenAnswer, Error> {
    let (core, caller) = (view.core, view.caller);
    let arguments = body::parse(&body, |name| entry.is_known(name))?;
    let body_bytes = body.len() as u64;
    drop(body);
    let answer = (entry.call.answer_max)(core.store.settings(), &arguments);
    admitted.reserve_blocking(body_bytes + answer, &caller.cancellation)?;
    written((entry.call.run)(core, caller, arguments)?)
}

/// There is nothing at this address.
pub(super) async fn unknown(request: Request) -> Response {
    let path = asked_path(&request);
    let name = path.trim_matches('/');
    envelope::failure(RouteError::Unknown {
        path: path.chars().take(100).collect(),
        meant: nearest(name, OPERATIONS.iter().map(|entry| entry.id)),
    })
}

/// Why there is nothing at the endpoint of a request to a surface with a document of its own.
pub(super) fn unlisted(request: &Request, base: &'static str) -> RouteError {
    RouteError::Unlisted {
        path: asked_path(request).chars().take(100).collect(),
        base,
    }
}

/// The address does not have this method; the router adds which ones it has.
pub(super) async fn wrong_method(request: Request) -> Response {
    let taken = match ops::find(asked_path(&request).trim_matches('/')) {
        Some(_) => Method::POST,
        None => Method::GET,
    };
    refuse_method(&request, taken)
}

/// The address takes another method.
pub(super) fn refuse_method(request: &Request, taken: Method) -> Response {
    if request.method() == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    envelope::failure(RouteError::Method {
        method: request.method().clone(),
        path: asked_path(request).to_owned(),
        taken,
    })
}

/// The whole path of a request, also below a prefix, where the router takes it off.
pub(super) fn asked_path(request: &Request) -> &str {
    match request.extensions().get::<OriginalUri>() {
        Some(whole) => whole.path(),
        None => request.uri().path(),
    }
}

/// A handler that panicked.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the layer hands over the payload"
)]
pub(super) fn panicked(payload: Box<dyn Any + Send>) -> Response {
    envelope::failure(PanicError::of(&*payload))
}

diagnostics! {
    /// Why a call did not reach its operation, or did not come back from it.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum RouteError {
        /// There is nothing at the address.
        #[error("there is nothing at `{path}`")]
        Unknown {
            path: String = "/shed_tre".to_owned(),
            meant: Option<&'static str> => [Some("shed_tree"), None],
        } => {
            code: UnknownOperation,
            hint: match meant {
                Some(meant) => Hint::from(format!("did you mean POST /{meant}?")),
                None => "GET /openapi.json lists the operations".into(),
            },
        },
        /// There is nothing at an endpoint below a surface that has a document of its own.
        #[error("there is nothing at `{path}`")]
        Unlisted {
            path: String = "/fs/move_file".to_owned(),
            base: &'static str => ["/fs", "/terminal"],
        } => {
            code: UnknownOperation,
            hint: format!("GET {base}/openapi.json lists what there is"),
        },
        /// The address has other methods.
        #[error("`{path}` does not take {method}")]
        Method {
            method: Method = Method::PUT,
            path: String = "/shed_tree".to_owned(),
            taken: Method => [Method::POST, Method::GET],
        } => {
            code: MethodNotAllowed,
            hint: if taken == Method::POST {
                format!("send POST {path} with a JSON object")
            } else {
                format!("send {taken} {path}")
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use serde_json::json;
    use tower::ServiceExt as _;

    use super::*;
    use crate::config::Config;
    use crate::http::{router, timer};
    use crate::ops::OperationCall;
    use fileshed_core::timings::minutes;
    use fileshed_core::{Caller, Clock, Code, Core};
    use serde_json::Value;

    fn entry(call: crate::ops::Handler) -> &'static Entry {
        let call = OperationCall {
            run: call,
            ..OPERATIONS[0].call
        };
        Box::leak(Box::new(Entry {
            call,
            ..OPERATIONS[0]
        }))
    }

    fn nothing() -> Answer {
        Answer::of(Value::Null)
    }

    fn server(calls: u64) -> (tempfile::TempDir, Arc<Server>) {
        let directory = tempfile::tempdir().expect("a directory");
        let config = Config {
            core: fileshed_core::Settings::new(directory.path()),
            max_concurrent_calls: calls,
            ..Config::default()
        };
        let core = Arc::new(Core::open_at(config.core.clone(), Clock::movable()).expect("a store"));
        (directory, Arc::new(Server::new(core, &config, None)))
    }

    /// What comes of something when a minute has passed.
    async fn while_time_passes<T>(server: &Server, something: impl Future<Output = T>) -> T {
        let passes = async { server.core.store.clock().advance(60) };
        tokio::join!(something, passes).0
    }

    /// A call of nobody in particular.
    async fn called(server: &Arc<Server>, entry: &'static Entry) -> Result<Response, Error> {
        let (parts, body) = Request::new(Body::empty()).into_parts();
        let call = Call {
            server: Arc::clone(server),
            caller: Caller::default(),
            parts,
            body,
        };
        run(call, entry).await
    }

    #[tokio::test]
    async fn a_panic_is_answered_without_its_text() {
        let (_directory, server) = server(1);
        let panics = entry(|_, _, _| panic!("the pepper is salt"));
        let error = called(&server, panics).await.expect_err("it panics");
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
        let place = server.admission.admit("somebody").await;
        assert!(place.is_ok(), "the permit is given back");
    }

    #[tokio::test]
    async fn a_call_without_a_turn_is_told_to_come_back() {
        let (_directory, server) = server(1);
        let _taken = server.admission.admit("somebody").await.expect("a permit");
        let call = called(&server, &OPERATIONS[0]);
        let error = while_time_passes(&server, call).await;
        let error = error.expect_err("no permit is free");
        let (response, _) = envelope::seal(envelope::failure(error), "request-1");
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()["retry-after"], "5");
    }

    #[tokio::test]
    async fn one_user_leaves_places_to_others() {
        let (_directory, server) = server(4);
        let enter = |user: &'static str| server.admission.admit(user);
        let _own = (enter("a").await, enter("a").await);
        let error = while_time_passes(&server, enter("a")).await;
        let error = error.expect_err("half is taken");
        let (response, _) = envelope::seal(envelope::failure(error), "request-1");
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert!(enter("b").await.is_ok());
    }

    #[tokio::test]
    async fn a_body_has_no_place_in_memory_that_it_did_not_wait_for() {
        let (_directory, server) = server(9);
        let all = server.admission.admit("a").await;
        let mut all = all.expect("a permit");
        all.set_held(u64::MAX / 2);
        // A small body needs no more than its place.
        assert!(
            called(&server, entry(|_, _, _| Ok(nothing())))
                .await
                .is_ok()
        );
        let mut admitted = server.admission.admit("b").await.expect("a permit");
        let mut body = Body::from(vec![b' '; 3 << 20]);
        let read = body::collect(&mut body, None, 64 << 20, &mut admitted);
        let read = while_time_passes(&server, read).await;
        assert_eq!(read.expect_err("no memory").code(), Code::Busy);
        drop(all);
        let mut body = Body::from(vec![b' '; 3 << 20]);
        let read = body::collect(&mut body, None, 64 << 20, &mut admitted).await;
        assert_eq!(read.map(|read| read.len()).ok(), Some(3 << 20));
    }

    #[tokio::test]
    async fn a_client_that_goes_away_cancels_and_the_work_completes() {
        let (_directory, server) = server(1);
        let waits = entry(|_, caller, _| {
            while !caller.cancellation.is_cancelled() {
                std::thread::yield_now();
            }
            Ok(nothing())
        });
        let clock = server.core.store.clock();
        let call = timer::within(clock, minutes(1), called(&server, waits));
        let left = while_time_passes(&server, call).await;
        assert!(left.is_none(), "the client leaves first");
        // The permit comes back only when the work has ended by itself.
        assert!(server.admission.admit("somebody").await.is_ok());
    }

    #[tokio::test]
    async fn every_operation_refuses_who_is_nobody() {
        let (_directory, server) = server(1);
        let config = Config {
            api_keys: vec![crate::config::Secret::new("key")],
            ..Config::default()
        };
        let app = router(
            Arc::clone(&server.core),
            &config,
            None,
            crate::http::McpToolset::default(),
        );
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
