//! `GET /files/view` and `/files/serve/<path>`: a file as it is, for people who look at it.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use fileshed_core::Error;

use crate::http::files::download::{Download, Presentation};
use crate::http::terminal::stream::{self, Query, StreamRequest};
use crate::http::{Server, admission};

/// `GET /files/view`. A preview of a document is the document: nothing here makes a PDF of it.
pub(in crate::http::terminal) async fn view(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Response {
    stream::answer(server, request, |request| async move {
        let path = Query::of(&request.parts.uri).required("path")?;
        send(request, path, Presentation::Inline).await
    })
    .await
}

/// `GET /files/serve/<path>`: the same with the path in the address, for pages whose links are
/// relative to it.
pub(in crate::http::terminal) async fn serve(
    State(server): State<Arc<Server>>,
    Path(path): Path<String>,
    request: Request,
) -> Response {
    stream::answer(server, request, |request| async move {
        send(request, format!("/{path}"), Presentation::Site).await
    })
    .await
}

async fn send(
    request: StreamRequest,
    path: String,
    presentation: Presentation,
) -> Result<Response, Error> {
    let StreamRequest {
        server,
        caller,
        parts,
        ..
    } = request;
    let transfer_permit = admission::transfer_permit(&server.store, &caller, None).await?;
    let store = Arc::clone(&server.store);
    let file = stream::in_tree(&server.store, &caller, move |view| {
        let found = view.resolve("path", &path)?;
        found.file()?;
        found.explained(|| Download::open(&store, view.caller, &found.zone, &found.path))
    });
    Ok(file.await?.answer(&parts, presentation, transfer_permit))
}
