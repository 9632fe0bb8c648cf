//! Open WebUI as this server sees it: callers, groups, files, links, status lines, and its failures. The
//! tests with the real one are in `tests/e2e`.

mod accounts;
mod arrivals;
mod attachments;
pub(crate) mod chats;
mod connection;
mod default_models;
mod gone_chats;
mod groups;
mod health;
mod import;
mod links;
mod register;
mod session;
mod status;
