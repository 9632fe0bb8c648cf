//! Zones: the rooms that a caller works in.

mod path;

pub use path::{NAME_MAX_BYTES, PATH_MAX_BYTES, PathError, ZonePath, is_git_name};
