//! The table of open connections, which has a limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fileshed_core::Clock;
use fileshed_core::timings::HttpTimings;
use tokio::sync::Notify;

use super::connection::{Connection, Idle};

/// The connections that are open.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    most: usize,
    open: Mutex<OpenConnections>,
    removed: Notify,
    clock: Clock,
    timings: HttpTimings,
}

#[derive(Debug)]
struct OpenConnections {
    connections: HashMap<u64, Arc<Connection>>,
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

    pub(super) fn enter(self: &Arc<Self>, connection: Arc<Connection>) -> TableEntry {
        let mut open = self.open();
        open.next += 1;
        let number = open.next;
        open.connections.insert(number, connection);
        TableEntry {
            table: Arc::clone(self),
            number,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.open().connections.len() >= self.most
    }

    /// Closes the connection that is the least useful to its client; false if all are busy.
    pub(super) fn release(&self) -> bool {
        let idle = |connection: &Arc<Connection>| -> Option<(Idle, Arc<Connection>)> {
            Some((connection.idle()?, Arc::clone(connection)))
        };
        let open = self.open();
        let found = open.connections.values().filter_map(idle);
        let least = found.min_by_key(|(idle, _)| *idle);
        drop(open);
        match least {
            Some((_, connection)) => {
                connection.close();
                true
            }
            None => false,
        }
    }

    /// Closes the connections whose clients are too slow.
    pub(super) fn close_slow(&self) {
        for connection in self.open().connections.values() {
            if connection.is_too_slow(&self.timings) {
                connection.close();
            }
        }
    }

    /// For how long no connection has had anything under way.
    pub(super) fn rested(&self) -> Duration {
        let open = self.open();
        let each = open
            .connections
            .values()
            .map(|connection| connection.rested());
        each.chain([self.clock.elapsed(open.last_removed)])
            .min()
            .unwrap_or_default()
    }

    /// Waits until an entry was removed.
    pub(super) async fn removed(&self) {
        self.removed.notified().await;
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TableEntry {
    fn drop(&mut self) {
        let mut open = self.table.open();
        open.connections.remove(&self.number);
        open.last_removed = self.table.clock.instant();
        drop(open);
        self.table.removed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use fileshed_core::timings::seconds;

    use super::*;

    /// As many whole seconds as it has rested; the clock goes on by itself, too.
    fn rested(table: &ConnectionTable) -> u64 {
        table.rested().as_secs()
    }

    #[test]
    fn rest_begins_with_the_last_answer() {
        let clock = Clock::movable();
        let table = ConnectionTable::new(8, &clock, &HttpTimings::STANDARD);
        clock.advance(1000);
        assert!(rested(&table) >= 1000);
        let (kept, brief) = (Connection::new(&clock), Connection::new(&clock));
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
