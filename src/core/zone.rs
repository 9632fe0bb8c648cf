//! Zones: the rooms that a caller works in.

mod journal;
mod name;
mod path;
mod portable;
mod room;
mod way;

pub(crate) use journal::JOURNAL_ENDS;
pub use name::{ZoneError, ZoneName};
pub use path::{NAME_MAX_BYTES, PATH_MAX_BYTES, PathError, ZonePath, is_git_name};
pub(crate) use path::{has_one_spelling, is_reserved};
pub use portable::portable_name;
pub use room::{Home, Zone};
pub(crate) use room::{Shared, named_zone};
use way::Way;
