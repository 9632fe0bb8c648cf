//! Bodies of requests: arguments, and files for a thread that may block.
//!
//! The content type of arguments does not matter: models, scripts and curl forget it, and what parses as
//! a JSON object is meant as one. An empty body and `null` are no arguments.

use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use fileshed_core::{Clock, Core, Error, Timings, diagnostics};
use futures_util::StreamExt as _;
use http_body_util::BodyDataStream;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::http::admission::CallPermit;
use crate::http::{pool, timer};
use crate::json;
use crate::json::{TopLevel, VALUES_MAX};

/// Largest body of an endpoint that takes a small one.
pub(super) const SMALL_BYTES: usize = 8 * 1024;
/// Least bytes of a body within each [`RATE_WINDOW`]: of one that is held in memory, and of one that goes to
/// disk as it arrives.
const CALL_RATE: usize = 1024 * 1024;
const FILE_RATE: usize = 64 * 1024;
/// Time for which a body may fall below its least rate.
const RATE_WINDOW: Duration = Timings::STANDARD.http.slow_body;

diagnostics! {
    /// Why a body has no arguments.
    #[derive(Debug, thiserror::Error)]
    pub enum BodyError {
        /// It is larger than the server accepts.
        #[error("the request body is larger than {limit} bytes")]
        TooLarge {
            /// The most that is accepted.
            limit: u64 = 1_048_576,
        } => {
            code: BodyTooLarge,
            hint: "send the content in several calls, for instance shed_patch_text with \"position\": \"end\"",
            details: { "limit_bytes": limit },
        },
        /// It has more values than any call needs.
        #[error("the request body holds more than {VALUES_MAX} values")]
        TooMany => {
            code: BodyTooLarge,
            hint: "make several calls with fewer values each",
            details: { "limit_values": VALUES_MAX },
        },
        /// The client stopped sending.
        #[error("the request body did not arrive completely")]
        Incomplete => {
            code: InvalidParameter,
            hint: "send the call again, without pauses",
        },
        /// It is not JSON.
        #[error("the request body is not valid JSON: {0}")]
        Malformed(#[source] error: serde_json::Error => [
                serde::de::Error::custom("recursion limit exceeded"),
                serde::de::Error::custom("expected `,` or `}`"),
            ]) => {
            code: InvalidParameter,
            hint: if error.to_string().contains("recursion limit") {
                "nest lists and objects less deeply"
            } else {
                "send one JSON object, like {\"zone\": \"storage\"}; escape quotes and line ends inside \
                 texts as \\\" and \\n"
            },
            details: { "line": error.line(), "column": error.column() },
        },
        /// It is JSON, but not an object.
        #[error("the request body must be a JSON object, got: {0}")]
        NoObject(received: &'static str = "a list") => {
            code: InvalidParameter,
            hint: "send one JSON object with the parameters by name, {} for none",
        },
    }
}

/// Reads the body of a call, at most `limit` bytes. What the permit does not include waits for its
/// share of the budget before it is read.
pub(super) async fn collect(
    body: &mut Body,
    content_length: Option<u64>,
    limit: u64,
    admitted: &mut CallPermit,
) -> Result<Vec<u8>, Error> {
    let too_large = || Error::from(BodyError::TooLarge { limit });
    if content_length.is_some_and(|content_length| content_length > limit) {
        return Err(too_large());
    }
    let mut rate = MinimumRate::new(CALL_RATE, admitted.clock());
    let mut collected = Vec::new();
    while let Some(piece) = rate.piece(body).await? {
        let needed = collected.len() + piece.len();
        if needed as u64 > limit {
            return Err(too_large());
        }
        if needed > collected.capacity() {
            // Grows in few steps, and in proportion to what the client has sent.
            let most = content_length.unwrap_or(limit).min(limit);
            let capacity = (2 * needed as u64).clamp(needed as u64, most.max(needed as u64));
            admitted.reserve(capacity).await?;
            collected.reserve_exact(capacity as usize - collected.len());
            rate.resume();
        }
        collected.extend_from_slice(&piece);
    }
    Ok(collected)
}

