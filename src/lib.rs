//! The fileshed server: operations, HTTP, configuration and command line over
//! [`fileshed_core`].
//!
//! [`ops`] is what can be done, [`http`] how it is reached, [`openapi`] how it is described,
//! [`config`] what an administrator decides, [`openwebui`] the application that people chat in, [`cli`] the program itself.

pub mod cli;
pub mod config;
pub mod content_type;
pub mod http;
mod json;
pub use fileshed_core::nearest;
pub mod openapi;
pub mod openwebui;
pub mod ops;
