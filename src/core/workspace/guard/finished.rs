//! How a change ended of which nobody could say beforehand what it would touch.

use crate::Error;
use fileshed_history::HeldLine;

/// How it ended.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// The refusal, where it was put back.
    pub(crate) refused: Option<Error>,
    /// What is said of the history, where it is not as git left it.
    pub(crate) history: Option<String>,
}

/// What is said of a history that is not as git left it, where the files as git left them were
/// `committed` or do not differ.
pub(super) fn said_of(line: &HeldLine, committed: bool) -> Option<String> {
    let mut told = Vec::new();
    if let Some(branch) = &line.put_back {
        let branch = short(branch);
        told.push(format!(
            "history only grows here: HEAD stays on `{branch}`, {}",
            if committed {
                "and the files as git left them are a new commit on it"
            } else {
                "and no file differs from its last commit"
            }
        ));
    }
    told.extend(line.kept.iter().map(|tip| {
        let (before, now) = (short(&tip.before), &tip.now);
        format!("the commit that `{before}` named is kept as `{now}`")
    }));
    (!told.is_empty()).then(|| told.join("; "))
}

/// A reference as people write it.
fn short(reference: &str) -> &str {
    let of = |kind| reference.strip_prefix(kind);
    of("refs/heads/")
        .or_else(|| of("refs/"))
        .unwrap_or(reference)
}
