//! `GET /page/thumbnail`: a small picture of a large one, which a browser keeps as long as the file stays
//! as it is.

use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse as _, Response};
use fileshed_core::Error;
use fileshed_core::storage::Stamp;
use fileshed_core::thumbnail::thumbnail;

use super::FileQuery;
use super::condition::{self, Validators};
use super::page::CACHE;
use crate::http::call::Call;
use crate::http::response_body::{self, KeptPrivately};

/// `GET /page/thumbnail`
pub(in crate::http) async fn fetch(mut call: Call) -> Result<Response, Error> {
    let query = FileQuery::of(&mut call)?;
    let permit = call.admit().await?;
    let asked = call.parts.headers.clone();
    let made = call.run(permit, move |view, _| {
        view.core.store.expect_active(view.caller)?;
        let (zone, path) = query.place(view)?;
        let entry = zone.entry(&path)?;
        let file = entry.open().map_err(|error| zone.explain_disk(error))?;
        let state = Validators::of(&Stamp::of_file(&file)?);
        let is_known = condition::evaluate(&asked, Some(&state), true).is_err();
        let made = (!is_known).then(|| thumbnail(&view.core.runs, &zone, &entry));
        Ok((state, made.transpose()?))
    });
    let (made, permit) = made.await?;
    let (state, made) = made?;
    let mut response = match made {
        Some(picture) => response_body::picture(&picture.kind, picture.bytes(), permit),
        None => StatusCode::NOT_MODIFIED.into_response(),
    };
    state.insert(response.headers_mut());
    response.headers_mut().insert(CACHE_CONTROL, CACHE);
    response.extensions_mut().insert(KeptPrivately);
    Ok(response)
}
