//! On a real server of Azure's interface, started for one test: azurite, from the package index of
//! npm. `FILESHED_TEST_AZURE_SERVER` names its program, `azurite-blob`; else it is looked for where
//! `.ci/run` installs it, and in `PATH`.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_files::{Provider as _, ZonePath, conformance};
use fileshed_types::{Clock, Secret};
use hmac::{Hmac, KeyInit as _, Mac as _};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sha2::Sha256;

use crate::ObjectStorage;

/// The account that every such server has, with its published key.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The server; gone with the value.
struct Azure {
    child: Child,
    address: String,
}

impl Azure {
    /// Starts it with an empty container. Nothing where it is not installed, which is said.
    fn start() -> Option<Self> {
        let Some(program) = program() else {
            skip();
            return None;
        };
        #[expect(clippy::disallowed_methods, reason = "a server for tests")]
        let mut child = Command::new(program)
            .args(["--inMemoryPersistence", "--skipApiVersionCheck"])
            .args(["--disableTelemetry", "--silent"])
            .args(["--blobHost", "127.0.0.1", "--blobPort", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("azurite starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let address = loop {
            let mut line = String::new();
            let count = lines.read_line(&mut line).expect("a line");
            assert_ne!(count, 0, "azurite ended");
            if let Some((_, address)) = line.trim().split_once("listens on http://") {
                break address.to_owned();
            }
        };
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let server = Self { child, address };
        server.make_container();
        Some(server)
    }

    /// Signed with the key of the account, as the interface asks for.
    fn make_container(&self) {
        let now = Clock::default().now();
        let now = now.strftime("%a, %d %b %Y %H:%M:%S GMT");
        let headers = format!("x-ms-date:{now}\nx-ms-version:2021-08-06");
        let signed = format!(
            "PUT{}{headers}\n/{ACCOUNT}/{ACCOUNT}/container\nrestype:container",
            "\n".repeat(12)
        );
        let key = STANDARD.decode(KEY).expect("a key");
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key");
        mac.update(signed.as_bytes());
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        let request = format!(
            "PUT /{ACCOUNT}/container?restype=container HTTP/1.1\r\nHost: {}\r\n\
             x-ms-date: {now}\r\nx-ms-version: 2021-08-06\r\nContent-Length: 0\r\n\
             Authorization: SharedKey {ACCOUNT}:{signature}\r\nConnection: close\r\n\r\n",
            self.address
        );
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }

    /// One server of ours that uses the container.
    fn storage(&self) -> ObjectStorage {
        let endpoint = format!("http://{}/{ACCOUNT}", self.address);
        let options = [
            ("endpoint", endpoint.as_str()),
            ("account_name", ACCOUNT),
            ("account_key", KEY),
            ("allow_http", "true"),
        ];
        let options = options.map(|(key, value)| (key.to_owned(), Secret::new(value)));
        ObjectStorage::open("az://container/some/path", &options, Clock::default())
            .expect("a storage")
    }
}

impl Drop for Azure {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

#[expect(clippy::print_stdout, reason = "what is skipped is shown")]
fn skip() {
    println!("SKIP: azurite-blob is not installed");
}

fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os("FILESHED_TEST_AZURE_SERVER") {
        return Some(named.into());
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target")),
        PathBuf::from,
    );
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).collect::<Vec<_>>();
    places.insert(0, target.join("ci/azurite/node_modules/.bin"));
    let mut programs = places.into_iter().map(|place| place.join("azurite-blob"));
    programs.find(|program| program.is_file())
}

#[test]
fn keeps_every_promise() {
    let Some(server) = Azure::start() else { return };
    let storage = server.storage();
    assert_eq!(storage.check(), Ok(()));
    conformance::keeps_every_promise(&storage.files("alice"));
    // Nothing of it is another namespace's.
    let bob = storage.files("bob");
    let page = bob.list(&ZonePath::root(), None, 10).expect("a list");
    assert_eq!(page.entries, []);
}

#[test]
fn two_servers_lose_no_update() {
    let Some(server) = Azure::start() else { return };
    let (one, other) = (server.storage(), server.storage());
    let (one, other) = (one.files("alice"), other.files("alice"));
    conformance::loses_no_update(&[&one, &other, &one, &other]);
}

#[test]
fn agrees_with_memory() {
    let Some(server) = Azure::start() else { return };
    let storage = server.storage();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 6,
        // A failure is shown with all of its steps; shrinking takes minutes here.
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let result = runner.run(&conformance::steps(40), |steps| {
        let namespace = uuid::Uuid::new_v4().simple().to_string();
        conformance::agrees_with_memory(&storage.files(&namespace), &steps);
        Ok(())
    });
    result.expect("the same answers");
}
