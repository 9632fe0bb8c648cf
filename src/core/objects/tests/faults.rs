//! What goes wrong between us and a real server of S3's interface.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fileshed_files::{Condition, Provider, ProviderError, Write, ZonePath, conformance};
use fileshed_test_servers::TestServer;

use super::proxy::{Fault, Proxy};
use super::s3::storage;

fn path(text: &str) -> ZonePath {
    ZonePath::found(text.to_owned())
}

fn write(provider: &dyn Provider, at: &str, mut content: &[u8]) -> Result<(), ProviderError> {
    let written = provider.write(&path(at), &mut content, &Write::default());
    written.map(|_| ())
}

fn names(provider: &dyn Provider, at: &str) -> Result<Vec<String>, ProviderError> {
    let page = provider.list(&path(at), None, 100)?;
    let names = page.entries.iter().filter_map(|entry| entry.path.name());
    Ok(names.map(str::to_owned).collect())
}

/// Why a call failed, in the words for callers.
fn reason(result: Result<(), ProviderError>) -> String {
    match result {
        Err(ProviderError::Unavailable(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_that_are_too_many_are_repeated() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let proxy = Proxy::start(server.address(), |_, number| match number % 12 {
        0 => Fault::SlowDown,
        _ => Fault::None,
    });
    let storage = storage(&proxy.address, &[]);
    conformance::keeps_every_promise(&storage.files("alice"));
    assert!(proxy.faults() > 10, "{}", proxy.faults());
}

#[test]
fn a_storage_that_is_always_busy_is_told_as_such() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let proxy = Proxy::start(server.address(), |_, _| Fault::SlowDown);
    let files = storage(&proxy.address, &[]).files("alice");
    let told = reason(files.stat(&path("a")).map(|_| ()));
    assert_eq!(told, "it asks for fewer requests");
}

#[test]
fn writes_whose_answers_are_lost_are_neither_lost_nor_done_twice() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let proxy = Proxy::start(server.address(), |request, number| {
        if request.changes() && number.is_multiple_of(5) {
            Fault::LostAnswer
        } else {
            Fault::None
        }
    });
    let (one, other) = (storage(&proxy.address, &[]), storage(&proxy.address, &[]));
    let (one, other) = (one.files("alice"), other.files("alice"));
    conformance::loses_no_update(&[&one, &other]);
    conformance::keeps_every_promise(&one);
    assert!(proxy.faults() > 20, "{}", proxy.faults());
}

#[test]
fn a_write_whose_answer_is_lost_and_that_is_overwritten_then_was_made() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let direct = storage(server.address(), &[]).files("alice");
    write(&direct, "file", b"before").expect("written");
    // While the first write waits for its answer, another one replaces what it wrote.
    let overwrites = direct.clone();
    let first = AtomicBool::new(true);
    let proxy = Proxy::start(server.address(), move |request, _| {
        let is_look = request.method() == "HEAD" && request.target().ends_with("/files/file");
        let is_put = request.method() == "PUT" && request.target().ends_with("/files/file");
        if is_put && first.swap(false, Ordering::Relaxed) {
            return Fault::LostAnswer;
        }
        if is_look && !first.load(Ordering::Relaxed) {
            write(&overwrites, "file", b"after").expect("written");
        }
        Fault::None
    });
    let files = storage(&proxy.address, &[]).files("alice");
    let version = files.stat(&path("file")).expect("there").version;
    let conditional = Write {
        condition: Condition::Version(version),
        ..Write::default()
    };
    let written = files.write(&path("file"), &mut &b"mine"[..], &conditional);
    assert_eq!(written.expect("it was made").metadata.size, 4);
    let content = direct.read(&path("file"), 0..100).expect("there");
    assert_eq!(content.bytes, b"after");
}

#[test]
fn requests_without_an_answer_are_given_up_and_repeated() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let hung = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hung);
    let proxy = Proxy::start(server.address(), move |request, _| {
        let is_file = request.target().contains("/files/hang");
        // The first of each kind.
        let bit = match request.method() {
            "PUT" => 1,
            "HEAD" => 2,
            "GET" => 4,
            _ => return Fault::None,
        };
        if is_file && counted.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            Fault::Hang
        } else {
            Fault::None
        }
    });
    let files = storage(&proxy.address, &[("timeout", "1s")]).files("alice");
    write(&files, "hang", b"content").expect("written");
    let content = files.read(&path("hang"), 0..100).expect("read");
    assert_eq!(content.bytes, b"content");
    assert_eq!((hung.load(Ordering::Relaxed), proxy.faults()), (7, 3));
}

