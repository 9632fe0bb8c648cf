//! A real server of S3's interface, started for one test: moto, from the package index.
//!
//! `FILESHED_TEST_S3_SERVER` names its program, `moto_server`; else it is looked for where
//! `.ci/run` installs it, and in `PATH`.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use fileshed_types::{Clock, Secret};

use crate::ObjectStorage;

/// The server; gone with the value.
pub(crate) struct S3 {
    child: Child,
    pub(crate) address: String,
}

impl S3 {
    /// Starts it with an empty bucket. Nothing where it is not installed, which is said.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            skip();
            return None;
        };
        #[expect(clippy::disallowed_methods, reason = "a server for tests")]
        let mut child = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("moto_server starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its errors"));
        let address = loop {
            let mut line = String::new();
            let count = lines.read_line(&mut line).expect("a line");
            assert_ne!(count, 0, "moto_server ended");
            if let Some((_, address)) = line.trim().split_once("Running on http://") {
                break address.to_owned();
            }
        };
        // It writes a line for each request, and waits where nobody reads them.
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let server = Self { child, address };
        server.make_bucket();
        Some(server)
    }

    fn make_bucket(&self) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let host = &self.address;
        let request = format!(
            "PUT /bucket HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// One server of ours that uses the bucket, through `address`.
pub(crate) fn storage(address: &str, more: &[(&str, &str)]) -> ObjectStorage {
    let endpoint = format!("http://{address}");
    let options = [
        ("endpoint", endpoint.as_str()),
        ("region", "us-east-1"),
        ("allow_http", "true"),
        ("access_key_id", "known"),
        ("secret_access_key", "hidden-secret"),
    ];
    let options: Vec<_> = options
        .iter()
        .chain(more)
        .map(|&(key, value)| (key.to_owned(), Secret::new(value)))
        .collect();
    ObjectStorage::open("s3://bucket/some/path", &options, Clock::default()).expect("a storage")
}

#[expect(clippy::print_stdout, reason = "what is skipped is shown")]
fn skip() {
    println!("SKIP: moto_server is not installed");
}

fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os("FILESHED_TEST_S3_SERVER") {
        return Some(named.into());
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target")),
        PathBuf::from,
    );
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).collect::<Vec<_>>();
    places.insert(0, target.join("ci/moto/bin"));
    let mut programs = places.into_iter().map(|place| place.join("moto_server"));
    programs.find(|program| program.is_file())
}
