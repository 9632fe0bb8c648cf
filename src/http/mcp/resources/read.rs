//! What a resource holds: text, bytes, or what lies in a directory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::storage::Kind;
use fileshed_core::text::Encoding;
use fileshed_core::{Call, Caller, Error, Hint, Store, Zone, ZonePath, diagnostics};
use rmcp::model::ResourceContents;

use super::{Address, listed};
use crate::content_type;
use crate::http::admission::CallPermit;

/// Bytes that a content takes in memory for each of the file: itself, as text, and in the answer.
const COPIES: u64 = 4;

/// Reads a resource, whose address is given back as it was written. Blocks.
pub(in crate::http::mcp) fn read(
    store: &Store,
    caller: &Caller,
    uri: &str,
    admitted: &mut CallPermit,
) -> Result<ResourceContents, Error> {
    let address = Address::parse(uri)?;
    let zone = address.zone(store, caller)?;
    let entry = address.entry(&zone)?;
    if entry.kind() == Kind::Directory {
        let text = directory(&zone, &address, entry.path())?;
        return Ok(ResourceContents::text(text, uri).with_mime_type("text/uri-list"));
    }
    entry
        .expect_file()
        .map_err(|error| zone.explain_disk(error))?;
    let (size, limit) = (entry.size(), store.settings().max_output_absolute);
    if size > limit {
        return Err(ResourceError::TooLarge {
            path: address.path.clone(),
            zone: address.zone.as_str(),
            size,
            limit,
        }
        .into());
    }
    admitted.reserve_blocking(size.saturating_mul(COPIES), &caller.cancellation)?;
    let bytes = entry.content().map_err(|error| zone.explain_disk(error))?;
    let named = content_type::by_name(entry.path().name().unwrap_or_default());
    if let Some(text) = Encoding::text_of(&bytes) {
        let text = text.into_owned();
        let kind = named.unwrap_or("text/plain");
        return Ok(ResourceContents::text(text, uri).with_mime_type(kind));
    }
    let kind = named.unwrap_or(content_type::BYTES);
    Ok(ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(kind))
}

/// The addresses of what lies in a directory, one a line.
fn directory(zone: &Zone<'_>, address: &Address, path: &ZonePath) -> Result<String, Error> {
    let mut found = listed(zone, path)?;
    found.retain(|found| matches!(found.kind, Kind::File | Kind::Directory));
    let lines = found.iter().map(|found| {
        let below = address.at(found.path.as_str());
        format!("{}\n", below.text(found.kind == Kind::Directory))
    });
    Ok(lines.collect())
}

diagnostics! {
    /// Why a resource cannot be read.
    #[derive(Debug, thiserror::Error)]
    enum ResourceError {
        /// More than an answer holds.
        #[error("`{path}` has {size} bytes, a resource may have {limit}")]
        TooLarge {
            path: String = "all.log".to_owned(),
            zone: &'static str = "storage",
            size: u64 = 60_000_000,
            limit: u64 = 5_000_000,
        } => {
            code: FileTooLarge,
            hint: Hint::new("read some lines: ").call(
                Call::new("shed_exec")
                    .with("zone", *zone)
                    .with("cmd", "head")
                    .with("args", vec!["-n", "100", path.as_str()]),
            ),
            details: { "path": path, "size_bytes": size, "limit_bytes": limit },
        },
    }
}
