//! Endpoints of the terminal that take and answer JSON: how one is declared, called and answered.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts as _, RawPathParams, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use fileshed_core::fair::Place;
use fileshed_core::processes::Process;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::{CallerView, Channel, Error};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::pending::{Awaited, Begun};
use super::{arguments, pending};
use crate::http::admission::CallPermit;
use crate::http::call::Call;
use crate::http::files::download::{FileDownload, Presentation};
use crate::http::peer::{self, Destination};
use crate::http::{Server, body, envelope, response_body};
use crate::ops::{self, AnswerData, Effect, Tool};

/// An endpoint: a tool with an address.
pub(in crate::http) type EndpointEntry = Tool<EndpointCall>;

/// The address of an endpoint, and how it is called.
pub(in crate::http) struct EndpointCall {
    pub(super) method: Method,
    /// Path below [`super::BASE`].
    pub(super) path: &'static str,
    /// Its use of the processes and shells of its user, which may be on another server.
    pub(in crate::http) processes: Option<ProcessUse>,
    run: EndpointHandler,
    at_once: Option<ImmediateEndpointHandler>,
}

/// Answers a call, or says what is left to do. Blocks.
type EndpointHandler =
    Box<dyn Fn(CallerView<'_>, Map<String, Value>) -> Result<Step, Error> + Send + Sync>;

/// Answers a call without blocking, if that is possible.
type ImmediateEndpointHandler =
    Box<dyn Fn(CallerView<'_>, Map<String, Value>) -> Option<Content> + Send + Sync>;

/// The answer of an endpoint.
pub(in crate::http) enum Content {
    /// JSON.
    Data(Box<dyn AnswerData>),
    /// A file as it is, read while it is sent.
    File(FileDownload),
}

/// The end of a call that waits.
pub(in crate::http) type Rest = Box<dyn FnOnce(CallerView<'_>) -> Result<Content, Error> + Send>;

/// The state of a call that has begun.
pub(in crate::http) enum Step<A = Content> {
    /// It is done.
    Answered(A),
    /// The rest is done once something has happened.
    Waits(Awaited, Rest),
    /// It goes on as long as this process.
    Streams(Arc<Process>),
}

/// The result of an endpoint's function: an answer in JSON, or a content.
pub(super) trait IntoContent {
    fn into_content(self) -> Content;
}

impl<T: Serialize + Send + 'static> IntoContent for T {
    fn into_content(self) -> Content {
        Content::Data(Box::new(self))
    }
}

impl IntoContent for Content {
    fn into_content(self) -> Content {
        self
    }
}

impl<A> Step<A> {
    /// The same with the answer in another form.
    pub(in crate::http) fn answered<B>(
        self,
        form: impl FnOnce(A) -> Result<B, Error>,
    ) -> Result<Step<B>, Error> {
        Ok(match self {
            Self::Answered(answer) => Step::Answered(form(answer)?),
            Self::Waits(awaited, rest) => Step::Waits(awaited, rest),
            Self::Streams(process) => Step::Streams(process),
        })
    }
}

/// A request without parameters.
#[derive(Deserialize, ToSchema)]
pub(super) struct Nothing {}

/// An answer that says that something was done.
#[derive(Serialize)]
pub(super) struct Status {
    pub(super) status: &'static str,
}

/// An endpoint that answers as `run` does, which takes what comes in the path, the query and the body
/// together, and blocks.
pub(super) fn endpoint<T, R>(
    method: Method,
    path: &'static str,
    id: &'static str,
    run: impl Fn(CallerView<'_>, &T) -> Result<R, Error> + Send + Sync + 'static,
) -> EndpointEntry
where
    T: DeserializeOwned + ToSchema + 'static,
    R: IntoContent,
{
    in_steps(method, path, id, move |view, request| {
        Ok(Step::Answered(run(view, &request)?.into_content()))
    })
}

fn in_steps<T: DeserializeOwned + ToSchema + 'static>(
    method: Method,
    path: &'static str,
    id: &'static str,
    run: impl Fn(CallerView<'_>, T) -> Result<Step, Error> + Send + Sync + 'static,
) -> EndpointEntry {
    let call = EndpointCall {
        method,
        path,
        processes: None,
        run: Box::new(move |view, arguments| run(view, ops::request(arguments)?)),
        at_once: None,
    };
    Tool::new::<T>(id, call)
}

/// An endpoint that has to do with processes, and may wait for one before it answers.
pub(super) trait Endpoint: 'static {
    /// The name that models call it by, where they may; the same as open-terminal's.
    const ID: &'static str;
    /// Its method.
    const METHOD: Method;
    /// Path below [`super::BASE`].
    const PATH: &'static str;
    /// The text that a model reads on every turn; empty for what only programs call.
    const DOC: &'static str = "";
    /// `true` if it always changes something, so that a credential that only reads need not call it.
    const CHANGES: bool = false;
    /// Effects of a call, for clients that ask a person before one.
    const EFFECT: Effect = Effect::READS;
    /// Its use of the processes and shells of its user, which may be on another server.
    const PROCESSES: Option<ProcessUse> = None;
    /// The request, from the path, the query and the body together.
    type Request: DeserializeOwned + ToSchema + Send + 'static;
    /// The answer.
    type Response: Serialize + Send + 'static;

    /// Prepares a request, and returns the wait that it needs before it is done. Blocks.
    fn begin(_: CallerView<'_>, _: &mut Self::Request) -> Result<Begun, Error> {
        Ok(Begun::Ready)
    }

    /// Does the work. Blocks.
    fn run(view: CallerView<'_>, request: Self::Request) -> Result<Self::Response, Error>;
}

/// An endpoint that has to do with processes.
pub(super) fn of_processes<E: Endpoint>() -> EndpointEntry {
    let mut entry = in_steps(E::METHOD, E::PATH, E::ID, |view, mut request| {
        let begun = E::begin(view, &mut request)?;
        let rest = move |view: CallerView<'_>| Ok(E::run(view, request)?.into_content());
        Ok(match begun {
            Begun::Ready => Step::Answered(rest(view)?),
            Begun::Waits(awaited) => Step::Waits(awaited, Box::new(rest)),
            Begun::Streams(process) => Step::Streams(process),
        })
    });
    entry.call.processes = E::PROCESSES;
    Tool {
        doc: E::DOC,
        changes: E::CHANGES,
        effect: E::EFFECT,
        ..entry
    }
}

impl EndpointEntry {
    /// The same for models, who read this text on every turn.
    pub(super) fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// The same, which always changes something in this manner.
    pub(super) fn changing(self, effect: Effect) -> Self {
        Self {
            changes: true,
            effect,
            ..self
        }
    }

    /// The same, with calls as large as the server takes.
    pub(super) fn of_any_size(self) -> Self {
        Self {
            body_max: u64::MAX,
            ..self
        }
    }

    /// The same, which answers as `run` does if that is possible: then no thread is asked for one.
    pub(super) fn at_once<T, R>(mut self, run: fn(CallerView<'_>, &T) -> Option<R>) -> Self
    where
        T: DeserializeOwned + ToSchema + 'static,
        R: IntoContent + 'static,
    {
        self.call.at_once = Some(Box::new(move |view, arguments| {
            let request = ops::request(arguments).ok()?;
            run(view, &request).map(IntoContent::into_content)
        }));
        self
    }

    /// The same at an older path, which models are not offered.
    pub(super) fn also_at(mut self, id: &'static str, path: &'static str) -> Self {
        self.call.path = path;
        Self {
            id,
            doc: "",
            ..self
        }
    }

    /// Returns `true` if there are calls that do not block.
    pub(in crate::http) fn may_be_at_once(&self) -> bool {
        self.call.at_once.is_some()
    }

    /// Answers a call without blocking; `None` if that is not possible.
    pub(in crate::http) fn answer_at_once(
        &self,
        view: CallerView<'_>,
        given: &Map<String, Value>,
    ) -> Option<Content> {
        let at_once = self.call.at_once.as_ref()?;
        let mut arguments = given.clone();
        arguments::settle(&mut arguments, self.parameters());
        at_once(view, arguments)
    }

    /// Begins a call. Blocks.
    pub(in crate::http) fn begin(
        &self,
        view: CallerView<'_>,
        mut arguments: Map<String, Value>,
    ) -> Result<Step, Error> {
        arguments::settle(&mut arguments, self.parameters());
        view.core.store.expect_active(view.caller)?;
        (self.call.run)(view, arguments)
    }

    /// Adds its route.
    pub(super) fn add_to(&'static self, router: Router<Arc<Server>>) -> Router<Arc<Server>> {
        let handler = move |State(server): State<Arc<Server>>, request: Request| async move {
            answer(server, self, request).await
        };
        let method = MethodFilter::try_from(self.call.method.clone()).unwrap_or(MethodFilter::GET);
        router.route(self.call.path, on(method, handler))
    }

    /// Returns the channel of its calls: an endpoint that models are not offered is the application's.
    fn channel(&self) -> Channel {
        if self.doc.is_empty() {
            Channel::FileBrowser
        } else {
            Channel::Terminal
        }
    }
}

/// Answers a call of an endpoint.
async fn answer(server: Arc<Server>, entry: &'static EndpointEntry, request: Request) -> Response {
    let surface = super::surface(entry.channel());
    let answered = surface.answer(Arc::clone(&server), request, |mut call| async move {
        let path = path_parameters(&mut call.parts).await;
        server.listings.notice(&call.parts);
        run(entry, call, path).await
    });
    answered.await
}

/// Waits for the permit of a call, then reads its body, then runs it.
async fn run(
    entry: &'static EndpointEntry,
    mut call: Call,
    path: Map<String, Value>,
) -> Result<Response, Error> {
    call.expect_scope(entry.changes)?;
    let mut permit = call.admit().await?;
    call.caller.names_zones = true;
    let limit = entry.body_max.min(call.server.body_limit);
    let body = call.read_body(limit, &mut permit).await?;
    let mut _starting = None;
    if let Some(r#use) = entry.call.processes {
        let request = (&call.parts, body.as_slice());
        let (server, caller) = (&call.server, &mut call.caller);
        match peer::destination(server, caller, r#use, request, permit).await? {
            Destination::Answered(response) => return Ok(response),
            Destination::Here(kept, starting) => (permit, _starting) = (kept, starting),
        }
    }
    let mut arguments = arguments::of_query(&call.parts.uri, entry.parameters());
    arguments.extend(path);
    if body.is_empty() {
        let view = CallerView::of(&call.server.core, &call.caller);
        if let Some(content) = entry.answer_at_once(view, &arguments) {
            return content.written()?.response(&mut call, permit).await;
        }
    }
    let begun = call.run(permit, move |view, _| {
        let is_known = |name: &str| entry.has_parameter(name);
        let mut given = body::parse(&body, is_known)?;
        given.retain(|name, _| is_known(name));
        arguments.extend(given);
        entry.begin(view, arguments)?.answered(Content::written)
    });
    let (step, permit) = begun.await?;
    let clock = call.server.core.store.clock().clone();
    match step? {
        Step::Answered(written) => written.response(&mut call, permit).await,
        Step::Streams(process) => Ok(pending::show(process, clock)),
        Step::Waits(awaited, rest) => {
            let user = call.server.core.store.namespace(&call.caller);
            let waits = call.server.admission.wait_permit(&user);
            // A call that waits holds nobody up.
            call.caller.place = Place::default();
            drop(permit);
            match waits {
                Ok(_waits) => awaited.happened(&clock).await,
                // A call that has begun is answered at once if its caller may not wait.
                Err(_) if entry.changes => {}
                Err(full) => return Err(full.into()),
            }
            let permit = call.admit().await?;
            let (written, permit) = call.run(permit, |view, _| rest(view)?.written()).await?;
            written?.response(&mut call, permit).await
        }
    }
}

impl Content {
    fn written(self) -> Result<WrittenContent, Error> {
        Ok(match self {
            Self::Data(data) => WrittenContent::Json(envelope::text(&*data)?),
            Self::File(file) => WrittenContent::File(file),
        })
    }
}

/// An answer as it is sent.
enum WrittenContent {
    Json(Vec<u8>),
    File(FileDownload),
}

impl WrittenContent {
    /// The answer. Bytes of a file do nothing in a browser, and are no call's but a transfer's.
    async fn response(self, call: &mut Call, permit: CallPermit) -> Result<Response, Error> {
        match self {
            Self::Json(text) => Ok(response_body::json(text, permit)),
            Self::File(file) => {
                drop(permit);
                let permit = call.transfer_permit().await?;
                Ok(file.answer(&call.parts, Presentation::Inline, permit))
            }
        }
    }
}

/// The parameters in the path of a request.
async fn path_parameters(parts: &mut Parts) -> Map<String, Value> {
    let parameters = RawPathParams::from_request_parts(parts, &()).await;
    parameters.map_or_else(
        |_| Map::new(),
        |parameters| {
            let pairs = parameters.iter();
            pairs
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect()
        },
    )
}
