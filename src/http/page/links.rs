//! `POST /page/link`: other terms for one of the caller's links, whose address stays.

use axum::response::Response;
use fileshed_core::link_terms::LinkChange;
use fileshed_core::{Error, Secret, diagnostics};
use serde::Deserialize;
use serde_json::json;

use crate::http::body::SMALL_BYTES;
use crate::http::call::Call;
use crate::http::envelope;
use crate::ops::Reply;

/// The terms that change; those that are absent stay.
#[derive(Deserialize)]
struct Change {
    id: String,
    /// Hours from now.
    expires_hours: Option<u64>,
    /// Empty for none.
    password: Option<String>,
    /// Zero for any number.
    downloads: Option<u64>,
}

pub(super) async fn change(mut call: Call) -> Result<Response, Error> {
    let mut permit = call.admit().await?;
    // A password is no part of an address, which others may log.
    let body = call.read_body(SMALL_BYTES as u64, &mut permit).await?;
    let given: Change = serde_json::from_slice(&body).map_err(|_| LinkChangeError)?;
    let change = LinkChange {
        hours: given.expires_hours,
        password: given
            .password
            .map(|password| Some(Secret::new(password)).filter(|text| !text.reveal().is_empty())),
        downloads: given
            .downloads
            .map(|most| Some(most).filter(|most| *most > 0)),
    };
    let changed = call.run(permit, move |view, _| {
        view.core.store.expect_active(view.caller)?;
        view.core
            .transfer
            .change_link(view.caller, &given.id, &change)
    });
    let (link, _permit) = changed.await?;
    let link = link?;
    let data = json!({
        "id": link.id,
        "expires_at": link.expires_at.to_string(),
        "password": link.has_password(),
        "downloads_max": link.downloads_max,
        "downloads_left": link.downloads_left(),
    });
    let reply = Reply::new(data, "The link has these terms now");
    Ok(envelope::answer(Ok(reply)))
}

diagnostics! {
    /// A body that cannot be read.
    #[derive(Debug, thiserror::Error)]
    #[error("the request body is not a JSON object with the `id` of a link and its terms")]
    pub(in crate::http) struct LinkChangeError => {
        code: InvalidParameter,
        hint: "send {\"id\": \"…\", \"expires_hours\": 24, \"password\": \"…\", \"downloads\": 1}; an empty \
               password or 0 downloads end that term",
    }
}
