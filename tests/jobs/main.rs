//! The work that people come for, with real files, over HTTP, against the real server: what was
//! written is what is read, on disk, through commands and in the history.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on panics, starts git and tells what it measured"
)]

mod adoption;
mod desk;
mod large;
mod names;
mod parallel;
mod project;
mod versions;
