//! Tools as HTTP and MCP call them: operations, endpoints of the terminal and compact tools.
//!
//! A call is answered at once, or when a process has written more or has ended, or for as long as a
//! process runs. A call that waits for a process holds no permit of its user meanwhile.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use fileshed_core::fair::CallSlot;
use fileshed_core::processes::Process;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::{CallerView, Channel, Error, Settings, Toolset};
use serde::Serialize;
use serde_json::{Map, Value};

use super::admission::CallPermit;
use super::body::{self, BodyError};
use super::call::{Call, Surface, expect_scope};
use super::files::download::{FileDownload, Presentation};
use super::peer::{self, CallRoute};
use super::{Server, envelope, header, response_body};
use crate::ops::{Answer, OPERATIONS, OperationTool, Picture, Tool};
pub(super) use pending::Awaited;

mod pending;

/// Bytes of a body that is parsed where it arrives.
const SHORT_BODY: usize = 4 * 1024;

/// A tool of any surface.
pub(super) type CallableTool = Tool<ToolCall>;

/// The calls of a tool.
pub(super) struct ToolCall {
    /// Its use of the processes and shells of its user, which may be on another server.
    pub(super) processes: Option<ProcessUse>,
    /// Most bytes of an answer, if it can be large.
    pub(super) answer_max: fn(&Settings, &Map<String, Value>) -> u64,
    /// Other names of parameters.
    pub(super) aliases: &'static [(&'static str, &'static str)],
    /// Begins a call, whose request has these headers. Blocks.
    pub(super) begin: Begin,
    /// Answers a call without blocking, if that is possible.
    pub(super) at_once: Option<AtOnce>,
}

