//! The fileshed program.
fn main() {}
