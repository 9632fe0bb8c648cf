//! Directories and files that turn into links while they are used: nothing outside is ever read,
//! made, changed or removed.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on panics, starts git and tells how often it raced"
)]

mod field;
mod http;
mod library;
mod tally;
