//! `shed_patch_text`: write text, whole or at a line or pattern.

use fileshed_core::changes::{FileWrite, WrittenFile};
use fileshed_core::misnamed::expect_named_right;
use fileshed_core::settings::WriteMode;
use fileshed_core::text::{
    Comparison, Edited, Leniency, Position, TextEdit, TextError, addition, compare,
    expect_editable, line_count, readable,
};
use fileshed_core::{Repeat, Timings};

use super::prelude::*;
use super::vocabulary::write_mode;
use super::write::{self, Response};

/// Bytes and lines of the longest text of which a diff is made.
const DIFF_BYTES: usize = 2_000_000;
const DIFF_LINES: usize = 50_000;

/// `shed_patch_text`
pub struct PatchText;

/// Text and its position.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// In the zone
    path: String,
    /// The new text
    content: String,
    /// Exact text, once in it; content replaces it
    find: Option<String>,
    /// Default replace with find or pattern, else end
    #[schema(value_type = Option<Position>)]
    position: Option<String>,
    /// From 1
    line: Option<i64>,
    /// Last line to replace
    end_line: Option<i64>,
    /// Python regex instead of find; content may have $1
    pattern: Option<String>,
    /// Any of i, m, s
    regex_flags: Option<String>,
    /// All matches
    #[serde(default)]
    match_all: bool,
    /// content is the whole file
    #[serde(default)]
    overwrite: bool,
    /// Only show the diff
    dry_run: Option<bool>,
    /// Ignored
    #[serde(default = "super::vocabulary::yes")]
    #[schema(required = false)]
    safe: bool,
    /// Commit message
    message: Option<String>,
    /// For zone group
    group: Option<String>,
    /// Group: who may change it
    #[schema(value_type = Option<WriteMode>)]
    mode: Option<String>,
}

impl Operation for PatchText {
    const ID: &str = "shed_patch_text";
    const SUMMARY: &str = "Write text";
    const DOC: &str = "Change a part of a text file: replace text (find), insert or replace lines, append. shed_patch_text(zone=\"storage\", path=\"a.md\", find=\"old\", content=\"new\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::CHANGES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE, CHANGE, GROWTH;
        InvalidFormat, PatternNotFound, PermissionDenied, InvalidMode
    ];
    const EXAMPLES: &[&str] = &[
        r##"{"zone": "storage", "path": "notes/todo.md", "content": "# To do\n", "overwrite": true}"##,
        r#"{"zone": "storage", "path": "notes/todo.md", "content": "- buy milk\n"}"#,
        r#"{"zone": "storage", "path": "notes/todo.md", "content": "- call Ada\n", "position": "after", "line": 1}"#,
        r#"{"zone": "storage", "path": "notes/todo.md", "find": "buy milk", "content": "buy bread and milk"}"#,
        r#"{"zone": "storage", "path": "notes/todo.md", "content": "oat $1", "position": "replace", "pattern": "(milk)"}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Unusual("created"),
        Keep::Unusual("lines"),
        Keep::Unusual("diff"),
        Keep::Always("pattern_matches"),
        Keep::Always("file_size"),
        Keep::Unusual("mode"),
    ];
    const BODY_MAX: u64 = u64::MAX;
    const CHANGES: bool = true;
    const ACCESS: FileAccess = FileAccess::Change;
    type Request = Request;
    type Response = Response;

    fn prepare(arguments: &mut Map<String, Value>) {
        write::drop_what_overwrite_ignores(arguments);
        write::drop_mode_outside_groups(arguments);
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = ZoneName::parse_parameter("zone", &request.zone)?;
        let position = request.position.as_deref().map(Position::parse_parameter);
        let position = position.transpose()?;
        let mode = write_mode(request.mode.as_deref())?;
        let zone = core
            .open_zone(caller, zone, request.group.as_deref())?
            .creating(mode);
        if request.overwrite && request.find.is_some() {
            return Err(TextError::FindWithOverwrite.into());
        }
        let position = match position {
            Some(position) => position,
            None => Position::meant(
                request.find.is_some() || request.pattern.is_some(),
                request.line,
                request.end_line,
            )?,
        };
        let edit = TextEdit {
            position,
            content: &request.content,
            line: request.line,
            end_line: request.end_line,
            find: request.find.as_deref(),
            pattern: request.pattern.as_deref(),
            regex_flags: request.regex_flags.as_deref().unwrap_or(""),
            match_all: request.match_all,
            finds_alike: true,
        };
        if !request.overwrite {
            edit.check().map_err(|error| at_an_end(&edit, error))?;
        }
        let file = FileWrite {
            zone: &zone,
            operation: Self::ID,
            path: &request.path,
            message: request.message.as_deref(),
        };
        if request.overwrite {
            expect_named_right(file.path, request.content.as_bytes())?;
        }
        if request.dry_run == Some(true) {
            let most = core.store.settings.output_of(caller.client) as usize;
            return preview(&file, &edit, &request, most);
        }
        let (written, edited) = if request.overwrite {
            (file.overwrite(request.content.as_bytes())?, None)
        } else {
            apply(&file, &edit, core.store.settings.largest_file())?
        };
        let lines_affected = match &edited {
            Some(edited) => edited.lines_affected,
            None => line_count(request.content.as_bytes()),
        };
        let matches = edited.as_ref().map_or(0, |edited| edited.matches);
        let leniency = edited.as_ref().and_then(|edited| edited.leniency);
        let lines = edited.map(|edited| edited.lines);
        let response = Response {
            position: write::position(request.overwrite, edit.position.as_str()),
            safe_mode: request.safe,
            lines_affected: Some(lines_affected),
            pattern_matches: (matches > 0).then_some(matches),
            lines: lines.filter(|_| !written.created),
            ..Response::default()
        };
        write::reply(&zone, &written, leniency.map(Leniency::as_str), response)
    }
}

