//! `GET`, `HEAD` and `PUT /files/content`: one file, as it is.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_RANGE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use fileshed_core::transfer::{Stored, Upload, UploadError};
use fileshed_core::{Caller, Error, Store, Zone, diagnostics};
use serde_json::json;

use super::condition;
use super::download::{Download, Presentation};
use super::{FileQuery, body_reader, read_request, with_subject};
use crate::http::route::RouteError;
use crate::http::trusted_body::trusted;
use crate::http::{Server, admission, body, envelope};

/// The name in intents, for repairs.
const OPERATION: &str = "files/content";

/// `GET /files/content`
pub(super) async fn fetch(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    let (caller, query) = match read_request(&server, &parts).await {
        Ok(found) => found,
        Err(error) => return envelope::failure(error),
    };
    let result = answer_with_file(&server, &parts, caller.clone(), query).await;
    with_subject(&server.store, &caller, result)
}

async fn answer_with_file(
    server: &Arc<Server>,
    parts: &Parts,
    caller: Caller,
    query: FileQuery,
) -> Result<Response, Error> {
    let inline = FileQuery::flag("inline", query.inline.as_ref())?;
    let transfer_permit = admission::transfer_permit(&server.store, &caller, None).await?;
    let given = match query.file_at_once(&server.store, &caller) {
        Some(given) => given,
        None => open(server, caller, query).await?,
    };
    let opening = if inline {
        Presentation::Inline
    } else {
        Presentation::Attachment
    };
    Ok(given.answer(parts, opening, transfer_permit))
}

async fn open(server: &Arc<Server>, caller: Caller, query: FileQuery) -> Result<Download, Error> {
    let store = Arc::clone(&server.store);
    let given = tokio::task::spawn_blocking(move || {
        let (zone, path) = query.place(&store, &caller)?;
        Download::open(&store, &caller, &zone, &path)
    });
    given.await.map_err(RouteError::from)?
}

/// `PUT /files/content`
pub(super) async fn store(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let (caller, query) = match read_request(&server, &parts).await {
        Ok(found) => found,
        Err(error) => return envelope::failure(error),
    };
    let (store, author, headers) = (Arc::clone(&server.store), caller.clone(), parts.headers);
    let transfer_permit = match admission::transfer_permit(&store, &author, None).await {
        Ok(transfer_permit) => transfer_permit,
        Err(error) => return with_subject(&store, &author, Err(error)),
    };
    let body = trusted(body, author.cancellation.trust());
    let stored = body_reader::receive(server.store.clock(), body, move |reader| {
        if headers.contains_key(CONTENT_RANGE) {
            return Err(PartialError.into());
        }
        let zone = zone(&store, &author, &query)?.made()?;
        let path = query.path.as_deref().unwrap_or_default();
        let mut file = Upload::of_file(&zone, path, transfer_permit)?;
        if let Some(length) = body::content_length(&headers) {
            file.announce(length)?;
        }
        while let Some(piece) = reader.next()? {
            file.write(&piece)?;
        }
        let upload = file.finish()?;
        let message = FileQuery::given(query.message.as_ref());
        let stored = upload.store_if(OPERATION, message, |entry| {
            condition::expect_state(&headers, entry)
        })?;
        let stored = stored.first().ok_or(UploadError::Nothing)?;
        Ok(response(zone.name().as_str(), stored))
    });
    with_subject(&server.store, &caller, stored.await)
}

fn response(zone: &str, stored: &Stored) -> Response {
    let (status, verb) = if stored.created {
        (StatusCode::CREATED, "Created")
    } else {
        (StatusCode::OK, "Wrote")
    };
    let body = json!({
        "success": true,
        "data": {
            "zone": zone,
            "path": stored.path.as_str(),
            "size_bytes": stored.size,
            "created": stored.created,
        },
        "message": format!("{verb} {} ({} bytes)", stored.path, stored.size),
    });
    let mut response = (status, Json(body)).into_response();
    if let Some(stamp) = &stored.stamp {
        condition::Validators::of(stamp).insert_tag(response.headers_mut());
    }
    response
}

diagnostics! {
    /// A part of a file where a whole one is taken.
    #[derive(Debug, thiserror::Error)]
    #[error("the header `content-range` says that this is a part of a file")]
    pub(in crate::http) struct PartialError => {
        code: InvalidParameter,
        hint: "send the whole file; shed_patch_bytes writes a part of one",
    }
}

fn zone<'a>(store: &'a Store, caller: &'a Caller, query: &FileQuery) -> Result<Zone<'a>, Error> {
    let name = query.zone.as_deref().unwrap_or_default();
    store.zone(caller, name, FileQuery::given(query.group.as_ref()))
}
