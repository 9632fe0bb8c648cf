//! Bodies of addresses that only the page, or an administrator, asks: small JSON objects.

use axum::body::{Body, to_bytes};
use fileshed_core::Store;
use serde::de::DeserializeOwned;

use super::timer;

/// Largest body.
const BYTES_MAX: usize = 8 * 1024;

/// The arguments of a small call; an empty body has none. Nothing where they cannot be read.
pub(super) async fn arguments<T: DeserializeOwned>(store: &Store, body: Body) -> Option<T> {
    let patience = store.settings().timings.http.small_body;
    let bytes = timer::within(store.clock(), patience, to_bytes(body, BYTES_MAX)).await;
    let bytes = bytes?.ok()?;
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
    serde_json::from_slice(text).ok()
}
