//! A file from an address. It comes as commands fetch files: confined, and as far as the network
//! mode lets them.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use fileshed_core::zone::portable_name;
use fileshed_core::{CallerView, Error, ZoneName, command};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{OPERATION, to_fill};
use crate::http::call::Call;

/// What a file is called whose address has no name.
const NAMELESS: &str = "download";

/// Fetches a file into a directory.
pub(super) async fn fetch(
    mut call: Call,
    directory: String,
    url: String,
) -> Result<Response, Error> {
    let permit = call.admit().await?;
    let stored = call.run(permit, move |view, _| store(view, &directory, &url));
    Ok(Json(stored.await?.0?).into_response())
}

fn store(view: CallerView<'_>, directory: &str, url: &str) -> Result<Value, Error> {
    let found = to_fill(view, directory)?;
    found.explained(|| {
        let path = found.zone.path_below("url", &found.path, &name_at(url))?;
        let size = command::fetch(&view.core.runs, &found.zone, &path, url, OPERATION)?;
        if found.zone.name() == ZoneName::Uploads {
            view.core
                .transfer
                .uploaded_by_terminal(view.caller, &path)?;
        }
        let path = found.at.root().join(path.as_str());
        Ok(json!({"path": path.as_str(), "size": size}))
    })
}

/// The name that an address gives to its file.
fn name_at(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let name = path.split('/').skip(1).last().unwrap_or_default();
    match &*percent_decode_str(name).decode_utf8_lossy() {
        "" => NAMELESS.to_owned(),
        name => portable_name(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_as_its_address_ends() {
        for (url, name) in [
            ("https://example.org/data.csv", "data.csv"),
            ("https://example.org/a/b%20c.md?x=/y#z", "b c.md"),
            ("https://example.org/", "download"),
            ("https://example.org", "download"),
            ("https://example.org/a/..%2f..%2fetc%2fpasswd", "passwd"),
        ] {
            assert_eq!(name_at(url), name, "{url}");
        }
    }
}
