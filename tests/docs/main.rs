//! The documents say what the program does: their examples are run, their tables compared, their
//! names looked up.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on panics, and it starts programs"
)]

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
