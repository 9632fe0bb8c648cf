//! The Model Context Protocol: tools, resources and prompts as its clients use them.

mod access;
mod bin;
pub(crate) mod client;
mod effects;
mod files;
mod hangup;
mod hints;
mod person;
mod prompts;
mod resources;
mod stdio;
mod subscriptions;
mod terminal;
mod tools;
