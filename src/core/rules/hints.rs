//! Hints as data: what the table says to a name or a fault, made into a [`Hint`].

use fileshed_types::settings::NetworkMode;
use fileshed_types::{Call, Hint};

use crate::plan::CommandContext;

const TABLE: &str = include_str!("table/hints.txt");

/// What the table has behind a name.
fn entry(name: &str) -> Option<&'static str> {
    let entries = TABLE.lines().filter_map(|line| line.split_once(": "));
    let mut found = entries.filter(|(names, _)| names.split(' ').any(|other| other == name));
    found.next().map(|(_, text)| text)
}

/// The command that is meant by a name, with the arguments that come first.
pub(crate) fn other_name(name: &str) -> Option<impl Iterator<Item = &'static str>> {
    Some(entry(name)?.strip_prefix('=')?.split(' '))
}

/// What there is instead of a command that does not exist.
pub(crate) fn instead(name: &str) -> Option<Hint> {
    entry(name)
        .filter(|text| !text.starts_with('='))
        .map(rendered)
}

/// A text of the rules themselves; its name begins with `@`.
pub(crate) fn said(name: &str) -> Hint {
    entry(name).map(rendered).unwrap_or_default()
}

fn rendered(text: &'static str) -> Hint {
    text.split("; ").fold(Hint::default(), |hint, clause| {
        let (hint, clause) = match clause.strip_prefix('|') {
            Some(clause) => (hint.instead(""), clause),
            None => (hint.or(""), clause),
        };
        let Some((before, rest)) = clause.split_once(['{', '<']) else {
            return hint.say(clause);
        };
        let (inner, after) = rest.split_once(['}', '>']).unwrap_or((rest, ""));
        let mut words = inner.split(' ');
        let hint = hint.say(before);
        let hint = if clause[before.len()..].starts_with('{') {
            hint.commands(words)
        } else {
            let call = Call::new(words.next().unwrap_or_default());
            let arguments = words.filter_map(|word| word.split_once('='));
            hint.call(arguments.fold(call, |call, (name, value)| call.with(name, value)))
        };
        hint.say(after)
    })
}

/// Whether commands may fetch something.
pub(crate) fn is_online(context: &CommandContext<'_>) -> bool {
    context.network != NetworkMode::Disabled
}