/// Returns the failure of an edit; for new text before the first line or after the last one, with the
/// call that inserts it there. An edit that would remove lines gets no such hint.
fn at_an_end(edit: &TextEdit<'_>, error: TextError) -> Error {
    let repeat = match (&error, edit.position) {
        (TextError::LineBelowOne { value: 0, .. }, Position::Before | Position::After) => {
            Repeat::with("line", 1).and("position", Position::Before.as_str())
        }
        (TextError::LineBeyondEnd { lines: 1.., .. }, Position::After) => {
            Repeat::with("position", Position::End.as_str()).and_without("line")
        }
        _ => return error.into(),
    };
    Error::from(error).with_hint(repeat)
}

/// Fails where a file with this content cannot be edited as text, or would be text under the name of
/// another format.
fn expect_fitting(file: &FileWrite<'_>, edit: &TextEdit<'_>, old: &[u8]) -> Result<(), Error> {
    if old.is_empty() {
        expect_named_right(file.path, edit.content.as_bytes())?;
    }
    expect_editable(old).map_err(|error| Error::from(error).with_detail("path", file.path))
}

/// The new content of a file, and how it came about.
fn applied(
    file: &FileWrite<'_>,
    edit: &TextEdit<'_>,
    old: &[u8],
    largest: u64,
) -> Result<(Vec<u8>, Edited), Error> {
    expect_fitting(file, edit, old)?;
    let applied = edit.apply(old, largest);
    let mut edited = applied.map_err(|error| at_an_end(edit, error))?;
    Ok((std::mem::take(&mut edited.bytes), edited))
}

/// The answer of an edit that is not made: its diff.
fn preview(
    file: &FileWrite<'_>,
    edit: &TextEdit<'_>,
    request: &Request,
    most: usize,
) -> Result<Reply<Response>, Error> {
    let mut edited = None;
    let must_exist = !request.overwrite && edit.needs_file();
    let largest = file.zone.store.settings.largest_file();
    let (old, new) = file.preview(must_exist, |old| {
        if request.overwrite {
            return Ok(request.content.as_bytes().to_vec());
        }
        let (bytes, applied) = applied(file, edit, old, largest)?;
        edited = Some(applied);
        Ok(bytes)
    })?;
    let shown = |bytes: &[u8]| readable(bytes).unwrap_or_default();
    let is_new = old.is_none();
    let (old, revised) = (shown(&old.unwrap_or_default()), shown(&new));
    let is_short = |text: &str| text.len() <= DIFF_BYTES && text.lines().nth(DIFF_LINES).is_none();
    let compared = || compare(&old, &revised, false, Timings::STANDARD.work.comparison);
    let comparison = (is_short(&old) && is_short(&revised)).then(compared);
    let shown = comparison
        .as_ref()
        .map(|comparison| comparison.unified(most));
    let (diff, is_cut) = shown.unzip();
    let lines = |comparison: &Comparison| (comparison.additions + comparison.deletions) as u64;
    let note = edited.as_ref().and_then(|edited| edited.leniency);
    let response = Response {
        path: request.path.clone(),
        zone: file.zone.name.as_str(),
        position: write::position(request.overwrite, edit.position.as_str()),
        lines_affected: comparison.as_ref().map(lines),
        created: is_new,
        file_size: new.len() as u64,
        safe_mode: request.safe,
        pattern_matches: edited
            .map(|edited| edited.matches)
            .filter(|matches| *matches > 0),
        diff,
        ..Response::default()
    };
    let message = "Nothing was written: dry_run only shows the changes";
    Ok(Reply::new(response, message)
        .noting(note.map(Leniency::as_str))
        .noting(match is_cut {
            None => Some("the text is too long for a diff"),
            Some(true) => Some("the rest of the diff does not fit into the answer"),
            Some(false) => None,
        }))
}

/// Applies the edit. To append to a long file, only its beginning is read, and no lines are shown.
fn apply(
    file: &FileWrite<'_>,
    edit: &TextEdit<'_>,
    largest: u64,
) -> Result<(WrittenFile, Option<Edited>), Error> {
    let mut outcome = None;
    let written = match edit.position {
        Position::End => file.append(!edit.content.is_ascii(), |existing| {
            expect_fitting(file, edit, &existing.beginning)?;
            if existing.is_whole {
                outcome = Some(edit.apply(&existing.beginning, largest)?);
            }
            Ok(addition(
                &existing.beginning,
                &existing.encoding,
                existing.ends_within_line,
                edit.content,
            )?)
        })?,
        _ => file.edit(edit.needs_file(), |old| {
            let (bytes, edited) = applied(file, edit, old, largest)?;
            outcome = Some(edited);
            Ok(bytes)
        })?,
    };
    Ok((written, outcome))
}
