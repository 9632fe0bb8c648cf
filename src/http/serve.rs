//! The listener: limits on what a connection may do before a request exists, and an end that lets
//! running work finish.

use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::request::HEADERS_MAX_BYTES;

/// How long a connection waits for the headers of the next request; longer than the minute for
/// which proxies keep idle connections, so that these end first.
const HEADERS_READ: Duration = Duration::from_secs(75);
/// Most that is read of a request before its headers are complete.
const HEAD_MAX_BYTES: usize = 4 * HEADERS_MAX_BYTES;
const HEADERS_MAX_COUNT: usize = 100;
/// Pause after a failed accept, most often for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The ways to ask a server to stop. Until they are heard, each of them ends it at once.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    /// Hears SIGTERM and SIGINT from now on.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Serves until it is asked to stop, then lets what runs finish, at most `patience` long.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    mut stop: Stop,
    patience: Duration,
) -> std::io::Result<()> {
    let builder = builder();
    let connections = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.asked() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Answers are small and awaited: do not wait to fill a packet.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(app.clone());
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    drop(listener);
    tracing::info!(open = connections.count(), "stopping");
    tokio::select! {
        () = connections.shutdown() => {}
        () = tokio::time::sleep(patience) => tracing::warn!("connections were cut"),
        () = stop.asked() => tracing::warn!("told twice, connections were cut"),
    }
    Ok(())
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_READ)
        .max_headers(HEADERS_MAX_COUNT)
        .max_header_size(HEAD_MAX_BYTES);
    builder
}
