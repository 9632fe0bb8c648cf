//! Forms as browsers send them, and what they leave on disk.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fileshed_test_support::{Answer, Client, Server, TestApp};

pub(crate) const BOUNDARY: &str = "----boundary7MA4YWxkTrZu0gW";

/// The header that goes with [`body`].
pub(crate) fn content_type() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// A form with these files.
pub(crate) fn body(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, content) in files {
        body.extend(head(name).bytes());
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(end().bytes());
    body
}

/// Returns the bytes before the content of a file.
pub(crate) fn head(name: &str) -> String {
    format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
}

/// Returns the end of a form.
pub(crate) fn end() -> String {
    format!("--{BOUNDARY}--\r\n")
}

/// Sends a form to an address.
pub(crate) fn send(client: &Client<'_>, address: &str, files: &[(&str, &[u8])]) -> Answer {
    client
        .clone()
        .header("Content-Type", &content_type())
        .send("POST", address, &body(files))
}

/// A request that goes on after its head.
pub(crate) fn request(server: &Server, line: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{line} HTTP/1.1\r\nHost: {}\r\n", server.address());
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    head + "\r\n"
}

/// The headers of [`Server::as_user`].
pub(crate) fn as_user(user: &str) -> [(&str, &str); 2] {
    [
        ("Authorization", "Bearer service-key"),
        ("X-OpenWebUI-User-Id", user),
    ]
}

/// A server with plain namespaces, so that a user's directory is found.
pub(crate) fn many_users() -> fileshed_test_support::Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
}

/// Every file below a user's home that is content or staged.
pub(crate) fn files(server: &TestApp, user: &str) -> BTreeMap<String, Vec<u8>> {
    let home = server.data().join("users").join(user);
    let mut found = BTreeMap::new();
    for place in ["Uploads", "Storage/data", "Documents/data", "staging"] {
        below(&home.join(place), place, &mut found);
    }
    found
}

/// Everything that is staged for a user: files, and directories where they wait.
pub(crate) fn staged(server: &TestApp, user: &str) -> Vec<PathBuf> {
    let staging = server.data().join("users").join(user).join("staging");
    let mut found = Vec::new();
    let mut pending = vec![staging];
    while let Some(directory) = pending.pop() {
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        for path in entries.map_while(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                pending.push(path.clone());
            }
            if path.extension().is_none_or(|end| end != "lock") {
                found.push(path);
            }
        }
    }
    found
}

/// Sizes of the files among them.
pub(crate) fn sizes_staged(server: &TestApp, user: &str) -> Vec<u64> {
    let found = staged(server, user).into_iter();
    found
        .filter_map(|path| path.metadata().ok())
        .filter(std::fs::Metadata::is_file)
        .map(|metadata| metadata.len())
        .collect()
}

fn below(directory: &Path, name: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    for entry in entries.map_while(Result::ok) {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            below(&entry.path(), &name, found);
        } else if entry.path().extension().is_none_or(|end| end != "lock")
            && !name.ends_with("data/.git")
        {
            // A staged file may be gone by now.
            if let Ok(content) = std::fs::read(entry.path()) {
                found.insert(name, content);
            }
        }
    }
}
