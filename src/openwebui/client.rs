//! Calls to Open WebUI: the only place that speaks HTTP to it.
//!
//! Every call ends within a bounded time and reads a bounded answer. A question that could not be
//! asked is asked once more; a server that keeps silent is left alone for a while (`breaker`).
//! Redirects are not followed: a credential goes to the configured address and nowhere else.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use fileshed_core::Clock;
use fileshed_core::timings::OpenWebUiTimings;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::{Method, Request, Response};
use ureq::{AsSendBody, Body, SendBody};

use super::breaker::Breaker;

/// Time limits of calls that know no settings.
const TIMINGS: OpenWebUiTimings = OpenWebUiTimings::STANDARD;
/// Longest answer that is read whole: a long chat with its files' texts.
const ANSWER_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Characters that are not escaped in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Why a call has no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No answer, or one that says that the server cannot answer now.
    #[error("Open WebUI does not answer")]
    Silent(#[source] Option<Box<ureq::Error>>),
    /// It did not answer lately and is not asked now.
    #[error("Open WebUI did not answer lately")]
    Paused,
    /// An answer that refuses: its status, and its JSON, `null` if it is something else.
    #[error("Open WebUI answered with status {0}")]
    Status(u16, Value),
    /// An answer that says something else than was asked.
    #[error("the answer of Open WebUI cannot be read")]
    Unreadable(#[source] Option<Box<ureq::Error>>),
}

impl CallError {
    /// A refusal without a word.
    pub(crate) fn status(status: u16) -> Self {
        Self::Status(status, Value::Null)
    }

    /// Returns `true` if the same call may succeed later.
    pub(crate) fn passes(&self) -> bool {
        matches!(self, Self::Silent(_) | Self::Paused)
    }

    /// Seconds after which it is worth trying.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.passes().then_some(TIMINGS.breaker.as_secs())
    }

    /// Returns `true` if Open WebUI says that there is no such thing for the caller.
    pub(crate) fn is_absence(&self) -> bool {
        // It answers 401 where others answer 403 or 404.
        matches!(self, Self::Status(400 | 401 | 403 | 404, _))
    }
}

/// A client of one Open WebUI. Clones share its connections and its circuit breaker; an empty key
/// sends no credential.
#[derive(Clone, Debug)]
pub(crate) struct OpenWebUiClient {
    agent: Agent,
    base: String,
    pub(super) clock: Clock,
    pub(super) timings: OpenWebUiTimings,
    breaker: Arc<Breaker>,
}

impl OpenWebUiClient {
    /// Calls the server at `base`, an address without a slash at its end.
    pub(crate) fn new(base: &str) -> Self {
        Self::timed(base, &Clock::SYSTEM, &TIMINGS)
    }

    /// The same, by this clock, and with these times.
    pub(crate) fn timed(base: &str, clock: &Clock, timings: &OpenWebUiTimings) -> Self {
        Self {
            agent: agent(),
            base: base.to_owned(),
            clock: clock.clone(),
            timings: timings.clone(),
            breaker: Arc::new(Breaker::new(clock, timings.breaker)),
        }
    }

    /// Sets the time limit of a small call.
    pub(crate) fn within(mut self, call: Duration) -> Self {
        self.timings.call = call;
        self
    }

