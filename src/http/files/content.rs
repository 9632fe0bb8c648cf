//! `GET`, `HEAD` and `PUT /files/content`: one file, as it is; `POST /files/upload`: files in a form, any
//! number of them, stored together or not at all.

use std::fmt::Write as _;

use axum::Json;
use axum::http::header::CONTENT_RANGE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use fileshed_core::transfer::{OnConflict, Stored, TransferPermit, Upload, UploadError};
use fileshed_core::{Error, Zone, ZoneName, diagnostics};
use serde_json::{Value, json};

use crate::http::body::BodyReader;
use crate::http::call::Call;
use crate::http::envelope;
use crate::http::files::download::{Download, Presentation};
use crate::http::files::multipart::{FormFile, MultipartReader};
use crate::http::files::{FileQuery, condition, modified};
use crate::ops::Reply;

/// The name in intents, for repairs.
const OPERATION: &str = "files/content";

/// `GET /files/content`
pub(super) async fn fetch(mut call: Call) -> Result<Response, Error> {
    let query = FileQuery::of(&mut call)?;
    let presentation = if FileQuery::flag("inline", query.inline.as_ref())? {
        Presentation::Inline
    } else {
        Presentation::Attachment
    };
    let permit = call.transfer_permit(None).await?;
    let file = if let Some(file) = query.file_at_once(&call.server.core, &call.caller) {
        file
    } else {
        let opened = call.look(move |view| {
            let (zone, path) = query.place(view)?;
            Download::open(view, &zone, &path)
        });
        opened.await?
    };
    Ok(file.answer(&call.parts, presentation, permit))
}

/// `PUT /files/content`
pub(super) async fn store(mut call: Call) -> Result<Response, Error> {
    let query = FileQuery::of(&mut call)?;
    let permit = call.transfer_permit(None).await?;
    let stored = call.receive(move |view, Parts { headers, .. }, reader| {
        if headers.contains_key(CONTENT_RANGE) {
            return Err(PartialError.into());
        }
        let zone = query.zone(view, "")?.made()?;
        let path = query.path.as_deref().unwrap_or_default();
        let modified = modified::of_headers(headers);
        let upload = take_file(&zone, path, modified, permit, reader)?;
        let message = FileQuery::given(query.message.as_ref());
        let stored = upload.store_if(OPERATION, message, |entry| {
            condition::expect_state(headers, entry)
        })?;
        let stored = stored.first().ok_or(UploadError::Nothing)?;
        let mut response = response(&zone, stored);
        if modified.is_some() {
            modified::acknowledge(response.headers_mut());
        }
        Ok(response)
    });
    stored.await
}

fn response(zone: &Zone<'_>, stored: &Stored) -> Response {
    let (status, verb) = if stored.created {
        (StatusCode::CREATED, "Created")
    } else {
        (StatusCode::OK, "Wrote")
    };
    let body = json!({
        "success": true,
        "data": {
            "zone": zone.name.as_str(),
            "path": stored.path.as_str(),
            "size_bytes": stored.size,
            "created": stored.created,
        },
        "message": noting(zone, format!("{verb} {} ({} bytes)", stored.path, stored.size)),
    });
    let mut response = (status, Json(body)).into_response();
    if let Some(stamp) = &stored.stamp {
        condition::Validators::of(stamp).insert_tag(response.headers_mut());
    }
    response
}

/// The message of a call, with what the call did to the bin.
fn noting(zone: &Zone<'_>, message: String) -> String {
    let notes = zone.caller.bin_notes.take();
    std::iter::once(message)
        .chain(notes)
        .collect::<Vec<_>>()
        .join("; ")
}

diagnostics! {
    /// A part of a file where a whole one is taken.
    #[derive(Debug, thiserror::Error)]
    #[error("the header `content-range` marks this as a part of a file")]
    pub(in crate::http) struct PartialError => {
        code: InvalidParameter,
        hint: "send the whole file; shed_patch_bytes writes a part of one",
    }
}

/// Files with other names of which a message tells.
const RENAMED: usize = 10;

/// The name in intents, for repairs.
const UPLOAD: &str = "files/upload";

/// `POST /files/upload`
pub(super) async fn upload(mut call: Call) -> Result<Response, Error> {
    let query = FileQuery::of(&mut call)?;
    let permit = call.transfer_permit(None).await?;
    let stored = call.receive(move |view, parts, reader| {
        let zone = query.zone(view, ZoneName::Uploads.as_str())?.made()?;
        let existing = if FileQuery::flag("overwrite", query.overwrite.as_ref())? {
            OnConflict::Replace
        } else {
            OnConflict::Rename
        };
        let directory = FileQuery::given(query.path.as_ref()).unwrap_or(".");
        let upload = Upload::new(&zone, directory, existing, permit)?;
        let message = FileQuery::given(query.message.as_ref());
        let stored = take_in(&parts.headers, reader, upload)?.store(UPLOAD, message)?;
        Ok(reply(&zone, &stored))
    });
    Ok(envelope::answer(Ok(stored.await?)))
}

/// Takes a body in as one file. Blocks.
pub(in crate::http) fn take_file<'a>(
    zone: &'a Zone<'a>,
    path: &str,
    modified: Option<i64>,
    permit: TransferPermit,
    reader: &mut BodyReader,
) -> Result<Upload<'a>, Error> {
    let mut file = Upload::of_file(zone, path, permit)?;
    file.set_modified(modified);
    if let Some(bytes) = reader.announced() {
        file.announce(bytes)?;
    }
    while let Some(piece) = reader.next()? {
        file.write(&piece)?;
    }
    file.finish()
}

/// Takes every file of a form into an upload. Blocks.
pub(super) fn take_in<'a>(
    headers: &HeaderMap,
    reader: &mut BodyReader,
    mut upload: Upload<'a>,
) -> Result<Upload<'a>, Error> {
    let mut form = MultipartReader::new(headers, reader)?;
    form.begin()?;
    while let Some(FormFile { name, modified }) = form.file()? {
        let mut file = upload.file(&name)?;
        file.set_modified(modified);
        form.content(|piece| file.write(piece))?;
        upload = file.finish()?;
    }
    Ok(upload)
}

fn reply(zone: &Zone<'_>, stored: &[Stored]) -> Reply<Value> {
    let files: Vec<Value> = stored
        .iter()
        .map(|file| {
            let mut stored = json!({
                "name": file.name,
                "path": file.path.as_str(),
                "size_bytes": file.size,
                "created": file.created,
            });
            if file.is_nearest {
                stored["renamed"] = true.into();
            }
            stored
        })
        .collect();
    let mut message = match stored {
        [file] => format!("Stored {} ({} bytes)", file.path, file.size),
        files => format!("Stored {} files", files.len()),
    };
    for file in stored.iter().filter(|file| file.is_nearest).take(RENAMED) {
        let sent = file.name.replace(char::is_control, "\u{fffd}");
        let _written = write!(message, "; `{sent}` is now `{}`", file.path);
    }
    let data = json!({"zone": zone.name.as_str(), "files": files, "count": files.len()});
    Reply::new(data, noting(zone, message))
}
