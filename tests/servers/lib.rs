//! Servers of others that tests talk to: real ones from a package index, each started for one test
//! on a free port of this machine. If one is not installed, the test is skipped, by name.
//!
//! It knows nothing of fileshed, so that the tests of every crate can use it.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot go on panics, and it starts processes"
)]

mod forwarder;
mod postgres;
mod proxy;
mod skipped;

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

pub use forwarder::Forwarder;
pub use postgres::{Postgres, Session};
pub use proxy::Proxy;
pub use skipped::skip;

/// A program that serves, and how it is started.
#[derive(Debug)]
pub struct Program {
    name: &'static str,
    /// The variable that names it elsewhere.
    variable: &'static str,
    /// Directory below the target directory into which `.ci/run` installs it.
    directory: &'static str,
    arguments: &'static [&'static str],
    /// Text before its address in the line of standard error that announces it.
    announces: &'static str,
}

/// A provider of OpenID Connect.
pub const OIDC_PROVIDER: Program = Program {
    name: "oidc-provider-mock",
    variable: "FILESHED_TEST_OIDC_SERVER",
    directory: "ci/oidc/bin",
    arguments: &["-p", "0", "-n", "true"],
    announces: "running on http://",
};

/// A server that runs; it ends with the value.
#[derive(Debug)]
pub struct TestServer {
    child: Child,
    address: String,
}

impl TestServer {
    /// Starts the program and waits until it announces its address; `None` if it is not installed.
    pub fn start(program: &Program, more: &[&str]) -> Option<Self> {
        let Some(place) = program.find() else {
            skip(format_args!("{} is not installed", program.name));
            return None;
        };
        let mut child = Command::new(place)
            .args(program.arguments)
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let errors = child.stderr.take().expect("its errors");
        let mut server = Self {
            child,
            address: String::new(),
        };
        server.address = server.wait_for_address(BufReader::new(errors), program);
        Some(server)
    }

    fn wait_for_address(&mut self, mut lines: BufReader<ChildStderr>, program: &Program) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let count = lines.read_line(&mut line).expect("a line");
            assert_ne!(count, 0, "{} ended: {:?}", program.name, self.child.wait());
            let Some((_, rest)) = line.split_once(program.announces) else {
                continue;
            };
            // It writes a line for each request, and waits where nobody reads them.
            thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
            let rest = rest.split_whitespace().next();
            return rest.expect("an address").to_owned();
        }
    }

    /// host:port
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

impl Program {
    fn find(&self) -> Option<PathBuf> {
        if let Some(named) = env::var_os(self.variable) {
            return Some(named.into());
        }
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
            PathBuf::from,
        );
        let installed = target.join(self.directory);
        let path = env::var_os("PATH").unwrap_or_default();
        let places = [installed].into_iter().chain(env::split_paths(&path));
        places
            .map(|place| place.join(self.name))
            .find(|program| program.is_file())
    }
}
