//! The listener: limits on what a connection may do before and after a request, and a shutdown that
//! lets running work finish. Other servers on the same data come by [sealed](super::seal) connections, with
//! the same limits.

mod connection;
pub(super) mod current;
pub(super) mod stream;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use fileshed_core::fair::{FairSemaphore, Shares};
use fileshed_core::limiter::{Limiter, Pool};
use fileshed_core::settings::IpNetwork;
use fileshed_core::timings::HttpTimings;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::response_body::HeldBody;
use super::seal::{Seal, SentOn};
use super::timer;
use connection::{ConnectionTable, HttpConnection, MonitoredStream};
use current::{CURRENT, CurrentRequest};
use stream::TargetHasFragment;

/// Most bytes of all headers together; the connection itself ends at four times that.
pub(super) const HEADERS_MAX_BYTES: usize = 16 * 1024;
/// Most that is read of a request before its headers are complete, and most that is held of an
/// answer that nobody reads.
const BUFFER_MAX_BYTES: usize = 4 * HEADERS_MAX_BYTES;
const HEADERS_MAX_COUNT: usize = 100;
/// Most connections, however many descriptors there are: each may hold its buffers.
const CONNECTIONS_MAX: u64 = 2048;

/// Connections that are reserved for requests of the server's state.
const RESERVE: u64 = 16;

/// The signals that ask the server to stop. Before [`ShutdownSignal::listen`], each ends the process.
pub struct ShutdownSignal {
    terminate: Signal,
    interrupt: Signal,
}

impl ShutdownSignal {
    /// Listens for SIGTERM and SIGINT from now on.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub(super) async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Events that the caller of [`serve`] is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServingEvent {
    /// A connection could not be watched: the account has no watches of epoll left.
    NoWatches,
    /// Calls are accepted for a while yet, and `GET /ready` says that the server ends.
    Draining,
    /// New connections are not accepted any more.
    Stopping,
}

/// The routes that are served, and their limits.
pub struct ServeOptions {
    /// The routes of every surface.
    pub router: Router,
    /// The seal of connections from other servers on the same data, if there may be any.
    pub seal: Option<Seal>,
    /// Proxies that name the clients of the requests that they pass on.
    pub trusted_proxies: Vec<IpNetwork>,
    /// The limiter with the pools of calls, and the clock by which the server waits.
    pub limiter: Limiter,
    /// Descriptors that the process may have.
    pub descriptors: u64,
    /// Timeouts of connections and their requests.
    pub http: HttpTimings,
    /// Time for which calls are accepted after the server was told to stop.
    pub drain: Duration,
    /// Time for which calls that run then may last.
    pub patience: Duration,
}

/// Serves until it is asked to stop, and for a while longer, in which requests may finish. Reports events to
/// `on_event`. A second signal skips the rest of a step. Calls `at_rest` each time that no request has been
/// under way for a while.
pub async fn serve(
    listener: TcpListener,
    serving: ServeOptions,
    mut stop: ShutdownSignal,
    on_event: impl Fn(ServingEvent),
    at_rest: impl Fn() + Send + 'static,
) -> std::io::Result<()> {
    // Tells every connection when to end.
    let (connections, _) = watch::channel(false);
    // Half of the descriptors, because calls need some, too.
    let most = (serving.descriptors / 2).clamp(8, CONNECTIONS_MAX);
    let places = Shares::dynamic(most - most.div_ceil(RESERVE));
    let (clock, timings) = (serving.limiter.clock().clone(), serving.http);
    let table = ConnectionTable::new(most as usize, &clock, &timings);
    let server = Arc::new(Acceptor {
        builder: builder(&timings),
        app: serving.router,
        seal: serving.seal,
        trusted_proxies: serving.trusted_proxies,
        table: Arc::clone(&table),
        places: serving.limiter.open(Pool::Requests, places),
    });
    let watched = clock.clone();
    let watch = tokio::spawn(async move {
        let mut was_at_rest = true;
        loop {
            timer::sleep(&watched, timings.slow_look).await;
            table.close_slow();
            let is_at_rest = table.rested() >= timings.rest;
            if is_at_rest && !was_at_rest {
                at_rest();
            }
            was_at_rest = is_at_rest;
        }
    });
    let told = async {
        stop.received().await;
        if !serving.drain.is_zero() {
            tracing::info!(seconds = serving.drain.as_secs(), "draining");
            on_event(ServingEvent::Draining);
            tokio::select! {
                () = timer::sleep(&clock, serving.drain) => {}
                () = stop.received() => {}
            }
        }
    };
    tokio::select! {
        () = server.accept(&listener, &connections, &on_event) => {}
        () = told => {}
    }
    drop((server, listener));
    tracing::info!(open = connections.receiver_count(), "stopping");
    on_event(ServingEvent::Stopping);
    connections.send_replace(true);
    tokio::select! {
        () = connections.closed() => {}
        () = timer::sleep(&clock, serving.patience) => tracing::warn!("connections were cut"),
        () = stop.received() => tracing::warn!("told to stop twice: connections were cut"),
    }
    watch.abort();
    Ok(())
}

