//! WebDAV (RFC 4918) at `/dav`: the tree of a caller as a drive of any system.
//!
//! The methods, their conditions, locks and XML are the library's; what it does to files is done by the
//! [`tree`] of the request, with the operations of the core. Whole files are read as they are
//! everywhere. Programs send a personal token as the password; pages of browsers are refused.

mod headers;
mod incoming;
mod locks;
mod node;
mod request;
mod sidecar;
mod tree;
mod xml;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_RANGE, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use dav_server::DavHandler;
use dav_server::davpath::DavPath;
use fileshed_core::storage::Kind;
use fileshed_core::view::ViewPath;
use fileshed_core::{Channel, Clock, Error};
use futures_util::stream;
use tokio::sync::OnceCell;

use super::admission::Slot;
use super::body::MinimumRate;
use super::call::{Call, Surface};
use super::files::content::PartialError;
use super::files::download::{FileDownload, Presentation};
use super::identity::Accepts;
use super::response_body::{HeldBody, trusted};
use super::route::{self, RouteError};
use super::{Server, pool};
use crate::config::Config;
use request::{DavRequest, Verb, tree_path, view_path};
use sidecar::{SidecarPlace, Sidecars};
use tree::DavTree;

/// Where the surface begins.
const BASE: &str = "/dav";

/// What is asked of a client that says nothing of who calls.
const CHALLENGE: HeaderValue =
    HeaderValue::from_static("Basic realm=\"fileshed\", charset=\"UTF-8\"");

const IF: HeaderName = HeaderName::from_static("if");
const DEPTH: HeaderName = HeaderName::from_static("depth");

/// What the conformance suite names its tests in; the library answers such requests otherwise.
const X_LITMUS: HeaderName = HeaderName::from_static("x-litmus");

/// What every request needs.
#[derive(Debug)]
pub(super) struct WebDav {
    /// Whether an administrator lets programs mount the files.
    enabled: bool,
    sidecars: Sidecars,
}

impl WebDav {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            enabled: config.webdav,
            sidecars: sidecar::sidecars(),
        }
    }
}

/// The addresses of the surface.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route(BASE, any(serve))
        .route("/dav/", any(serve))
        .route("/dav/{*path}", any(serve))
}

/// The name of a request in the log.
pub(super) fn operation(method: &Method) -> String {
    match Verb::of(method) {
        Some(_) => format!("dav/{}", method.as_str().to_lowercase()),
        None => "dav".to_owned(),
    }
}

/// The methods as answers list them.
const METHODS: HeaderValue = HeaderValue::from_static(
    "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, LOCK, UNLOCK",
);

/// How programs that show files as a drive call.
const SURFACE: Surface = Surface {
    accepts: Accepts::Drives,
    channel: Channel::WebDav,
    form: None,
};

/// Every request of the surface.
async fn serve(State(server): State<Arc<Server>>, request: Request) -> Response {
    if !server.dav.enabled {
        return route::unknown(request).await;
    }
    let mut response = SURFACE.answer(server, request, answer).await;
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    }
    response
}

