//! Requests as callers make them, and what comes back.

use std::io::Read as _;

use serde_json::Value;

use crate::{PATIENCE, TestApp, schema};

/// The command line that makes the group `team` of these members, apart by commas.
pub fn create_team(members: &str) -> [&str; 8] {
    [
        "group",
        "create",
        "--id",
        "team",
        "--name",
        "Team",
        "--members",
        members,
    ]
}

/// The id of the group that [`TestApp::as_user`] names.
pub fn team_of(user: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '-'
        }
    };
    let id: String = user.chars().map(plain).take(59).collect();
    format!("team-{id}")
}

/// The arguments of a call in a zone; a group is the one called `team`.
pub fn within(zone: &str, mut arguments: Value) -> Value {
    arguments["zone"] = zone.into();
    if zone == "group" {
        arguments["group"] = "team".into();
    }
    arguments
}

/// Headers for requests to a server.
#[derive(Clone)]
pub struct Client<'a> {
    server: &'a TestApp,
    headers: Vec<(String, Vec<u8>)>,
}

impl<'a> Client<'a> {
    pub(crate) fn to(server: &'a TestApp) -> Self {
        Self {
            server,
            headers: Vec::new(),
        }
    }
}

impl Client<'_> {
    /// With one more header.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        self.header_bytes(name, value.as_bytes())
    }

    /// With one more header, of any bytes.
    #[must_use]
    pub fn header_bytes(mut self, name: &str, value: &[u8]) -> Self {
        self.headers.push((name.to_owned(), value.to_vec()));
        self
    }

    /// The server that is called.
    pub fn server(&self) -> &TestApp {
        self.server
    }

    /// The text of a header that was set.
    pub fn header_text(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name)?;
        std::str::from_utf8(&found.1).ok()
    }

    /// In this conversation.
    #[must_use]
    pub fn chat(self, id: &str) -> Self {
        self.header("X-OpenWebUI-Chat-Id", id)
    }

    /// Calls an operation, and asserts that the answer has the form in the document. Tests share arguments
    /// between operations: those that the operation does not have are left out, unlike with [`Self::post`].
    #[track_caller]
    pub fn call(&self, operation: &str, arguments: &Value) -> Answer {
        self.try_call(operation, arguments).unwrap()
    }

    /// The same for a server that may be killed meanwhile; `None` if it did not answer.
    #[track_caller]
    pub fn try_call(&self, operation: &str, arguments: &Value) -> Option<Answer> {
        let arguments = schema::fitting(operation, arguments.clone());
        let (path, body) = (format!("/{operation}"), arguments.to_string());
        let answer = self.try_send("POST", &path, body.as_bytes())?;
        if answer.status == 200 {
            schema::assert_declared(operation, &answer.body["data"]);
        }
        Some(answer)
    }

    /// `data` of a call in a zone, which must succeed.
    #[track_caller]
    pub fn data_in(&self, zone: &str, operation: &str, arguments: Value) -> Value {
        let arguments = within(zone, arguments);
        let answer = self.call(operation, &arguments);
        assert_eq!(
            answer.status, 200,
            "{operation} {arguments}: {}",
            answer.text
        );
        answer.body["data"].clone()
    }

    /// A body as it is, also one that is no JSON.
    pub fn post(&self, operation: &str, body: &[u8]) -> Answer {
        self.send("POST", &format!("/{operation}"), body)
    }

    /// Asks for a page or a file.
    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, b"")
    }

    /// A request as it is.
    pub fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        self.try_send(method, path, body).unwrap()
    }

    /// The same for a server that may be killed meanwhile; `None` if it did not answer.
    pub fn try_send(&self, method: &str, path: &str, body: &[u8]) -> Option<Answer> {
        if let Some(answer) = self.server.answer(method, path, &self.headers, body) {
            return Some(answer);
        }
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(self.server.url(path));
        for (name, value) in &self.headers {
            request = request.header(name, value.as_slice());
        }
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .max_redirects(0)
            .output_buffer_size(1 << 20)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        let response = if body.is_empty() && method != "POST" {
            agent.run(request.body(()).unwrap())
        } else {
            agent.run(request.body(body).unwrap())
        };
        Answer::read(response.ok()?)
    }
}

/// The response to a request.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// All of its headers.
    pub headers: ureq::http::HeaderMap,
    /// Its body.
    pub bytes: Vec<u8>,
    /// The same as text.
    pub text: String,
    /// The text as JSON, null if it is none.
    pub body: Value,
}

impl Answer {
    /// Reads a response; `None` if it ends before all of it came.
    fn read(response: ureq::http::Response<ureq::Body>) -> Option<Self> {
        let (parts, body) = response.into_parts();
        let mut bytes = Vec::new();
        body.into_reader().read_to_end(&mut bytes).ok()?;
        Some(Self::of(parts.status.as_u16(), parts.headers, &bytes))
    }

    pub(crate) fn of(status: u16, headers: ureq::http::HeaderMap, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body).into_owned();
        Self {
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or_default(),
            bytes: body.to_vec(),
            text,
        }
    }

    /// The value of a header, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap_or("?"))
    }

    /// All that it tells, but for its id and its time.
    pub fn told(&self) -> (u16, String, Vec<String>) {
        let mut headers: Vec<String> = self
            .headers
            .iter()
            .filter(|(name, _)| !["x-request-id", "date"].contains(&name.as_str()))
            .map(|(name, value)| format!("{name}: {value:?}"))
            .collect();
        headers.sort();
        (self.status, self.text.clone(), headers)
    }

    /// The code of a failure, or "" on success.
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    /// Asserts success and gives `data`.
    #[track_caller]
    pub fn data(&self) -> &Value {
        assert_eq!(self.status, 200, "{}", self.text);
        assert_eq!(self.body["success"], true, "{}", self.text);
        &self.body["data"]
    }

    /// Asserts a failure in the whole form of the envelope.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code()), (status, code), "{}", self.text);
        assert_eq!(self.body["success"], false, "{}", self.text);
        let error = &self.body["error"];
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        assert!(error["hint"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(error["details"].is_object(), "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json");
    }
}