/// [`ToolCall::begin`]
type Begin = Box<
    dyn Fn(CallerView<'_>, &HeaderMap, Map<String, Value>) -> Result<CallStep, Error> + Send + Sync,
>;

/// [`ToolCall::at_once`]
type AtOnce = Box<dyn Fn(CallerView<'_>, Map<String, Value>) -> Option<ToolContent> + Send + Sync>;

/// Every operation, in the order of [`OPERATIONS`].
pub(super) static OPERATION_TOOLS: LazyLock<Vec<CallableTool>> =
    LazyLock::new(|| OPERATIONS.iter().map(CallableTool::of_operation).collect());

/// The answer of a tool.
pub(super) enum ToolContent {
    /// JSON, or a picture.
    Answer(Answer),
    /// A file as it is, read while it is sent.
    File(FileDownload),
}

/// The end of a call that waits. Blocks.
type Rest = Box<dyn FnOnce(CallerView<'_>) -> Result<ToolContent, Error> + Send>;

/// The state of a call that has begun.
pub(super) enum CallStep<A = ToolContent> {
    /// It is done.
    Answered(A),
    /// The rest is done once something has happened.
    Waits(Awaited, Rest),
    /// It goes on as long as this process.
    Streams(Arc<Process>),
}

/// The result of a function: an answer in JSON, a content, or a step.
pub(super) trait IntoStep {
    fn into_step(self) -> CallStep;
}

impl<T: Serialize + Send + 'static> IntoStep for T {
    fn into_step(self) -> CallStep {
        CallStep::data(self)
    }
}

impl IntoStep for ToolContent {
    fn into_step(self) -> CallStep {
        CallStep::Answered(self)
    }
}

impl IntoStep for CallStep {
    fn into_step(self) -> CallStep {
        self
    }
}

impl CallStep {
    /// An answer in JSON.
    pub(super) fn data(data: impl Serialize + Send + 'static) -> Self {
        Self::Answered(ToolContent::data(data))
    }

    /// The same with the answer in another form.
    pub(super) fn answered<B>(
        self,
        form: impl FnOnce(ToolContent) -> Result<B, Error>,
    ) -> Result<CallStep<B>, Error> {
        Ok(match self {
            Self::Answered(answer) => CallStep::Answered(form(answer)?),
            Self::Waits(awaited, rest) => CallStep::Waits(awaited, rest),
            Self::Streams(process) => CallStep::Streams(process),
        })
    }
}

impl CallableTool {
    fn of_operation(entry: &'static OperationTool) -> Self {
        let call = entry.call;
        entry.with_call(ToolCall {
            processes: None,
            answer_max: call.answer_max,
            aliases: &[],
            begin: Box::new(move |view, _, arguments| {
                let (core, caller) = (view.core, view.caller);
                let answer = (call.run)(core, caller, arguments)?;
                Ok(CallStep::Answered(ToolContent::Answer(answer)))
            }),
            at_once: call.at_once.map(|at_once| -> AtOnce {
                Box::new(move |view, arguments| {
                    let (core, caller) = (view.core, view.caller);
                    at_once(core, caller, arguments).map(ToolContent::Answer)
                })
            }),
        })
    }
}

/// One route an operation and toolset that has it.
pub(super) fn routes() -> Router<Arc<Server>> {
    let mut router = Router::new();
    for toolset in [Toolset::All, Toolset::Core] {
        for tool in OPERATION_TOOLS.iter().filter(|tool| tool.is_in(toolset)) {
            let handler = SURFACE.handler(move |call| answer(tool, toolset, call));
            router = router.route(&tool.path(toolset), post(handler));
        }
    }
    router
}

/// The surface of operations.
const SURFACE: Surface = Surface::of_page(Channel::Operations);

async fn answer(
    tool: &'static CallableTool,
    toolset: Toolset,
    mut call: Call,
) -> Result<Response, Error> {
    let answers = header::answers(&call.parts.headers).unwrap_or_default();
    let client = &mut call.caller.client;
    (client.toolset, client.answers) = (toolset, answers);
    let client = *client;
    let answered = run(tool, call, Map::new()).await;
    let mut response = answered.unwrap_or_else(envelope::failure);
    header::applied(&mut response, answers);
    response.extensions_mut().insert(client);
    Ok(response)
}

/// Waits for the permit of a call, then reads its body, then runs it. `outside` are the arguments that
/// are not in the body.
pub(super) async fn run(
    tool: &'static CallableTool,
    mut call: Call,
    outside: Map<String, Value>,
) -> Result<Response, Error> {
    expect_scope(&call.caller, tool.changes)?;
    let mut permit = call.admit().await?;
    let limit = tool.body_max.min(call.server.body_limit);
    let body = call.read_body(limit, &mut permit).await?;
    let mut _starting = None;
    if let Some(r#use) = tool.call.processes {
        let request = (&call.parts, body.as_slice());
        let (server, caller) = (&call.server, &mut call.caller);
        let destination = peer::destination(server, caller, r#use, request, permit);
        match Box::pin(destination).await? {
            CallRoute::Answered(response) => return Ok(response),
            CallRoute::Here(kept, starting) => (permit, _starting) = (kept, starting),
        }
    }
    if let Some(content) = at_once(tool, &call, &outside, &body) {
        return content.written()?.response(&mut call, permit).await;
    }
    let headers = call.parts.headers.clone();
    let begun = call.run(permit, move |view, permit| {
        let bytes = body.len() as u64;
        let arguments = arguments(tool, outside, &body)?;
        drop(body);
        let answer = (tool.call.answer_max)(&view.core.store.settings, &arguments);
        permit.reserve_blocking(bytes.saturating_add(answer), &view.caller.cancellation)?;
        let begun = (tool.call.begin)(view, &headers, arguments)?;
        begun.answered(|content| content.noting(view)?.written())
    });
    let begun = begun.await?;
    let (written, permit) = match begun {
        (Ok(CallStep::Streams(process)), _) => {
            let clock = call.server.core.store.clock.clone();
            return Ok(pending::show(process, clock));
        }
        (Ok(CallStep::Waits(awaited, rest)), permit) => {
            drop(permit);
            // A call that waits gives its permit back, so that other calls can proceed.
            call.caller.place = CallSlot::default();
            Box::pin(awaited.wait(&call.server, &call.caller, tool.changes)).await?;
            let permit = call.admit().await?;
            let ended = call.run(permit, |view, _| rest(view)?.noting(view)?.written());
            ended.await?
        }
        (Ok(CallStep::Answered(written)), permit) => (Ok(written), permit),
        (Err(error), permit) => (Err(error), permit),
    };
    match written {
        Ok(written) => written.response(&mut call, permit).await,
        Err(error) => Ok(envelope::failure_of_call(error, permit)),
    }
}

/// Returns the answer to a call that needs no thread; `None` if it needs one.
fn at_once(
    tool: &CallableTool,
    call: &Call,
    outside: &Map<String, Value>,
    body: &[u8],
) -> Option<ToolContent> {
    let at_once = tool.call.at_once.as_ref();
    let at_once = at_once.filter(|_| body.len() <= SHORT_BODY)?;
    let view = CallerView::of(&call.server.core, &call.caller);
    at_once(view, arguments(tool, outside.clone(), body).ok()?)
}

/// Returns the arguments of a call, of which those in the body count.
fn arguments(
    tool: &CallableTool,
    mut outside: Map<String, Value>,
    body: &[u8],
) -> Result<Map<String, Value>, BodyError> {
    let is_alias = |name: &str| tool.call.aliases.iter().any(|(alias, _)| *alias == name);
    let is_known = |name: &str| tool.is_known(name) || is_alias(name);
    outside.extend(body::parse(body, is_known)?);
    Ok(outside)
}

impl ToolContent {
    /// JSON.
    pub(super) fn data(data: impl Serialize + Send + 'static) -> Self {
        Self::Answer(Answer::of(data))
    }

    /// The same, which says what the call did to the bin.
    pub(super) fn noting(self, view: CallerView<'_>) -> Result<Self, Error> {
        let notes = view.caller.bin_notes.take();
        Ok(match self {
            Self::Answer(answer) if !notes.is_empty() && answer.picture.is_none() => {
                let mut data = envelope::value(&*answer.data)?;
                if let Some(data) = data.as_object_mut() {
                    data.insert("note".to_owned(), notes.join("; ").into());
                }
                Self::Answer(Answer::of(data))
            }
            other => other,
        })
    }

    fn written(self) -> Result<WrittenContent, Error> {
        Ok(match self {
            Self::Answer(Answer {
                picture: Some(picture),
                ..
            }) => WrittenContent::Picture(picture),
            Self::Answer(answer) => WrittenContent::Json(envelope::text(&*answer.data)?),
            Self::File(file) => WrittenContent::File(file),
        })
    }
}

/// An answer as it is sent.
enum WrittenContent {
    Json(Vec<u8>),
    Picture(Picture),
    File(FileDownload),
}

impl WrittenContent {
    /// The answer. Bytes of a file do nothing in a browser, and are no call's but a transfer's.
    async fn response(self, call: &mut Call, permit: CallPermit) -> Result<Response, Error> {
        Ok(match self {
            Self::Json(text) => response_body::json(text, permit),
            Self::Picture(picture) => {
                response_body::picture(&picture.mime_type, picture.bytes, permit)
            }
            Self::File(file) => {
                drop(permit);
                let permit = call.transfer_permit(None).await?;
                file.answer(&call.parts, Presentation::Inline, permit)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::extract::Request;
    use axum::http::StatusCode;
    use serde_json::json;
    use tower::ServiceExt as _;

    use super::*;
    use crate::config::Config;
    use crate::http::{router, timer};
    use crate::ops::Handler;
    use fileshed_core::timings::minutes;
    use fileshed_core::{Caller, Clock, Code, Core};

    fn tool(run: Handler) -> &'static CallableTool {
        let call = ToolCall {
            processes: None,
            answer_max: |_, _| 0,
            aliases: &[],
            begin: Box::new(move |view, _, arguments| {
                let answer = run(view.core, view.caller, arguments)?;
                Ok(CallStep::Answered(ToolContent::Answer(answer)))
            }),
            at_once: None,
        };
        Box::leak(Box::new(OPERATIONS[0].with_call(call)))
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

    /// Returns the result of a future while the clock advances by a minute.
    async fn while_time_passes<T>(server: &Server, something: impl Future<Output = T>) -> T {
        let passes = async { server.core.store.clock.advance(60) };
        tokio::join!(something, passes).0
    }

    /// A call of nobody in particular.
    async fn called(server: &Arc<Server>, tool: &'static CallableTool) -> Result<Response, Error> {
        let (parts, body) = Request::new(Body::empty()).into_parts();
        let call = Call {
            server: Arc::clone(server),
            caller: Caller::default(),
            parts,
            body,
        };
        run(tool, call, Map::new()).await
    }

    #[tokio::test]
    async fn a_panic_is_answered_without_its_text() {
        let (_directory, server) = server(1);
        let panics = tool(|_, _, _| panic!("the pepper is salt"));
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
        let call = called(&server, &OPERATION_TOOLS[0]);
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
        assert!(called(&server, tool(|_, _, _| Ok(nothing()))).await.is_ok());
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
        let waits = tool(|_, caller, _| {
            while !caller.cancellation.is_cancelled() {
                std::thread::yield_now();
            }
            Ok(nothing())
        });
        let clock = &server.core.store.clock;
        let call = timer::within(clock, minutes(1), Box::pin(called(&server, waits)));
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
