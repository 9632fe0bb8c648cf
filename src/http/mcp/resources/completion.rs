//! What somebody may mean who begins to type an address.

use std::collections::HashMap;
use std::sync::Arc;

use fileshed_core::storage::Kind;
use fileshed_core::view::View;
use fileshed_core::{Caller, Code, Error, Store, ZoneName};
use rmcp::model::CompletionInfo;

use super::address::{GROUP_TEMPLATE, ZONE_TEMPLATE};
use super::{Address, listed};

/// The zones that the first template may name.
const ZONES: [ZoneName; 3] = [ZoneName::Documents, ZoneName::Storage, ZoneName::Uploads];

/// Completes an argument of a template, whose other arguments are known. Blocks.
pub(in crate::http::mcp) fn complete(
    store: &Arc<Store>,
    caller: &Caller,
    template: &str,
    (name, begun): (&str, &str),
    known: &HashMap<String, String>,
) -> Result<CompletionInfo, Error> {
    let values: Vec<String> = match (template, name) {
        (ZONE_TEMPLATE, "zone") => ZONES.iter().map(ToString::to_string).collect(),
        (GROUP_TEMPLATE, "group") => View { store, caller }.groups()?,
        (ZONE_TEMPLATE, "path" | "+path") => {
            let zone = known.get("zone").map(String::as_str);
            let zone = ZONES.into_iter().find(|other| Some(other.as_str()) == zone);
            let root = zone.map(|zone| Address::root(zone, None));
            paths(store, caller, root, begun)?
        }
        (GROUP_TEMPLATE, "path" | "+path") => {
            let group = known.get("group");
            let root = group.map(|group| Address::root(ZoneName::Group, Some(group)));
            paths(store, caller, root, begun)?
        }
        _ => Vec::new(),
    };
    let mut values = values;
    values.retain(|value| value.starts_with(begun));
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let has_more = total > values.len();
    let total = u32::try_from(total).ok();
    let info = CompletionInfo::with_pagination(values, total, has_more);
    Ok(info.unwrap_or_default())
}

/// What lies in the directory in which a path is.
fn paths(
    store: &Store,
    caller: &Caller,
    root: Option<Address>,
    begun: &str,
) -> Result<Vec<String>, Error> {
    let Some(root) = root else {
        return Ok(Vec::new());
    };
    let (directory, _) = begun.rsplit_once('/').unwrap_or(("", begun));
    let found = (|| {
        let zone = root.zone(store, caller)?;
        let path = root.at(directory).path(&zone)?;
        listed(&zone, &path)
    })();
    let found = match found {
        Ok(found) => found,
        // Nothing begins so.
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let above = begun.rfind('/').map_or("", |at| &begun[..=at]);
    let values = found.iter().filter_map(|found| {
        let name = found.path.name()?;
        match found.kind {
            Kind::Directory => Some(format!("{above}{name}/")),
            Kind::File => Some(format!("{above}{name}")),
            Kind::Symlink | Kind::Special => None,
        }
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
