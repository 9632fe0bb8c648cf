//! WebDAV: files as drives of any system show them, over HTTP.

mod addresses;
mod chats;
mod habits;
mod identity;
mod locks;
mod names;
mod properties;
mod saves;
mod times;
mod trees;

use std::fmt::Write as _;

use fileshed_test_support::{Answer, Client, TestApp};

/// Requests of one client below an address of the surface.
pub(crate) struct Drive<'a> {
    client: Client<'a>,
    base: String,
}

impl<'a> Drive<'a> {
    /// The drive of a client at an address below `/dav`.
    pub(crate) fn of(client: Client<'a>, base: &str) -> Self {
        Self {
            client,
            base: format!("/dav{base}"),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send_body(method, path, headers, b"")
    }

    pub(crate) fn send_body(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut client = self.client.clone();
        for (name, value) in headers {
            client = client.header(name, value);
        }
        client.send(method, &self.url(path), body)
    }

    #[track_caller]
    pub(crate) fn put(&self, path: &str, content: &str) -> Answer {
        let answer = self.send_body("PUT", path, &[], content.as_bytes());
        assert!([201, 204].contains(&answer.status), "{path}: {answer:?}");
        answer
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let answer = self.send("GET", path, &[]);
        (answer.status, answer.text)
    }

    /// Moves or copies inside the drive; the status.
    pub(crate) fn transfer(&self, method: &str, from: &str, to: &str, overwrite: bool) -> u16 {
        let destination = format!("http://localhost{}", self.url(to));
        let overwrite = if overwrite { "T" } else { "F" };
        let headers = [("Destination", &*destination), ("Overwrite", overwrite)];
        self.send(method, from, &headers).status
    }

    /// The addresses that a directory lists, itself first, without the base.
    pub(crate) fn list(&self, path: &str) -> Vec<String> {
        let answer = self.send("PROPFIND", path, &[("Depth", "1")]);
        assert_eq!(answer.status, 207, "{answer:?}");
        let hrefs = answer.text.split("<D:response><D:href>").skip(1);
        let hrefs = hrefs.map(|rest| rest.split('<').next().unwrap_or_default());
        let base = format!("{}/", self.base);
        hrefs
            .map(|href| href.strip_prefix(&base).unwrap_or(href).to_owned())
            .collect()
    }

    /// The answer to a question for some properties, without line breaks.
    pub(crate) fn properties(&self, path: &str, names: &[&str]) -> String {
        let mut asked = String::new();
        for name in names {
            write!(asked, "<{name}/>").unwrap();
        }
        let body = format!(
            "<?xml version=\"1.0\"?><propfind xmlns=\"DAV:\"><prop>{asked}</prop></propfind>"
        );
        let answer = self.send_body("PROPFIND", path, &[("Depth", "0")], body.as_bytes());
        assert_eq!(answer.status, 207, "{answer:?}");
        answer.text
    }
}

/// The messages of the history of `documents`, the latest first.
pub(crate) fn messages(server: &TestApp) -> Vec<String> {
    let repository = server.data().join("shared/Documents/repo.git");
    let Ok(repository) = git2::Repository::open_bare(repository) else {
        return Vec::new();
    };
    let mut walk = repository.revwalk().unwrap();
    walk.push_head().unwrap();
    let commits = walk.map(|id| repository.find_commit(id.unwrap()).unwrap());
    commits
        .map(|commit| {
            String::from_utf8_lossy(commit.message_bytes())
                .trim()
                .to_owned()
        })
        .collect()
}

/// Returns the number of commits in the history of `documents`.
pub(crate) fn commits(server: &TestApp) -> usize {
    messages(server).len()
}
