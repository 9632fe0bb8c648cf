//! The real server, killed at any moment and started again on the same data: an acknowledged change is
//! there, any other is whole or absent, and no leftovers remain.
//!
//! `faults` are full disks, lost directories and wrong clocks, `race` are files that change while
//! they are used. All of it is heavy, on the disk or in time, so it is kept apart from the rest.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on panics, starts programs, tells what it did and what it skips"
)]

mod append;
mod archive;
mod bin;
mod by_hand;
mod carrier;
mod faults;
mod instances;
mod kills;
mod large;
mod load;
mod many;
mod overwrite;
mod race;
mod removal;
mod resumable;
mod tenant_import;
mod terminal;
mod upgrade;
