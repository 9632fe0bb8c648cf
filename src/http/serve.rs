//! The listener: limits on what a connection may do before a request exists, and an end that lets
//! running work finish.

use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::request::HEADERS_MAX_BYTES;

/// How long a connection waits for the headers of the next request; longer than the minute for
/// which proxies keep idle connections, so that these end first.
const HEADERS_READ: Duration = Duration::from_secs(75);
/// Most that is read of a request before its headers are complete.
const HEAD_MAX_BYTES: usize = 4 * HEADERS_MAX_BYTES;
const HEADERS_MAX_COUNT: usize = 100;
/// Pause after a failed accept, most often for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until SIGTERM or SIGINT, then lets what runs finish, at most `patience` long.
pub async fn serve(listener: TcpListener, app: Router, patience: Duration) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let builder = builder();
    let connections = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
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
        _ = terminate.recv() => tracing::warn!("told twice, connections were cut"),
        _ = interrupt.recv() => tracing::warn!("told twice, connections were cut"),
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
