//! `/files/uploads`: uploads that go on after a lost connection, as the protocol tus 1.0 says
//! (<https://tus.io/protocols/resumable-upload>), with its extensions creation, expiration and
//! termination.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::transfer::{NewUpload, UploadState};
use fileshed_core::{Caller, Code, Error, ZoneName, diagnostics};
use jiff::fmt::rfc2822::DateTimePrinter;

use super::body_reader;
use super::{FileQuery, read_request, with_subject};
use crate::http::route::RouteError;
use crate::http::trusted_body::trusted;
use crate::http::{Server, admission, body, envelope, route};

const VERSION: HeaderValue = HeaderValue::from_static("1.0.0");
const EXTENSIONS: HeaderValue = HeaderValue::from_static("creation,expiration,termination");
/// The type of a piece.
const PIECE: &str = "application/offset+octet-stream";

pub(in crate::http) const TUS_RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
const TUS_VERSION: HeaderName = HeaderName::from_static("tus-version");
const TUS_EXTENSION: HeaderName = HeaderName::from_static("tus-extension");
const TUS_MAX_SIZE: HeaderName = HeaderName::from_static("tus-max-size");
pub(in crate::http) const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");
pub(in crate::http) const UPLOAD_LENGTH: HeaderName = HeaderName::from_static("upload-length");
pub(in crate::http) const UPLOAD_METADATA: HeaderName = HeaderName::from_static("upload-metadata");
pub(in crate::http) const UPLOAD_EXPIRES: HeaderName = HeaderName::from_static("upload-expires");
const METHOD_OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");

/// `/files/uploads`
pub(super) async fn uploads(State(server): State<Arc<Server>>, request: Request) -> Response {
    let response = match *request.method() {
        Method::OPTIONS => capabilities(&server),
        Method::POST => begin(&server, request).await,
        _ => route::refuse_method(&request, Method::POST),
    };
    spoken(response)
}

/// `/files/uploads/{id}`
pub(super) async fn upload(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let response = match meant(&request) {
        Method::OPTIONS => capabilities(&server),
        Method::HEAD => look(&server, id, request).await,
        Method::PATCH => receive(&server, id, request).await,
        Method::DELETE => give_up(&server, id, request).await,
        _ => route::refuse_method(&request, Method::PATCH),
    };
    spoken(response)
}

/// The method of a request; where a client cannot send it, the one that a header names.
fn meant(request: &Request) -> Method {
    let named = request.headers().get(METHOD_OVERRIDE);
    let named = named.and_then(|name| Method::from_bytes(name.as_bytes()).ok());
    named.unwrap_or_else(|| request.method().clone())
}

/// Every answer names the version of the protocol.
fn spoken(mut response: Response) -> Response {
    response.headers_mut().insert(TUS_RESUMABLE, VERSION);
    if response.status() == StatusCode::PRECONDITION_FAILED {
        response.headers_mut().insert(TUS_VERSION, VERSION);
    }
    response
}

