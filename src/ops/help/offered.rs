//! Guides for callers that were offered only some of the operations.

use fileshed_core::Toolset;

use crate::ops::OPERATIONS;

/// Returns a guide without the calls and sentences that name operations outside the toolset, and without
/// the sections that lose most of their calls.
pub(super) fn guide(text: &str, toolset: Toolset) -> String {
    let is_foreign = |text: &str| {
        let mut others = OPERATIONS.iter().filter(|entry| !entry.is_in(toolset));
        others.any(|entry| names(text, entry.id))
    };
    let mut sections = text.split("\n## ").map(|section| format!("{section}\n"));
    let mut kept = lines(&sections.next().unwrap_or_default(), &is_foreign);
    for section in sections {
        let calls = section.lines().filter(|line| line.starts_with("{\""));
        let (foreign, own): (Vec<&str>, Vec<&str>) = calls.partition(|call| is_foreign(call));
        if foreign.len() <= own.len() {
            kept.push_str("## ");
            kept.push_str(&lines(&section, &is_foreign));
        }
    }
    kept.replace("```json\n```\n\n", "").trim_end().to_owned() + "\n"
}

/// Returns `true` if a text names an operation, not only as the beginning of a longer name.
fn names(text: &str, operation: &str) -> bool {
    text.match_indices(operation).any(|(at, _)| {
        let after = text[at + operation.len()..].chars().next();
        !after.is_some_and(|c| c.is_ascii_lowercase() || c == '_')
    })
}

/// Returns the lines without the calls and sentences that name operations that are not offered.
fn lines(section: &str, is_foreign: &dyn Fn(&str) -> bool) -> String {
    let mut kept = String::new();
    for line in section.split_inclusive('\n') {
        if !is_foreign(line) {
            kept.push_str(line);
            continue;
        }
        if line.starts_with("{\"") {
            continue;
        }
        let (mark, sentences) = match line.strip_prefix("- ") {
            Some(rest) => ("- ", rest),
            None => ("", line),
        };
        let sentences: Vec<&str> = sentences
            .trim_end()
            .split_inclusive(". ")
            .filter(|sentence| !is_foreign(sentence))
            .collect();
        if !sentences.is_empty() {
            kept.push_str(mark);
            kept.push_str(sentences.concat().trim_end());
            kept.push('\n');
        }
    }
    kept
}
