//! All connections, of which there is only so much room for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::connection::{Connection, Idle};

/// The connections that are open.
#[derive(Debug)]
pub(super) struct Table {
    most: usize,
    open: Mutex<Open>,
    left: Notify,
}

#[derive(Debug, Default)]
struct Open {
    connections: HashMap<u64, Arc<Connection>>,
    next: u64,
}

/// A connection in the table. Dropped, it has left it.
#[derive(Debug)]
pub(super) struct Entered {
    table: Arc<Table>,
    number: u64,
}

impl Table {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
            left: Notify::new(),
        })
    }

    pub(super) fn enter(self: &Arc<Self>, connection: Arc<Connection>) -> Entered {
        let mut open = self.open();
        open.next += 1;
        let number = open.next;
        open.connections.insert(number, connection);
        Entered {
            table: Arc::clone(self),
            number,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.open().connections.len() >= self.most
    }

    /// Ends the connection that is of the least use to its client; false where all are busy.
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

    /// Ends those whose clients are too slow.
    pub(super) fn end_slow_ones(&self) {
        for connection in self.open().connections.values() {
            if connection.is_too_slow() {
                connection.close();
            }
        }
    }

    /// Waits until one has left.
    pub(super) async fn left(&self) {
        self.left.notified().await;
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.table.open().connections.remove(&self.number);
        self.table.left.notify_one();
    }
}
