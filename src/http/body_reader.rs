//! The body of a request, for a thread that may block.

use axum::body::{Body, Bytes};
use fileshed_core::{Clock, Error};
use tokio::sync::{mpsc, oneshot};

use super::body::{BodyError, MinimumRate};
use super::pool;

/// Chunks that wait between the connection and the disk.
const CHUNKS_QUEUED: usize = 4;

/// Reads the body of a request; blocks.
pub(super) struct BodyReader {
    chunks: mpsc::Receiver<BodyChunk>,
    /// Asks for the body.
    request_body: Option<oneshot::Sender<()>>,
    ended: bool,
}

/// What arrives of a body; `None` at the end.
pub(super) type BodyChunk = Result<Option<Bytes>, BodyError>;

impl BodyReader {
    /// A reader of the chunks that are sent to it.
    pub(super) fn new() -> (mpsc::Sender<BodyChunk>, Self) {
        let (sender, chunks) = mpsc::channel(CHUNKS_QUEUED);
        let reader = Self {
            chunks,
            request_body: None,
            ended: false,
        };
        (sender, reader)
    }

    /// The next chunk; nothing at the end. Blocks.
    pub(super) fn next(&mut self) -> BodyChunk {
        if let Some(request_body) = self.request_body.take() {
            let _ = request_body.send(());
        }
        if self.ended {
            return Ok(None);
        }
        // Without a word of its end the connection is gone.
        let chunk = self.chunks.blocking_recv();
        let chunk = chunk.unwrap_or(Err(BodyError::Incomplete))?;
        self.ended = chunk.is_none();
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
            ended: false,
        }
    }
}

/// Runs `work` on a body while it arrives.
pub(super) async fn receive<T: Send + 'static>(
    clock: &Clock,
    mut body: Body,
    work: impl FnOnce(&mut BodyReader) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, mut reader) = BodyReader::new();
    let (request_body, body_requested) = oneshot::channel();
    reader.request_body = Some(request_body);
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
    let mut rate = MinimumRate::of_files(clock);
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
        let refused = receive(&clock, body, |_| Err::<(), _>(BodyError::Incomplete.into()));
        assert!(refused.await.is_err());
    }
}