/// Reads the arguments of an endpoint that takes a small JSON object; an empty body has none. `None` if
/// they cannot be read.
pub(super) async fn small<T: DeserializeOwned>(core: &Core, body: Body) -> Option<T> {
    let patience = core.store.settings.timings.http.small_body;
    let bytes = timer::within(&core.store.clock, patience, to_bytes(body, SMALL_BYTES)).await;
    let bytes = bytes?.ok()?;
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
    serde_json::from_slice(text).ok()
}

/// Reads the arguments of a call. Of members that the operation does not know only the names.
pub fn parse(
    bytes: &[u8],
    is_known: impl Fn(&str) -> bool,
) -> Result<Map<String, Value>, BodyError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match json::object(bytes, is_known) {
        Ok(TopLevel::Object(arguments)) => Ok(arguments),
        Ok(TopLevel::Null) => Ok(Map::new()),
        Ok(TopLevel::Other(kind)) => Err(BodyError::NoObject(kind)),
        Err(error) if json::has_too_many(&error) => Err(BodyError::TooMany),
        Err(error) => Err(BodyError::Malformed(error)),
    }
}

/// The minimum rate of a body, from its first byte on: a client cannot keep its permit by sending
/// next to nothing. Time that the server takes does not count.
struct MinimumRate {
    /// Bytes that must arrive within each [`RATE_WINDOW`], unless the body ends.
    least: usize,
    clock: Clock,
    begun: Instant,
    waited: Duration,
    bytes: usize,
}

impl MinimumRate {
    fn new(least: usize, clock: &Clock) -> Self {
        Self {
            least,
            clock: clock.clone(),
            begun: clock.instant(),
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// The next piece; nothing at the end.
    async fn piece(&mut self, body: &mut Body) -> Result<Option<Bytes>, BodyError> {
        let pause = RATE_WINDOW.saturating_sub(self.waited);
        // Trailers, which carry no arguments, are left out.
        let mut pieces = BodyDataStream::new(body);
        let piece = timer::within(&self.clock, pause, pieces.next()).await;
        let piece = piece.ok_or(BodyError::Incomplete)?.transpose();
        let piece = piece.map_err(|_| BodyError::Incomplete)?;
        let now = self.clock.instant();
        self.waited += now.saturating_duration_since(self.begun);
        self.begun = now;
        self.bytes += piece.as_ref().map_or(0, Bytes::len);
        if self.bytes >= self.least {
            self.waited = Duration::ZERO;
            self.bytes = 0;
        }
        Ok(piece)
    }

    /// Leaves out the time since the last piece: the server took it.
    fn resume(&mut self) {
        self.begun = self.clock.instant();
    }
}

/// Chunks that wait between the connection and the disk.
const CHUNKS_QUEUED: usize = 4;

/// Reads the body of a request; blocks.
pub(super) struct BodyReader {
    chunks: mpsc::Receiver<BodyChunk>,
    /// Asks for the body.
    request_body: Option<oneshot::Sender<()>>,
    /// Bytes that were announced and have not arrived.
    missing: Option<u64>,
    ended: bool,
}

/// A piece of a body; `None` at the end.
type BodyChunk = Result<Option<Bytes>, BodyError>;

impl BodyReader {
    /// Returns the bytes that were announced and have not arrived.
    pub(super) fn announced(&self) -> Option<u64> {
        self.missing
    }

    /// Returns the next chunk; `None` at the end. Blocks.
    pub(super) fn next(&mut self) -> BodyChunk {
        if let Some(request_body) = self.request_body.take() {
            let _ = request_body.send(());
        }
        if self.ended {
            return Ok(None);
        }
        // The connection is gone if the channel closes without an end.
        let chunk = self.chunks.blocking_recv();
        let chunk = chunk.unwrap_or(Err(BodyError::Incomplete))?;
        self.ended = chunk.is_none();
        if let Some(missing) = &mut self.missing {
            let length = chunk.as_ref().map_or(0, Bytes::len) as u64;
            *missing = missing.checked_sub(length).ok_or(BodyError::Incomplete)?;
            if self.ended && *missing > 0 {
                return Err(BodyError::Incomplete);
            }
        }
        Ok(chunk)
    }
}

#[cfg(any(test, fuzzing))]
impl BodyReader {
    /// A body that arrived in these pieces.
    pub(super) fn arrived(pieces: Vec<Bytes>) -> Self {
        let (sender, chunks) = mpsc::channel(pieces.len() + 1);
        for chunk in pieces.into_iter().map(Some).chain([None]) {
            let _there_is_room = sender.try_send(Ok(chunk));
        }
        Self {
            chunks,
            request_body: None,
            missing: None,
            ended: false,
        }
    }
}

/// Runs `work` on a body while it arrives; if its size is announced, it must have that.
pub(super) async fn receive<T: Send + 'static>(
    clock: &Clock,
    mut body: Body,
    announced: Option<u64>,
    work: impl FnOnce(&mut BodyReader) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, chunks) = mpsc::channel(CHUNKS_QUEUED);
    let (request_body, body_requested) = oneshot::channel();
    let mut reader = BodyReader {
        chunks,
        request_body: Some(request_body),
        missing: announced,
        ended: false,
    };
    let work = pool::blocking(move || work(&mut reader));
    let feed = async {
        if body_requested.await.is_ok() {
            feed(clock, &mut body, &sender).await;
        }
    };
    let ((), result) = tokio::join!(feed, work);
    result?
}

