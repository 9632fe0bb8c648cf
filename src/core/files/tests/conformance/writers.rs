//! Many who write the same files at once.

use std::thread;

use super::{names, path, put};
use crate::{Precondition, Provider, ProviderError, Version, Write, ZonePath};

/// Increments by each provider.
const TIMES: usize = 25;

/// Lets every provider count in one file, at the same time: each reads the number, adds one and
/// writes it back if the file is still what it read. All providers must have the same files. In the
/// end the number is how often somebody was told that it was written.
///
/// # Panics
///
/// If an update was lost, or a write without a condition.
pub fn loses_no_update(providers: &[&dyn Provider]) {
    let counter = path("writers/counter");
    let last = providers.len();
    let start = put(providers[0], &counter, b"0", &Write::default());
    start.unwrap_or_else(|error| panic!("the counter cannot be made: {error}"));
    thread::scope(|scope| {
        for (number, provider) in providers.iter().copied().enumerate() {
            let counter = &counter;
            scope.spawn(move || {
                for time in 0..TIMES {
                    count(provider, counter);
                    let own = path(&format!("writers/own-{number}/{time}"));
                    let written = put(provider, &own, b"x", &Write::default());
                    written.unwrap_or_else(|error| panic!("{own:?}: {error}"));
                }
            });
        }
    });
    let provider = providers[0];
    assert_eq!(
        read(provider, &counter).0,
        last * TIMES,
        "updates were lost"
    );
    for number in 0..last {
        let own = path(&format!("writers/own-{number}"));
        let found = names(provider, &own, 1000);
        let found = found.unwrap_or_else(|error| panic!("{own:?}: {error}"));
        assert_eq!(found.len(), TIMES, "files were lost: {found:?}");
    }
}

/// Adds one, however often others are faster.
fn count(provider: &dyn Provider, counter: &ZonePath) {
    loop {
        let (number, version) = read(provider, counter);
        let write = Write {
            condition: Precondition::Version(version),
            ..Write::default()
        };
        let next = (number + 1).to_string();
        match put(provider, counter, next.as_bytes(), &write) {
            Ok(_) => return,
            Err(ProviderError::Changed(_)) => {}
            Err(error) => panic!("the counter cannot be written: {error}"),
        }
    }
}

fn read(provider: &dyn Provider, counter: &ZonePath) -> (usize, Version) {
    let content = provider.read(counter, 0..100);
    let content = content.unwrap_or_else(|error| panic!("the counter cannot be read: {error}"));
    let number = std::str::from_utf8(&content.bytes)
        .ok()
        .and_then(|text| text.parse().ok());
    match number {
        Some(number) => (number, content.metadata.version),
        None => panic!("not a number: {:?}", content.bytes),
    }
}
