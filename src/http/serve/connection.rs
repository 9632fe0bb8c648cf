//! The table of open connections, which has a limit, the state of each, which says when it has to be closed,
//! and its stream, which records its progress there.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::HttpBody as _;
use axum::extract::Request;
use fileshed_core::timings::HttpTimings;
use fileshed_core::{Clock, Mutex};
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use super::stream::RequestLines;

/// Least bytes that a client must read of an answer within the time for slow clients.
const RATE_BYTES: usize = 64 * 1024;

/// One connection.
#[derive(Debug)]
pub(super) struct HttpConnection {
    state: Mutex<ConnectionState>,
    lines: Mutex<RequestLines>,
    close: Notify,
    clock: Clock,
}

#[derive(Debug)]
struct ConnectionState {
    /// Time at which it was opened, or became idle.
    since: Instant,
    /// Requests whose answers are not complete.
    running: usize,
    /// `true` if there was a request.
    served: bool,
    /// Arrival of the first byte of a request's head that is not complete.
    head: Option<Instant>,
    /// Time since which bytes wait to be written.
    blocked: Option<Instant>,
    /// Time that writes have waited, and bytes that were written, since the rate was last reached.
    waited: Duration,
    written: usize,
    closing: bool,
}

impl HttpConnection {
    pub(super) fn new(clock: &Clock) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(ConnectionState {
                since: clock.instant(),
                running: 0,
                served: false,
                head: None,
                blocked: None,
                waited: Duration::ZERO,
                written: 0,
                closing: false,
            }),
            lines: Mutex::default(),
            close: Notify::new(),
            clock: clock.clone(),
        })
    }

    /// A request has arrived; dropping the guard completes its answer.
    pub(super) fn request(self: &Arc<Self>) -> RequestGuard {
        let mut state = self.state.lock();
        state.running += 1;
        state.served = true;
        state.head = None;
        RequestGuard(Arc::clone(self))
    }

    /// Records that bytes were read.
    pub(super) fn read(&self, bytes: &[u8]) {
        self.lines.lock().read(bytes);
        let mut state = self.state.lock();
        if state.running == 0 && state.head.is_none() {
            state.head = Some(self.clock.instant());
        }
    }

    /// Goes on behind the head of a request that the library has read; `true` if its target has a
    /// fragment.
    pub(super) fn has_fragment(&self, request: &Request<Incoming>) -> bool {
        self.lines.lock().follow(request.body().size_hint().exact())
    }

    /// Records that so many bytes were written.
    pub(super) fn wrote(&self, bytes: usize) {
        let mut state = self.state.lock();
        if let Some(blocked) = state.blocked.take() {
            state.waited += self.clock.elapsed(blocked);
        }
        state.written += bytes;
        if state.written >= RATE_BYTES {
            state.written = 0;
            state.waited = Duration::ZERO;
        }
    }

    /// Records that bytes wait until the client reads others.
    pub(super) fn blocked(&self) {
        let now = || self.clock.instant();
        self.state.lock().blocked.get_or_insert_with(now);
    }

    /// Returns `true` if the client is too slow: in sending its first head or another one, or in reading
    /// an answer.
    pub(super) fn is_too_slow(&self, timings: &HttpTimings) -> bool {
        let state = self.state.lock();
        let passed = |since: Option<Instant>| {
            since.map_or(Duration::ZERO, |since| self.clock.elapsed(since))
        };
        let first = (!state.served).then_some(state.since);
        passed(first).max(passed(state.head)) > timings.head
            || state.waited + passed(state.blocked) > timings.slow_answer
    }

    /// Returns `true` if it had a request, and the time at which it became idle; `None` if it is busy. The
    /// smallest value belongs to the connection that is least useful to its client.
    pub(super) fn idle(&self) -> Option<(bool, Instant)> {
        let state = self.state.lock();
        let is_busy = state.running > 0 || state.blocked.is_some() || state.closing;
        (!is_busy).then_some((state.served, state.since))
    }

    /// Returns the time for which it has been idle.
    pub(super) fn rested(&self) -> Duration {
        let idle = self.idle();
        idle.map_or(Duration::ZERO, |(_, since)| self.clock.elapsed(since))
    }

    /// Asks for its end.
    pub(super) fn close(&self) {
        self.state.lock().closing = true;
        self.close.notify_one();
    }

    /// Waits until it has to end.
    pub(super) async fn closed(&self) {
        self.close.notified().await;
    }
}

/// A running request.
#[derive(Debug)]
pub(super) struct RequestGuard(Arc<HttpConnection>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.running -= 1;
        state.since = self.0.clock.instant();
    }
}

/// A stream that records its progress in its connection.
pub(super) struct MonitoredStream<S> {
    pub(super) stream: S,
    pub(super) connection: Arc<HttpConnection>,
}

impl<S> MonitoredStream<S> {
    fn record(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.connection.blocked(),
            Poll::Ready(Ok(bytes)) => self.connection.wrote(*bytes),
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MonitoredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let new = buffer.filled().get(before..).unwrap_or_default();
        if !new.is_empty() {
            self.connection.read(new);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MonitoredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.record(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The connections that are open.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    most: usize,
    open: Mutex<OpenConnections>,
    removed: Notify,
    pub(super) clock: Clock,
    pub(super) timings: HttpTimings,
}

#[derive(Debug)]
struct OpenConnections {
    connections: HashMap<u64, Arc<HttpConnection>>,
    next: u64,
    last_removed: Instant,
}

/// An entry of the table. Dropping it removes it.
#[derive(Debug)]
pub(super) struct TableEntry {
    table: Arc<ConnectionTable>,
    number: u64,
}

impl ConnectionTable {
    pub(super) fn new(most: usize, clock: &Clock, timings: &HttpTimings) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::new(OpenConnections {
                connections: HashMap::new(),
                next: 0,
                last_removed: clock.instant(),
            }),
            removed: Notify::new(),
            clock: clock.clone(),
            timings: timings.clone(),
        })
    }

