//! A place for what one part of a request leaves for another.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where something lies that nobody uses at the moment. Copies are the same place.
pub(super) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Slot<T> {
    pub(super) fn put(&self, value: T) {
        *self.value() = Some(value);
    }

    pub(super) fn take(&self) -> Option<T> {
        self.value().take()
    }

    fn value(&self) -> MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}
