//! `GET /page/member`: one file of a ZIP archive, without unpacking the others.

use axum::extract::Query;
use axum::http::HeaderValue;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::archive::Archive;
use fileshed_core::{Error, diagnostics};
use serde::Deserialize;

use crate::content_type;
use crate::http::call::Call;
use crate::http::files::FileQuery;
use crate::http::files::page::{CACHE, INERT, disposition};
use crate::http::response_body;

/// A file of an archive.
#[derive(Deserialize)]
struct MemberQuery {
    /// Its path there, as a list of the archive has it.
    name: String,
}

/// `GET /page/member`
pub(in crate::http) async fn fetch(mut call: Call) -> Result<Response, Error> {
    let named = Query::<MemberQuery>::try_from_uri(&call.parts.uri);
    let name = named.map_err(|_| MemberQueryError)?.0.name;
    let query = FileQuery::of(&mut call)?;
    let permit = call.transfer_permit(None).await?;
    let base = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kind = content_type::by_name(base).unwrap_or(content_type::BYTES);
    let disposition = disposition(base, false);
    let looked = call.look(move |view| {
        let (zone, path) = query.place(view)?;
        let archive = Archive::open(&zone, &zone.entry(&path)?)?;
        archive.with_encoding(None)?.member(&name)
    });
    let content = looked.await?;
    let headers = [
        (CACHE_CONTROL, CACHE),
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_SECURITY_POLICY, INERT),
        (CONTENT_DISPOSITION, disposition),
        (CONTENT_LENGTH, content.size.into()),
    ];
    let body = response_body::written(permit, move |writer| {
        content.write(writer).map_err(|error| {
            tracing::warn!(code = %error.code(), "a file of an archive was not sent whole");
            std::io::Error::other(error)
        })
    });
    Ok((headers, body).into_response())
}

diagnostics! {
    /// A file that is not said.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    #[error("parameter `name` is required")]
    struct MemberQueryError => {
        code: MissingParameter,
        hint: "name a file of the archive as GET /page/archive lists it",
        details: { "parameter": "name" },
    }
}
