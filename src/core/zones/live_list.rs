//! Lists of what is under way: an entry is gone with its last holder.

use std::sync::{Arc, Weak};

use fileshed_types::Mutex;

/// A list that does not keep its entries alive.
#[derive(Debug)]
pub(crate) struct LiveList<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for LiveList<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> LiveList<T> {
    /// Adds an entry, which its holder keeps.
    pub(crate) fn add(&self, entry: T) -> Arc<T> {
        let entry = Arc::new(entry);
        let mut list = self.0.lock();
        list.retain(|other| other.strong_count() > 0);
        list.push(Arc::downgrade(&entry));
        entry
    }

    /// Returns all entries, in the order in which they were added.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.0.lock().iter().filter_map(Weak::upgrade).collect()
    }
}
