//! The one place where tests wait: for something to happen, with one bound for what never does.

use std::time::{Duration, Instant};

/// Longest that anything may take that a test waits for. It ends a test that hangs, and no test
/// that is slow.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Time that a caller waits for a server that may stand still, before it asks another one.
pub const IMPATIENCE: Duration = Duration::from_secs(3);

/// Time between two looks at a condition.
const STEP: Duration = Duration::from_millis(5);

/// Calls `look` until it gives something; `None` if it gives nothing for the length of [`PATIENCE`].
pub fn comes<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        let found = look();
        if found.is_some() || begun.elapsed() >= PATIENCE {
            return found;
        }
        std::thread::sleep(STEP);
    }
}

/// Calls `look` until it gives something.
#[track_caller]
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    let Some(found) = comes(look) else {
        panic!("{what}");
    };
    found
}

/// Waits until something is so.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    eventually(what, || is_so().then_some(()));
}

/// Lets a moment pass that a test draws at random, so that a fault meets one step or another. No
/// outcome may depend on its length.
pub fn pause(microseconds: u64) {
    std::thread::sleep(Duration::from_micros(microseconds));
}

/// Waits until something is so, without blocking.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(STEP).await;
    }
}

/// The outcome of something that is waited for as long as anything is.
pub(crate) async fn in_time<T>(outcome: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, outcome).await.unwrap()
}
