//! `POST /files/upload`: a file that a person or a program sends, or one from an address.

mod fetch;
pub(in crate::http) mod message_box;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::transfer::{OnConflict, TransferPermit, Upload, UploadError};
use fileshed_core::view::{Resolved, ViewError, ViewPlace};
use fileshed_core::zone::portable_name;
use fileshed_core::{CallerView, Error, Zone, ZoneName, ZonePath};
use serde_json::{Value, json};

use crate::http::Server;
use crate::http::call::Call;
use crate::http::files::multipart::MultipartReader;
use crate::http::terminal::arguments::Query;
use crate::http::terminal::stream;
use message_box::Sender;

/// The name in intents, for repairs.
const OPERATION: &str = "terminal/upload";

/// Where what is attached to a conversation goes.
const UPLOADS: &str = "/uploads";

/// `POST /files/upload`
pub(in crate::http::terminal) async fn upload(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Response {
    stream(server, request, |call| async move {
        let query = Query::of(&call.parts.uri);
        let directory = query.required("directory")?;
        match query.given("url") {
            Some(url) => fetch::fetch(call, directory, url).await,
            None => receive(call, directory).await,
        }
    })
    .await
}

async fn receive(mut call: Call, directory: String) -> Result<Response, Error> {
    let permit = call.transfer_permit().await?;
    let sender = call.server.listings.sender(&call.parts.headers, &directory);
    let stored = call.receive(move |view, parts, reader| {
        let form = MultipartReader::new(&parts.headers, reader)?;
        store_files(view, &directory, sender, permit, form)
    });
    Ok(Json(stored.await?).into_response())
}

/// Stores every file of a form; answers the first.
///
/// What is attached to a conversation goes into its uploads, under a name that is free; everything
/// else goes where it says, in the place of what has its name.
fn store_files(
    view: CallerView<'_>,
    directory: &str,
    sender: Sender,
    transfer_permit: TransferPermit,
    mut form: MultipartReader<'_>,
) -> Result<Value, Error> {
    let mut sent = None;
    let is_attached = match sender {
        Sender::MessageBox => true,
        Sender::Other => false,
        Sender::Page => {
            form.begin()?;
            sent = form.file()?;
            let is_new = |name: &String| !is_there(view, directory, name);
            sent.as_ref().is_some_and(is_new) && !form.is_empty()?
        }
    };
    let (directory, existing) = if is_attached {
        (UPLOADS, OnConflict::Rename)
    } else {
        (directory, OnConflict::Replace)
    };
    let found = to_fill(view, directory)?;
    found.explained(|| {
        let mut upload =
            Upload::into_directory(&found.zone, found.path.clone(), existing, transfer_permit)?;
        if sender != Sender::Page {
            form.begin()?;
            sent = form.file()?;
        }
        while let Some(name) = sent {
            let mut file = upload.file(&name_of(&found.zone, &found.path, &name))?;
            form.content(|piece| file.write(piece))?;
            upload = file.finish()?;
            sent = form.file()?;
        }
        let stored = upload.store(OPERATION, None)?;
        let first = stored.first().ok_or(UploadError::Nothing)?;
        if found.zone.name() == ZoneName::Uploads {
            for file in &stored {
                view.core
                    .transfer
                    .uploaded_by_terminal(view.caller, &file.path)?;
            }
        }
        let path = found.at.root().join(first.path.as_str());
        Ok(json!({"path": path.as_str(), "size": first.size}))
    })
}

/// Whether a directory has something of this name.
fn is_there(view: CallerView<'_>, directory: &str, name: &str) -> bool {
    let found = view.resolve("directory", directory);
    found.is_ok_and(|found| found.zone.data().entry(&found.path.join(name)).is_ok())
}

/// The directory that a parameter says, which may still be missing.
pub(super) fn to_fill<'a>(view: CallerView<'a>, directory: &str) -> Result<Resolved<'a>, Error> {
    const PARAMETER: &str = "directory";
    let at = view.path(PARAMETER, directory)?;
    match at.place() {
        ViewPlace::Top | ViewPlace::Groups | ViewPlace::Chats => {
            return Err(ViewError::top(&at).into());
        }
        ViewPlace::Logs(_) => return Err(ViewError::read_only(&at).into()),
        ViewPlace::Zone(..) | ViewPlace::Nowhere => {}
    }
    let Resolved { at, zone, path } = view.resolve(PARAMETER, at.as_str())?;
    let zone = zone.made()?;
    let found = Resolved { at, zone, path };
    found.explained(|| {
        let directory = found.path.display();
        found.zone.directory_to_fill(PARAMETER, directory).map(drop)
    })?;
    Ok(found)
}

/// The name under which a file is stored: as it was sent where that is there already, else the
/// nearest that every system can hold.
fn name_of(zone: &Zone<'_>, directory: &ZonePath, sent: &str) -> String {
    let name = sent.rsplit('/').next().unwrap_or_default();
    if !name.is_empty() && zone.data().entry(&directory.join(name)).is_ok() {
        name.to_owned()
    } else {
        portable_name(name)
    }
}
