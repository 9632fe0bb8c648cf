//! From a connection to a thread that may block.

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use fileshed_core::Error;
use tokio::sync::{mpsc, oneshot};

use crate::http::body::{self, BodyError, Pace};
use crate::http::route::RouteError;

/// Pieces that wait between the connection and the disk.
const WAITING: usize = 4;

/// The body of a request, for reading where blocking is allowed.
pub(super) struct Intake {
    pieces: mpsc::Receiver<Piece>,
    /// Says that somebody wants the body.
    wanted: Option<oneshot::Sender<()>>,
    ended: bool,
}

enum Piece {
    Of(Bytes),
    End,
    Broken(BodyError),
}

impl Intake {
    /// The next piece; nothing at the end. Blocks.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        if let Some(wanted) = self.wanted.take() {
            let _ = wanted.send(());
        }
        if self.ended {
            return Ok(None);
        }
        match self.pieces.blocking_recv() {
            Some(Piece::Of(piece)) => Ok(Some(piece)),
            Some(Piece::End) => {
                self.ended = true;
                Ok(None)
            }
            Some(Piece::Broken(error)) => Err(error),
            // The connection is gone.
            None => Err(BodyError::Incomplete),
        }
    }
}

/// Runs `work` on a body while it arrives. Where `work` wants no more of it, or nothing at all,
/// the client still gets its answer.
pub(super) async fn receive<T: Send + 'static>(
    headers: &HeaderMap,
    body: Body,
    work: impl FnOnce(&mut Intake) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, pieces) = mpsc::channel(WAITING);
    let (wanted, wish) = oneshot::channel();
    let work = tokio::task::spawn_blocking(move || {
        let mut intake = Intake {
            pieces,
            wanted: Some(wanted),
            ended: false,
        };
        work(&mut intake)
    });
    let feed = async {
        let mut body = body;
        if wish.await.is_err() {
            body::decline(headers, body).await;
        } else if !feed(&mut body, &sender).await {
            body::drain(&mut body).await;
        }
    };
    let ((), result) = tokio::join!(feed, work);
    result.map_err(RouteError::from)?
}

/// Passes a body on; false if the rest of it is not wanted.
async fn feed(body: &mut Body, sender: &mpsc::Sender<Piece>) -> bool {
    let mut pace = Pace::of_files();
    loop {
        let arrived = tokio::select! {
            arrived = pace.piece(body) => arrived,
            () = sender.closed() => return false,
        };
        let (piece, last) = match arrived {
            Ok(Some(piece)) => (Piece::Of(piece), false),
            Ok(None) => (Piece::End, true),
            Err(error) => (Piece::Broken(error), true),
        };
        if sender.send(piece).await.is_err() {
            return last;
        }
        if last {
            return true;
        }
        pace.resume();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn dripping(piece: usize, every: Duration, times: usize) -> Body {
        let (sender, pieces) = mpsc::channel(1);
        tokio::spawn(async move {
            for _ in 0..times {
                tokio::time::sleep(every).await;
                let _ = sender.send(Ok(Bytes::from(vec![b'x'; piece]))).await;
            }
        });
        Body::new(super::super::pieces::Content::new(
            pieces,
            (piece * times) as u64,
        ))
    }

    /// Bytes of a body that is taken to its end.
    async fn taken(mut body: Body) -> Option<usize> {
        let (sender, mut pieces) = mpsc::channel(WAITING);
        let taken = async {
            let mut bytes = 0;
            loop {
                match pieces.recv().await? {
                    Piece::Of(piece) => bytes += piece.len(),
                    Piece::End => return Some(bytes),
                    Piece::Broken(_) => return None,
                }
            }
        };
        tokio::join!(feed(&mut body, &sender), taken).1
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_taken_and_a_dripping_one_is_not() {
        let slow = dripping(8 * 1024, Duration::from_secs(3), 100);
        assert_eq!(taken(slow).await, Some(800 * 1024));
        let dripping = dripping(1, Duration::from_secs(20), 100);
        assert_eq!(taken(dripping).await, None);
    }

    #[tokio::test]
    async fn work_that_wants_nothing_answers_at_once() {
        let body = dripping(10, Duration::from_millis(1), 3);
        let headers = HeaderMap::new();
        let refused = receive(&headers, body, |_| {
            Err::<(), _>(BodyError::Incomplete.into())
        });
        assert!(refused.await.is_err());
    }
}
