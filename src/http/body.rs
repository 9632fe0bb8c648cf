//! Arguments from a request body.
//!
//! The content type is not asked for: models, scripts and curl forget it, and what parses as a
//! JSON object is meant as one. Nothing and `null` are no arguments.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use fileshed_core::{Code, Diagnostic, Error, Hint};
use http_body_util::BodyExt as _;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::admission::Admitted;
use crate::json::{self, Top, VALUES_MAX};

/// How long a body may bring less than its pace wants.
const PAUSE: Duration = Duration::from_secs(30);
/// How long the rest of a body that is refused is still taken.
const DRAIN: Duration = Duration::from_secs(5);

/// A body that holds no arguments.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// More than the server takes.
    #[error("the request body is larger than {limit} bytes")]
    TooLarge {
        /// Most that is taken.
        limit: u64,
    },
    /// More values than any call needs.
    #[error("the request body holds more than {VALUES_MAX} values")]
    TooMany,
    /// The client stopped sending.
    #[error("the request body did not arrive completely")]
    Incomplete,
    /// No JSON.
    #[error("the request body is not valid JSON: {0}")]
    Malformed(#[source] serde_json::Error),
    /// JSON, but no object.
    #[error("the request body must be a JSON object, got: {0}")]
    NoObject(&'static str),
}

impl Diagnostic for BodyError {
    fn code(&self) -> Code {
        match self {
            Self::TooLarge { .. } | Self::TooMany => Code::BodyTooLarge,
            Self::Incomplete | Self::Malformed(_) | Self::NoObject(_) => Code::InvalidParameter,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::TooLarge { .. } => {
                "send the content in several calls, for instance shed_patch_text with \"position\": \"end\""
            }
            Self::TooMany => "make several calls with fewer values each",
            Self::Incomplete => "send the call again, without pauses",
            Self::Malformed(error) if error.to_string().contains("recursion limit") => {
                "nest lists and objects less deeply"
            }
            Self::Malformed(_) => {
                "send one JSON object, like {\"zone\": \"storage\"}; escape quotes and line ends inside texts as \\\" and \\n"
            }
            Self::NoObject(_) => "send one JSON object with the parameters by name, {} for none",
        }
        .into()
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        match self {
            Self::TooLarge { limit } => {
                details.insert("limit_bytes".to_owned(), (*limit).into());
            }
            Self::Malformed(error) => {
                details.insert("line".to_owned(), error.line().into());
                details.insert("column".to_owned(), error.column().into());
            }
            Self::TooMany => {
                details.insert("limit_values".to_owned(), VALUES_MAX.into());
            }
            Self::Incomplete | Self::NoObject(_) => {}
        }
        details
    }
}

/// The length that a client promises.
pub(super) fn promised(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Collects the body of a call of at most `limit` bytes. What is beyond the ordinary waits for its
/// share of memory before it is taken.
pub(super) async fn collect(
    body: &mut Body,
    promised: Option<u64>,
    limit: u64,
    admitted: &mut Admitted,
) -> Result<Vec<u8>, Error> {
    let too_large = || Error::from(BodyError::TooLarge { limit });
    if promised.is_some_and(|promised| promised > limit) {
        return Err(too_large());
    }
    let mut pace = Pace::of_calls();
    let mut collected = Vec::new();
    while let Some(piece) = pace.piece(body).await? {
        let needed = collected.len() + piece.len();
        if needed as u64 > limit {
            return Err(too_large());
        }
        if needed > collected.capacity() {
            // In few steps, and no further than the client has come.
            let most = promised.unwrap_or(limit).min(limit);
            let room = (2 * needed as u64).clamp(needed as u64, most.max(needed as u64));
            admitted.reserve(room).await?;
            collected.reserve_exact(room as usize - collected.len());
            pace.resume();
        }
        collected.extend_from_slice(&piece);
    }
    Ok(collected)
}

/// Reads the arguments of a call. What says nothing to the operation is skipped.
pub fn parse(
    bytes: &[u8],
    is_known: impl Fn(&str) -> bool,
) -> Result<Map<String, Value>, BodyError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match json::object(bytes, is_known) {
        Ok(Top::Object(arguments)) => Ok(arguments),
        Ok(Top::Null) => Ok(Map::new()),
        Ok(Top::Other(kind)) => Err(BodyError::NoObject(kind)),
        Err(error) if json::has_too_many(&error) => Err(BodyError::TooMany),
        Err(error) => Err(BodyError::Malformed(error)),
    }
}

/// Lets a client whose body nobody wants see its answer. Who waits to be told to go on has sent
/// nothing, and need not.
pub(super) async fn decline(headers: &HeaderMap, mut body: Body) {
    if !headers.contains_key(EXPECT) {
        drain(&mut body).await;
    }
}

/// Takes some of what still comes, so that a client that first writes and then reads gets to see
/// why it is refused.
pub(super) async fn drain(body: &mut Body) {
    let rest = async { while let Ok(Some(_)) = piece_now(body).await {} };
    // Whether the rest came or not, the answer is the same.
    let _ = tokio::time::timeout(DRAIN, rest).await;
}

/// The next piece; nothing at the end.
async fn piece(body: &mut Body, pause: Duration) -> Result<Option<Bytes>, BodyError> {
    tokio::time::timeout(pause, piece_now(body))
        .await
        .map_err(|_| BodyError::Incomplete)?
}

async fn piece_now(body: &mut Body) -> Result<Option<Bytes>, BodyError> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(_)) => return Err(BodyError::Incomplete),
            // Trailers carry no arguments.
            Some(Ok(frame)) => {
                if let Ok(piece) = frame.into_data() {
                    return Ok(Some(piece));
                }
            }
        }
    }
}

