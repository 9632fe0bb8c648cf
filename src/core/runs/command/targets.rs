//! The files that a command line is expected to write, as far as its arguments say.

use fileshed_changes::ExpectedChange;
use fileshed_rules::CommandPlan;
use fileshed_storage::Kind;
use fileshed_zones::zone::{Zone, ZonePath};

/// Commands whose last argument, or directory, gets what the others name.
const COPYING: [&str; 3] = ["cp", "install", MOVING];

/// The one of them that takes the others away.
const MOVING: &str = "mv";

/// Commands that write no file, or whose point is that nothing is kept; git and `rm` keep things themselves.
const OTHERS: [&str; 7] = ["chmod", "find", "git", "rename", "rm", "rmdir", "shred"];

/// Commands that leave the content of what is there as it is.
const NEW: [&str; 2] = ["mkdir", "touch"];

/// Returns the files that are expected to change.
pub(super) fn of(zone: &Zone<'_>, plan: &CommandPlan) -> Vec<ExpectedChange> {
    if zone.name.is_versioned() || OTHERS.contains(&plan.command) {
        return Vec::new();
    }
    let parsed = |text: &str| ZonePath::parse("args", text).ok();
    if !COPYING.contains(&plan.command) {
        let written = plan.paths.iter().filter(|path| path.writes && !path.glob);
        let written = written.filter_map(|path| parsed(&path.text));
        let is_there = |path: &ZonePath| zone.data.followed(path).is_ok();
        let written = written.filter(|path| !NEW.contains(&plan.command) || !is_there(path));
        return written
            .map(|path| ExpectedChange { path, moved: None })
            .collect();
    }
    let Some(to) = plan.destination.as_deref().and_then(parsed) else {
        return Vec::new();
    };
    let from = plan.paths.iter().filter_map(|path| parsed(&path.text));
    let from: Vec<ZonePath> = from.filter(|path| *path != to).collect();
    let is_directory = zone
        .data
        .followed(&to)
        .is_ok_and(|to| to.kind() == Kind::Directory);
    let target = |from: &ZonePath| match from.name().filter(|_| is_directory) {
        Some(name) => to.join(name),
        None => to.clone(),
    };
    let expected = from.iter().map(|from| ExpectedChange {
        path: target(from),
        moved: (plan.command == MOVING).then(|| from.clone()),
    });
    expected.collect()
}
