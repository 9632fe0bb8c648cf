//! Parts that the tests share: the server, requests to it, and its state as seen from outside.
//!
//! `TestApp::start()` has the routes in this process; `Server::start()` is the real program on a
//! loopback port, for what needs a process: a log, signals, sockets, a command line. Both are
//! configured alike: `TestApp::with().env("FILESHED_API_KEYS", "key").app()`. Each has its own
//! directory and no environment but its own; it ends with its value.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot go on panics, and it starts processes"
)]

mod app;
mod balanced;
mod client;
pub mod commands;
pub mod journal;
pub mod jwt;
pub mod moment;
pub mod on_disk;
pub mod processes;
pub mod rng;
mod schema;
mod server;
mod setup;
pub mod socket;
pub mod standin;
pub mod variables;
mod wait;
pub mod wire;

use std::path::{Path, PathBuf};

pub use app::TestApp;
pub use client::{Answer, Client, create_team, team_of, within};
pub use fileshed_test_servers::skip;
pub use server::Server;
pub use setup::{Finished, Setup};
pub use wait::{IMPATIENCE, PATIENCE, comes, eventually, pause, wait_until};

/// The program that cargo built beside the tests.
pub fn program() -> PathBuf {
    if let Some(program) = std::env::var_os("CARGO_BIN_EXE_fileshed") {
        return program.into();
    }
    // A test binary that was started by hand lies in `deps`, beside the program.
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("fileshed")
}

/// The files of the repository that tests compare with.
pub fn repository() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap()
}

/// Says whether this machine has a program; one that is missing is a named skip.
pub fn has_program(program: &str) -> bool {
    let found = ["/usr/bin", "/bin", "/usr/local/bin"]
        .iter()
        .any(|directory| std::path::Path::new(directory).join(program).exists());
    if !found {
        skip(format_args!("{program} is not installed"));
    }
    found
}
