//! The fileshed server: operations, HTTP, configuration and command line over
//! [`fileshed_core`].

pub mod config;
pub mod nearest;
pub mod ops;
