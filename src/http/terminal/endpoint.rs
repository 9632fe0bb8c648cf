//! What an address of the terminal is, and how a call of one arrives and leaves.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::Router;
use axum::extract::{FromRequestParts as _, RawPathParams, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use fileshed_core::fair::Place;
use fileshed_core::processes::Process;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use fileshed_core::{Channel, Error};
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
use crate::ops::{self, Effect, schema};

/// Work that does not block, or nothing.
pub(in crate::http) type ImmediateEndpoint<E> =
    fn(View<'_>, &<E as Endpoint>::Request) -> Option<<E as Endpoint>::Response>;

/// What the file of an address provides.
pub(in crate::http) trait Endpoint: Sized + 'static {
    /// The name that models call it by, where they may; the same as open-terminal's.
    const ID: &'static str;
    /// How it is called.
    const METHOD: Method;
    /// Where, below [`super::BASE`].
    const PATH: &'static str;
    /// The text a model reads on every turn; empty for what only programs call.
    const DOC: &'static str = "";
    /// Whether it always changes something, so that a credential that only reads need not call it.
    const CHANGES: bool = false;
    /// What a call may do, for clients that ask a person before one.
    const EFFECT: Effect = Effect::READS;
    /// What it has to do with the processes and shells of its user, which may be on another server.
    const PROCESSES: Option<ProcessUse> = None;
    /// Most bytes of a call.
    const BODY_MAX: u64 = MEBIBYTE;
    /// What it takes, from the path, the query and the body together.
    type Request: DeserializeOwned + ToSchema + Send;
    /// What it answers.
    type Response: Serialize;
    /// Answers without blocking, where that can be: then no thread is asked for one. Nothing where it
    /// is not certain, and where it would fail: [`Self::run`] says why.
    const AT_ONCE: Option<ImmediateEndpoint<Self>> = None;

    /// Looks at a request before it is done: what it has to wait for, it names here. Blocks.
    fn begin(_: View<'_>, _: &mut Self::Request) -> Result<Begun, Error> {
        Ok(Begun::Ready)
    }

    /// Does the work. Blocks: it is called where blocking is allowed.
    fn run(view: View<'_>, request: Self::Request) -> Result<Self::Response, Error>;

    /// The file that an answer is, where it is one; else the answer.
    fn file(response: Self::Response) -> Result<FileDownload, Self::Response> {
        Err(response)
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

/// What an address answers with.
pub(in crate::http) enum Content {
    /// JSON text, and what it says as data where that was wanted.
    Json(Vec<u8>, Option<Value>),
    /// A file as it is, read while it is sent.
    File(FileDownload),
}

/// In which form an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// As text.
    Text,
    /// As text and as data, which is made of the answer itself: reading the text again takes longer.
    Structured,
}

/// Answers a call, or says what is left to do.
pub(super) type EndpointHandler =
    fn(View<'_>, Map<String, Value>, AnswerForm) -> Result<Step, Error>;

/// Answers a call without blocking, where that can be.
type ImmediateEndpointHandler = fn(View<'_>, Map<String, Value>, AnswerForm) -> Option<Content>;

/// What gives the answer in the end.
pub(in crate::http) type Rest = Box<dyn FnOnce(View<'_>) -> Result<Content, Error> + Send>;

/// How far a call has come.
pub(in crate::http) enum Step {
    /// It is done.
    Answered(Content),
    /// This is done once something has happened.
    Waits(Awaited, Rest),
    /// It goes on as long as this process.
    Streams(Arc<Process>),
}

/// One line of the list: an address without its types.
#[derive(Clone, Copy)]
pub(in crate::http) struct EndpointEntry {
    pub(in crate::http) id: &'static str,
    pub(super) method: fn() -> Method,
    pub(super) path: &'static str,
    pub(super) doc: &'static str,
    pub(super) changes: bool,
    pub(in crate::http) effect: Effect,
    pub(in crate::http) processes: Option<ProcessUse>,
    pub(super) body_max: u64,
    pub(super) request_schema: fn() -> Value,
    pub(super) call: EndpointHandler,
    /// Nothing where every call may block.
    at_once: Option<ImmediateEndpointHandler>,
}

impl EndpointEntry {
    pub(super) const fn of<E: Endpoint>() -> Self {
        Self {
            id: E::ID,
            method: || E::METHOD,
            path: E::PATH,
            doc: E::DOC,
            changes: E::CHANGES,
            effect: E::EFFECT,
            processes: E::PROCESSES,
            body_max: E::BODY_MAX,
            request_schema: schema::of::<E::Request>,
            call: call::<E>,
            at_once: match E::AT_ONCE {
                Some(_) => Some(at_once::<E>),
                None => None,
            },
        }
    }

    /// Whether there are calls that do not block.
    pub(in crate::http) fn may_be_at_once(&self) -> bool {
        self.at_once.is_some()
    }

    /// The same at an older path, which models are not offered.
    pub(super) const fn also_at(self, id: &'static str, path: &'static str) -> Self {
        Self {
            id,
            path,
            doc: "",
            ..self
        }
    }

    /// Answers a call without blocking; nothing where that cannot be.
    pub(super) fn at_once(
        &self,
        view: View<'_>,
        given: &Map<String, Value>,
        form: AnswerForm,
    ) -> Option<Content> {
        let at_once = self.at_once?;
        let mut arguments = given.clone();
        arguments::settle(&mut arguments, self.schema());
        at_once(view, arguments, form)
    }

    /// Adds its route.
    pub(super) fn add_to(&'static self, router: Router<Arc<Server>>) -> Router<Arc<Server>> {
        let handler = move |State(server): State<Arc<Server>>, request: Request| async move {
            answer(server, self, request).await
        };
        let method = MethodFilter::try_from((self.method)()).unwrap_or(MethodFilter::GET);
        router.route(self.path, on(method, handler))
    }

    /// By which way its calls come: what models are not offered is the application's.
    fn channel(&self) -> Channel {
        if self.doc.is_empty() {
            Channel::FileBrowser
        } else {
            Channel::Terminal
        }
    }

    /// Its parameters, made once.
    pub(super) fn schema(&self) -> &'static Value {
        let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
        schemas
            .entry(self.id)
            .or_insert_with(|| Box::leak(Box::new((self.request_schema)())))
    }
}

type EndpointSchemas = Mutex<HashMap<&'static str, &'static Value>>;

/// Schemas are made once and live as long as the process: there is one an address.
static SCHEMAS: LazyLock<EndpointSchemas> = LazyLock::new(EndpointSchemas::default);

fn call<E: Endpoint>(
    view: View<'_>,
    arguments: Map<String, Value>,
    form: AnswerForm,
) -> Result<Step, Error> {
    view.store.expect_active(view.caller)?;
    let mut request = ops::arguments::request(EndpointEntry::of::<E>().schema(), arguments)?;
    let rest = move |view: View<'_>, request| content::<E>(E::run(view, request)?, form);
    Ok(match E::begin(view, &mut request)? {
        Begun::Ready => Step::Answered(rest(view, request)?),
        Begun::Waits(awaited) => Step::Waits(awaited, Box::new(move |view| rest(view, request))),
        Begun::Streams(process) => Step::Streams(process),
    })
}

fn at_once<E: Endpoint>(
    view: View<'_>,
    arguments: Map<String, Value>,
    form: AnswerForm,
) -> Option<Content> {
    let run = E::AT_ONCE?;
    let request = ops::arguments::request(EndpointEntry::of::<E>().schema(), arguments).ok()?;
    content::<E>(run(view, &request)?, form).ok()
}

/// What is sent of an answer.
fn content<E: Endpoint>(response: E::Response, form: AnswerForm) -> Result<Content, Error> {
    let response = match E::file(response) {
        Ok(file) => return Ok(Content::File(file)),
        Err(response) => response,
    };
    let text = envelope::json_text(&response)?;
    let data = match form {
        AnswerForm::Text => None,
        AnswerForm::Structured => Some(envelope::json_value(&response)?),
    };
    Ok(Content::Json(text, data))
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
    if let Some(r#use) = entry.processes {
        let request = (&call.parts, body.as_slice());
        let (server, caller) = (&call.server, &mut call.caller);
        match peer::destination(server, caller, r#use, request, permit).await? {
            Destination::Answered(response) => return Ok(response),
            Destination::Here(kept, starting) => (permit, _starting) = (kept, starting),
        }
    }
    let mut arguments = arguments::of_query(&call.parts.uri, entry.schema());
    arguments.extend(path);
    if body.is_empty() {
        let view = View {
            store: &call.server.store,
            caller: &call.caller,
        };
        if let Some(content) = entry.at_once(view, &arguments, AnswerForm::Text) {
            return content.response(&mut call, permit).await;
        }
    }
    let begun = call.run(permit, move |view, _| {
        let is_known = |name: &str| entry.schema()["properties"].get(name).is_some();
        let mut given = body::parse(&body, is_known)?;
        given.retain(|name, _| is_known(name));
        arguments.extend(given);
        arguments::settle(&mut arguments, entry.schema());
        (entry.call)(view, arguments, AnswerForm::Text)
    });
    let (step, permit) = begun.await?;
    let clock = call.server.store.clock().clone();
    match step? {
        Step::Answered(content) => content.response(&mut call, permit).await,
        Step::Streams(process) => Ok(pending::show(process, clock)),
        Step::Waits(awaited, rest) => {
            let user = call.server.store.namespace(&call.caller);
            let waits = call.server.admission.wait_permit(&user);
            // Who waits holds nobody up.
            call.caller.place = Place::default();
            drop(permit);
            match waits {
                Ok(_waits) => awaited.happened(&clock).await,
                // What has begun is answered at once if the caller may not wait for it.
                Err(_) if entry.changes => {}
                Err(full) => return Err(full.into()),
            }
            let permit = call.admit().await?;
            let (content, permit) = call.run(permit, |view, _| rest(view)).await?;
            content?.response(&mut call, permit).await
        }
    }
}

impl Content {
    /// The answer. Bytes of a file do nothing in a browser, and are no call's but a transfer's.
    async fn response(self, call: &mut Call, permit: CallPermit) -> Result<Response, Error> {
        match self {
            Self::Json(text, _) => Ok(response_body::json(text, permit)),
            Self::File(file) => {
                drop(permit);
                let permit = call.transfer_permit().await?;
                Ok(file.answer(&call.parts, Presentation::Inline, permit))
            }
        }
    }
}

/// What an address has in the places of its names.
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
