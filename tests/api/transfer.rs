//! Files in and out, and links: HTTP against the real program, with curl and a real browser where
//! they are installed.

mod attacks;
mod browser;
pub(crate) mod content;
mod curl;
pub(crate) mod form;
mod hidden;
mod history;
mod interrupted;
mod large;
mod limits;
mod link_terms;
mod links;
mod names;
pub(crate) mod resumable;
mod selection;
mod upload;
