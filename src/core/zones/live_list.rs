//! Lists of what is under way: an entry is gone with its last holder.

use std::sync::{Arc, Mutex, Weak};

use fileshed_types::lock;

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
        let mut list = lock(&self.0);
        list.retain(|other| other.strong_count() > 0);
        list.push(Arc::downgrade(&entry));
        entry
    }

    /// Returns all entries, in the order in which they were added.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        lock(&self.0).iter().filter_map(Weak::upgrade).collect()
    }
}
