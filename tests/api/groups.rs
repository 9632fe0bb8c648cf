//! Groups: no user changes another's files in any way; the files of a group, its registry and its history
//! agree, also after kills and with many members at once.

mod crowd;
mod directory;
mod files;
mod journals;
mod kills;
mod matrix;
mod model;
mod modes;
mod moves;
pub(crate) mod team;
mod transaction;
mod twins;
