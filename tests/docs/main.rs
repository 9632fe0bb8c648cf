//! The documents say what the program does: their examples are run, their tables compared, their
//! names looked up.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on panics, names what it skips, and starts programs"
)]

mod capacity;
mod compose;
mod container;
mod examples;
mod faults;
mod names;
mod operations;
mod page;
mod specification;
mod tables;
mod trials;
