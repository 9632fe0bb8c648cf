//! Behaviour that callers see: every operation, files and links, groups, configuration and command line,
//! and Open WebUI's side of it, over HTTP and with real files.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on panics, one that cannot run says why, and all look at the disk"
)]

mod admin;
mod dav;
mod fs;
mod groups;
mod jobs;
mod mcp;
mod openwebui;
mod ops;
mod server;
mod sign_in;
mod terminal;
mod texts;
mod transfer;
mod trust;
