//! Files as resources of the protocol: `fileshed://zone/path`, and `fileshed://group/name/path` for
//! those of a group.
//!
//! An address is a name and nothing else. Every look at what it names opens the zone as its caller,
//! so that it shows no more than an operation would.

use fileshed_core::storage::Found;
use fileshed_core::zone::is_git_name;
use fileshed_core::{Error, Zone, ZonePath};
use rmcp::model::ResourceTemplate;

mod address;
mod changes;
mod completion;
mod list;
mod read;

pub(super) use address::Address;
pub(super) use changes::Watched;
pub(super) use completion::complete;
pub(super) use list::list;
pub(super) use read::read;

/// The templates of all addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    [
        (
            address::ZONE_TEMPLATE,
            "file",
            "A file of a zone: uploads, storage or documents. A directory is the list of what is in it.",
        ),
        (
            address::GROUP_TEMPLATE,
            "group file",
            "A file that a group shares",
        ),
    ]
    .map(|(template, name, text)| ResourceTemplate::new(template, name).with_description(text))
    .into()
}

/// What lies in a directory, by names, without what is git's.
fn listed(zone: &Zone<'_>, directory: &ZonePath) -> Result<Vec<Found>, Error> {
    let found = zone.data().list(directory);
    let mut found = found.map_err(|error| zone.explain_disk(error))?;
    if zone.name().is_versioned() {
        found.retain(|found| !found.path.name().is_some_and(is_git_name));
    }
    found.sort_unstable_by(|one, other| one.path.name().cmp(&other.path.name()));
    Ok(found)
}
