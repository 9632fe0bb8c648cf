//! `/links/<token>`: what a link allows, without any other credential.
//!
//! No answer reveals what is stored: neither names nor sizes nor why a link does not work. The
//! reason why an upload is refused is written for people who do not know what a zone is.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use fileshed_core::link::{Link, LinkError, Purpose};
use fileshed_core::transfer::{Existing, TransferPermit, Upload};
use fileshed_core::{Code, Error, Store, Zone, ZonePath, diagnostics};
use serde_json::json;

use super::download::{Download, Presentation};
use super::{body_reader, page, upload, with_subject};
use crate::http::route::RouteError;
use crate::http::trusted_body::trusted;
use crate::http::{Server, admission, envelope};
use crate::ops::Reply;

/// The name in intents, for repairs.
const OPERATION: &str = "links";

/// `GET /links/<token>`: the file, or the page that takes files.
pub(super) async fn open(
    State(server): State<Arc<Server>>,
    Path(token): Path<String>,
    request: Request,
) -> Response {
    let (parts, _body) = request.into_parts();
    let link = match found(&server, token, None).await {
        Ok(link) => link,
        Err(error) => return refused(&parts.headers, error),
    };
    let caller = link.caller.clone();
    let result = match link.purpose {
        Purpose::Upload => Ok(page::upload(server.store.settings().max_file_size_mb)),
        Purpose::Download => answer_with_file(&server, link, &parts).await,
    };
    match result {
        Ok(response) => with_subject(&server.store, &caller, Ok(response)),
        Err(error) => refused(&parts.headers, error),
    }
}

/// The valid link of a token; if a purpose is given, the link must have it.
async fn found(
    server: &Arc<Server>,
    token: String,
    purpose: Option<Purpose>,
) -> Result<Link, Error> {
    let store = Arc::clone(&server.store);
    let found = tokio::task::spawn_blocking(move || {
        let link = store.links().open(&token)?;
        match purpose {
            Some(purpose) if purpose != link.purpose => Err(LinkError::Gone.into()),
            _ => Ok(link),
        }
    });
    let found: Result<Link, Error> = found.await.map_err(RouteError::from)?;
    let mut link = found?;
    server.store.begin_trust(&mut link.caller)?;
    Ok(link)
}

async fn answer_with_file(
    server: &Arc<Server>,
    link: Link,
    parts: &Parts,
) -> Result<Response, Error> {
    let transfer_permit =
        admission::transfer_permit(&server.store, &link.caller, Some(&link.id)).await?;
    let store = Arc::clone(&server.store);
    let given = tokio::task::spawn_blocking(move || {
        let zone = link.open_zone(&store).map_err(LinkError::hiding)?;
        let given = Download::open(&store, &link.caller, &zone, &link.path);
        given.map_err(LinkError::hiding)
    });
    let given = given.await.map_err(RouteError::from)??;
    Ok(given.answer(parts, Presentation::Page, transfer_permit))
}

/// `POST /links/<token>`: files for the directory of the link.
pub(super) async fn bring(
    State(server): State<Arc<Server>>,
    Path(token): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let (link, transfer_permit) = match admitted(&server, token).await {
        Ok(found) => found,
        Err(error) => return refused(&parts.headers, error),
    };
    let caller = link.caller.clone();
    let (store, headers) = (Arc::clone(&server.store), parts.headers.clone());
    let body = trusted(body, caller.cancellation.trust());
    let stored = body_reader::receive(server.store.clock(), body, move |reader| {
        take(&store, &link, transfer_permit, &headers, reader)
            .map_err(|error| in_plain_words(&store, error))
    });
    let result = match stored.await {
        Err(error) => Ok(refused(&parts.headers, error)),
        Ok(count) if page::is_wanted(&parts.headers) => Ok(page::stored(count)),
        Ok(count) => {
            let reply = Reply::new(json!({"count": count}), page::sentence(count));
            Ok(envelope::answer(Ok(reply)))
        }
    };
    with_subject(&server.store, &caller, result)
}

