//! The server from outside: identity, envelope, configuration, tokens, documents, life and end.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on panics; the cost of the tools is worth reading"
)]

#[path = "../support/mod.rs"]
mod support;

mod config;
mod documents;
mod envelope;
mod identity;
mod life;
mod token;
