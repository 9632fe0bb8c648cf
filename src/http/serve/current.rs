//! The request that a task answers: its client's address, and its place among those of all
//! connections.
//!
//! A request has its place from its head until its answer is complete, whatever it waits for in
//! between, so that nobody holds all connections. The place is the client's address's until the user
//! is known, and the user's from then on.

use std::net::IpAddr;
use std::sync::Arc;

use fileshed_core::Mutex;
use fileshed_core::fair::{FairSemaphore, Full, Grant};

tokio::task_local! {
    /// Absent in tasks that answer no request of the listener.
    pub(super) static CURRENT: CurrentRequest;
}

/// A request of the listener. Copies are the same; its place is free when the last one is dropped.
#[derive(Clone, Debug)]
pub(super) struct CurrentRequest {
    address: IpAddr,
    places: FairSemaphore,
    held: Arc<Mutex<Option<Grant>>>,
}

impl CurrentRequest {
    pub(super) fn new(address: IpAddr, places: &FairSemaphore) -> Self {
        Self {
            address,
            places: places.clone(),
            held: Arc::default(),
        }
    }

    fn take(&self, user: &str) -> Result<(), Full> {
        let mut held = self.held.lock();
        if held.as_ref().is_some_and(|grant| grant.user() == user) {
            return Ok(());
        }
        drop(held.take());
        *held = Some(self.places.try_take(user)?);
        Ok(())
    }
}

/// Returns the address of the client whose request this task answers.
pub(crate) fn address() -> Option<IpAddr> {
    CURRENT.try_with(|request| request.address).ok()
}

/// Returns the name that pools know a client by whose user is not known.
pub(crate) fn client() -> String {
    address().map_or_else(|| "nobody".to_owned(), |address| format!("at {address}"))
}

/// Makes the place of the current request one of this user.
pub(crate) fn take_place(user: &str) -> Result<(), Full> {
    CURRENT
        .try_with(|request| request.take(user))
        .unwrap_or(Ok(()))
}
