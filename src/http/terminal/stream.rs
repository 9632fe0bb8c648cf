//! Addresses whose body or answer is a stream: who calls them, and how a failure of theirs leaves.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::Uri;
use axum::http::request::Parts;
use axum::response::Response;
use fileshed_core::view::View;
use fileshed_core::{Caller, Channel, Error, Store, diagnostics};

use super::failure;
use super::identity::identify;
use crate::http::Server;
use crate::http::middleware::Subject;
use crate::http::route::RouteError;

/// A request whose caller is known.
pub(super) struct StreamRequest {
    pub(super) server: Arc<Server>,
    pub(super) caller: Caller,
    pub(super) parts: Parts,
    pub(super) body: axum::body::Body,
}

/// Answers a request as `work` does.
pub(super) async fn answer<Work, Answered>(
    server: Arc<Server>,
    request: Request,
    work: Work,
) -> Response
where
    Work: FnOnce(StreamRequest) -> Answered,
    Answered: Future<Output = Result<Response, Error>>,
{
    let (parts, body) = request.into_parts();
    let mut caller = match identify(&server, &parts, Channel::FileBrowser).await {
        Ok(caller) => caller,
        Err(error) => return failure::answer(error),
    };
    caller.names_zones = true;
    let subject = Subject::of(&server.store, &caller);
    let answered = work(StreamRequest {
        server,
        caller,
        parts,
        body,
    });
    let mut response = match answered.await {
        Ok(response) => failure::shaped(response),
        Err(error) => failure::answer(error),
    };
    response.extensions_mut().insert(subject);
    response
}

/// Does work that blocks in the tree of a caller.
pub(super) async fn in_tree<T: Send + 'static>(
    store: &Arc<Store>,
    caller: &Caller,
    work: impl FnOnce(View<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (store, caller) = (Arc::clone(store), caller.clone());
    let work = tokio::task::spawn_blocking(move || {
        work(View {
            store: &store,
            caller: &caller,
        })
    });
    work.await.map_err(RouteError::from)?
}

/// The query of an address by names; of one that is repeated, the last.
pub(super) struct Query(HashMap<String, String>);

impl Query {
    pub(super) fn of(uri: &Uri) -> Self {
        let text = uri.query().unwrap_or_default();
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// A value that is not empty.
    pub(super) fn given(&self, parameter: &str) -> Option<String> {
        self.0
            .get(parameter)
            .filter(|value| !value.is_empty())
            .cloned()
    }

    /// A value that must be there.
    pub(super) fn required(&self, parameter: &'static str) -> Result<String, MissingError> {
        self.given(parameter).ok_or(MissingError { parameter })
    }
}

diagnostics! {
    /// A parameter that is missing in the query.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `{parameter}` is required")]
    pub(super) struct MissingError { parameter: &'static str } => {
        code: MissingParameter,
        hint: format!("add it to the address: ?{parameter}=%2Fstorage%2F…"),
        details: { "parameter": parameter },
    }
}
