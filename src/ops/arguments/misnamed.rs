//! Hints for calls whose arguments have the names of other programs' parameters.

use fileshed_core::nearest::nearest;
use fileshed_core::{Repeat, ZoneAddress};
use serde_json::{Map, Value};

use super::ParameterType;

/// Most bytes of the values that a hint repeats.
const VALUES_MAX_BYTES: usize = 1_000;

/// Parameters, and their names elsewhere.
const NAMES: &[(&str, &str)] = &[
    (
        "path",
        "file filename file_name file_path filepath name dir directory folder target database db \
         db_path db_file file1 path1 input",
    ),
    (
        "content",
        "text contents body data file_text new_str new_string new_text replacement new replace",
    ),
    ("find", "old_str old_string old_text search old"),
    ("from", "src source src_path old_path path"),
    (
        "to",
        "dest destination dest_path new_path target format output output_format output_file",
    ),
    ("to_path", "file2 path2 other new_path"),
    ("cmd", "command program executable"),
    ("args", "arguments argv"),
    ("query", "sql statement"),
    ("depth", "max_depth levels level"),
    ("length", "count size num_bytes"),
    ("limit", "lines num_lines max_lines"),
    ("output_csv", "output output_file export_csv export_file"),
    ("import_csv", "import import_file input_file"),
    ("src", "source from path file filename"),
    ("src_zone", "zone from_zone"),
    ("src_path", "path source src"),
    ("dest_path", "dest destination"),
    ("filename", "name file"),
    ("dest", "destination target to path output"),
    ("old_path", "source from src old_name path"),
    ("new_path", "destination to dest new_name target"),
    ("zone", "zone_name area location"),
    ("group", "group_id group_name"),
];

/// Returns `true` if an unknown argument may stand for a parameter.
pub(in crate::ops) fn is_other_name(schema: &Value, written: &str) -> bool {
    !other_names(schema, written).is_empty()
}

/// Returns the parameters that an unknown argument may stand for.
pub(super) fn other_names<'s>(schema: &'s Value, written: &str) -> Vec<&'s str> {
    let properties = schema["properties"].as_object();
    let names = properties.into_iter().flatten();
    parameters(written, names.map(|(name, _)| name.as_str()))
}

/// The probable meaning of an unknown argument, among the parameters that are not given.
#[derive(Debug)]
pub(in crate::ops) enum Meant {
    /// The call that was meant.
    Call(Repeat),
    /// One of these parameters.
    OneOf(Vec<String>),
}

/// Returns the probable meaning of the unknown argument `written`.
pub(super) fn meant_by(schema: &Value, arguments: &Map<String, Value>, written: &str) -> Meant {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let absent = properties.filter(|(name, _)| !arguments.contains_key(*name));
    let absent: Vec<&str> = absent.map(|(name, _)| name.as_str()).collect();
    let called = parameters(written, absent.iter().copied());
    if let ([name], Some(value)) = (called.as_slice(), arguments.get(written)) {
        let kind = ParameterType::of(&schema["properties"][*name]);
        if let Ok(value) = kind.coerce(value.clone())
            && value.to_string().len() <= VALUES_MAX_BYTES
        {
            return Meant::Call(Repeat::with(*name, value).and_without(written));
        }
    }
    let near = nearest(&snake_case(written), absent.iter().copied());
    let called = if called.is_empty() {
        near.into_iter().collect()
    } else {
        called
    };
    Meant::OneOf(called.into_iter().map(str::to_owned).collect())
}

/// Returns the call that was probably meant by arguments without some required ones. `None` if one of
/// those is still missing, or if an argument is left over, which would have no effect.
pub(super) fn meant(
    schema: &Value,
    arguments: Map<String, Value>,
    is_harmless: fn(&Map<String, Value>) -> bool,
) -> Option<Repeat> {
    let properties = schema["properties"].as_object()?;
    let given = arguments.into_iter().filter(|(_, value)| !value.is_null());
    let (mut whole, unknown): (Map<_, _>, Map<_, _>) =
        given.partition(|(name, _)| properties.contains_key(name));
    let mut repeat = Repeat::default();
    let mut bytes = 0;
    for (written, value) in unknown {
        let absent = properties.keys().map(String::as_str);
        let absent = absent.filter(|name| !whole.contains_key(*name));
        let name = *parameters(&written, absent).first()?;
        let value = ParameterType::of(&properties[name]).coerce(value).ok()?;
        bytes += value.to_string().len();
        repeat = repeat.and_without(written);
        for (name, value) in split_line(name, value, &whole) {
            repeat = repeat.and(name, value.clone());
            whole.insert(name.to_owned(), value);
        }
    }
    let required = schema["required"].as_array()?.iter();
    let required = required.filter_map(Value::as_str);
    let missing: Vec<&str> = required.filter(|name| !whole.contains_key(*name)).collect();
    let repeat = match missing.as_slice() {
        [] => repeat,
        ["zone"] => match address(&whole) {
            Some(address) if is_harmless(&whole) => {
                let named = repeat.and("zone", address.zone.as_str());
                let named = named.and("path", address.path);
                match address.group {
                    Some(group) => named.and("group", group),
                    None => named,
                }
            }
            None if is_harmless(&whole) => repeat.and("zone", "storage"),
            _ => return None,
        },
        _ => return None,
    };
    (bytes <= VALUES_MAX_BYTES).then_some(repeat)
}

