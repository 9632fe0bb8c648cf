//! Files in and out, and links: HTTP against the real program, with curl and a real browser where
//! they are installed.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on panics, one that cannot run says why, and all look at the disk"
)]

mod attacks;
mod browser;
mod content;
mod curl;
mod form;
mod hidden;
mod interrupted;
mod large;
mod limits;
mod links;
mod upload;
