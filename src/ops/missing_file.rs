//! Hints for a call whose file is not found: its likely path, and the call that works.

use fileshed_core::command::Ran;
use fileshed_core::path_suggestions::{Likeness, MissingPath, PathSuggestion};
use fileshed_core::zone::named_zone;
use fileshed_core::{Caller, Core, Error, Hint, NextCall, Repeat, Zone, ZoneName, ZonePath};
use serde_json::{Map, Value, json};

use super::address::address;
use super::{FileAccess, Operation, copy};

/// Parameters that name what is to be there.
const PARAMETERS: [&str; 6] = [
    "path",
    "src",
    "src_path",
    "old_path",
    "import_csv",
    copy::FROM,
];

/// Places that a failure names.
const PLACES_MAX: usize = 5;

/// A parameter that names a file, and the one that names its zone, if there is one.
struct PathParameter {
    path: &'static str,
    zone: Option<&'static str>,
}

impl PathParameter {
    /// The one that named what is missing.
    fn of<O: Operation>(arguments: &Map<String, Value>, missing: &MissingPath) -> Option<Self> {
        let path = PARAMETERS.into_iter().find(|name| {
            if *name == copy::FROM {
                return arguments.contains_key(*name);
            }
            let text = arguments.get(*name).and_then(Value::as_str);
            let path = text.and_then(|text| ZonePath::parse("path", text).ok());
            path.is_some_and(|path| {
                let inside = path.zone_in_front().map(|(_, inside)| inside);
                let is_missing = |path: ZonePath| path.key() == missing.path.key();
                is_missing(path) || inside.is_some_and(is_missing)
            })
        })?;
        let has = super::arguments::has_parameter::<O>;
        let zone = match path {
            "import_csv" => None,
            "src" | "src_path" if has("src_zone") => Some("src_zone"),
            _ if has("zone") => Some("zone"),
            _ => None,
        };
        Some(Self { path, zone })
    }

    /// The failed call for a file somewhere else.
    fn at(&self, place: &PathSuggestion, missing: &MissingPath) -> Option<Repeat> {
        if self.path == copy::FROM {
            let group = place.group.as_deref();
            let at = address(place.zone, group, &place.path);
            return Some(Repeat::with(copy::FROM, at));
        }
        let mut repeat = Repeat::default();
        let mut path = place.path.as_str().to_owned();
        let is_here = place.zone == missing.zone && place.group == missing.group;
        match (is_here, self.zone) {
            (true, _) => {}
            (false, Some(zone)) => {
                repeat = repeat.and(zone, place.zone.as_str());
                match &place.group {
                    Some(group) => repeat = repeat.and("group", group.as_str()),
                    None if missing.group.is_some() && zone == "zone" => {
                        repeat = repeat.and_without("group");
                    }
                    None => {}
                }
            }
            (false, None) if self.path == "import_csv" && place.zone == ZoneName::Uploads => {
                path = format!("{}/{path}", place.zone.as_str());
            }
            (false, None) => return None,
        }
        if path != missing.path.as_str() && self.path != "args" {
            repeat = repeat.and(self.path, path);
        }
        Some(repeat)
    }
}

/// The failure of a call of `O`, with the places where the missing file may be.
pub(super) fn with_location<O: Operation>(
    core: &Core,
    caller: &Caller,
    arguments: &Map<String, Value>,
    error: Error,
) -> Error {
    let Some(missing) = MissingPath::of(&error) else {
        return with_source_zone::<O>(error);
    };
    let Some(parameter) = PathParameter::of::<O>(arguments, &missing) else {
        return error;
    };
    let places = core.store.path_suggestions(caller, &missing);
    let Some(first) = places.first() else {
        let error = not_fetched(core, caller, &missing, error);
        if O::access(arguments) == FileAccess::Create {
            let hint = error.hint().clone();
            return error.with_hint(hint.or("shed_create_file makes a new file"));
        }
        return error;
    };
    let hint = hint(O::access(arguments), &parameter, &missing, &places).unwrap_or_else(|| {
        Hint::new(format!("{}: look with ", located(first))).call(listing(first))
    });
    let named: Vec<Value> = places.iter().take(PLACES_MAX).map(shown).collect();
    error.with_hint(hint).with_detail("found", named)
}

/// The failure of a source whose path names its zone, which has a parameter of its own.
fn with_source_zone<O: Operation>(error: Error) -> Error {
    let is_source = error
        .details()
        .get("parameter")
        .is_some_and(|name| name == "src");
    match named_zone(&error) {
        Some((zone, path)) if is_source && super::arguments::has_parameter::<O>("src_zone") => {
            let meant = Repeat::with("src_zone", zone.as_str()).and("src", path.display());
            error.with_hint(meant)
        }
        _ => error,
    }
}

