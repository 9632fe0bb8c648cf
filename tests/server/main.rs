//! The server from outside: identity, envelope, configuration, tokens, documents, life and end.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "the cost of the tools is worth reading; tests look at files from outside"
)]

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