    /// `GET`, once more if the request did not arrive.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str, path: &str) -> Result<T, CallError> {
        read(self.ask(key, path, self.timings.call)?)
    }

    /// Returns the version of Open WebUI, as it says itself.
    pub(crate) fn version(&self) -> Result<String, CallError> {
        let answer: Value = self.get("", "/api/version")?;
        let version = answer["version"].as_str().map(str::to_owned);
        version.ok_or(CallError::Unreadable(None))
    }

    /// `GET` of the bytes at `path`.
    pub(crate) fn bytes(&self, key: &str, path: &str) -> Result<impl Read + use<>, CallError> {
        let response = self.ask(key, path, self.timings.transfer)?;
        Ok(response.into_body().into_reader())
    }

    /// `POST` of a JSON message.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        key: &str,
        path: &str,
        message: &impl Serialize,
    ) -> Result<T, CallError> {
        let text = serde_json::to_vec(message).unwrap_or_default();
        let request = self.request(Method::POST, key, path);
        let request = request.header("content-type", "application/json");
        read(self.send(request, &text[..], self.timings.call, |_| false)?)
    }

    /// Sends a body that is read from somewhere, `size` bytes long.
    pub(crate) fn upload<T: DeserializeOwned>(
        &self,
        key: &str,
        path: &str,
        content_type: &str,
        size: u64,
        mut body: impl Read,
    ) -> Result<T, CallError> {
        let request = self.request(Method::POST, key, path);
        let request = request
            .header("content-type", content_type)
            .header("content-length", size);
        let body = SendBody::from_reader(&mut body);
        read(self.send(request, body, self.timings.transfer, may_break_off)?)
    }

    /// `DELETE`.
    pub(crate) fn delete(&self, key: &str, path: &str) -> Result<(), CallError> {
        let request = self.request(Method::DELETE, key, path);
        self.send(request, (), self.timings.call, |_| false)
            .map(drop)
    }

    fn ask(&self, key: &str, path: &str, limit: Duration) -> Result<Response<Body>, CallError> {
        let once = || {
            let request = self.request(Method::GET, key, path);
            self.send(request, (), limit, |_| false)
        };
        match once() {
            Err(CallError::Silent(cause))
                if !matches!(cause.as_deref(), Some(ureq::Error::Timeout(_))) =>
            {
                self.clock.sleep(self.timings.again);
                once()
            }
            answer => answer,
        }
    }

    fn request(&self, method: Method, key: &str, path: &str) -> ureq::http::request::Builder {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("accept", "application/json");
        if key.is_empty() {
            return request;
        }
        request.header("authorization", format!("Bearer {key}"))
    }

    /// Sends a request; `is_answer` says which failures are as good as an answer.
    fn send(
        &self,
        request: ureq::http::request::Builder,
        body: impl AsSendBody,
        limit: Duration,
        is_answer: fn(&ureq::Error) -> bool,
    ) -> Result<Response<Body>, CallError> {
        if !self.breaker.allows() {
            return Err(CallError::Paused);
        }
        let answer = request.body(body).map_err(ureq::Error::from);
        let answer = answer.and_then(|request| {
            let limited = self.agent.configure_request(request);
            self.agent.run(limited.timeout_global(Some(limit)).build())
        });
        let answered = match &answer {
            Ok(response) => !matches!(response.status().as_u16(), 502..=504),
            // A request that fails because its body cannot be read says nothing about the server.
            Err(error) => {
                matches!(error, ureq::Error::Other(_) | ureq::Error::Http(_)) || is_answer(error)
            }
        };
        self.breaker.record(answered);
        match answer {
            Ok(response) if !answered => {
                tracing::debug!(
                    status = response.status().as_u16(),
                    "Open WebUI is not available"
                );
                Err(CallError::Silent(None))
            }
            Ok(response) if response.status().is_success() => Ok(response),
            Ok(response) => {
                let status = response.status().as_u16();
                Err(CallError::Status(
                    status,
                    read(response).unwrap_or_default(),
                ))
            }
            Err(error) => Err(CallError::Silent(Some(Box::new(error)))),
        }
    }
}

/// Makes a client of HTTP with time limits, without redirects and proxies.
pub(crate) fn agent() -> Agent {
    let config = Agent::config_builder();
    // An authority of one's own is in the system's list, or nowhere.
    #[cfg(feature = "tls")]
    let config = config.tls_config(
        ureq::tls::TlsConfig::builder()
            .root_certs(ureq::tls::RootCerts::PlatformVerifier)
            .build(),
    );
    config
        .timeout_connect(Some(TIMINGS.connect))
        .timeout_global(Some(TIMINGS.call))
        .max_idle_age(TIMINGS.idle)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .user_agent(concat!("fileshed/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// A text as one segment of a path; nothing that would be read as another path.
pub(crate) fn segment(text: &str) -> Option<String> {
    let dots = text.chars().all(|character| character == '.');
    (!dots).then(|| utf8_percent_encode(text, SEGMENT).to_string())
}

/// Returns `true` if the server may have hung up because it refuses the request, as proxies do with bodies
/// that are too large for them; or if the sender did. Neither is silence.
fn may_break_off(error: &ureq::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let ureq::Error::Io(error) = error else {
        return false;
    };
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
    )
}

fn read<T: DeserializeOwned>(mut response: Response<Body>) -> Result<T, CallError> {
    // An address that it does not know is answered with its front page.
    let content_type = response.headers().get("content-type");
    let is_json = content_type
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("application/json"));
    if !is_json {
        return Err(CallError::Unreadable(None));
    }
    let body = response.body_mut().with_config().limit(ANSWER_MAX_BYTES);
    body.read_json::<T>().map_err(|error| match error {
        error @ ureq::Error::Timeout(_) => CallError::Silent(Some(Box::new(error))),
        error => CallError::Unreadable(Some(Box::new(error))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_hangs_up_on_a_large_file_is_not_silent() {
        use std::io::{BufRead, BufReader, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        // Reads no body; answers only to what has none.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut first = String::new();
                let read = BufReader::new(&stream).read_line(&mut first);
                if read.is_ok() && first.starts_with("GET") {
                    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                        content-length: 4\r\nconnection: close\r\n\r\ntrue";
                    let _gone_or_not = stream.write_all(answer.as_bytes());
                }
            }
        });
        let client = OpenWebUiClient::new(&base);
        let size = 32 * 1024 * 1024;
        for _ in 0..5 {
            let file = std::io::repeat(0).take(size);
            let sent = client.upload::<bool>("key", "/files", "a/b", size, file);
            assert!(matches!(sent, Err(CallError::Silent(_))), "{sent:?}");
        }
        assert!(matches!(client.get::<bool>("key", "/"), Ok(true)));
    }

    #[test]
    fn a_segment_stays_one() {
        assert_eq!(segment("0a-b_c.d").as_deref(), Some("0a-b_c.d"));
        assert_eq!(
            segment("../admin?x#y").as_deref(),
            Some("..%2Fadmin%3Fx%23y")
        );
        assert_eq!(segment(".."), None);
        assert_eq!(segment(""), None);
    }
}