fn capabilities(server: &Server) -> Response {
    let largest = server.store.settings().largest_file();
    let headers = [
        (TUS_VERSION, VERSION),
        (TUS_EXTENSION, EXTENSIONS),
        (TUS_MAX_SIZE, largest.into()),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Finds out who asks, and refuses other versions of the protocol.
async fn accepted(server: &Arc<Server>, parts: &Parts) -> Result<(Caller, FileQuery), Error> {
    let asking = read_request(server, parts).await?;
    match parts.headers.get(TUS_RESUMABLE) {
        Some(version) if *version == VERSION => Ok(asking),
        _ => Err(ProtocolError::Version.into()),
    }
}

async fn begin(server: &Arc<Server>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let accepted = async {
        let (caller, query) = accepted(server, &parts).await?;
        let length = number(&parts.headers, &UPLOAD_LENGTH)?;
        let name = file_name(&parts.headers)?;
        let permit = admission::transfer_permit(&server.store, &caller, None).await?;
        Ok::<_, Error>((caller, query, length, name, permit))
    };
    let (caller, query, length, name, permit) = match accepted.await {
        Ok(accepted) => accepted,
        Err(error) => return envelope::failure(error),
    };
    let (store, author) = (Arc::clone(&server.store), caller.clone());
    let begun = tokio::task::spawn_blocking(move || {
        let zone = FileQuery::given(query.zone.as_ref()).unwrap_or(ZoneName::Uploads.as_str());
        let zone = store.zone(&author, zone, FileQuery::given(query.group.as_ref()))?;
        let new = NewUpload {
            directory: FileQuery::given(query.path.as_ref()).unwrap_or("."),
            name: &name,
            length,
            overwrite: FileQuery::flag("overwrite", query.overwrite.as_ref())?,
            message: FileQuery::given(query.message.as_ref()),
        };
        store.resumable_uploads().begin(&zone.made()?, new, permit)
    });
    let begun = begun.await.map_err(|error| RouteError::from(error).into());
    let result = begun.flatten().map(|state| {
        let mut response = (StatusCode::CREATED, headers(&state)).into_response();
        // Beside the address that was asked, whatever a proxy calls that.
        if let Ok(location) = format!("uploads/{}", state.id).parse() {
            response.headers_mut().insert(LOCATION, location);
        }
        response
    });
    with_subject(&server.store, &caller, result)
}

async fn receive(server: &Arc<Server>, id: String, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let accepted = async {
        let (caller, _) = accepted(server, &parts).await?;
        if parts
            .headers
            .get(CONTENT_TYPE)
            .is_none_or(|kind| kind != PIECE)
        {
            return Err(ProtocolError::ContentType.into());
        }
        let offset = number(&parts.headers, &UPLOAD_OFFSET)?;
        let permit = admission::transfer_permit(&server.store, &caller, None).await?;
        Ok::<_, Error>((caller, offset, permit))
    };
    let (caller, offset, permit) = match accepted.await {
        Ok(accepted) => accepted,
        Err(error) => return envelope::failure(error),
    };
    let (store, author) = (Arc::clone(&server.store), caller.clone());
    let length = body::content_length(&parts.headers);
    let body = trusted(body, author.cancellation.trust());
    let received = body_reader::receive(server.store.clock(), body, move |reader| {
        let uploads = store.resumable_uploads();
        let mut upload = uploads.resume(&author, &id, offset, permit)?;
        upload.expect_room_for(length.unwrap_or_default())?;
        loop {
            match reader.next() {
                Ok(Some(piece)) => upload.write(&piece)?,
                Ok(None) => return upload.finish(),
                Err(lost) => {
                    // What came before the connection was lost is there when the client asks.
                    upload.finish()?;
                    return Err(lost.into());
                }
            }
        }
    });
    let result = match received.await {
        Ok(state) => Ok((StatusCode::NO_CONTENT, headers(&state)).into_response()),
        // Of all preconditions only the offset is asked here, for which the protocol has a status.
        Err(error) if error.code() == Code::PreconditionFailed => {
            let mut response = envelope::failure(error);
            *response.status_mut() = StatusCode::CONFLICT;
            Ok(response)
        }
        Err(error) => Err(error),
    };
    with_subject(&server.store, &caller, result)
}

async fn look(server: &Arc<Server>, id: String, request: Request) -> Response {
    small(server, request, move |server, caller| {
        let state = server.store.resumable_uploads().state(caller, &id)?;
        let mut response = headers(&state).into_response();
        let headers = response.headers_mut();
        headers.insert(UPLOAD_LENGTH, state.length.into());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    })
    .await
}

async fn give_up(server: &Arc<Server>, id: String, request: Request) -> Response {
    small(server, request, move |server, caller| {
        server.store.resumable_uploads().give_up(caller, &id)?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}

/// Answers a request that brings nothing, with a place among the calls.
async fn small(
    server: &Arc<Server>,
    request: Request,
    work: impl FnOnce(&Server, &Caller) -> Result<Response, Error> + Send + 'static,
) -> Response {
    let (parts, _body) = request.into_parts();
    let (mut caller, _) = match accepted(server, &parts).await {
        Ok(accepted) => accepted,
        Err(error) => return envelope::failure(error),
    };
    let asking = caller.clone();
    let answered = async {
        let admitted = server
            .admission
            .admit(&server.store.namespace(&caller))
            .await?;
        caller.place = admitted.place();
        let server = Arc::clone(server);
        let answered = tokio::task::spawn_blocking(move || {
            server.store.expect_active(&caller)?;
            work(&server, &caller)
        });
        answered.await.map_err(RouteError::from)?
    };
    with_subject(&server.store, &asking, answered.await)
}

/// What every answer about an upload says.
fn headers(state: &UploadState) -> [(HeaderName, HeaderValue); 2] {
    let expires = DateTimePrinter::new().timestamp_to_rfc9110_string(&state.expires_at);
    let expires = expires.ok().and_then(|text| text.parse().ok());
    [
        (UPLOAD_OFFSET, state.offset.into()),
        (
            UPLOAD_EXPIRES,
            expires.unwrap_or(HeaderValue::from_static("")),
        ),
    ]
}

/// A header that holds a number of bytes.
fn number(headers: &HeaderMap, name: &HeaderName) -> Result<u64, ProtocolError> {
    let text = headers.get(name).and_then(|value| value.to_str().ok());
    let number = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    number
        .and_then(|text| text.parse().ok())
        .filter(|number| i64::try_from(*number).is_ok())
        .ok_or(ProtocolError::Number {
            header: name.clone(),
        })
}

/// The name of the file: `filename` of the metadata, in base64.
fn file_name(headers: &HeaderMap) -> Result<String, ProtocolError> {
    let text = headers
        .get(UPLOAD_METADATA)
        .and_then(|value| value.to_str().ok());
    let mut pairs = text.unwrap_or_default().split(',');
    let encoded = pairs.find_map(|pair| pair.trim().strip_prefix("filename "));
    encoded
        .and_then(|encoded| STANDARD.decode(encoded.trim()).ok())
        .and_then(|name| String::from_utf8(name).ok())
        .ok_or(ProtocolError::Name)
}

diagnostics! {
    /// A request that the protocol does not allow.
    #[derive(Debug, thiserror::Error)]
    enum ProtocolError {
        /// Another version of the protocol, or none.
        #[error("the header `tus-resumable` must be `1.0.0`")]
        Version => {
            code: PreconditionFailed,
            hint: "send Tus-Resumable: 1.0.0, or a whole file with POST /files/upload",
        },
        /// A piece of another type.
        #[error("the header `content-type` of a piece must be `{PIECE}`")]
        ContentType => {
            code: UnsupportedFileType,
            hint: format!("send the next bytes with Content-Type: {PIECE}"),
        },
        /// A header without a number.
        #[error("the header `{header}` must be a number of bytes")]
        Number {
            header: HeaderName => [UPLOAD_LENGTH, UPLOAD_OFFSET],
        } => {
            code: InvalidParameter,
            hint: if *header == UPLOAD_LENGTH {
                "send the size of the whole file in Upload-Length"
            } else {
                "ask with HEAD how many bytes have arrived, and send that in Upload-Offset"
            },
            details: { "parameter": header.as_str() },
        },
        /// No name.
        #[error("the header `upload-metadata` must have the name of the file, in base64")]
        Name => {
            code: MissingParameter,
            hint: "send Upload-Metadata: filename bm90ZXMubWQ= for notes.md",
            details: { "parameter": "upload-metadata" },
        },
    }
}