    pub(super) fn enter(self: &Arc<Self>, connection: Arc<HttpConnection>) -> TableEntry {
        let mut open = self.open.lock();
        open.next += 1;
        let number = open.next;
        open.connections.insert(number, connection);
        TableEntry {
            table: Arc::clone(self),
            number,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.open.lock().connections.len() >= self.most
    }

    /// Closes the connection that is the least useful to its client; false if all are busy.
    pub(super) fn release(&self) -> bool {
        let open = self.open.lock();
        let connections = open.connections.values();
        let idle = connections.filter_map(|connection| Some((connection.idle()?, connection)));
        let least = idle.min_by_key(|(idle, _)| *idle);
        least
            .inspect(|(_, connection)| connection.close())
            .is_some()
    }

    /// Closes the connections whose clients are too slow.
    pub(super) fn close_slow(&self) {
        for connection in self.open.lock().connections.values() {
            if connection.is_too_slow(&self.timings) {
                connection.close();
            }
        }
    }

    /// Returns the time for which no connection has had a request under way.
    pub(super) fn rested(&self) -> Duration {
        let open = self.open.lock();
        let connections = open.connections.values();
        let each = connections.map(|connection| connection.rested());
        each.chain([self.clock.elapsed(open.last_removed)])
            .min()
            .unwrap_or_default()
    }

    /// Waits until an entry was removed.
    pub(super) async fn removed(&self) {
        self.removed.notified().await;
    }
}

impl Drop for TableEntry {
    fn drop(&mut self) {
        let mut open = self.table.open.lock();
        open.connections.remove(&self.number);
        open.last_removed = self.table.clock.instant();
        drop(open);
        self.table.removed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_answers_have_a_pace() {
        let clock = Clock::movable();
        let silent = HttpConnection::new(&clock);
        let asks = HttpConnection::new(&clock);
        let drips = HttpConnection::new(&clock);
        let takes_nothing = HttpConnection::new(&clock);
        let takes_slowly = HttpConnection::new(&clock);
        for connection in [&asks, &drips, &takes_nothing, &takes_slowly] {
            connection.read(b"G");
            drop(connection.request());
        }
        drips.read(b"G");
        takes_nothing.blocked();
        for second in 0..100 {
            clock.advance(1);
            takes_slowly.blocked();
            takes_slowly.wrote(4 * 1024);
            assert!(
                !takes_slowly.is_too_slow(&HttpTimings::STANDARD),
                "{second}"
            );
        }
        assert!(silent.is_too_slow(&HttpTimings::STANDARD));
        assert!(drips.is_too_slow(&HttpTimings::STANDARD));
        assert!(takes_nothing.is_too_slow(&HttpTimings::STANDARD));
        assert!(
            !asks.is_too_slow(&HttpTimings::STANDARD),
            "keeping a connection is no fault"
        );
        // One that brings a body is busy, not late with its head.
        let brings = HttpConnection::new(&clock);
        brings.read(b"P");
        let request = brings.request();
        brings.read(b"P");
        clock.advance(100);
        assert!(!brings.is_too_slow(&HttpTimings::STANDARD));
        assert!(brings.idle().is_none());
        drop(request);
        assert!(brings.idle().is_some());
    }

    #[tokio::test]
    async fn who_never_asked_makes_room_first() {
        let clock = Clock::movable();
        let kept = HttpConnection::new(&clock);
        drop(kept.request());
        clock.advance(1);
        let new = HttpConnection::new(&clock);
        let busy = HttpConnection::new(&clock);
        let _request = busy.request();
        assert!(new.idle() < kept.idle());
        assert!(busy.idle().is_none());
        new.close();
        assert!(new.idle().is_none());
        new.closed().await;
    }
}

#[cfg(test)]
mod table_tests {
    use fileshed_core::timings::seconds;

    use super::*;

    /// Returns the whole seconds for which it has rested; the clock goes on by itself, too.
    fn rested(table: &ConnectionTable) -> u64 {
        table.rested().as_secs()
    }

    #[test]
    fn rest_begins_with_the_last_answer() {
        let clock = Clock::movable();
        let table = ConnectionTable::new(8, &clock, &HttpTimings::STANDARD);
        clock.advance(1000);
        assert!(rested(&table) >= 1000);
        let (kept, brief) = (HttpConnection::new(&clock), HttpConnection::new(&clock));
        let _kept_open = table.enter(Arc::clone(&kept));
        let brief_open = table.enter(brief);
        let request = kept.request();
        clock.advance(1000);
        assert_eq!(table.rested(), Duration::ZERO);
        drop(request);
        assert!(table.rested() < seconds(1000));
        clock.advance(1000);
        assert!((1000..2000).contains(&rested(&table)));
        drop(brief_open);
        assert!(table.rested() < seconds(1000));
        clock.advance(10_000);
        assert!((10_000..11_000).contains(&rested(&table)));
    }
}
