//! WebDAV (RFC 4918) at `/dav`: the tree of a caller as a drive of any system.
//!
//! The library handles the methods, their conditions, locks and XML; the [`tree`] of the request reads
//! and changes the files, with the operations of the core. Whole files are read as on every other
//! surface. Programs send a personal token as the password; pages of browsers are refused.

mod headers;
mod listing;
mod locks;
mod names;
mod node;
mod request;
mod times;
mod tree;
mod xml;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use dav_server::davpath::DavPath;
use dav_server::{DavHandler, DavMethod};
use fileshed_core::storage::Kind;
use fileshed_core::view::ViewPath;
use fileshed_core::{Channel, Error, Mutex, webdav};
use tokio::sync::OnceCell;

use super::call::{self, Call, ServerRequest, Surface, expect_scope};
use super::files::content::PartialError;
use super::files::download::{FileDownload, Presentation};
use super::files::modified;
use super::identity::Accepts;
use super::response_body::{HeldBody, trusted};
use super::route::{self, RouteError};
use super::words::Language;
use super::{Server, header, pool};
use crate::config::Config;
use node::{SidecarPlace, Sidecars};
use request::{DavRequest, IncomingFile, named_path, reads};
use times::NewTimes;
use tree::DavTree;

/// Path prefix of the surface.
const BASE: &str = "/dav";

/// Value of `WWW-Authenticate` for a request without valid credentials.
const CHALLENGE: HeaderValue =
    HeaderValue::from_static("Basic realm=\"fileshed\", charset=\"UTF-8\"");

const IF: HeaderName = HeaderName::from_static("if");
const DEPTH: HeaderName = HeaderName::from_static("depth");

/// Header with the length of a file that macOS sends in chunks.
const X_EXPECTED_ENTITY_LENGTH: HeaderName = HeaderName::from_static("x-expected-entity-length");

/// Header in which the conformance suite names its tests; it is removed, because the library answers
/// differently if it is there.
const X_LITMUS: HeaderName = HeaderName::from_static("x-litmus");

/// State that all requests of the surface share.
#[derive(Debug)]
pub(super) struct WebDav {
    /// `true` if an administrator lets programs mount the files.
    enabled: bool,
    sidecars: Sidecars,
}

impl WebDav {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            enabled: config.webdav,
            sidecars: node::sidecars(),
        }
    }
}

/// Returns the routes of the surface.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route(BASE, any(serve))
        .route("/dav/", any(serve))
        .route("/dav/{*path}", any(serve))
}

/// The name of a request in the log.
pub(super) fn operation(method: &Method) -> String {
    match request::method(method) {
        Some(_) => format!("dav/{}", method.as_str().to_lowercase()),
        None => "dav".to_owned(),
    }
}

/// The methods as answers list them.
const METHODS: HeaderValue = HeaderValue::from_static(
    "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, LOCK, UNLOCK",
);

/// The methods whose bodies are XML.
const TAKE_XML: [DavMethod; 3] = [DavMethod::PropFind, DavMethod::PropPatch, DavMethod::Lock];

/// The surface of programs that show files as a drive.
const SURFACE: Surface = Surface {
    accepts: Accepts::Drives,
    channel: Channel::WebDav,
};

/// Every request of the surface.
async fn serve(request: ServerRequest) -> Response {
    if !request.server.dav.enabled {
        return route::unknown(request.parts).await;
    }
    let mut response = SURFACE.answer(request, answer).await;
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    }
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, METHODS);
    }
    response
}