/// Passes a body on, as far as it is wanted.
async fn feed(clock: &Clock, body: &mut Body, sender: &mpsc::Sender<BodyChunk>) {
    let mut rate = MinimumRate::new(FILE_RATE, clock);
    loop {
        let arrived = tokio::select! {
            arrived = rate.piece(body) => arrived,
            () = sender.closed() => return,
        };
        let is_last = !matches!(arrived, Ok(Some(_)));
        if sender.send(arrived).await.is_err() || is_last {
            return;
        }
        rate.resume();
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

#[cfg(test)]
mod reader_tests {
    use std::time::Duration;

    use fileshed_core::timings::seconds;

    use super::*;

    /// A body of which a piece comes each time when so much time has passed.
    fn dripping(clock: &Clock, chunk: usize, every: Duration, times: usize) -> Body {
        let (sender, chunks) = mpsc::channel(1);
        let clock = clock.clone();
        tokio::spawn(async move {
            for _ in 0..times {
                clock.pass(every);
                if sender
                    .send(Ok(Bytes::from(vec![b'x'; chunk])))
                    .await
                    .is_err()
                {
                    return;
                }
            }
            let _ = sender.send(Ok(Bytes::new())).await;
        });
        super::super::response_body::of_chunks(chunks)
    }

    /// Bytes of a body that is taken to its end.
    async fn taken(clock: &Clock, mut body: Body) -> Option<usize> {
        let (sender, mut chunks) = mpsc::channel::<BodyChunk>(CHUNKS_QUEUED);
        let taken = async {
            let mut bytes = 0;
            loop {
                match chunks.recv().await? {
                    Ok(Some(chunk)) => bytes += chunk.len(),
                    Ok(None) => return Some(bytes),
                    Err(_) => return None,
                }
            }
        };
        tokio::join!(feed(clock, &mut body, &sender), taken).1
    }

    #[tokio::test]
    async fn a_slow_body_is_taken_and_a_dripping_one_is_not() {
        let clock = Clock::movable();
        let slow = dripping(&clock, 8 * 1024, seconds(3), 100);
        assert_eq!(taken(&clock, slow).await, Some(800 * 1024));
        let dripping = dripping(&clock, 1, seconds(20), 100);
        assert_eq!(taken(&clock, dripping).await, None);
    }

    #[tokio::test]
    async fn work_that_wants_nothing_answers_at_once() {
        let clock = Clock::movable();
        let body = dripping(&clock, 10, seconds(1), 3);
        let refused = receive(&clock, body, None, |_| {
            Err::<(), _>(BodyError::Incomplete.into())
        });
        assert!(refused.await.is_err());
    }
}
