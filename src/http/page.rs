//! The page for people: a file manager in the browser.
//!
//! Everything that a person does there is an operation or a transfer that programs have too, under
//! the same rules. What is added here reads: what is in a directory, which conversations have
//! uploads and what a search finds, in a form that a list of many thousand entries can use; and it
//! empties the bin, which is for people. The page is made of files of the binary alone, and the
//! policy that is sent with it lets nothing else run or load.

mod assets;
mod changes;
mod details;
mod links;
mod lists;
mod previews;

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use fileshed_core::{CallerView, Channel, Error};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::call::{Answering, Call, ServerRequest, Surface};
use super::files::{FileQuery, SURFACE as FILES, is_page_wanted, member, thumbnail};
use super::{Server, envelope, response_body};

use assets::document;
use changes::{DifferenceQuery, UndoQuery, UndoQueryError, changes, difference, take_back};
use lists::ListQueryError::{Id, Position, Text};
use previews::TableQuery;

/// The addresses that only the page asks.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/page/assets/{version}/{*name}", get(assets::asset))
        .route("/page/list", get(of_file(lists::directory)))
        .route("/page/details", get(of_file(details::details)))
        .route("/page/lease", post(of_file(details::lease)))
        .route("/page/lease/end", post(of_file(details::end_lease)))
        .route("/page/link", post(SURFACE.handler(links::change)))
        .route("/page/table", get(answer(TableQuery::of, previews::table)))
        .route("/page/document", get(of_file(previews::document)))
        .route("/page/archive", get(of_file(previews::archive)))
        .route("/page/member", get(FILES.handler(member::fetch)))
        .route("/page/thumbnail", get(FILES.handler(thumbnail::fetch)))
        .route("/page/search", get(asked(Text, lists::search)))
        .route("/page/uploads", get(asked(Position, lists::uploads)))
        .route("/page/titles", get(asked(Id, lists::titles)))
        .route("/page/bin", get(asked(Id, lists::bin)))
        .route("/page/bin/restore", post(asked(Id, lists::restore_deleted)))
        .route("/page/changes", get(asked(UndoQueryError, changes)))
        .route("/page/undo", post(answer(UndoQuery::of, take_back)))
        .route(
            "/page/difference",
            get(answer(DifferenceQuery::of, difference)),
        )
        .route("/page/bin/remove", post(asked(Id, lists::remove_deleted)))
}

/// Rules by which requests of the page are identified.
const SURFACE: Surface = Surface::of_page(Channel::Page);

/// A handler that reads the query of a call, waits for a place like any call, and answers with what
/// `work` reads.
fn answer<Q: Send + 'static, T: Serialize + Send + 'static>(
    query: impl Fn(&mut Call) -> Result<Q, Error> + Clone + Send + Sync + 'static,
    work: fn(CallerView<'_>, &Q) -> Result<T, Error>,
) -> impl Fn(ServerRequest) -> Answering + Clone + Send + Sync + 'static {
    SURFACE.handler(move |mut call: Call| {
        let query = query.clone();
        async move {
            let query = query(&mut call)?;
            let permit = call.admit().await?;
            let text = call.run(permit, move |view, _| {
                view.core.store.expect_active(view.caller)?;
                envelope::text(&work(view, &query)?)
            });
            let (text, permit) = text.await?;
            Ok(response_body::json(text?, permit))
        }
    })
}

/// The same with a query that names a file or a directory.
fn of_file<T: Serialize + Send + 'static>(
    work: fn(CallerView<'_>, &FileQuery) -> Result<T, Error>,
) -> impl Fn(ServerRequest) -> Answering + Clone + Send + Sync + 'static {
    answer(FileQuery::of, work)
}

/// The same with a query of plain data; `wrong` is the failure of one that cannot be read.
fn asked<Q: DeserializeOwned + Send + 'static, T: Serialize + Send + 'static>(
    wrong: impl Into<Error> + Clone + Send + Sync + 'static,
    work: fn(CallerView<'_>, &Q) -> Result<T, Error>,
) -> impl Fn(ServerRequest) -> Answering + Clone + Send + Sync + 'static {
    let query = move |call: &mut Call| {
        let query = Query::try_from_uri(&call.parts.uri);
        query.map(|query| query.0).map_err(|_| wrong.clone().into())
    };
    answer(query, work)
}

/// The page for browsers, JSON for others. It shows nothing of any user and needs no credential.
pub(super) async fn start(State(server): State<Arc<Server>>, request: Parts) -> Response {
    if is_page_wanted(&request.headers) {
        return document(&request, &server.public_url);
    }
    Json(json!({
        "name": "fileshed", "version": env!("CARGO_PKG_VERSION"),
        "docs": "/docs/", "openapi": "/openapi.json", "health": "/health", "ready": "/ready",
    }))
    .into_response()
}
