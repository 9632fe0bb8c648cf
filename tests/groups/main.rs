//! Groups: nobody changes what is not theirs, whatever the way; what a group holds, its registry
//! and its history agree, also after kills and with many members at once.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on panics, one that cannot run says why, and all look at the disk"
)]

mod crowd;
mod directory;
mod files;
mod journals;
mod kills;
mod matrix;
mod model;
mod modes;
mod moves;
mod team;
mod transaction;
mod twins;
