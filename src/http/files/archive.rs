//! Directories on their way out, as an archive that is made while it is sent; `GET /files/archive`: several
//! entries of one directory as one.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use fileshed_core::archive::PackContent;
use fileshed_core::storage::Entry;
use fileshed_core::transfer::TransferPermit;
use fileshed_core::{CallerView, Error, Zone, ZonePath, diagnostics};

use crate::http::call::Call;
use crate::http::files::FileQuery;
use crate::http::files::page::{CACHE, INERT, disposition};
use crate::http::response_body::{self, CHUNK_BYTES};

/// Writes an archive; blocks.
pub(super) type WriteArchive = Box<dyn FnOnce(&mut dyn io::Write) -> Result<(), Error> + Send>;

/// The answer to a request for directories: an archive that is made while it is sent.
pub(super) fn answer(
    request: &Parts,
    name: &str,
    write_archive: WriteArchive,
    transfer_permit: TransferPermit,
) -> Response {
    let name = format!("{name}.zip");
    let headers = [
        (CACHE_CONTROL, CACHE),
        (CONTENT_TYPE, HeaderValue::from_static("application/zip")),
        (CONTENT_SECURITY_POLICY, INERT),
        (CONTENT_DISPOSITION, disposition(&name, false)),
    ];
    if request.method == Method::HEAD {
        return (headers, Body::empty()).into_response();
    }
    let body = response_body::written(transfer_permit, move |writer| {
        let mut writer = io::BufWriter::with_capacity(CHUNK_BYTES, writer);
        match write_archive(&mut writer) {
            Ok(()) => writer.flush(),
            Err(error) => {
                tracing::warn!(code = %error.code(), "an archive was not finished");
                // The buffered rest of an unfinished archive must not be sent as if it were finished.
                let _unsent = writer.into_parts();
                Err(io::Error::other(error))
            }
        }
    });
    (headers, body).into_response()
}

/// `GET /files/archive`
pub(super) async fn selection(mut call: Call) -> Result<Response, Error> {
    let query = FileQuery::of(&mut call)?;
    let pairs = call.parts.uri.query().unwrap_or_default();
    let pairs = form_urlencoded::parse(pairs.as_bytes());
    let names = pairs.filter(|(parameter, _)| parameter == "name");
    let mut names: Vec<String> = names.map(|(_, name)| name.into_owned()).collect();
    names.sort_unstable();
    names.dedup();
    let looked = call.look(move |view| {
        if names.is_empty() {
            return Err(SelectionError.into());
        }
        let (_, directory) = query.place(view)?;
        // All of it is there before anything is sent.
        entries(view, &query, &names)?;
        let name = directory.name().unwrap_or("download").to_owned();
        Ok((name, query, names))
    });
    let (name, query, names) = looked.await?;
    let packed = pack(call, &name, move |view, writer| {
        let (zone, entries) = entries(view, &query, &names)?;
        let contents = entries.iter().map(|entry| PackContent::of(&zone, entry));
        PackContent::stream(&contents.collect::<Vec<_>>(), writer)?;
        Ok(())
    });
    packed.await
}

/// The entries with these names in the directory that a query names; blocks.
fn entries<'a>(
    view: CallerView<'a>,
    query: &FileQuery,
    names: &[String],
) -> Result<(Zone<'a>, Vec<Entry>), Error> {
    let (zone, directory) = query.place(view)?;
    let entry = |name: &String| {
        let path = if directory.is_root() {
            name.clone()
        } else {
            format!("{directory}/{name}")
        };
        let path: ZonePath = zone.path("name", &path)?;
        zone.entry(&path)
    };
    let entries = names.iter().map(entry).collect::<Result<_, _>>()?;
    Ok((zone, entries))
}

/// Answers a call with an archive, which `write` makes for its caller while it is sent.
pub(in crate::http) async fn pack(
    mut call: Call,
    name: &str,
    write: impl FnOnce(CallerView<'_>, &mut dyn Write) -> Result<(), Error> + Send + 'static,
) -> Result<Response, Error> {
    let permit = call.transfer_permit(None).await?;
    let (core, caller) = (Arc::clone(&call.server.core), call.caller);
    let write = move |writer: &mut dyn Write| write(CallerView::of(&core, &caller), writer);
    Ok(answer(&call.parts, name, Box::new(write), permit))
}

diagnostics! {
    /// No entry to pack.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `name` is required")]
    struct SelectionError => {
        code: MissingParameter,
        hint: "give each file or directory to pack as `name`: \
            ?zone=storage&path=notes&name=a.md&name=b.md",
        details: { "parameter": "name" },
    }
}
