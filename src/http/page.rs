//! The page for people: a file manager in the browser.
//!
//! Everything that a person does there is an operation or a transfer that programs have too, under
//! the same rules. What is added here reads: what is in a directory, which conversations have
//! uploads and what a search finds, in a form that a list of many thousand entries can use; and it
//! empties the bin, which is for people. The page is made of files of the binary alone, and the
//! policy that is sent with it lets nothing else run or load.

mod assets;
mod bin;
mod list;
mod search;
mod uploads;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{get, post};
use fileshed_core::{Caller, Error, Store};
use serde::Serialize;

use super::files::{FileQuery, read_request, with_subject};
use super::route::RouteError;
use super::{Server, envelope, response_body};

pub(super) use assets::document;

/// The addresses that only the page asks.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/page/assets/{version}/{*name}", get(assets::asset))
        .route("/page/list", get(list::list))
        .route("/page/search", get(search::search))
        .route("/page/uploads", get(uploads::list))
        .route("/page/bin", get(bin::list))
        .route("/page/bin/restore", post(bin::restore))
        .route("/page/bin/remove", post(bin::remove))
}

/// Finds out who asks, waits for a place like a call, and answers with what `work` reads.
async fn answer<T: Serialize>(
    server: Arc<Server>,
    request: Request,
    work: impl FnOnce(&Arc<Store>, &Caller, FileQuery) -> Result<T, Error> + Send + 'static,
) -> Response {
    let (parts, _body) = request.into_parts();
    match read_request(&server, &parts).await {
        Ok((caller, query)) => {
            read(&server, caller, move |store, caller| {
                work(store, caller, query)
            })
            .await
        }
        Err(error) => envelope::failure(error),
    }
}

/// Answers a caller who is known.
async fn read<T: Serialize>(
    server: &Arc<Server>,
    mut caller: Caller,
    work: impl FnOnce(&Arc<Store>, &Caller) -> Result<T, Error> + Send + 'static,
) -> Response {
    let (store, asking) = (Arc::clone(&server.store), caller.clone());
    let answered = async {
        let admitted = server.admission.admit(&store.namespace(&caller)).await?;
        caller.place = admitted.place();
        let store = Arc::clone(&store);
        let text = tokio::task::spawn_blocking(move || {
            store.expect_active(&caller)?;
            envelope::json_text(&work(&store, &caller)?)
        });
        let text = text.await.map_err(RouteError::from)??;
        Ok(response_body::json(text, admitted))
    };
    let result = answered.await;
    with_subject(&server.store, &asking, result)
}
