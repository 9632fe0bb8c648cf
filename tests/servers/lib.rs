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
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

pub use forwarder::Forwarder;
pub use postgres::Postgres;
pub use proxy::Proxy;
pub use skipped::skip;

/// A program that serves, and how it is started.
#[derive(Debug)]
pub struct Program {
    name: &'static str,
    /// The variable that names it elsewhere.
    variable: &'static str,
    /// Where `.ci/run` installs it, below the target directory.
    directory: &'static str,
    arguments: &'static [&'static str],
    /// What stands before its address in the line that says it.
    announces: &'static str,
    /// Whether that line is one of its errors.
    in_errors: bool,
}

/// A server of S3's interface.
pub const MOTO: Program = Program {
    name: "moto_server",
    variable: "FILESHED_TEST_S3_SERVER",
    directory: "ci/moto/bin",
    arguments: &["-H", "127.0.0.1", "-p", "0"],
    announces: "Running on http://",
    in_errors: true,
};

/// A server of Azure's interface.
pub const AZURITE: Program = Program {
    name: "azurite-blob",
    variable: "FILESHED_TEST_AZURE_SERVER",
    directory: "ci/azurite/node_modules/.bin",
    arguments: &[
        "--inMemoryPersistence",
        "--skipApiVersionCheck",
        "--disableTelemetry",
        "--silent",
        "--blobHost",
        "127.0.0.1",
        "--blobPort",
        "0",
    ],
    announces: "listens on http://",
    in_errors: false,
};

/// A provider of OpenID Connect.
pub const OIDC_PROVIDER: Program = Program {
    name: "oidc-provider-mock",
    variable: "FILESHED_TEST_OIDC_SERVER",
    directory: "ci/oidc/bin",
    arguments: &["-p", "0", "-n", "true"],
    announces: "running on http://",
    in_errors: true,
};

/// A server that runs; it ends with the value.
#[derive(Debug)]
pub struct TestServer {
    child: Child,
    address: String,
}

impl TestServer {
    /// Starts it and waits until it says its address. Nothing where it is not installed.
    pub fn start(program: &Program, more: &[&str]) -> Option<Self> {
        let Some(place) = program.find() else {
            skip(format_args!("{} is not installed", program.name));
            return None;
        };
        let (output, errors) = if program.in_errors {
            (Stdio::null(), Stdio::piped())
        } else {
            (Stdio::piped(), Stdio::null())
        };
        let mut child = Command::new(place)
            .args(program.arguments)
            .args(more)
            .stdout(output)
            .stderr(errors)
            .spawn()
            .expect("it starts");
        let stream: Box<dyn Read + Send> = match (child.stdout.take(), child.stderr.take()) {
            (Some(output), _) => Box::new(output),
            (_, errors) => Box::new(errors.expect("its errors")),
        };
        let mut server = Self {
            child,
            address: String::new(),
        };
        server.address = server.wait_for_address(BufReader::new(stream), program);
        Some(server)
    }

    fn wait_for_address(
        &mut self,
        mut lines: BufReader<Box<dyn Read + Send>>,
        program: &Program,
    ) -> String {
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

    /// The answer to a request without a body, in full: for what a test prepares. Each header ends
    /// its line.
    pub fn request(&self, method: &str, target: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let host = &self.address;
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n{headers}\
             Connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// moto with an empty bucket called `bucket`.
    pub fn with_bucket() -> Option<Self> {
        let server = Self::start(&MOTO, &[])?;
        let answer = server.request("PUT", "/bucket", "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Some(server)
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