/// The place that the path of a call names with its zone.
fn address(arguments: &Map<String, Value>) -> Option<ZoneAddress<'_>> {
    let address = ZoneAddress::parse(arguments.get("path")?.as_str()?)?;
    (!address.path.is_empty()).then_some(address)
}

/// The parameters of a value: a line given as the name of a command has its arguments too.
fn split_line<'n>(
    name: &'n str,
    value: Value,
    given: &Map<String, Value>,
) -> impl Iterator<Item = (&'n str, Value)> + use<'n> {
    let words = value
        .as_str()
        .filter(|_| name == "cmd" && !given.contains_key("args"));
    let mut words = words.and_then(shlex::split).unwrap_or_default();
    let split = match words.len() {
        0 | 1 => [Some((name, value)), None],
        _ => {
            let arguments = words.split_off(1);
            [
                words.pop().map(|command| (name, command.into())),
                Some(("args", arguments.into())),
            ]
        }
    };
    split.into_iter().flatten()
}

/// Returns the parameters among these that other programs call `written`; if one has the same name in
/// another case, only that one.
fn parameters<'a>(written: &str, among: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let plain = snake_case(written);
    let is_called = |name: &str| {
        let names = NAMES.iter().find(|(parameter, _)| *parameter == name);
        names.is_some_and(|(_, names)| names.split(' ').any(|other| other == plain))
    };
    let mut among: Vec<&str> = among.collect();
    if let Some(same) = among.iter().find(|name| **name == plain) {
        return vec![same];
    }
    among.retain(|name| is_called(name));
    among
}

/// `oldPath` and `Old-Path` as `old_path`.
fn snake_case(name: &str) -> String {
    let mut plain = String::new();
    let mut after_small = false;
    for character in name.chars() {
        if character.is_ascii_uppercase() && after_small {
            plain.push('_');
        }
        after_small = character.is_ascii_lowercase();
        plain.push(match character {
            '-' | ' ' => '_',
            other => other.to_ascii_lowercase(),
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_other_programs_are_understood() {
        let schema = json!({
            "required": ["zone", "path", "content"],
            "properties": {
                "zone": {"type": "string"},
                "path": {"type": "string"},
                "content": {"type": "string"},
                "find": {"type": "string"},
                "overwrite": {"type": "boolean"},
            },
        });
        let told = |arguments: Value| {
            let arguments = arguments.as_object().cloned().expect("an object");
            let is_harmless = |whole: &Map<String, Value>| whole.get("overwrite").is_none();
            meant(&schema, arguments, is_harmless).map(|repeat| repeat.to_string())
        };
        for (arguments, expected) in [
            (
                json!({"zone": "storage", "filePath": "a", "content": "x"}),
                Some(r#"repeat the call with path="a", without filePath"#),
            ),
            (
                json!({"zone": "storage", "path": "a", "old_str": "x", "new_str": "y"}),
                Some(r#"repeat the call with find="x", content="y", without old_str and new_str"#),
            ),
            (
                json!({"file": "a", "text": "x"}),
                Some(
                    r#"repeat the call with path="a", content="x", zone="storage", without file and text"#,
                ),
            ),
            (
                json!({"path": "a", "content": "x", "overwrite": true}),
                None,
            ),
            (json!({"zone": "storage", "file": "a"}), None),
            (
                json!({"zone": "storage", "file": "a", "content": "x", "unheard": 1}),
                None,
            ),
            (
                json!({"zone": "storage", "file": "a", "content": "x".repeat(5_000)}),
                Some(r#"repeat the call with path="a", without file"#),
            ),
            (
                json!({"zone": "storage", "path": "a", "text": "x".repeat(5_000)}),
                None,
            ),
        ] {
            let shown = arguments.to_string();
            assert_eq!(told(arguments).as_deref(), expected, "{shown}");
        }
    }
}
