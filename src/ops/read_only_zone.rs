//! Hint for a call that tried to change uploads: the file in storage.

use fileshed_core::{Caller, Code, Core, Error, Hint, NextCall, Repeat, ZoneName, ZonePath};
use serde_json::{Map, Value};

use super::{FileAccess, Operation};

/// The paths that a call in uploads names, and nothing of another call.
pub(super) fn named_paths(arguments: &Map<String, Value>) -> Vec<String> {
    let zone = arguments.get("zone").and_then(Value::as_str);
    if zone.is_none_or(|zone| !zone.trim().eq_ignore_ascii_case("uploads")) {
        return Vec::new();
    }
    let path = arguments.get("path").into_iter();
    let args = arguments.get("args").and_then(Value::as_array);
    path.chain(args.into_iter().flatten())
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// Returns the failure of a call of `O` that would change uploads, with a hint: the call that moves its
/// one file to storage, or that creates the new file there. It never overwrites a file in storage.
pub(super) fn with_alternative<O: Operation>(
    core: &Core,
    caller: &Caller,
    named: &[String],
    error: Error,
) -> Error {
    if error.code() != Code::ZoneReadonly {
        return error;
    }
    let is_in = |zone: ZoneName, path: &ZonePath| {
        let zone = core.open_zone(caller, zone, None);
        zone.is_ok_and(|zone| zone.data.entry(path).is_ok())
    };
    let paths = named
        .iter()
        .filter_map(|text| ZonePath::parse("path", text).ok())
        .filter(|path| !path.is_root());
    let mut paths: Vec<ZonePath> = paths.collect();
    paths.dedup_by(|one, other| one.key() == other.key());
    let mut uploaded = paths.iter().filter(|path| is_in(ZoneName::Uploads, path));
    let hint = match (uploaded.next(), uploaded.next(), paths.as_slice()) {
        (Some(path), None, _) if !is_in(ZoneName::Storage, path) => {
            let take = NextCall::new("shed_copy")
                .with("from", format!("uploads/{path}"))
                .with("to", format!("storage/{path}"))
                .with("move", true);
            Hint::new("uploads can only be read and deleted: ")
                .call(take)
                .say(" moves it to storage, where it can be changed")
        }
        (None, _, [path])
            if O::ACCESS == FileAccess::Create
                && path.zone_in_front().is_none()
                && !is_in(ZoneName::Storage, path) =>
        {
            Hint::new("new files go into storage: ").again(Repeat::with("zone", "storage"))
        }
        _ => return error,
    };
    error.with_hint(hint)
}