async fn answer(mut call: Call) -> Result<Response, Error> {
    call.caller.names_zones = true;
    call.caller.joins_commits = true;
    call.caller.lock_tokens = lock_tokens(&call.parts);
    let verb = begin(&call)?;
    let parts = &mut call.parts;
    if let Some(response) = headers::normalize(parts, &call.server.public_url)? {
        return Ok(response);
    }
    let path = DavPath::new(parts.uri.path()).map_err(|_| AddressError)?;
    let path = tree_path(below(view_path(&path)?.as_str()))?;
    match (verb, parts.headers.get(&DEPTH)) {
        (Verb::Get, _) => return get(call, path).await,
        (Verb::Propfind, Some(depth)) if depth != "0" && depth != "1" => return Ok(too_deep()),
        // Without it the whole tree is meant, which is more than anybody gets.
        (Verb::Propfind, None) => {
            parts.headers.insert(DEPTH, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    parts.headers.remove(&X_LITMUS);
    let transfer_permit = Slot::default();
    if matches!(verb, Verb::Put | Verb::Lock) {
        transfer_permit.put(call.transfer_permit().await?);
    }
    let mut admitted = None;
    if verb != Verb::Put {
        admitted = Some(call.admit().await?);
    }
    if let Some(permit) = admitted.as_mut().filter(|_| verb.takes_xml()) {
        let document = call.read_body(xml::MAX_BYTES, permit).await?;
        let checked = pool::blocking(move || {
            xml::check(&document, verb == Verb::Propfind)?;
            Ok::<_, Error>(document)
        });
        call.body = Body::from(checked.await??);
    } else {
        let body = paced(call.server.core.store.clock(), call.body);
        call.body = trusted(body, call.caller.cancellation.trust());
    }
    let Call {
        server,
        caller,
        parts,
        body,
    } = call;
    let _cancel = caller.cancellation.on_drop();
    let request = Arc::new(DavRequest {
        server,
        caller,
        verb,
        path,
        deep: parts.headers.get(&DEPTH).is_none_or(|depth| depth != "0"),
        headers: parts.headers.clone(),
        transfer_permit,
        has_properties: OnceCell::new(),
        taken: OnceLock::new(),
        refusal: Slot::default(),
        replaces: AtomicBool::default(),
    });
    let tree = DavTree(Arc::clone(&request));
    let handler = DavHandler::builder()
        .filesystem(Box::new(tree.clone()))
        .locksystem(Box::new(tree))
        .strip_prefix(BASE)
        .build_handler();
    let response = handler.handle(Request::from_parts(parts, body)).await;
    if [StatusCode::FORBIDDEN, StatusCode::LOCKED].contains(&response.status())
        && let Some(error) = request.refusal.take()
    {
        return Err(error);
    }
    let mut response = response.map(|body| Body::new(HeldBody::new(Body::new(body), admitted)));
    if verb == Verb::Options {
        describe(&mut response);
    }
    Ok(response)
}

/// The locks whose tokens a request has in its conditions.
fn lock_tokens(parts: &Parts) -> Vec<String> {
    let conditions = parts.headers.get_all(IF).into_iter();
    let texts = conditions.filter_map(|value| value.to_str().ok());
    let named = texts.flat_map(|text| text.split('<').skip(1));
    named
        .filter_map(|rest| rest.split_once('>'))
        .filter(|(token, _)| token.starts_with("urn:uuid:"))
        .map(|(token, _)| token.to_owned())
        .collect()
}

/// What can be refused by the headers alone.
fn begin(call: &Call) -> Result<Verb, Error> {
    let parts = &call.parts;
    let verb = Verb::of(&parts.method).ok_or_else(|| RouteError::Method {
        method: parts.method.clone(),
        path: parts.uri.path().to_owned(),
        taken: Method::GET,
    })?;
    call.expect_scope(!verb.reads())?;
    if verb == Verb::Put && parts.headers.contains_key(CONTENT_RANGE) {
        return Err(PartialError.into());
    }
    Ok(verb)
}

/// What a server says of itself.
fn describe(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert("dav", HeaderValue::from_static("1, 2"));
    headers.insert("ms-author-via", HeaderValue::from_static("DAV"));
    headers.insert(ALLOW, METHODS);
}

/// The answer to `OPTIONS /`: Windows asks the root what the server can do, wherever the files are.
pub(super) async fn options_of_root(State(server): State<Arc<Server>>) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    if server.dav.enabled {
        describe(&mut response);
    }
    response
}

/// One file, as it is.
async fn get(mut call: Call, path: ViewPath) -> Result<Response, Error> {
    let transfer_permit = call.transfer_permit().await?;
    let (server, address) = (Arc::clone(&call.server), call.parts.uri.path().to_owned());
    let method = call.parts.method.clone();
    call.caller = path.opener(&call.caller);
    let found = call.look(move |view| {
        if let Some(place) = SidecarPlace::at(view, &path)?
            && let Some(content) = server.dav.sidecars.get(&place)
        {
            return Ok(Found::Memory(content));
        }
        if view.is_directory("path", &path)? {
            let taken = Method::OPTIONS;
            return Err(RouteError::Method {
                method,
                path: address,
                taken,
            }
            .into());
        }
        let found = view.resolve_path("path", path)?;
        let entry = found.file()?;
        debug_assert_eq!(entry.kind(), Kind::File);
        Ok(Found::File(found.explained(|| FileDownload::open(&entry))?))
    });
    Ok(match found.await? {
        Found::Memory(content) => content.into_response(),
        Found::File(file) => file.answer(&call.parts, Presentation::Attachment, transfer_permit),
    })
}

/// What a file is read from.
enum Found {
    File(FileDownload),
    Memory(Bytes),
}

/// The path in the tree of a path of the server.
fn below(path: &str) -> &str {
    match path.strip_prefix(BASE) {
        Some("") | None => "/",
        Some(below) => below,
    }
}

/// A body that must keep up a minimum rate.
fn paced(clock: &Clock, body: Body) -> Body {
    let state = (MinimumRate::of_files(clock), body);
    Body::from_stream(stream::unfold(state, |(mut rate, mut body)| async {
        rate.resume();
        match rate.piece(&mut body).await {
            Ok(None) => None,
            piece => Some((piece.map(Option::unwrap_or_default), (rate, body))),
        }
    }))
}

/// The answer where everything below a collection is asked for at once (RFC 4918, section 9.1).
fn too_deep() -> Response {
    let xml = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
               <D:error xmlns:D=\"DAV:\"><D:propfind-finite-depth/></D:error>\n";
    let kind = HeaderValue::from_static("application/xml; charset=utf-8");
    (StatusCode::FORBIDDEN, [(CONTENT_TYPE, kind)], xml).into_response()
}

fileshed_core::diagnostics! {
    /// An address that names no path.
    #[derive(Debug, thiserror::Error)]
    #[error(
        "the address is not a path: it leads above the root, or a name in it holds a slash or U+0000"
    )]
    struct AddressError => {
        code: InvalidPath,
        hint: "percent-encode the path, as in /dav/storage/my%20notes.md",
    }
}