/// Returns the hint with the likely path of a file that a command did not find, and the call that
/// reads it there.
pub(super) fn of_command(
    core: &Core,
    zone: &Zone<'_>,
    ran: &Ran,
    arguments: &[String],
) -> Option<Hint> {
    let missing = MissingPath {
        zone: zone.name,
        group: zone.group().map(|group| group.name.clone()),
        path: ran.missing.clone()?,
    };
    let places = core.store.path_suggestions(zone.caller, &missing);
    let Some(first) = places.first() else {
        let name = missing.path.name().unwrap_or_default();
        let refused = core.transfer.attachment_refused(zone.caller, name);
        return refused
            .filter(|_| missing.zone == ZoneName::Uploads)
            .map(Hint::from);
    };
    let place = located(first);
    let is_named = |text: &String| {
        let path = ZonePath::parse("args", text).ok();
        path.is_some_and(|path| path.key() == missing.path.key())
    };
    if ran.changes || !arguments.iter().any(is_named) {
        return Some(place.into());
    }
    let parameter = PathParameter {
        path: "args",
        zone: Some("zone"),
    };
    let mut repeat = parameter.at(first, &missing)?;
    if first.path != missing.path {
        let mut replaced = arguments.to_vec();
        for text in replaced.iter_mut().filter(|text| is_named(text)) {
            first.path.as_str().clone_into(text);
        }
        repeat = repeat.and("args", replaced);
    }
    Some(Hint::new(format!("{place}: ")).again(repeat))
}

/// Adds the reason why an attached file could not be fetched, if that is known.
fn not_fetched(core: &Core, caller: &Caller, missing: &MissingPath, error: Error) -> Error {
    let name = missing.path.name().unwrap_or_default();
    match core.transfer.attachment_refused(caller, name) {
        Some(reason) if missing.zone == ZoneName::Uploads => {
            let again = NextCall::new("shed_import").with("filename", name);
            error.with_hint(Hint::new(reason).or("to try again: ").call(again))
        }
        _ => error,
    }
}

/// Returns the hint with the call that was probably meant.
fn hint(
    aim: FileAccess,
    parameter: &PathParameter,
    missing: &MissingPath,
    places: &[PathSuggestion],
) -> Option<Hint> {
    let first = places.first()?;
    let is_alone = places.len() == 1;
    let is_here = first.zone == missing.zone && first.group == missing.group;
    let reads = matches!(aim, FileAccess::Read | FileAccess::Create)
        || parameter.zone == Some("src_zone")
        || parameter.path == "import_csv";
    let is_meant = match first.likeness {
        Likeness::Case => is_alone,
        _ if reads => true,
        _ => is_alone && aim == FileAccess::Change,
    };
    if !is_meant {
        return None;
    }
    // Uploads cannot be changed: the file is moved to where the call expected it.
    if !is_here && !reads && first.zone == ZoneName::Uploads && parameter.zone.is_some() {
        if !matches!(missing.zone, ZoneName::Storage | ZoneName::Documents) {
            return None;
        }
        let moved = NextCall::new("shed_copy")
            .with("from", address(first.zone, None, &first.path))
            .with("to", address(missing.zone, None, &missing.path))
            .with("move", true);
        let hint = Hint::new("it is in uploads, which is read-only: ").call(moved);
        return Some(hint.say(", then repeat the call"));
    }
    let hint = Hint::new(format!("{}: ", located(first))).again(parameter.at(first, missing)?);
    let others = places.iter().take(PLACES_MAX).skip(1);
    Some(others.fold(hint, |hint, other| {
        hint.or(format!("{}, too", located(other)))
    }))
}

fn listing(place: &PathSuggestion) -> NextCall {
    let above = place.path.parent().unwrap_or_else(ZonePath::root);
    let mut call = NextCall::new("shed_tree").with("zone", place.zone.as_str());
    if let Some(group) = &place.group {
        call = call.with("group", group.as_str());
    }
    call.with("path", above.display())
}

/// The path of a place, and the zone or group that has it.
fn located(place: &PathSuggestion) -> String {
    match &place.group {
        Some(group) => format!("`{}` is in group {group}", place.path),
        None => format!("`{}` is in {}", place.path, place.zone.as_str()),
    }
}

fn shown(place: &PathSuggestion) -> Value {
    let mut shown = json!({"zone": place.zone.as_str(), "path": place.path.as_str()});
    if let Some(group) = &place.group {
        shown["group"] = group.as_str().into();
    }
    shown
}
