//! Files as resources of the protocol: `fileshed://zone/path`, and `fileshed://group/name/path` for
//! those of a group.
//!
//! An address is a name and nothing else. Every look at what it names opens the zone as its caller,
//! so that it shows no more than an operation would.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::listing::DirectoryListing;
use fileshed_core::storage::{Kind, WalkEntry};
use fileshed_core::text::Encoding;
use fileshed_core::{
    CallerView, Code, Error, Hint, NextCall, Zone, ZoneName, ZonePath, diagnostics,
};
use rmcp::model::{CompletionInfo, ResourceContents, ResourceTemplate};

use crate::content_type;
use crate::http::admission::CallPermit;
use crate::http::mcp::resources::address::{GROUP_TEMPLATE, ZONE_TEMPLATE};

pub(super) use address::Address;
pub(super) use list::list;

mod address;
mod list;

/// The templates of all addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let file = "A file of a zone: uploads, storage or documents. A directory is the list of what is in it.";
    let shared = "A file that a group shares";
    vec![
        ResourceTemplate::new(ZONE_TEMPLATE, "file").with_description(file),
        ResourceTemplate::new(GROUP_TEMPLATE, "group file").with_description(shared),
    ]
}

/// Files and directories in a directory, by names.
fn listed(zone: &Zone<'_>, directory: &ZonePath) -> Result<Vec<WalkEntry>, Error> {
    let found = zone.data.list(directory);
    let found = found.map_err(|error| zone.explain_disk(error))?;
    let listing = DirectoryListing::unshared(zone.name, found, false);
    let entries = listing.entries.into_iter();
    Ok(entries.map(|entry| entry.found).collect())
}

/// Bytes that a content takes in memory for each of the file: itself, as text, and in the answer.
const COPIES: u64 = 4;

/// Reads a resource, whose address is given back as it was written. Blocks.
pub(super) fn read(
    view: CallerView<'_>,
    uri: &str,
    admitted: &mut CallPermit,
) -> Result<ResourceContents, Error> {
    let (core, caller) = (view.core, view.caller);
    let address = Address::parse(uri)?;
    let zone = address.zone(core, caller)?;
    let entry = address.entry(&zone)?;
    if entry.kind() == Kind::Directory {
        let text = directory(&zone, &address, entry.path())?;
        return Ok(ResourceContents::text(text, uri).with_mime_type("text/uri-list"));
    }
    entry
        .expect_file()
        .map_err(|error| zone.explain_disk(error))?;
    let (size, limit) = (entry.size(), core.store.settings.max_output_absolute);
    if size > limit {
        return Err(ResourceTooLarge {
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
    let found = listed(zone, path)?;
    let lines = found.iter().map(|found| {
        let below = address.at(found.path.as_str());
        format!("{}\n", below.text(found.kind == Kind::Directory))
    });
    Ok(lines.collect())
}

diagnostics! {
    /// A resource that is more than an answer holds.
    #[derive(Debug, thiserror::Error)]
    #[error("`{path}` has {size} bytes; the limit for resources is {limit}")]
    struct ResourceTooLarge {
        path: String = "all.log".to_owned(),
        zone: &'static str = "storage",
        size: u64 = 60_000_000,
        limit: u64 = 5_000_000,
    } => {
        code: FileTooLarge,
        hint: Hint::new("read some lines: ").call(
            NextCall::new("shed_exec")
                .with("zone", *zone)
                .with("cmd", "head")
                .with("args", vec!["-n", "100", path.as_str()]),
        ),
        details: { "path": path, "size_bytes": size, "limit_bytes": limit },
    }
}

/// The zones that the first template may name.
const ZONES: [ZoneName; 3] = [ZoneName::Documents, ZoneName::Storage, ZoneName::Uploads];

/// Completes an argument of a template, whose other arguments are known. Blocks.
pub(super) fn complete(
    view: CallerView<'_>,
    template: &str,
    (name, begun): (&str, &str),
    known: &HashMap<String, String>,
) -> Result<CompletionInfo, Error> {
    let mut values: Vec<String> = match (template, name) {
        (ZONE_TEMPLATE, "zone") => ZONES.iter().map(ToString::to_string).collect(),
        (GROUP_TEMPLATE, "group") => view.groups()?,
        (ZONE_TEMPLATE, "path" | "+path") => {
            let zone = known.get("zone").map(String::as_str);
            let zone = ZONES.into_iter().find(|other| Some(other.as_str()) == zone);
            let root = zone.map(|zone| Address::root(zone, None));
            paths(view, root, begun)?
        }
        (GROUP_TEMPLATE, "path" | "+path") => {
            let group = known.get("group");
            let root = group.map(|group| Address::root(ZoneName::Group, Some(group)));
            paths(view, root, begun)?
        }
        _ => Vec::new(),
    };
    values.retain(|value| value.starts_with(begun));
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let has_more = total > values.len();
    let total = u32::try_from(total).ok();
    let info = CompletionInfo::with_pagination(values, total, has_more);
    Ok(info.unwrap_or_default())
}

/// Returns the entries of the directory that holds a path.
fn paths(view: CallerView<'_>, root: Option<Address>, begun: &str) -> Result<Vec<String>, Error> {
    let Some(root) = root else {
        return Ok(Vec::new());
    };
    let (directory, _) = begun.rsplit_once('/').unwrap_or(("", begun));
    let found = (|| {
        let zone = root.zone(view.core, view.caller)?;
        let path = root.at(directory).path(&zone)?;
        listed(&zone, &path)
    })();
    let found = match found {
        Ok(found) => found,
        // No path begins so.
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let above = begun.rfind('/').map_or("", |at| &begun[..=at]);
    let values = found.iter().filter_map(|found| {
        let name = found.path.name()?;
        let end = if found.kind == Kind::Directory {
            "/"
        } else {
            ""
        };
        Some(format!("{above}{name}{end}"))
    });
    let mut values: Vec<String> = values.collect();
    values.sort_unstable();
    Ok(values)
}

fn is_absence(error: &Error) -> bool {
    matches!(
        error.code(),
        Code::FileNotFound
            | Code::InvalidPath
            | Code::PathEscape
            | Code::GroupNotFound
            | Code::GroupNotAvailable
            | Code::InvalidGroupId
    )
}
