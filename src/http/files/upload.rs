//! `POST /files/upload`: files in a form, any number of them, stored together or not at all.

use axum::http::HeaderMap;
use axum::response::Response;
use fileshed_core::transfer::{OnConflict, Stored, Upload};
use fileshed_core::{Error, ZoneName};
use serde_json::{Value, json};

use super::FileQuery;
use super::multipart::MultipartReader;
use crate::http::body_reader::BodyReader;
use crate::http::call::Call;
use crate::http::envelope;
use crate::ops::Reply;

/// The name in intents, for repairs.
const OPERATION: &str = "files/upload";

/// `POST /files/upload`
pub(super) async fn upload(mut call: Call) -> Result<Response, Error> {
    let query = FileQuery::of(&mut call)?;
    let permit = call.transfer_permit().await?;
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
        let stored = take_in(&parts.headers, reader, upload)?.store(OPERATION, message)?;
        Ok(reply(zone.name(), &stored))
    });
    Ok(envelope::answer(Ok(stored.await?)))
}

/// Takes every file of a form into an upload. Blocks.
pub(super) fn take_in<'a>(
    headers: &HeaderMap,
    reader: &mut BodyReader,
    mut upload: Upload<'a>,
) -> Result<Upload<'a>, Error> {
    let mut form = MultipartReader::new(headers, reader)?;
    form.begin()?;
    while let Some(name) = form.file()? {
        let mut file = upload.file(&name)?;
        form.content(|piece| file.write(piece))?;
        upload = file.finish()?;
    }
    Ok(upload)
}

fn reply(zone: ZoneName, stored: &[Stored]) -> Reply<Value> {
    let files: Vec<Value> = stored
        .iter()
        .map(|file| {
            json!({
                "name": file.name,
                "path": file.path.as_str(),
                "size_bytes": file.size,
                "created": file.created,
            })
        })
        .collect();
    let message = match stored {
        [file] => format!("Stored {} ({} bytes)", file.path, file.size),
        files => format!("Stored {} files", files.len()),
    };
    let data = json!({"zone": zone.as_str(), "files": files, "count": files.len()});
    Reply::new(data, message)
}
