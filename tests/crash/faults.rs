//! Faults of a machine and its disk: the server's reaction, and the state that is left.
//!
//! The table `faults.md` beside this file names these tests row by row.

mod clock;
mod database;
mod directories;
mod former;
mod full;
mod history;
mod loss;
mod permissions;
mod power_cut;
mod running;
mod space;
pub(crate) mod unprivileged;
mod volume;
