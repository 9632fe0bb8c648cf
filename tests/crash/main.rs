//! The real server, killed at any moment and started again on the same data: what was
//! acknowledged is there, what was not is whole or absent, and nothing else is left over.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on panics, starts git and tells what it did"
)]

mod archive;
mod by_hand;
mod carrier;
mod kills;
mod load;
mod overwrite;
