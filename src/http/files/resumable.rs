//! `/files/uploads`: uploads that go on after a lost connection, as the protocol tus 1.0 says
//! (<https://tus.io/protocols/resumable-upload>), with its extensions creation, expiration and
//! termination.

use axum::extract::Path;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::transfer::{NewUpload, UploadState};
use fileshed_core::{CallerView, Code, Error, ZoneName, diagnostics};
use jiff::fmt::rfc2822::DateTimePrinter;

use super::{FileQuery, SURFACE, modified};
use crate::http::call::{Call, ServerRequest};
use crate::http::response_body::unstored;
use crate::http::{Server, envelope, route};

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
pub(super) async fn uploads(request: ServerRequest) -> Response {
    let response = match request.parts.method {
        Method::OPTIONS => capabilities(&request.server),
        Method::POST => SURFACE.answer(request, begin).await,
        _ => route::refuse_method(&request.parts, Method::POST),
    };
    spoken(response)
}

/// `/files/uploads/{id}`
pub(super) async fn upload(Path(id): Path<String>, request: ServerRequest) -> Response {
    let response = match meant(&request.parts) {
        Method::OPTIONS => capabilities(&request.server),
        Method::HEAD => SURFACE.answer(request, |call| look(call, id)).await,
        Method::PATCH => SURFACE.answer(request, |call| receive(call, id)).await,
        Method::DELETE => SURFACE.answer(request, |call| give_up(call, id)).await,
        _ => route::refuse_method(&request.parts, Method::PATCH),
    };
    spoken(response)
}

/// The method of a request; where a client cannot send it, the one that a header names.
fn meant(request: &Parts) -> Method {
    let named = request.headers.get(METHOD_OVERRIDE);
    let named = named.and_then(|name| Method::from_bytes(name.as_bytes()).ok());
    named.unwrap_or_else(|| request.method.clone())
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
    let largest = server.core.store.settings.largest_file();
    let headers = [
        (TUS_VERSION, VERSION),
        (TUS_EXTENSION, EXTENSIONS),
        (TUS_MAX_SIZE, largest.into()),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Reads the query of a call, and refuses other versions of the protocol.
fn accepted(call: &mut Call) -> Result<FileQuery, Error> {
    let query = FileQuery::of(call)?;
    match call.parts.headers.get(TUS_RESUMABLE) {
        Some(version) if *version == VERSION => Ok(query),
        _ => Err(ProtocolError::Version.into()),
    }
}

async fn begin(mut call: Call) -> Result<Response, Error> {
    let query = accepted(&mut call)?;
    let length = number(&call.parts.headers, &UPLOAD_LENGTH)?;
    let name = metadata(&call.parts.headers, "filename").ok_or(ProtocolError::Name)?;
    let times = ["mtime", "lastModified"]
        .map(|field| modified::of_field(field, &metadata(&call.parts.headers, field)?));
    let permit = call.transfer_permit(None).await?;
    let begun = call.look(move |view| {
        let zone = query.zone(view, ZoneName::Uploads.as_str())?;
        let new = NewUpload {
            directory: FileQuery::given(query.path.as_ref()).unwrap_or("."),
            name: &name,
            length,
            overwrite: FileQuery::flag("overwrite", query.overwrite.as_ref())?,
            message: FileQuery::given(query.message.as_ref()),
            modified: times.into_iter().flatten().next(),
        };
        let transfer = &view.core.transfer;
        transfer.begin_upload(&zone.made()?, new, permit)
    });
    let state = begun.await?;
    let mut response = (StatusCode::CREATED, headers(&state)).into_response();
    // Beside the address that was asked, whatever a proxy calls that.
    if let Ok(location) = format!("uploads/{}", state.id).parse() {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

async fn receive(mut call: Call, id: String) -> Result<Response, Error> {
    accepted(&mut call)?;
    let kind = call.parts.headers.get(CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != PIECE) {
        return Err(ProtocolError::ContentType.into());
    }
    let offset = number(&call.parts.headers, &UPLOAD_OFFSET)?;
    let permit = call.transfer_permit(None).await?;
    let received = call.receive(move |view, _, reader| {
        let transfer = &view.core.transfer;
        let mut upload = transfer.resume_upload(view.caller, &id, offset, permit)?;
        upload.expect_room_for(reader.announced().unwrap_or_default())?;
        loop {
            match reader.next() {
                Ok(Some(piece)) => upload.write(&piece)?,
                Ok(None) => return upload.finish(),
                Err(lost) => {
                    // The bytes that came before the connection was lost are kept, so that the client can
                    // resume.
                    upload.finish()?;
                    return Err(lost.into());
                }
            }
        }
    });
    match received.await {
        Ok(state) => Ok((StatusCode::NO_CONTENT, headers(&state)).into_response()),
        // Of all preconditions only the offset is asked here, for which the protocol has a status.
        Err(error) if error.code() == Code::PreconditionFailed => {
            let mut response = envelope::failure(error);
            *response.status_mut() = StatusCode::CONFLICT;
            Ok(response)
        }
        Err(error) => Err(error),
    }
}

async fn look(call: Call, id: String) -> Result<Response, Error> {
    small(call, move |view| {
        let state = view.core.transfer.upload_state(view.caller, &id)?;
        let length = HeaderValue::from(state.length);
        Ok(unstored(
            (headers(&state), [(UPLOAD_LENGTH, length)]).into_response(),
        ))
    })
    .await
}

async fn give_up(call: Call, id: String) -> Result<Response, Error> {
    small(call, move |view| {
        view.core.transfer.give_up_upload(view.caller, &id)?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}

/// Answers a request that brings nothing, with a place among the calls.
async fn small(
    mut call: Call,
    work: impl FnOnce(CallerView<'_>) -> Result<Response, Error> + Send + 'static,
) -> Result<Response, Error> {
    accepted(&mut call)?;
    let permit = call.admit().await?;
    let answered = call.run(permit, |view, _| {
        view.core.store.expect_active(view.caller)?;
        work(view)
    });
    answered.await?.0
}

/// Returns the headers of every answer about an upload. The one that stores the file names its path, as
/// the answers to other uploads do.
fn headers(state: &UploadState) -> HeaderMap {
    let expires = DateTimePrinter::new().timestamp_to_rfc9110_string(&state.expires_at);
    let expires = expires.ok().and_then(|text| text.parse().ok());
    let metadata = state.stored.as_ref().and_then(|stored| {
        let path = STANDARD.encode(stored.path.as_str());
        let renamed = if stored.is_nearest { ",renamed" } else { "" };
        format!("path {path}{renamed}").parse().ok()
    });
    let mut headers = HeaderMap::new();
    headers.insert(UPLOAD_OFFSET, state.offset.into());
    headers.extend(expires.map(|expires| (UPLOAD_EXPIRES, expires)));
    headers.extend(metadata.map(|metadata| (UPLOAD_METADATA, metadata)));
    headers
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

/// A text of the metadata, which has it in base64.
fn metadata(headers: &HeaderMap, wanted: &str) -> Option<String> {
    let mut pairs = headers.get(UPLOAD_METADATA)?.to_str().ok()?.split(',');
    let encoded = pairs.find_map(|pair| {
        let (key, value) = pair.trim().split_once(' ')?;
        (key == wanted).then_some(value)
    });
    String::from_utf8(STANDARD.decode(encoded?.trim()).ok()?).ok()
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
