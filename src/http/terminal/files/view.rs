//! `GET /files/view` and `/files/serve/<path>`: a file as it is, for people who look at it.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use fileshed_core::Error;

use crate::http::Server;
use crate::http::call::Call;
use crate::http::files::download::{Download, Presentation};
use crate::http::terminal::arguments::Query;
use crate::http::terminal::stream;

/// `GET /files/view`. A preview of a document is the document: nothing here makes a PDF of it.
pub(in crate::http::terminal) async fn view(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Response {
    stream(server, request, |call| async move {
        let path = Query::of(&call.parts.uri).required("path")?;
        send(call, path, Presentation::Inline).await
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
    stream(server, request, |call| {
        send(call, format!("/{path}"), Presentation::Site)
    })
    .await
}

async fn send(mut call: Call, path: String, presentation: Presentation) -> Result<Response, Error> {
    let permit = call.transfer_permit().await?;
    let file = call.look(move |view| {
        let found = view.resolve("path", &path)?;
        found.file()?;
        found.explained(|| Download::open(view.core, view.caller, &found.zone, &found.path))
    });
    Ok(file.await?.answer(&call.parts, presentation, permit))
}
