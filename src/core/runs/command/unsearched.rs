//! Documents and old encodings that a search of lines passed by: commands see bytes, and not their text.

use std::time::Duration;

use fileshed_extraction::PACKED;
use fileshed_rules::CommandPlan;
use fileshed_search::{Bounds, Exclusions, Glob, Globs, SearchRoot, Wanted, glob};
use fileshed_storage::Entry;
use fileshed_text::Encoding;
use fileshed_types::{Hint, NextCall, timings};
use fileshed_zones::zone::{Zone, ZonePath};

/// Commands that search lines.
const SEARCHING: [&str; 4] = ["grep", "egrep", "fgrep", "rg"];

/// Documents that the call of a note reads together.
const READ_TOGETHER: usize = 40;

/// Documents that are counted, and how long they are looked for.
const MOST: usize = 1000;
const TIME: Duration = timings::seconds(2);

/// A note about the documents among the files that a command searched.
pub(super) fn note(zone: &Zone<'_>, plan: &CommandPlan) -> Option<Hint> {
    if !SEARCHING.contains(&plan.command) {
        return None;
    }
    let named = plan.paths.iter().filter(|path| !path.glob);
    let mut paths: Vec<_> = named
        .filter_map(|path| ZonePath::parse("args", &path.text).ok())
        .collect();
    if paths.is_empty() {
        paths.push(ZonePath::root());
    }
    let entries = paths
        .iter()
        .filter_map(|path| zone.data.followed(path).ok());
    let entries: Vec<_> = entries.collect();
    // A file is seen from its directory, a directory from itself.
    let seen_from = |entry: &Entry| match (entry.expect_file(), entry.path().parent()) {
        (Ok(()), Some(above)) => above,
        _ => entry.path().clone(),
    };
    let trees = entries.iter().map(|entry| {
        let above = seen_from(entry);
        let below = if above.is_root() { "" } else { above.as_str() };
        SearchRoot::new(&zone.data, entry, entry.path().as_str(), below)
    });
    let trees: Vec<_> = trees.collect();
    let patterns = PACKED.iter().map(|end| format!("*.{end}"));
    let patterns: Vec<String> = patterns.collect();
    let documents = Glob {
        pattern: Globs::new("args", patterns.iter().map(String::as_str)).ok()?,
        exclude: Exclusions::new(None, None).ok()?,
        wanted: Wanted::File,
        most: MOST,
    };
    let cancellation = zone.caller.cancellation.clone();
    let bounds = Bounds::new(cancellation, &zone.store.clock, TIME, 1);
    let found = glob(&trees, &documents, &bounds);
    let mut paths = found.items.iter().map(|item| item.path.as_str());
    let Some(first) = paths.next() else {
        return entries
            .iter()
            .find_map(|entry| other_encoding(entry, plan.command));
    };
    let others: Vec<&str> = paths.take(READ_TOGETHER - 1).collect();
    let count = match (found.items.len(), found.truncated) {
        (1, false) => "1 document was".to_owned(),
        (count, false) => format!("{count} documents were"),
        (count, true) => format!("at least {count} documents were"),
    };
    let mut read = NextCall::here("shed_read").with("path", first);
    if !others.is_empty() {
        read = read.with("paths", others);
    }
    let text = format!("{count} not searched, since {} reads bytes: ", plan.command);
    Some(Hint::new(text).call(read).say(" shows the text"))
}

/// A note about a file whose letters a command does not recognise.
fn other_encoding(entry: &Entry, command: &str) -> Option<Hint> {
    entry.expect_file().ok()?;
    let encoding = Encoding::of_file(&mut entry.open().ok()?).ok()?;
    if !encoding.is_text() || matches!(encoding, Encoding::Ascii | Encoding::Utf8) {
        return None;
    }
    let read = NextCall::here("shed_read").with("path", entry.path().as_str());
    let text = format!(
        "{command} reads UTF-8, and this file is {}: ",
        encoding.name()
    );
    Some(Hint::new(text).call(read).say(" shows its text"))
}
