//! Arguments from a request body.
//!
//! The content type is not asked for: models, scripts and curl forget it, and what parses as a
//! JSON object is meant as one. Nothing and `null` are no arguments.

use std::time::Duration;

use axum::body::{Body, Bytes};
use fileshed_core::{Code, Teach};
use http_body_util::BodyExt as _;
use serde_json::{Map, Value};

/// Longest pause between two pieces of a body.
pub(super) const PAUSE: Duration = Duration::from_secs(30);
/// How long the rest of a body that is refused is still taken.
const DRAIN: Duration = Duration::from_secs(5);

/// A body that holds no arguments.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// More than the server takes.
    #[error("the request body is larger than {limit} bytes")]
    TooLarge {
        /// Most that is taken.
        limit: usize,
    },
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

impl Teach for BodyError {
    fn code(&self) -> Code {
        match self {
            Self::TooLarge { .. } => Code::BodyTooLarge,
            Self::Incomplete | Self::Malformed(_) | Self::NoObject(_) => Code::InvalidParameter,
        }
    }

    fn hint(&self) -> String {
        match self {
            Self::TooLarge { .. } => {
                "send the content in several calls, for instance shed_patch_text with \"position\": \"end\""
            }
            Self::Incomplete => "send the call again",
            Self::Malformed(error) if error.to_string().contains("recursion limit") => {
                "nest lists and objects less deeply"
            }
            Self::Malformed(_) => {
                "send one JSON object, like {\"zone\": \"storage\"}; escape quotes and line ends inside texts as \\\" and \\n"
            }
            Self::NoObject(_) => "send one JSON object with the parameters by name, {} for none",
        }
        .to_owned()
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
            Self::Incomplete | Self::NoObject(_) => {}
        }
        details
    }
}

/// Reads the arguments of a call.
pub async fn read(body: Body, limit: usize) -> Result<Map<String, Value>, BodyError> {
    parse(&collect(body, limit).await?)
}

async fn collect(mut body: Body, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut collected = Vec::new();
    while let Some(piece) = piece(&mut body, PAUSE).await? {
        if collected.len() + piece.len() > limit {
            drop(collected);
            drain(&mut body).await;
            return Err(BodyError::TooLarge { limit });
        }
        collected.extend_from_slice(&piece);
    }
    Ok(collected)
}

/// Takes some of what still comes, so that a client that first writes and then reads gets to see
/// why it is refused.
pub(super) async fn drain(body: &mut Body) {
    let rest = async { while let Ok(Some(_)) = piece_now(body).await {} };
    // Whether the rest came or not, the answer is the same.
    let _ = tokio::time::timeout(DRAIN, rest).await;
}

/// The next piece; nothing at the end.
pub(super) async fn piece(body: &mut Body, pause: Duration) -> Result<Option<Bytes>, BodyError> {
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

fn parse(bytes: &[u8]) -> Result<Map<String, Value>, BodyError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match serde_json::from_slice(bytes).map_err(BodyError::Malformed)? {
        Value::Object(arguments) => Ok(arguments),
        Value::Null => Ok(Map::new()),
        Value::Bool(_) => Err(BodyError::NoObject("a boolean")),
        Value::Number(_) => Err(BodyError::NoObject("a number")),
        Value::String(_) => Err(BodyError::NoObject("a string")),
        Value::Array(_) => Err(BodyError::NoObject("a list")),
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
            let read = parse(body.as_bytes()).map(Value::Object).ok();
            assert_eq!(read, Some(meant), "{body}");
        }
        for body in ["[]", "\"{}\"", "1", "{", "{\"a\": \"\u{1}\"}", "{}{}"] {
            assert!(parse(body.as_bytes()).is_err(), "{body}");
        }
        assert!(parse(b"{\"a\": \"\xff\"}").is_err());
    }
}
