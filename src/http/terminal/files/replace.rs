//! `POST /files/replace`: replace exact texts in a file, all of them or none.

use axum::http::Method;
use fileshed_core::changes::FileWrite;
use fileshed_core::text::{Position, TextEdit, TextError, expect_editable, line_count};
use fileshed_core::view::View;
use fileshed_core::{Error, diagnostics};
use serde::Deserialize;
use utoipa::ToSchema;

use super::write::Response;
use crate::http::terminal::endpoint::Endpoint;
use crate::ops::Effect;

/// `POST /files/replace`
pub(in crate::http::terminal) struct ReplaceContent;

/// What to replace.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// File to change.
    path: String,
    /// One after the other.
    replacements: Vec<Replacement>,
}

/// One text for another.
#[derive(Deserialize, ToSchema)]
struct Replacement {
    /// Exact text in the file.
    target: String,
    /// What it becomes.
    #[serde(rename = "replacement")]
    content: String,
    /// Look from this line on.
    start_line: Option<i64>,
    /// Look up to this line.
    end_line: Option<i64>,
    /// Every place, not the only one.
    #[serde(default)]
    allow_multiple: bool,
}

impl Endpoint for ReplaceContent {
    const ID: &'static str = "replace_file_content";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/replace";
    const DOC: &'static str = "Replace exact text in a file.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::CHANGES;
    const BODY_MAX: u64 = u64::MAX;
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let target = view.resolve_to_change("path", &request.path)?;
        target.file()?;
        let largest = view.store.settings().largest_file();
        let write = FileWrite {
            zone: &target.zone,
            operation: Self::ID,
            path: target.path.as_str(),
            message: None,
        };
        let written = target.explained(|| {
            write.edit(true, |old| {
                expect_editable(old)
                    .map_err(|error| Error::from(error).with_detail("path", write.path))?;
                let mut text = old.to_vec();
                for (number, replacement) in (1..).zip(&request.replacements) {
                    text = replacement.apply(number, &text, largest)?;
                }
                Ok(text)
            })
        })?;
        Ok(Response {
            path: target.at.as_str().to_owned(),
            size: written.size,
        })
    }
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
