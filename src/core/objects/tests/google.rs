//! The client for Google's interface.
//!
//! No package index has a server that it can speak to: those that are called emulators have Google's
//! interface of JSON, and of the one of XML, which the client uses, nothing or lists alone; none
//! compares generations. So it is tried in two ways: on a real bucket that
//! `FILESHED_TEST_GOOGLE_URL` names, and on a real server of S3's interface behind a translation.
//! Both interfaces are alike but for the names of headers, and for generations, which the translation
//! counts.

use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fileshed_files::{Provider as _, ZonePath, conformance};
use fileshed_test_servers::TestServer;
use fileshed_types::{Clock, Secret};

use super::proxy::{Dialect, Fault, Proxy, Request};
use crate::ObjectStorage;

/// Google's names, and the generations of objects by their paths.
#[derive(Default)]
struct Google {
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    last: u64,
    of: HashMap<String, u64>,
}

impl Google {
    fn generations(&self) -> MutexGuard<'_, Generations> {
        self.generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The path of an object, without the query.
fn object(request: &Request) -> &str {
    request.target().split('?').next().unwrap_or_default()
}

/// Whether a request gives an object its content, rather than a part of an upload.
fn gives_content(request: &Request) -> bool {
    let target = request.target();
    let is_part = target.contains("partNumber=");
    let completes = request.method() == "POST" && target.contains("uploadId=");
    completes || (request.method() == "PUT" && !is_part)
}

impl Dialect for Google {
    /// Reading, too: an answer has the generation of the content that it has.
    fn alone(&self, _: &Request) -> bool {
        true
    }

    fn request(&self, request: &Request) -> Result<String, String> {
        let mut head = String::new();
        for line in request.head.split_inclusive("\r\n") {
            let lower = line.to_ascii_lowercase();
            if let Some(wanted) = lower.strip_prefix("x-goog-if-generation-match:") {
                let now = self.generations().of.get(object(request)).copied();
                if wanted.trim().parse() != Ok(now.unwrap_or(0)) {
                    let refused = "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n";
                    return Err(refused.to_owned());
                }
            } else if let Some(rest) = lower.strip_prefix("x-goog-") {
                head.push_str("x-amz-");
                head.push_str(&line[line.len() - rest.len()..]);
            } else {
                head.push_str(line);
            }
        }
        Ok(head)
    }

    fn answer(&self, request: &Request, head: &str) -> String {
        let succeeded = head
            .split(' ')
            .nth(1)
            .is_some_and(|status| status.starts_with('2'));
        let mut generations = self.generations();
        if succeeded && gives_content(request) {
            generations.last += 1;
            let given = generations.last;
            generations.of.insert(object(request).to_owned(), given);
        } else if succeeded && request.method() == "DELETE" && !request.target().contains('?') {
            generations.of.remove(object(request));
        }
        let mut head = head.replace("x-amz-", "x-goog-");
        if let Some(generation) = generations.of.get(object(request)) {
            let header = format!("\r\nx-goog-generation: {generation}\r\n\r\n");
            head = head.replace("\r\n\r\n", &header);
        }
        head
    }
}

/// A server of S3's interface, and what makes one of Google's of it.
fn start() -> Option<(TestServer, Proxy)> {
    let server = TestServer::with_bucket()?;
    let front = Proxy::speaking(server.address(), Arc::new(Google::default()), |_, _| {
        Fault::None
    });
    Some((server, front))
}

/// One server of ours that uses the bucket.
fn storage(front: &Proxy) -> ObjectStorage {
    let address = format!("http://{}", front.address);
    let options = [
        ("base_url", address.as_str()),
        ("allow_http", "true"),
        ("bearer_token", "hidden-secret"),
    ];
    let options = options.map(|(key, value)| (key.to_owned(), Secret::new(value)));
    ObjectStorage::open("gs://bucket/some/path", &options, Clock::default()).expect("a storage")
}

#[test]
fn keeps_every_promise() {
    let Some((_server, front)) = start() else {
        return;
    };
    let storage = storage(&front);
    assert_eq!(storage.check(), Ok(()));
    conformance::keeps_every_promise(&storage.files("alice"));
    // Nothing of it is another namespace's.
    let bob = storage.files("bob");
    let page = bob.list(&ZonePath::root(), None, 10).expect("a list");
    assert_eq!(page.entries, []);
}

#[test]
fn two_servers_lose_no_update() {
    let Some((_server, front)) = start() else {
        return;
    };
    let (one, other) = (storage(&front), storage(&front));
    let (one, other) = (one.files("alice"), other.files("alice"));
    conformance::loses_no_update(&[&one, &other, &one, &other]);
}

#[test]
fn agrees_with_memory() {
    let Some((_server, front)) = start() else {
        return;
    };
    let storage = storage(&front);
    super::agrees_with_memory(&storage);
}

/// On Google's own servers, as whom the environment says (`GOOGLE_APPLICATION_CREDENTIALS` …).
#[test]
fn a_real_bucket_keeps_every_promise() {
    let Ok(address) = env::var("FILESHED_TEST_GOOGLE_URL") else {
        skip();
        return;
    };
    let open = || ObjectStorage::open(&address, &[], Clock::default()).expect("a storage");
    let (one, other) = (open(), open());
    assert_eq!(one.check(), Ok(()));
    let namespace = || uuid::Uuid::new_v4().simple().to_string();
    conformance::keeps_every_promise(&one.files(&namespace()));
    let shared = namespace();
    let (one, other) = (one.files(&shared), other.files(&shared));
    conformance::loses_no_update(&[&one, &other, &one, &other]);
}

#[expect(clippy::print_stdout, reason = "what is skipped is shown")]
fn skip() {
    println!("SKIP: FILESHED_TEST_GOOGLE_URL names no bucket (gs://bucket/path)");
}
