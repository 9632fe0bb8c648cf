//! The kernel's side of the promise: limits of a command, whatever its arguments, and the work that every
//! command can still do.
//!
//! `attacks` speaks to the helper directly, past the argument rules, as if every rule had been
//! fooled. `egress` does the same with the way to the network. `users` lets one user
//! look for another through HTTP. `ordinary` runs every whitelisted command that is installed in
//! its usual work, through HTTP, inside the same confinement; `endurance` runs very many of them.
//! `memory` has honest work at the usual limit, and processes that want more. `kernel_accounts` lets one user take all that the kernel counts.
//! `shell` runs lines of the shell, which nobody has judged.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test that cannot go on panics; attacks start the helper by hand"
)]

mod attacks;
mod cgroups;
mod closed;
mod egress;
mod endurance;
mod kernel_accounts;
mod memory;
mod ordinary;
mod shell;
mod users;
mod way;
