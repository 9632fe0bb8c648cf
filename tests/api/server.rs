//! The server from outside: identity, envelope, configuration, tokens, documents, life and end.

mod changes;
mod command_line;
mod config;
mod cors;
pub(crate) mod documents;
mod envelope;
mod fairness;
mod frames;
mod generated_key;
mod identity;
mod languages;
mod life;
mod limits;
mod load;
mod looks;
mod page;
mod page_uploads;
mod people;
mod previews;
mod proxies;
mod refused_bodies;
mod signed;
mod token;
mod user;
mod version_0_1_0;
