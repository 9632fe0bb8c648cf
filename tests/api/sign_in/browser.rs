//! A browser's handling of a server's cookies, and the headers of its page.

use std::cell::RefCell;

use fileshed_test_support::{Answer, Client, Finished, TestApp};
use serde_json::{Value, json};

/// The name of the session's cookie where people reach the server without https.
pub(crate) const COOKIE: &str = "fileshed-session";

/// A browser with the page of a server open.
pub(crate) struct Browser<'a> {
    server: &'a TestApp,
    /// The secret of its session.
    session: RefCell<Option<String>>,
}

impl<'a> Browser<'a> {
    pub(crate) fn at(server: &'a TestApp) -> Self {
        Self {
            server,
            session: RefCell::default(),
        }
    }

    /// The secret that its cookie holds.
    pub(crate) fn secret(&self) -> String {
        self.session.borrow().clone().unwrap_or_default()
    }

    /// Whatever the browser asks: its cookie goes along.
    pub(crate) fn any(&self) -> Client<'a> {
        match &*self.session.borrow() {
            Some(secret) => with_cookie(self.server, secret),
            None => self.server.client(),
        }
    }

    /// Returns a client with the headers of the page.
    pub(crate) fn page(&self) -> Client<'a> {
        self.any()
            .header("X-Fileshed-Page", "1")
            .header("Origin", &self.server.url(""))
            .header("Sec-Fetch-Site", "same-origin")
    }

    /// Returns a client with the headers of a form on the server's own pages.
    pub(crate) fn form(&self) -> Client<'a> {
        self.any()
            .header("Origin", &self.server.url(""))
            .header("Sec-Fetch-Site", "same-origin")
            .header("Accept", "text/html")
    }

    /// Keeps what an answer sets.
    pub(crate) fn keep(&self, answer: Answer) -> Answer {
        let set = answer.header("set-cookie");
        if let Some(rest) = set.strip_prefix(&format!("{COOKIE}=")) {
            let (value, attributes) = rest.split_once("; ").unwrap();
            assert!(attributes.contains("HttpOnly; SameSite=Lax"), "{set}");
            let kept = Some(value.to_owned()).filter(|value| !value.is_empty());
            *self.session.borrow_mut() = kept;
        }
        answer
    }

    pub(crate) fn sign_in(&self, token: &str) -> Answer {
        let body = json!({"token": token}).to_string();
        self.keep(self.page().send("POST", "/page/sign-in", body.as_bytes()))
    }

    pub(crate) fn sign_out(&self, arguments: &Value) -> Answer {
        let body = arguments.to_string();
        self.keep(self.page().send("POST", "/page/sign-out", body.as_bytes()))
    }

    /// Presses the button of a link.
    pub(crate) fn press(&self, link: &str) -> Answer {
        self.keep(self.form().send("POST", link, b""))
    }

    /// Returns the state of the session as the page reads it.
    pub(crate) fn state(&self) -> Value {
        let answer = self.keep(self.page().get("/page/session"));
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.body
    }

    /// The one who is signed in, or nothing.
    pub(crate) fn name(&self) -> Option<String> {
        let state = self.state();
        assert_eq!(state["signed_in"], !state["name"].is_null(), "{state}");
        state["name"].as_str().map(str::to_owned)
    }
}

/// A client with the secret of a session.
pub(crate) fn with_cookie<'a>(server: &'a TestApp, secret: &str) -> Client<'a> {
    server
        .client()
        .header("Cookie", &format!("theme=dark; {COOKIE}={secret}"))
}

#[track_caller]
pub(crate) fn printed(finished: &Finished) -> String {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished.stdout.trim_end().to_owned()
}

/// A personal token of a user.
pub(crate) fn token(server: &TestApp, user: &str, more: &[&str]) -> String {
    let arguments = [&["token", "create", "--user", user], more].concat();
    printed(&server.run(&arguments))
}

/// The path of a link from the command line.
pub(crate) fn link(server: &TestApp, user: &str) -> String {
    path(&printed(&server.run(&["login-link", "--user", user])))
}

/// The path of an address.
pub(crate) fn path(url: &str) -> String {
    let at = url.find("/page/").unwrap_or_else(|| panic!("{url}"));
    url[at..].to_owned()
}