/// Becomes true when connections have to end.
type Stopping = watch::Receiver<bool>;

struct Acceptor {
    builder: Builder,
    app: Router,
    seal: Option<Seal>,
    trusted_proxies: Vec<IpNetwork>,
    table: Arc<ConnectionTable>,
    places: FairSemaphore,
}

impl Acceptor {
    async fn accept(
        self: &Arc<Self>,
        listener: &TcpListener,
        connections: &watch::Sender<bool>,
        on_event: &impl Fn(ServingEvent),
    ) {
        loop {
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    let made_room = self.table.release();
                    tracing::warn!(%error, made_room, "a connection could not be accepted");
                    if error.kind() == std::io::ErrorKind::StorageFull {
                        on_event(ServingEvent::NoWatches);
                    }
                    timer::sleep(&self.table.clock, self.table.timings.accept).await;
                    continue;
                }
            };
            // While all connections are busy, a new one waits, as those in the queue of the listener do.
            while self.table.is_full() && !self.table.release() {
                let removed = self.table.removed();
                // A connection that becomes idle does not notify.
                let _ = timer::within(&self.table.clock, self.table.timings.accept, removed).await;
            }
            self.connect(stream, peer.ip().to_canonical(), connections.subscribe());
        }
    }

    fn connect(self: &Arc<Self>, stream: TcpStream, peer: IpAddr, stopping: Stopping) {
        // Answers are small and awaited: do not wait to fill a packet.
        let _ = stream.set_nodelay(true);
        let connection = HttpConnection::new(&self.table.clock);
        let entered = self.table.enter(Arc::clone(&connection));
        let server = Arc::clone(self);
        tokio::spawn(async move {
            let _entered = entered;
            tokio::select! {
                () = server.open(stream, peer, &connection, stopping) => {}
                () = connection.closed() => tracing::debug!("a connection was cut"),
            }
        });
    }

    /// Finds out whether another server comes, and answers its requests or those of anybody.
    async fn open(
        &self,
        stream: TcpStream,
        peer: IpAddr,
        connection: &Arc<HttpConnection>,
        mut stopping: Stopping,
    ) {
        if let Some(seal) = &self.seal {
            let is_sealed = tokio::select! {
                biased;
                is_sealed = Seal::is_begun_on(&stream) => is_sealed,
                _ = stopping.wait_for(|stopping| *stopping) => return,
            };
            if is_sealed {
                // Boxed, because it is larger than what other connections need.
                let sealed = Box::pin(async {
                    match seal.acceptor.accept(stream).await {
                        Ok(stream) => {
                            self.answer(stream, Some(SentOn), peer, connection, stopping)
                                .await;
                        }
                        Err(error) => {
                            tracing::warn!(%error, address = %peer, "a sealed connection was refused");
                        }
                    }
                });
                return sealed.await;
            }
        }
        self.answer(stream, None, peer, connection, stopping).await;
    }

    async fn answer<S>(
        &self,
        stream: S,
        sent_on: Option<SentOn>,
        peer: IpAddr,
        connection: &Arc<HttpConnection>,
        mut stopping: Stopping,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(move |mut request: Request<Incoming>| {
            let running = connection.request();
            if connection.has_fragment(&request) {
                request.extensions_mut().insert(TargetHasFragment);
            }
            if let Some(sent_on) = sent_on {
                request.extensions_mut().insert(sent_on);
            }
            // Another server names the client as a proxy does.
            let client = current::client_address(request.headers(), peer, |address| {
                (address == peer && sent_on.is_some())
                    || self
                        .trusted_proxies
                        .iter()
                        .any(|proxy| proxy.covers(address))
            });
            let (request, rest) = current::with_rest(request);
            let current = CurrentRequest::new(client, &self.places);
            let answer = CURRENT.scope(current.clone(), self.app.clone().oneshot(request));
            async move {
                let answer = answer.await?;
                rest.read(&self.table.clock, self.table.timings.body_rest)
                    .await;
                Ok::<_, std::convert::Infallible>(
                    answer.map(|body| HeldBody::new(body, (running, current))),
                )
            }
        });
        let stream = MonitoredStream {
            stream,
            connection: Arc::clone(connection),
        };
        let served = self.builder.serve_connection(TokioIo::new(stream), service);
        // With upgrades: a connection that becomes a socket is handed to its own handler.
        let mut served = Box::pin(served.with_upgrades());
        let told = async { stopping.wait_for(|stopping| *stopping).await.is_ok() };
        let result = tokio::select! {
            result = &mut served => result,
            _ = told => {
                served.as_mut().graceful_shutdown();
                served.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

fn builder(timings: &HttpTimings) -> Builder {
    let mut builder = Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(timings.next_request)
        .max_headers(HEADERS_MAX_COUNT)
        .max_header_size(BUFFER_MAX_BYTES)
        .max_buf_size(BUFFER_MAX_BYTES);
    builder
}
