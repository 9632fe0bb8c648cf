//! The first so many of what several threads find in any order.

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps the items with the smallest keys: `most` of them and one more, which says that there are
/// more.
pub(crate) struct Best<K, T> {
    most: usize,
    heap: Mutex<BinaryHeap<Item<K, T>>>,
    is_full: AtomicBool,
}

impl<K: Ord, T> Best<K, T> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            heap: Mutex::new(BinaryHeap::new()),
            is_full: AtomicBool::new(false),
        }
    }

    /// Whether an item with this key could be kept. Once it could not, it never can.
    pub(crate) fn takes(&self, key: &K) -> bool {
        !self.is_full.load(Ordering::Relaxed)
            || self.heap().peek().is_none_or(|worst| *key < worst.key)
    }

    pub(crate) fn add(&self, key: K, value: T) {
        let mut heap = self.heap();
        heap.push(Item { key, value });
        if heap.len() > self.most + 1 {
            heap.pop();
        }
        if heap.len() > self.most {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    /// What was kept, in the order of the keys, and whether there was more.
    pub(crate) fn finish(self) -> (Vec<T>, bool) {
        let heap = self
            .heap
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut items: Vec<T> = heap
            .into_sorted_vec()
            .into_iter()
            .map(|item| item.value)
            .collect();
        let more = items.len() > self.most;
        items.truncate(self.most);
        (items, more)
    }

    fn heap(&self) -> MutexGuard<'_, BinaryHeap<Item<K, T>>> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Item<K, T> {
    key: K,
    value: T,
}

impl<K: Ord, T> Ord for Item<K, T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl<K: Ord, T> PartialOrd for Item<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> PartialEq for Item<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<K: Ord, T> Eq for Item<K, T> {}
