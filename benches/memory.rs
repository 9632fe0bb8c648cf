//! The memory that many clients, large files and unread output take: `cargo bench --bench memory`.
//!
//! A missed target ends with status 1.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

#[path = "memory/clients.rs"]
mod clients;
#[path = "memory/large.rs"]
mod large;
#[path = "memory/output.rs"]
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    let met = [clients::measure(), large::measure(), output::measure()];
    if met.contains(&false) {
        println!("a target is missed");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
