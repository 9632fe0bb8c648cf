//! Open WebUI as this server sees it: who calls, groups, files, links, status lines, and what
//! happens when it does not answer. The real one is in `tests/e2e`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[path = "../support/jwt.rs"]
mod jwt;
#[path = "../support/standin.rs"]
mod standin;
#[expect(dead_code, reason = "other test binaries use more of it")]
#[path = "../support/mod.rs"]
mod support;

mod accounts;
mod arrivals;
mod attachments;
mod chats;
mod connection;
mod groups;
mod health;
mod import;
mod links;
mod register;
mod session;
mod status;