#[test]
fn a_storage_that_never_answers_is_told_as_such() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let proxy = Proxy::start(server.address(), |_, _| Fault::Hang);
    let files = storage(&proxy.address, &[("timeout", "300ms")]).files("alice");
    assert_eq!(reason(write(&files, "a", b"x")), "no answer in time");
    let gone = storage("127.0.0.1:1", &[]);
    assert_eq!(
        reason(write(&gone.files("alice"), "a", b"x")),
        "it cannot be reached"
    );
    assert_eq!(gone.check(), Err("it cannot be reached".to_owned()));
    let shown = format!("{gone:?} {:?}", gone.files("alice"));
    assert!(!shown.contains("hidden-secret"), "{shown}");
}

#[test]
fn lists_that_come_in_parts_are_put_together_or_fail() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let direct = storage(server.address(), &[]).files("alice");
    let all: Vec<String> = (0..9).map(|number| format!("file-{number}")).collect();
    for name in &all {
        write(&direct, &format!("directory/{name}"), b"x").expect("written");
    }
    let short = Proxy::start(server.address(), |request, _| {
        if request.is_list() {
            Fault::ShortPage
        } else {
            Fault::None
        }
    });
    let files = storage(&short.address, &[]).files("alice");
    assert_eq!(names(&files, "directory").expect("a list"), all);
    assert!(short.faults() >= 5, "{}", short.faults());

    // The second page never comes.
    let broken = Proxy::start(server.address(), |request, _| {
        match (
            request.is_list(),
            request.target().contains("continuation-token"),
        ) {
            (true, true) => Fault::SlowDown,
            (true, false) => Fault::ShortPage,
            _ => Fault::None,
        }
    });
    let files = storage(&broken.address, &[]).files("alice");
    let told = reason(names(&files, "directory").map(|_| ()));
    assert_eq!(told, "it asks for fewer requests");
    let removed = files.remove(&path("directory"));
    assert!(
        matches!(removed, Err(ProviderError::Unavailable(_))),
        "{removed:?}"
    );
    assert_eq!(names(&direct, "directory").expect("a list"), all);

    // The end of a page is cut off, once.
    let first = AtomicBool::new(true);
    let cut = Proxy::start(server.address(), move |request, _| {
        if request.is_list() && first.swap(false, Ordering::Relaxed) {
            Fault::HalfAnswer
        } else {
            Fault::None
        }
    });
    let files = storage(&cut.address, &[]).files("alice");
    match names(&files, "directory") {
        Ok(found) => assert_eq!(found, all),
        Err(error) => assert!(matches!(error, ProviderError::Unavailable(_)), "{error:?}"),
    }
    assert_eq!(names(&files, "directory").expect("a list"), all);
}

#[test]
fn content_that_is_cut_off_is_never_given_as_whole() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let direct = storage(server.address(), &[]).files("alice");
    let content = vec![b'x'; 100_000];
    write(&direct, "file", &content).expect("written");
    let proxy = Proxy::start(server.address(), |request, number| {
        if request.method() == "GET" && number.is_multiple_of(2) {
            Fault::HalfAnswer
        } else {
            Fault::None
        }
    });
    let files = storage(&proxy.address, &[]).files("alice");
    for _ in 0..4 {
        match files.read(&path("file"), 0..u64::MAX) {
            Ok(read) => assert!(read.bytes == content, "{} bytes", read.bytes.len()),
            Err(error) => assert!(matches!(error, ProviderError::Unavailable(_)), "{error:?}"),
        }
    }
}

#[test]
fn large_files_come_over_a_bad_line() {
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let (parts, completed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let proxy = Proxy::start(server.address(), move |request, _| {
        let target = request.target();
        let is_part = target.contains("partNumber");
        let is_completion = request.method() == "POST" && target.contains("uploadId=");
        if is_part && parts.fetch_add(1, Ordering::Relaxed) == 1 {
            return Fault::LostAnswer;
        }
        if is_completion && !completed.swap(true, Ordering::Relaxed) {
            return Fault::LostAnswer;
        }
        Fault::None
    });
    let files = storage(&proxy.address, &[]).files("alice");
    let whole: Vec<u8> = (0..20_000_000_u32).map(|at| (at % 253) as u8).collect();
    write(&files, "large", &whole).expect("written");
    assert!(files.read(&path("large"), 0..u64::MAX).expect("read").bytes == whole);
    assert_eq!(proxy.faults(), 2);
}

#[test]
fn an_upload_that_breaks_off_leaves_the_file_as_it_was() {
    struct Gone(usize);
    impl io::Read for Gone {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(self.0);
            self.0 -= count;
            match count {
                0 => Err(io::Error::other("the sender is gone")),
                count => Ok(count),
            }
        }
    }
    let Some(server) = TestServer::with_bucket() else {
        return;
    };
    let files = storage(server.address(), &[]).files("alice");
    write(&files, "file", b"before").expect("written");
    let mut source = Gone(20_000_000);
    let broken = files.write(&path("file"), &mut source, &Write::default());
    assert!(
        matches!(broken, Err(ProviderError::Unavailable(_))),
        "{broken:?}"
    );
    let content = files.read(&path("file"), 0..100).expect("there");
    assert_eq!(content.bytes, b"before");
}
