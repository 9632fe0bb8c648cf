//! Names of files that arrive together: one that some system cannot hold does not keep out the others.

use fileshed_zones::zone::{
    NAME_MAX_BYTES, Zone, ZonePath, fault_of_name, is_git_name, is_reserved, portable_name,
};

/// The name that is sent, with the nearest one for each that some system cannot hold, unless that is
/// there already below `directory`; `None` if all can stay. Where nothing may be told of what is
/// there, no `directory` is given.
pub(super) fn nearest(zone: &Zone<'_>, directory: Option<&ZonePath>, sent: &str) -> Option<String> {
    let is_there = |name: &str| {
        let path = ZonePath::parse(super::FILE, name).ok();
        let path = directory
            .zip(path)
            .map(|(above, path)| above.join_path(&path));
        path.is_some_and(|path| zone.data.entry(&path).is_ok())
    };
    let mut all = Vec::new();
    let mut is_changed = false;
    for name in sent.split('/') {
        let is_kept = matches!(name, "" | "." | "..")
            || is_reserved(name)
            || (zone.name.is_versioned() && is_git_name(name));
        let has_fault =
            fault_of_name(name).is_some() || name.contains('\\') || name.len() > NAME_MAX_BYTES;
        all.push(name.to_owned());
        if has_fault && !is_kept && !is_there(&all.join("/")) {
            all.pop();
            all.push(portable_name(name));
            is_changed = true;
        }
    }
    is_changed.then(|| all.join("/"))
}