async fn answer(mut call: Call) -> Result<Response, Error> {
    call.caller.joins_commits = true;
    let method = begin(&call)?;
    let parts = &mut call.parts;
    let lock_tokens = &mut call.caller.lock_tokens;
    if let Some(response) = headers::normalize(parts, &call.server.public_url, lock_tokens)? {
        return Ok(response);
    }
    let path = DavPath::new(parts.uri.path()).map_err(|_| AddressError)?;
    let path = named_path(below(&String::from_utf8_lossy(path.as_bytes())))?;
    match (method, parts.headers.get(&DEPTH)) {
        (DavMethod::Get | DavMethod::Head, _) => return get(call, path).await,
        (DavMethod::PropFind, Some(depth)) if depth != "0" && depth != "1" => return Ok(too_deep()),
        // A missing header means the whole tree, which no client may list.
        (DavMethod::PropFind, None) => {
            parts.headers.insert(DEPTH, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    parts.headers.remove(&X_LITMUS);
    let mut file = None;
    if [DavMethod::Put, DavMethod::Lock].contains(&method) {
        file = Some(incoming_file(&mut call, method).await?);
    }
    let (mut admitted, mut times) = (None, NewTimes::default());
    if method != DavMethod::Put {
        let mut permit = call.admit().await?;
        let mut document = call.read_body(xml::MAX_BYTES, &mut permit).await?;
        if TAKE_XML.contains(&method) {
            let asks = method == DavMethod::PropFind;
            let checked = pool::blocking(move || xml::check(&document, asks).map(|()| document));
            document = checked.await??;
        }
        if method == DavMethod::PropPatch {
            times = times::take(&mut document);
            // The library reads no more than this.
            if let Some(length) = call.parts.headers.get_mut(CONTENT_LENGTH) {
                *length = document.len().into();
            }
        }
        call.body = Body::from(document);
        admitted = Some(permit);
    }
    let Call {
        server,
        caller,
        mut parts,
        body,
    } = call;
    let headers = parts.headers.clone();
    if method == DavMethod::Put {
        for name in [CONTENT_LENGTH, X_EXPECTED_ENTITY_LENGTH] {
            parts.headers.remove(name);
        }
    }
    let _cancel = caller.cancellation.on_drop();
    let request = Arc::new(DavRequest {
        server,
        caller,
        method,
        path,
        deep: headers.get(&DEPTH).is_none_or(|depth| depth != "0"),
        headers,
        file: Mutex::new(file),
        has_properties: OnceCell::new(),
        taken: OnceLock::new(),
        refusal: Mutex::default(),
        replaces: AtomicBool::default(),
    });
    let tree = DavTree(Arc::clone(&request));
    let handler = DavHandler::builder()
        .filesystem(Box::new(tree.clone()))
        .locksystem(Box::new(tree))
        .strip_prefix(BASE)
        .build_handler();
    let response = handler.handle(Request::from_parts(parts, body)).await;
    let mut response = response.map(Body::new);
    if [StatusCode::FORBIDDEN, StatusCode::LOCKED].contains(&response.status())
        && let Some(error) = request.refusal.lock().take()
    {
        return Err(error);
    }
    response = keep_times(&request, &times, response).await?;
    let mut response = response.map(|body| Body::new(HeldBody::new(body, admitted)));
    if method == DavMethod::Options {
        describe(&mut response);
    }
    Ok(response)
}

/// Keeps the time of change that a request brings with what it did.
async fn keep_times(
    request: &Arc<DavRequest>,
    times: &NewTimes,
    response: Response,
) -> Result<Response, Error> {
    let brought = modified::of_headers(&request.headers);
    let (mut response, at, time) = match (request.method, times.modified, brought) {
        (DavMethod::PropPatch, Some(time), _) => {
            let (response, is_done) = times.answered(response).await;
            let at = is_done.then(|| request.path.clone());
            (response, at, time)
        }
        // It has the time of its file by now.
        (DavMethod::Put, _, Some(time)) => (response, None, time),
        (DavMethod::Copy | DavMethod::Move, _, Some(time)) if response.status().is_success() => {
            let to = header::text(&request.headers, &headers::DESTINATION);
            let to = to.and_then(|to| DavPath::new(to).ok());
            let to = to.map(|to| named_path(below(&String::from_utf8_lossy(to.as_bytes()))));
            (response, to.transpose()?, time)
        }
        _ => return Ok(response),
    };
    if let Some(path) = at {
        let caller = request.holder(&path);
        let set = call::run(&request.server.core, caller, (), move |view, ()| {
            let path = request::found(view, path);
            // Sidecar files have no times.
            if SidecarPlace::at(view, &path)?.is_some() {
                return Ok(());
            }
            let found = view.resolve_path_to_change("path", path)?;
            found.explained(|| webdav::set_modified(&found.zone, &found.path, time))
        });
        set.await?.0?;
    }
    if request.method != DavMethod::PropPatch && response.status().is_success() {
        modified::acknowledge(response.headers_mut());
    }
    Ok(response)
}

/// Takes the file out of a request: the body of a PUT, and an empty one for the name that a LOCK may make.
async fn incoming_file(call: &mut Call, method: DavMethod) -> Result<IncomingFile, Error> {
    let permit = call.transfer_permit(None).await?;
    if method != DavMethod::Put {
        let (body, size) = (Body::empty(), None);
        return Ok(IncomingFile { body, size, permit });
    }
    let headers = &call.parts.headers;
    let expected = || {
        header::text(headers, &X_EXPECTED_ENTITY_LENGTH)?
            .parse()
            .ok()
    };
    let size = header::content_length(headers).or_else(expected);
    let body = std::mem::take(&mut call.body);
    let body = trusted(body, call.caller.cancellation.trust());
    Ok(IncomingFile { body, size, permit })
}

/// Returns the method; fails for requests that can be refused by their headers alone.
fn begin(call: &Call) -> Result<DavMethod, Error> {
    let parts = &call.parts;
    let method = request::method(&parts.method).ok_or_else(|| RouteError::Method {
        method: parts.method.clone(),
        path: parts.uri.path().to_owned(),
        taken: Method::GET,
    })?;
    expect_scope(&call.caller, !reads(method))?;
    if method == DavMethod::Put && parts.headers.contains_key(CONTENT_RANGE) {
        return Err(PartialError.into());
    }
    Ok(method)
}

/// Adds the headers that tell a client the server's capabilities.
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

/// Answers with the bytes of a file, or with the list of a directory.
async fn get(mut call: Call, path: ViewPath) -> Result<Response, Error> {
    let transfer_permit = call.transfer_permit(None).await?;
    let (server, address) = (Arc::clone(&call.server), call.parts.uri.path().to_owned());
    let language = Language::of(&call.parts.headers);
    call.caller = path.opener(&call.caller);
    let found = call.look(move |view| {
        let path = request::found(view, path);
        if let Some(place) = SidecarPlace::at(view, &path)?
            && let Some(content) = server.dav.sidecars.get(&place)
        {
            return Ok(Err(content.into_response()));
        }
        if view.is_directory("path", &path)? {
            let nodes = node::list(view, path)?;
            return Ok(Err(listing::page(language, &address, &nodes)));
        }
        let found = view.resolve_path("path", path)?;
        let entry = found.file()?;
        debug_assert_eq!(entry.kind(), Kind::File);
        found.explained(|| FileDownload::open(&entry)).map(Ok)
    });
    Ok(match found.await? {
        Err(answer) => answer,
        Ok(file) => file.answer(&call.parts, Presentation::Attachment, transfer_permit),
    })
}

/// The path in the tree of a path of the server.
fn below(path: &str) -> &str {
    match path.strip_prefix(BASE) {
        Some("") | None => "/",
        Some(below) => below,
    }
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
