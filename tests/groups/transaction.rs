//! transaction
