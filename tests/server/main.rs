//! The server from outside: identity, envelope, configuration, tokens, documents, life and end.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "the cost of the tools is worth reading; tests look at files from outside"
)]

#[path = "../support/jwt.rs"]
mod jwt;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "made for all test binaries")]
mod support;

mod config;
mod cors;
mod documents;
mod envelope;
mod identity;
mod life;
mod load;
mod looks;
mod signed;
mod token;
mod user;
