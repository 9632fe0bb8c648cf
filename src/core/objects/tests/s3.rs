//! On a real server of S3's interface: moto, from the package index of Python.

use fileshed_files::{Provider as _, ZonePath, conformance};
use fileshed_test_servers::TestServer;
use fileshed_types::{Clock, Secret};

use super::proxy::{Fault, Proxy};
use crate::ObjectStorage;

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

#[test]
fn keeps_every_promise() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let storage = storage(server.address(), &[]);
    assert_eq!(storage.check(), Ok(()));
    conformance::keeps_every_promise(&storage.files("alice"));
    // Nothing of it is another namespace's.
    let bob = storage.files("bob");
    let page = bob.list(&ZonePath::root(), None, 10).expect("a list");
    assert_eq!(page.entries, []);
}

#[test]
fn two_servers_lose_no_update() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let front = Proxy::start(server.address(), |_, _| Fault::None);
    let (one, other) = (storage(&front.address, &[]), storage(&front.address, &[]));
    let (one, other) = (one.files("alice"), other.files("alice"));
    conformance::loses_no_update(&[&one, &other, &one, &other]);
}

#[test]
fn agrees_with_memory() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let storage = storage(server.address(), &[]);
    super::agrees_with_memory(&storage);
}