/// How fast a body arrives, from its first byte on: a client cannot hold its place by sending next
/// to nothing. Time that the server takes is not the client's.
pub(super) struct Pace {
    /// What must arrive within each [`PAUSE`], unless the body ends.
    least: usize,
    begun: Instant,
    waited: Duration,
    bytes: usize,
}

impl Pace {
    /// Of what goes to disk as it arrives.
    pub(super) fn of_files() -> Self {
        Self::new(64 * 1024)
    }

    /// Of what is held in memory.
    fn of_calls() -> Self {
        Self::new(1024 * 1024)
    }

    fn new(least: usize) -> Self {
        Self {
            least,
            begun: Instant::now(),
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// The next piece; nothing at the end.
    pub(super) async fn piece(&mut self, body: &mut Body) -> Result<Option<Bytes>, BodyError> {
        let piece = piece(body, PAUSE.saturating_sub(self.waited)).await?;
        self.waited += self.begun.elapsed();
        self.begun = Instant::now();
        self.bytes += piece.as_ref().map_or(0, Bytes::len);
        if self.bytes >= self.least {
            self.waited = Duration::ZERO;
            self.bytes = 0;
        }
        Ok(piece)
    }

    /// What happened since the last piece is not the client's time.
    pub(super) fn resume(&mut self) {
        self.begun = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_holds_arguments() {
        for (body, meant) in [
            ("", json!({})),
            (" \n", json!({})),
            ("null", json!({})),
            ("{}", json!({})),
            ("{\"a\": 1, \"a\": 2}", json!({"a": 2})),
        ] {
            let read = parse(body.as_bytes(), |_| true).map(Value::Object).ok();
            assert_eq!(read, Some(meant), "{body}");
        }
        for body in ["[]", "\"{}\"", "1", "{", "{\"a\": \"\u{1}\"}", "{}{}"] {
            assert!(parse(body.as_bytes(), |_| true).is_err(), "{body}");
        }
        assert!(parse(b"{\"a\": \"\xff\"}", |_| true).is_err());
    }
}