/// A valid upload link, and the permit to transfer through it.
async fn admitted(server: &Arc<Server>, token: String) -> Result<(Link, TransferPermit), Error> {
    let link = found(server, token, Some(Purpose::Upload)).await?;
    let transfer_permit =
        admission::transfer_permit(&server.store, &link.caller, Some(&link.id)).await?;
    let store = Arc::clone(&server.store);
    let opened = tokio::task::spawn_blocking(move || {
        link.open_zone(&store).map_err(LinkError::hiding)?;
        Ok(link)
    });
    let link: Result<Link, Error> = opened.await.map_err(RouteError::from)?;
    Ok((link?, transfer_permit))
}

fn take(
    store: &Store,
    link: &Link,
    transfer_permit: TransferPermit,
    headers: &HeaderMap,
    reader: &mut body_reader::BodyReader,
) -> Result<usize, Error> {
    let zone = link.open_zone(store)?.made()?;
    // The holder of a link does not own what is there: nothing is replaced or revealed.
    let upload = Upload::new(
        &zone,
        link.path.display(),
        Existing::Hidden,
        transfer_permit,
    )?;
    let stored = upload::take_in(headers, reader, upload)?.store(OPERATION, None)?;
    if let Some(chat_host) = store.chat_host() {
        let names = stored.iter().filter_map(|stored| stored.path.name());
        let names = names.map(str::to_owned).collect();
        chat_host.arrived(&link.caller, &place(&zone, &link.path), names);
    }
    Ok(stored.len())
}

/// How the directory of a link is called where it was asked for.
fn place(zone: &Zone<'_>, path: &ZonePath) -> String {
    let name = match zone.group() {
        Some(group) => format!("group {}", group.name),
        None => zone.name().to_string(),
    };
    match path.as_str() {
        "" => name,
        path => format!("{name}/{path}"),
    }
}

/// A failure as a page where a person looks at it.
fn refused(headers: &HeaderMap, error: Error) -> Response {
    if page::is_wanted(headers) && !envelope::is_ours(error.code()) {
        page::refused(&error)
    } else {
        envelope::failure(error)
    }
}

/// What the holder of a link may know of a failure.
fn in_plain_words(store: &Store, error: Error) -> Error {
    let plain = match error.code() {
        Code::FileTooLarge => PlainError::TooLarge {
            limit: store.settings().max_file_size_mb,
        },
        Code::QuotaExceeded => PlainError::NoRoom,
        Code::InvalidPath | Code::PathEscape | Code::ProtectedPath => PlainError::Name,
        Code::MissingParameter => PlainError::Nothing,
        Code::InvalidParameter => PlainError::Broken,
        // The first are the server's own, the last says nothing but to wait.
        Code::DbError | Code::InternalApiError | Code::Busy => return error,
        _ => PlainError::Failed,
    };
    plain.into()
}

diagnostics! {
    /// A failure for people who bring files through a link.
    #[derive(Debug, thiserror::Error)]
    enum PlainError {
        #[error("This file is too large: at most {limit} MB are taken.")]
        TooLarge { limit: u64 } => {
            code: FileTooLarge,
            hint: "Send it in parts, or ask for another way.",
        },
        #[error("There is not enough room for this file.")]
        NoRoom => {
            code: QuotaExceeded,
            hint: "Tell whoever gave you the link.",
        },
        #[error("This file cannot be taken under its name. Rename it and try again.")]
        Name => {
            code: InvalidPath,
            hint: "Letters, digits, blanks, dots and dashes are always fine.",
        },
        #[error("No file was chosen.")]
        Nothing => {
            code: MissingParameter,
            hint: "Send a form with files: curl -F file=@notes.txt <link>",
        },
        #[error("The upload was incomplete or damaged. Try again.")]
        Broken => {
            code: InvalidParameter,
            hint: "Send a form with files, each under a name of its own.",
        },
        #[error("This file could not be stored.")]
        Failed => {
            code: InvalidPath,
            hint: "Tell whoever gave you the link.",
        },
    }
}
