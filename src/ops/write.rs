//! The answer of operations that write one file, and the parameters that they share.

use fileshed_core::changes::WrittenFile;
use fileshed_core::settings::WriteMode;
use fileshed_core::{Error, Zone, ZoneName, sharing};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Reply;
use super::arguments::is_true;

/// Replaces `position: "overwrite"` with `overwrite: true`, and removes the parameters of a position,
/// which have no effect then.
pub(super) fn drop_what_overwrite_ignores(arguments: &mut Map<String, Value>) {
    let position = arguments.get("position").and_then(Value::as_str);
    if position.is_some_and(|position| position.trim().eq_ignore_ascii_case("overwrite")) {
        arguments.insert("overwrite".to_owned(), true.into());
    }
    if arguments.get("overwrite").is_some_and(is_true) {
        for name in [
            "position",
            "line",
            "end_line",
            "pattern",
            "regex_flags",
            "match_all",
            "offset",
            "length",
        ] {
            arguments.remove(name);
        }
    }
}

/// Removes the parameter `mode` if it is empty, or outside groups, where files have no mode.
pub(super) fn drop_mode_outside_groups(arguments: &mut Map<String, Value>) {
    let zone = arguments.get("zone").and_then(Value::as_str);
    let in_group = zone.is_some_and(|zone| ZoneName::parse(zone).ok() == Some(ZoneName::Group));
    let mode = arguments.get("mode").and_then(Value::as_str);
    if mode.is_some_and(|mode| !in_group || mode.trim().is_empty()) {
        arguments.remove("mode");
    }
}

/// The written file: answer of every operation that writes one file.
#[derive(Default, Serialize, ToSchema)]
pub struct Response {
    /// Path of the file inside its zone.
    pub(super) path: String,
    /// Zone of the file.
    pub(super) zone: &'static str,
    /// Position of the content: a value of `position`, or `overwrite`.
    pub(super) position: &'static str,
    /// Lines that are new or gone; for text only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lines_affected: Option<u64>,
    /// Bytes that the content stands for; for bytes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_written: Option<u64>,
    /// Bytes of the file that are new or gone; for bytes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_affected: Option<u64>,
    /// `true` if there was no such file before.
    pub(super) created: bool,
    /// Bytes that the file has now.
    pub(super) file_size: u64,
    /// Value of `safe`, which has no effect; true if there is no such parameter.
    pub(super) safe_mode: bool,
    /// Places that the pattern matched; for text only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pattern_matches: Option<u64>,
    /// A few lines around the change, numbered: `7:` is new, `8-` stands beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lines: Option<String>,
    /// With `dry_run`: the changes in the form of `diff -u`; nothing is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
    /// Encoding of the content: hex, base64 or raw; for bytes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_format: Option<&'static str>,
    /// Offset that was asked for; for bytes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset: Option<i64>,
    /// Name of the group, if the zone is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<String>,
    /// Mode of the file now, in a group: group, owner or `owner_ro`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<&'static str>,
}

/// Returns the position of an answer: that of the edit, unless the whole file was overwritten.
pub(super) fn position(is_overwritten: bool, of_edit: &'static str) -> &'static str {
    if is_overwritten { "overwrite" } else { of_edit }
}

/// Returns the reply for a file that was written: `response`, which has the fields of one operation, with
/// those that all have; `note`, and a note on a mode that differs from the requested one.
pub(super) fn reply(
    zone: &Zone<'_>,
    written: &WrittenFile,
    note: Option<&'static str>,
    response: Response,
) -> Result<Reply<Response>, Error> {
    let mode = sharing::mode_of(zone, &written.path)?;
    let asked = zone.asked_mode();
    let path = written.path.as_str().to_owned();
    let verb = if written.created { "Created" } else { "Wrote" };
    let sentence = format!("{verb} {path} ({} bytes)", written.size);
    let kept = mode.filter(|_| asked.is_some() && asked != mode);
    let kept = kept.map(|mode| {
        let mode = mode.as_str();
        format!("it belongs to another member and keeps mode {mode}")
    });
    let response = Response {
        path,
        zone: zone.name.as_str(),
        created: written.created,
        file_size: written.size,
        group: zone.group().map(|group| group.name.clone()),
        mode: mode.map(WriteMode::as_str),
        ..response
    };
    Ok(Reply::new(response, sentence).noting(note).noting(kept))
}
