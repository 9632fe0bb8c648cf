//! The Model Context Protocol: tools, resources and prompts as its clients use them.

mod access;
mod client;
mod effects;
mod tools;
