//! `POST /files/write` and `POST /files/replace`: write a file, which replaces an existing one, or
//! replace exact texts in a file, all of them or none.

use fileshed_core::changes::{FileWrite, WrittenFile};
use fileshed_core::text::{Position, TextEdit, TextError, expect_editable, line_count};
use fileshed_core::view::Resolved;
use fileshed_core::{CallerView, Error, diagnostics};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The name of `POST /files/write`.
pub(super) const WRITE: &str = "write_file";

/// The file.
#[derive(Deserialize, ToSchema)]
pub(super) struct WriteRequest {
    /// File to write; directories are made.
    path: String,
    /// The whole text.
    content: String,
}

/// `POST /files/write`
pub(super) fn write(view: CallerView<'_>, request: &WriteRequest) -> Result<Value, Error> {
    let target = view.resolve_to_change("path", &request.path)?;
    written(&target, WRITE, |write| {
        write.overwrite(request.content.as_bytes())
    })
}

/// Writes a file of the tree as `write` does, and answers where it is and how long.
fn written(
    target: &Resolved<'_>,
    operation: &'static str,
    write: impl FnOnce(&FileWrite<'_>) -> Result<WrittenFile, Error>,
) -> Result<Value, Error> {
    let written = target.explained(|| {
        write(&FileWrite {
            zone: &target.zone,
            operation,
            path: target.path.as_str(),
            message: None,
        })
    })?;
    Ok(json!({"path": target.at.as_str(), "size": written.size}))
}

/// The name of `POST /files/replace`.
pub(super) const REPLACE: &str = "replace_file_content";

/// Replacements.
#[derive(Deserialize, ToSchema)]
pub(super) struct ReplaceRequest {
    /// File to change.
    path: String,
    /// Applied in order.
    replacements: Vec<Replacement>,
}

/// One text for another.
#[derive(Deserialize, ToSchema)]
struct Replacement {
    /// Exact text in the file.
    target: String,
    /// New text.
    #[serde(rename = "replacement")]
    content: String,
    /// First line to search.
    start_line: Option<i64>,
    /// Last line to search.
    end_line: Option<i64>,
    /// Replace every match.
    #[serde(default)]
    allow_multiple: bool,
}

/// `POST /files/replace`
pub(super) fn replace(view: CallerView<'_>, request: &ReplaceRequest) -> Result<Value, Error> {
    let target = view.resolve_to_change("path", &request.path)?;
    target.file()?;
    let largest = view.core.store.settings.largest_file();
    written(&target, REPLACE, |write| {
        write.edit(true, |old| {
            expect_editable(old)
                .map_err(|error| Error::from(error).with_detail("path", write.path))?;
            let mut text = old.to_vec();
            for (number, replacement) in (1..).zip(&request.replacements) {
                text = replacement.apply(number, &text, largest)?;
            }
            Ok(text)
        })
    })
}

impl Replacement {
    /// The text after the replacement, which is the one of this number in its call.
    fn apply(&self, number: usize, text: &[u8], largest: u64) -> Result<Vec<u8>, Error> {
        let lines = line_count(text) as i64;
        let first = self.start_line.filter(|line| *line != 0);
        let last = self.end_line.filter(|line| *line != 0);
        let range = (first.is_some() || last.is_some()).then(|| {
            let first = first.unwrap_or(1);
            (first, last.unwrap_or(lines).min(lines))
        });
        if let Some((first, last)) = range
            && (first < 1 || first > last)
        {
            return Err(ReplaceError::Lines {
                number,
                first,
                last,
                lines,
            }
            .into());
        }
        let edit = TextEdit {
            position: Position::Replace,
            content: &self.content,
            line: range.map(|(first, _)| first),
            end_line: range.map(|(_, last)| last),
            find: Some(&self.target),
            pattern: None,
            regex_flags: "",
            match_all: self.allow_multiple,
            finds_alike: false,
        };
        let edited = edit.apply(text, largest);
        Ok(edited.map_err(|error| renamed(number, error))?.bytes)
    }
}

/// The failure of an edit, with the names that its parameters have here.
fn renamed(number: usize, error: TextError) -> Error {
    match error {
        TextError::NotFound { value, closest, .. } => TextError::NotFound {
            parameter: "target",
            value,
            closest,
        }
        .into(),
        TextError::FoundElsewhere { find, lines, .. } => ReplaceError::Elsewhere {
            number,
            target: find,
            lines: listed(&lines),
        }
        .into(),
        TextError::FoundSeveral { find, count, lines } => ReplaceError::Several {
            number,
            target: find,
            count,
            lines: listed(&lines),
        }
        .into(),
        other => other.into(),
    }
}

fn listed(lines: &[u64]) -> String {
    let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
    lines.join(", ")
}

diagnostics! {
    /// A replacement that cannot be made; the file is as it was.
    #[derive(Debug, thiserror::Error)]
    enum ReplaceError {
        /// The text is there more than once.
        #[error("replacement {number}: `{target}` is there {count} times, in lines {lines}")]
        Several {
            number: usize = 1,
            target: String = "old".to_owned(),
            count: u64 = 2,
            lines: String = "3, 7".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "make target longer, say start_line and end_line, or set allow_multiple=true",
            details: { "replacement": number },
        },
        /// The text is there, and in other lines.
        #[error("replacement {number}: `{target}` is not in these lines, but in lines {lines}")]
        Elsewhere {
            number: usize = 1,
            target: String = "old".to_owned(),
            lines: String = "3, 7".to_owned(),
        } => {
            code: PatternNotFound,
            hint: "give start_line and end_line around one of them, or leave both out",
            details: { "replacement": number },
        },
        /// Lines that are none.
        #[error("replacement {number}: there are no lines {first} to {last}, the file has {lines}")]
        Lines {
            number: usize = 1,
            first: i64 = 9,
            last: i64 = 3,
            lines: i64 = 3,
        } => {
            code: InvalidParameter,
            hint: "lines count from 1; leave start_line and end_line out to look everywhere",
            details: { "replacement": number },
        },
    }
}
