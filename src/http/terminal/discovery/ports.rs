//! `GET /ports`: servers that a user's commands run. None can be reached, so there are none.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `GET /ports`
pub(in crate::http::terminal) struct ListPorts;

/// What it takes: nothing.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {}

/// What can be reached.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    ports: [(); 0],
}

impl Endpoint for ListPorts {
    const ID: &'static str = "list_ports";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/ports";
    type Request = Request;
    type Response = Response;

    fn run(_view: View<'_>, _request: Request) -> Result<Response, Error> {
        Ok(Response { ports: [] })
    }
}
