//! The table of open connections, which has a limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::connection::{Connection, Idle};

/// The connections that are open.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    most: usize,
    open: Mutex<OpenConnections>,
    removed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    connections: HashMap<u64, Arc<Connection>>,
    next: u64,
}

/// An entry of the table. Dropping it removes it.
#[derive(Debug)]
pub(super) struct TableEntry {
    table: Arc<ConnectionTable>,
    number: u64,
}

impl ConnectionTable {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
            removed: Notify::new(),
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
            if connection.is_too_slow() {
                connection.close();
            }
        }
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
        self.table.open().connections.remove(&self.number);
        self.table.removed.notify_one();
    }
}
