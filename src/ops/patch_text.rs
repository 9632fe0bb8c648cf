//! `shed_patch_text`: write text, whole or at a line or pattern.

use fileshed_core::text::{Position, TextEdit, expect_editable, line_count};
use fileshed_core::{Caller, Code, Error, Shed};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::vocabulary::{ModeParameter, ZoneParameter};
use super::{Aim, Operation, Reply, write};

/// See the module.
pub struct PatchText;

/// The parameter `position`.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum PositionParameter {
    End,
    Start,
    Before,
    After,
    Replace,
}

/// What to write, and where.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    #[schema(value_type = ZoneParameter)]
    zone: String,
    path: String,
    content: String,
    /// Default end. before, after, replace need line or pattern
    #[schema(value_type = Option<PositionParameter>)]
    position: Option<String>,
    /// First line is 1
    line: Option<i64>,
    /// Last line of a replaced range
    end_line: Option<i64>,
    /// Python regex
    pattern: Option<String>,
    /// i, m, s
    regex_flags: Option<String>,
    /// All matches, not the first only
    #[serde(default)]
    match_all: bool,
    /// Replace the whole file
    #[serde(default)]
    overwrite: bool,
    #[serde(default = "super::vocabulary::yes")]
    #[schema(required = false)]
    safe: bool,
    /// Commit message
    message: Option<String>,
    /// For zone group
    group: Option<String>,
    /// In a group: of a new file, or yours
    #[schema(value_type = Option<ModeParameter>)]
    mode: Option<String>,
}

/// What was written.
#[derive(Serialize, ToSchema)]
pub struct Response {
    path: String,
    zone: &'static str,
    position: &'static str,
    lines_affected: u64,
    created: bool,
    file_size: u64,
    safe_mode: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern_matches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// That the file has now, in a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
}

impl Operation for PatchText {
    const ID: &str = "shed_patch_text";
    const SUMMARY: &str = "Write text";
    const DOC: &str = "Write text to a file: append (default), insert or replace by line or pattern, or overwrite. Creates file and directories. shed_patch_text(zone=\"storage\", path=\"log.md\", content=\"done\\n\")";
    const CORE: bool = true;
    const ERRORS: &[Code] = write::ERRORS_OF_EDITS;
    const EXAMPLES: &[&str] = &[
        r##"{"zone": "storage", "path": "notes/todo.md", "content": "# To do\n", "overwrite": true}"##,
        r#"{"zone": "storage", "path": "notes/todo.md", "content": "- buy milk\n"}"#,
        r#"{"zone": "storage", "path": "notes/todo.md", "content": "- call Ada\n", "position": "after", "line": 1}"#,
        r#"{"zone": "storage", "path": "notes/todo.md", "content": "oat $1", "position": "replace", "pattern": "(milk)"}"#,
    ];
    const BODY_MAX: u64 = u64::MAX;
    const CHANGES: bool = true;
    const AIM: Aim = Aim::Change;
    type Request = Request;
    type Response = Response;

    fn prepare(arguments: &mut Map<String, Value>) {
        write::drop_what_overwrite_ignores(arguments);
    }

    fn run(shed: &Shed, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = shed
            .zone(caller, &request.zone, request.group.as_deref())?
            .creating(request.mode.as_deref())?;
        let edit = TextEdit {
            position: Position::parse(request.position.as_deref().unwrap_or("end"))?,
            content: &request.content,
            line: request.line,
            end_line: request.end_line,
            pattern: request.pattern.as_deref(),
            regex_flags: request.regex_flags.as_deref().unwrap_or(""),
            match_all: request.match_all,
        };
        if !request.overwrite {
            edit.check()?;
        }
        let mut lines_affected = line_count(request.content.as_bytes());
        let mut pattern_matches = 0;
        let file = write::File {
            zone: &zone,
            operation: Self::ID,
            path: &request.path,
            message: request.message.as_deref(),
        };
        let written = if request.overwrite {
            file.overwrite(request.content.as_bytes())?
        } else {
            let apply = |old: &[u8]| {
                expect_editable(old)
                    .map_err(|error| Error::from(error).with_detail("path", &*request.path))?;
                let edited = edit.apply(old, shed.settings().largest_file())?;
                lines_affected = edited.lines_affected;
                pattern_matches = edited.pattern_matches;
                Ok(edited.bytes)
            };
            match edit.position {
                Position::End => file.append(apply)?,
                _ => file.edit(edit.needs_file(), apply)?,
            }
        };
        let message = written.sentence();
        Ok(Reply::new(
            Response {
                path: written.path,
                zone: zone.name().as_str(),
                position: if request.overwrite {
                    "overwrite"
                } else {
                    edit.position.as_str()
                },
                lines_affected,
                created: written.created,
                file_size: written.size,
                safe_mode: request.safe,
                pattern_matches: (pattern_matches > 0).then_some(pattern_matches),
                group: zone.group().map(|group| group.name.clone()),
                mode: written.mode,
            },
            message,
        ))
    }
}
