//! `POST /files/move`: give a file or directory another path.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::view::{View, ViewError, ViewPath};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `POST /files/move`
pub(in crate::http::terminal) struct MoveEntry;

/// From where to where.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// File or directory.
    source: String,
    /// Its new path, with the name; nothing may be there yet.
    destination: String,
}

/// What moved.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    source: String,
    destination: String,
}

impl Endpoint for MoveEntry {
    const ID: &'static str = "move_entry";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/move";
    const CHANGES: bool = true;
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let from = view.resolve_to_change("source", &request.source)?;
        from.explained(|| from.zone.entry_itself(&from.path).map(drop))?;
        let to = view.resolve_to_change("destination", &request.destination)?;
        to.explained(|| to.zone.expect_writable())?;
        let above = to.at.parent().unwrap_or_else(ViewPath::home);
        if !view.is_directory("destination", &above)? {
            return Err(ViewError::NoParent {
                path: above.as_str().to_owned(),
            }
            .into());
        }
        if to.zone.entry_itself(&to.path).is_ok() {
            return Err(ViewError::Exists {
                path: to.at.as_str().to_owned(),
            }
            .into());
        }
        from.move_to(&to, false, Self::ID)?;
        Ok(Response {
            source: from.at.as_str().to_owned(),
            destination: to.at.as_str().to_owned(),
        })
    }
}
