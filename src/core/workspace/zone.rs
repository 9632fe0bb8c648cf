//! Zones: the rooms that a caller works in.

mod cross_zone_call;
mod file_name_rules;
mod journal;
mod name;
mod open_zone;
mod path;

use cross_zone_call::CrossZoneCall;
pub use file_name_rules::portable_name;
pub(crate) use journal::JOURNAL_ENDS;
pub use name::{ZoneError, ZoneName};
pub(crate) use open_zone::{Shared, named_zone};
pub use open_zone::{TenantRoot, Zone};
pub use path::{NAME_MAX_BYTES, PATH_MAX_BYTES, PathError, ZonePath, is_git_name};
pub(crate) use path::{has_one_spelling, is_reserved};
