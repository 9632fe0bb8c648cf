//! The kernel's side of the promise: what a command cannot reach, whatever its arguments, and
//! what every command still can.
//!
//! `attacks` speaks to the helper directly, past the argument rules, as if every rule had been
//! fooled. `egress` does the same with the way to the network. `ordinary` runs every whitelisted command that is installed in its usual work, through
//! HTTP, inside the same confinement.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on panics; attacks start the helper by hand; what is skipped is said"
)]

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "made for all test binaries")]
mod support;

mod attacks;
mod closed;
mod egress;
mod ordinary;
