//! `POST /files/write`: a file with this content, whatever was there.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::changes::FileWrite;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;
use crate::ops::Effect;

/// `POST /files/write`
pub(in crate::http::terminal) struct WriteFile;

/// The file.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// File to write; directories are made.
    path: String,
    /// The whole text.
    content: String,
}

/// What was written.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    pub(super) path: String,
    pub(super) size: u64,
}

impl Endpoint for WriteFile {
    const ID: &'static str = "write_file";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/write";
    const DOC: &'static str = "Write a whole text file, new or not.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::REPLACES;
    const BODY_MAX: u64 = u64::MAX;
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let target = view.resolve_to_change("path", &request.path)?;
        let write = FileWrite {
            zone: &target.zone,
            operation: Self::ID,
            path: target.path.as_str(),
            message: None,
        };
        let written = target.explained(|| write.overwrite(request.content.as_bytes()))?;
        Ok(Response {
            path: target.at.as_str().to_owned(),
            size: written.size,
        })
    }
}
