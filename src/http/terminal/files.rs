//! Files of the tree as people look at them, and links to them.

use std::time::Duration;

use axum::response::Response;
use fileshed_core::link::Purpose;
use fileshed_core::view::Resolved;
use fileshed_core::{CallerView, Error, Timings};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::endpoint::{PathRequest, PathTextError, path_parameters, required_value};
use super::upload::to_fill;
use crate::http::call::Call;
use crate::http::files::download::{Download, Presentation};

/// `GET /files/view`. A preview of a document is the document: nothing here makes a PDF of it.
pub(super) async fn view(call: Call) -> Result<Response, Error> {
    let path = required_value(&call.parts.uri, "path")?;
    send(call, path, Presentation::Inline).await
}

/// `GET /files/serve/<path>`: the same with the path in the address, for pages whose links are
/// relative to it.
pub(super) async fn serve(mut call: Call) -> Result<Response, Error> {
    let parameters = path_parameters(&mut call.parts).await;
    let path = parameters.get("path").and_then(Value::as_str);
    let path = path.ok_or(PathTextError)?;
    send(call, format!("/{path}"), Presentation::Site).await
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

/// Lifetime of a link.
const AGE: Duration = Timings::STANDARD.http.terminal_link;

/// Where files go.
#[derive(Deserialize, ToSchema)]
pub(super) struct UploadLinkRequest {
    /// Directory that gets them.
    directory: String,
}

/// `POST /files/upload/link`
pub(super) fn upload_link(
    view: CallerView<'_>,
    request: &UploadLinkRequest,
) -> Result<Value, Error> {
    let found = to_fill(view, &request.directory)?;
    link(view, &found, Purpose::Upload)
}

/// `GET /files/download/link`
pub(super) fn download_link(view: CallerView<'_>, request: &PathRequest) -> Result<Value, Error> {
    let found = view.resolve("path", &request.path)?;
    found.file()?;
    link(view, &found, Purpose::Download)
}

fn link(view: CallerView<'_>, found: &Resolved<'_>, purpose: Purpose) -> Result<Value, Error> {
    let links = view.core.transfer.links();
    let link = links.create_for(&found.zone, &found.path, purpose, AGE);
    let url = link.map_err(|error| found.explain(error))?.url;
    Ok(json!({"url": url}))
}
