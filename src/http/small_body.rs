//! Bodies of addresses that only the page, or an administrator, asks: small JSON objects.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use serde::de::DeserializeOwned;

/// Largest body.
const BYTES_MAX: usize = 8 * 1024;
/// How long it may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// The arguments of a small call; an empty body has none. Nothing where they cannot be read.
pub(super) async fn arguments<T: DeserializeOwned>(body: Body) -> Option<T> {
    let bytes = tokio::time::timeout(PATIENCE, to_bytes(body, BYTES_MAX)).await;
    let bytes = bytes.ok()?.ok()?;
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
    serde_json::from_slice(text).ok()
}
