//! Files as resources of the protocol: `fileshed://zone/path`, and `fileshed://group/name/path` for
//! those of a group.
//!
//! An address is a name and nothing else. Every look at what it names opens the zone as its caller,
//! so that it shows no more than an operation would.

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
