//! `/links/<token>`: what a link allows, without any other credential.
//!
//! No answer reveals what is stored: neither names nor sizes nor why a link does not work. The
//! reason why an upload is refused is written for people who do not know what a zone is.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use fileshed_core::link::{Link, LinkError, Purpose};
use fileshed_core::transfer::{OnConflict, TransferPermit, Upload};
use fileshed_core::{CallerView, Code, Core, Error, Zone, ZonePath, diagnostics};
use serde_json::json;

use super::download::{Download, Presentation};
use super::{SURFACE, content, page};
use crate::http::body::BodyReader;
use crate::http::call::{Call, ServerRequest};
use crate::http::{Server, envelope, pool};
use crate::ops::Reply;

/// The name in intents, for repairs.
const OPERATION: &str = "links";

/// `GET /links/<token>`: the file, or the page that takes files.
pub(super) async fn open(Path(token): Path<String>, request: ServerRequest) -> Response {
    let limit = request.server.core.store.settings.max_file_size_mb;
    answer(token, request, None, |call, link| async move {
        match link.purpose {
            Purpose::Upload => Ok(page::upload(limit)),
            Purpose::Download => answer_with_file(call, link).await,
        }
    })
    .await
}

/// Answers a request with a link as `work` does; if a purpose is given, the link must have it.
async fn answer<F>(
    token: String,
    request: ServerRequest,
    purpose: Option<Purpose>,
    work: impl FnOnce(Call, Link) -> F,
) -> Response
where
    F: Future<Output = Result<Response, Error>>,
{
    let headers = request.parts.headers.clone();
    let link = match found(&request.server, token, purpose).await {
        Ok(link) => link,
        Err(error) => return refused(&headers, error),
    };
    let call = request.of(link.caller.clone());
    let answered = SURFACE.answer_to(call, |call| async move {
        let answered = work(call, link).await;
        Ok(answered.unwrap_or_else(|error| refused(&headers, error)))
    });
    answered.await
}

/// The valid link of a token.
async fn found(
    server: &Arc<Server>,
    token: String,
    purpose: Option<Purpose>,
) -> Result<Link, Error> {
    let core = Arc::clone(&server.core);
    let found = pool::blocking(move || -> Result<Link, Error> {
        let mut link = core.transfer.open_link(&token)?;
        if purpose.is_some_and(|purpose| purpose != link.purpose) {
            return Err(LinkError::Gone.into());
        }
        core.store.begin_trust(&mut link.caller)?;
        Ok(link)
    });
    found.await?
}

async fn answer_with_file(mut call: Call, link: Link) -> Result<Response, Error> {
    let permit = call.transfer_permit(Some(&link.id)).await?;
    let file = call.look(move |view| {
        let zone = link
            .open_zone(&view.core.store)
            .map_err(LinkError::hiding)?;
        let file = Download::open(CallerView::of(view.core, &link.caller), &zone, &link.path);
        file.map_err(LinkError::hiding)
    });
    Ok(file.await?.answer(&call.parts, Presentation::Page, permit))
}

/// `POST /links/<token>`: files for the directory of the link.
pub(super) async fn bring(Path(token): Path<String>, request: ServerRequest) -> Response {
    let purpose = Some(Purpose::Upload);
    let answered = answer(token, request, purpose, |mut call, link| async move {
        let permit = call.transfer_permit(Some(&link.id)).await?;
        let opened = call.look(move |view| {
            link.open_zone(&view.core.store)
                .map_err(LinkError::hiding)?;
            Ok(link)
        });
        let link = opened.await?;
        let is_page = page::is_wanted(&call.parts.headers);
        let stored = call.receive(move |view, parts, reader| {
            take(view.core, &link, permit, &parts.headers, reader)
                .map_err(|error| in_plain_words(view.core, error))
        });
        let count = stored.await?;
        if is_page {
            return Ok(page::stored(count));
        }
        let reply = Reply::new(json!({"count": count}), page::sentence(count));
        Ok(envelope::answer(Ok(reply)))
    });
    answered.await
}

fn take(
    core: &Core,
    link: &Link,
    transfer_permit: TransferPermit,
    headers: &HeaderMap,
    reader: &mut BodyReader,
) -> Result<usize, Error> {
    let zone = link.open_zone(&core.store)?.made()?;
    // The holder of a link does not own what is there: nothing is replaced or revealed.
    let upload = Upload::new(
        &zone,
        link.path.display(),
        OnConflict::RenameSilently,
        transfer_permit,
    )?;
    let stored = content::take_in(headers, reader, upload)?.store(OPERATION, None)?;
    if let Some(chat_host) = core.store.chat_host() {
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
        None => zone.name.to_string(),
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
fn in_plain_words(core: &Core, error: Error) -> Error {
    let plain = match error.code() {
        Code::FileTooLarge => PlainError::TooLarge {
            limit: core.store.settings.max_file_size_mb,
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
