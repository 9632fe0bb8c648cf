//! Zones by name, and paths inside them.

mod address;
mod file_name_rules;
mod journal;
mod name;
mod path;

pub use address::ZoneAddress;
pub use file_name_rules::{
    NAME_MAX_BYTES, fault_of_name, has_one_spelling, is_git_name, is_never_made, is_reserved,
    portable_name,
};
pub use journal::JOURNAL_ENDS;
pub use name::{ZoneError, ZoneName};
pub use path::{PATH_MAX_BYTES, PathError, ZonePath, is_below};
