//! On a real server of Azure's interface: azurite, from the package index of npm.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_files::{Provider as _, ZonePath, conformance};
use fileshed_test_servers::{AZURITE, TestServer};
use fileshed_types::{Clock, Secret};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::ObjectStorage;

/// The account that every such server has, with its published key.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The server, with an empty container.
struct Azure(TestServer);

impl Azure {
    fn start() -> Option<Self> {
        let server = Self(TestServer::start(&AZURITE, &[])?);
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
        let headers = format!(
            "x-ms-date: {now}\r\nx-ms-version: 2021-08-06\r\n\
             Authorization: SharedKey {ACCOUNT}:{signature}\r\n"
        );
        let target = format!("/{ACCOUNT}/container?restype=container");
        let answer = self.0.request("PUT", &target, &headers);
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }

    /// One server of ours that uses the container.
    fn storage(&self) -> ObjectStorage {
        let endpoint = format!("http://{}/{ACCOUNT}", self.0.address());
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
    super::agrees_with_memory(&storage);
}
