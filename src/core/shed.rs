//! The whole store, opened once.

/// Everything under one data directory.
#[derive(Debug)]
pub struct Shed;
