//! Two files of anybody's zones, or versions of them, against each other: documents by their text.

use std::time::Duration;

use crate::extraction::{DocumentSource, DocumentText, document_text, text_of_source};
use crate::runs::Runs;
use fileshed_changes::change_list::Content;
use fileshed_changes::undo::{change_in, range};
use fileshed_history::{CommitRange, FileVersion, file_at};
use fileshed_registry::ListedChange;
use fileshed_storage::Entry;
use fileshed_text::{Comparison, compare, readable};
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Error, Hint, NextCall, Timings, ZoneName, diagnostics};
use fileshed_zones::zone::{Zone, ZonePath};

/// The largest file that is compared, in bytes.
const LARGEST: u64 = 50 * MEBIBYTE;

/// The most text of one side: characters and lines.
const CHARACTERS: usize = 2_000_000;
const LINES: usize = 50_000;

/// Time after which the comparison becomes less fine.
const TIME: Duration = Timings::STANDARD.work.comparison;

/// One of two files.
#[derive(Debug, Default)]
pub struct Side {
    text: String,
    /// `true` if its lines are rows of a table, with tabs between cells.
    pub is_table: bool,
    /// Notices about the parts that are not compared.
    pub notices: Vec<&'static str>,
}

impl Side {
    /// Reads a file.
    pub fn read(runs: &Runs, zone: &Zone<'_>, entry: &Entry) -> Result<Self, Error> {
        entry
            .expect_file()
            .map_err(|error| zone.explain_disk(error))?;
        let path = entry.path();
        if entry.size() > LARGEST {
            return Err(too_large(zone, path));
        }
        let document = document_text(runs, zone, entry)?;
        // Whatever its encoding, it has more characters than are compared.
        if document.is_none() && entry.size() > 4 * CHARACTERS as u64 {
            return Err(too_large(zone, path));
        }
        Self::of(zone, path, document, || Ok(entry.content()?))
    }

    /// Reads a file as it was in a commit, or, in a zone without history, before the change of this number;
    /// one that was not there is empty.
    pub fn read_version(
        runs: &Runs,
        zone: &Zone<'_>,
        path: &ZonePath,
        version: &str,
    ) -> Result<Self, Error> {
        let refused = |error: ComparisonError| Err(zone.explain(error.into()));
        let (path_text, version_text) = (path.as_str().to_owned(), version.to_owned());
        if !zone.name.is_versioned() {
            let change = version.parse().ok();
            let before = change.map(|change| Self::read_before(runs, zone, path, change));
            if let Some(side) = before.transpose()?.flatten() {
                return Ok(side);
            }
            return refused(ComparisonError::NoHistory {
                path: path_text,
                version: version_text,
                zone: zone.name,
            });
        }
        let bytes = match file_at(&zone.base, version, path, LARGEST)? {
            FileVersion::Content(bytes) => bytes,
            FileVersion::TooLarge(_) => return Err(too_large(zone, path)),
            FileVersion::NoCommit => {
                return refused(ComparisonError::NoCommit {
                    path: path_text,
                    version: version_text,
                });
            }
            FileVersion::Absent => {
                let notice = "The file is not in that commit: it was compared as an empty file.";
                return Ok(Self::absent(notice));
            }
        };
        Self::of_bytes(runs, zone, path, &bytes)
    }

    /// Reads a file as it was before a change; `None` if the bin does not have it.
    fn read_before(
        runs: &Runs,
        zone: &Zone<'_>,
        path: &ZonePath,
        number: i64,
    ) -> Result<Option<Self>, Error> {
        let Some(row) = change_in(zone, number)? else {
            return Ok(None);
        };
        match Content::before(&row, path) {
            Content::Absent => Ok(Some(Self::empty())),
            Content::Binned(id) => {
                let name = ZonePath::found(id.clone());
                let is_there = zone.tenant.bin()?.existing_entry(&name)?.is_some();
                let read = || Self::read_binned(runs, zone, path, &id);
                is_there.then(read).transpose()
            }
            Content::Now | Content::Gone => Ok(None),
        }
    }

    /// Reads a file before and after a change; `None` if one of them is not there any more. In a zone without
    /// history, `after` says where it is after the change.
    pub fn around_change(
        runs: &Runs,
        zone: &Zone<'_>,
        path: &ZonePath,
        row: &ListedChange,
        after: impl FnOnce() -> Result<Content, Error>,
    ) -> Result<Option<(Self, Self)>, Error> {
        if let Some(range) = range(row) {
            return Self::around_commits(runs, zone, path, &range).map(Some);
        }
        let side = |content| match content {
            Content::Absent => Ok(Some(Self::empty())),
            Content::Binned(id) => Self::read_binned(runs, zone, path, &id).map(Some),
            Content::Now => Self::read(runs, zone, &zone.entry(path)?).map(Some),
            Content::Gone => Ok(None),
        };
        Ok(side(Content::before(row, path))?.zip(side(after()?)?))
    }

    /// Reads a file before and after commits.
    pub fn around_commits(
        runs: &Runs,
        zone: &Zone<'_>,
        path: &ZonePath,
        range: &CommitRange,
    ) -> Result<(Self, Self), Error> {
        let old = Self::read_version(runs, zone, path, &range.revision_before())?;
        let new = Self::read_version(runs, zone, path, &range.commit)?;
        Ok((old, new))
    }

    /// Reads what a change put into the bin, as the file at `path`.
    pub fn read_binned(
        runs: &Runs,
        zone: &Zone<'_>,
        path: &ZonePath,
        id: &str,
    ) -> Result<Self, Error> {
        let entry = zone.tenant.bin()?.entry(&ZonePath::found(id.to_owned()))?;
        if entry.size() > LARGEST {
            return Err(too_large(zone, path));
        }
        Self::of_bytes(runs, zone, path, &entry.content()?)
    }

    /// The empty side of a file that is absent, with a notice about that.
    #[must_use]
    pub fn absent(notice: &'static str) -> Self {
        Self {
            notices: vec![notice],
            ..Self::default()
        }
    }

    /// Returns its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns `true` if it has no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// An empty side.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    fn of_bytes(
        runs: &Runs,
        zone: &Zone<'_>,
        path: &ZonePath,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        let source = DocumentSource {
            path: path.as_str(),
            size: bytes.len() as u64,
            content: &mut &*bytes,
        };
        let document = text_of_source(runs, zone, source)?;
        Self::of(zone, path, document, || Ok(bytes.to_vec()))
    }

    fn of(
        zone: &Zone<'_>,
        path: &ZonePath,
        document: Option<DocumentText>,
        content: impl FnOnce() -> Result<Vec<u8>, Error>,
    ) -> Result<Self, Error> {
        let no_text = || {
            let path = path.as_str().to_owned();
            zone.explain(ComparisonError::NoText { path }.into())
        };
        let name = path.name().unwrap_or_default().to_ascii_lowercase();
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let side = match document {
            Some(document) if document.truncated => return Err(too_large(zone, path)),
            Some(document) if document.text.trim().is_empty() => return Err(no_text()),
            // A list of names and sizes does not tell what differs.
            Some(_) if ends(&[".zip"]) => return Err(no_text()),
            Some(document) => Self {
                text: document.text,
                is_table: ends(&[".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"]),
                notices: vec![
                    "Only the text was compared, without formatting, pictures and layout.",
                ],
            },
            None => Self {
                text: readable(&content()?).ok_or_else(no_text)?,
                is_table: ends(&[".csv", ".tsv"]),
                notices: Vec::new(),
            },
        };
        if side.text.len() > CHARACTERS && side.text.chars().count() > CHARACTERS
            || side.text.lines().nth(LINES).is_some()
        {
            return Err(too_large(zone, path));
        }
        Ok(side)
    }

    /// The same table in a form that CSV and spreadsheets have in common: rows with tabs between
    /// cells. A single sheet needs no name.
    #[must_use]
    pub fn as_rows(mut self) -> Self {
        let is_heading = |line: &str| line.starts_with("--- ") && line.ends_with(" ---");
        if self.notices.is_empty() {
            self.text = rows(&self.text);
        } else if let Some((_, below)) = self.text.split_once('\n')
            && !below.lines().any(is_heading)
        {
            self.text = below.to_owned();
        }
        self
    }

    /// Compares another side with this one.
    #[must_use]
    pub fn against(&self, revised: &Self, ignores_blanks: bool) -> Comparison {
        compare(&self.text, &revised.text, ignores_blanks, TIME)
    }
}

fn too_large(zone: &Zone<'_>, path: &ZonePath) -> Error {
    let path = path.as_str().to_owned();
    zone.explain(ComparisonError::TooLarge { path }.into())
}

/// The rows of CSV with tabs between their cells.
fn rows(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let count = |delimiter: &char| first.matches(*delimiter).count();
    let delimiter = ['\t', '|', ';', ','].into_iter().max_by_key(count);
    let delimiter = delimiter.unwrap_or(',');
    let (mut rows, mut is_quoted) = (String::with_capacity(text.len()), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                rows.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if rows.is_empty() || rows.ends_with(['\t', '\n']) => is_quoted = true,
            '"' => rows.push('"'),
            '\n' | '\t' if is_quoted => rows.push(' '),
            character if character == delimiter && !is_quoted => rows.push('\t'),
            character => rows.push(character),
        }
    }
    rows
}

diagnostics! {
    /// Two files that are not compared.
    #[derive(Debug, thiserror::Error)]
    pub enum ComparisonError {
        /// One of them has no text.
        #[error("`{path}` has no text to compare")]
        NoText {
            /// The file.
            path: String = "picture.png".to_owned(),
        } => {
            code: InvalidFormat,
            hint: "compare files of text, or documents that have text",
            details: { "path": path },
        },
        /// A version that a zone without history does not have.
        #[error("`{version}` is not a change in `{zone}` that kept an earlier version of `{path}`")]
        NoHistory {
            /// The file.
            path: String = "report.md".to_owned(),
            /// The value received.
            version: String = "HEAD~1".to_owned(),
            /// The zone.
            zone: ZoneName = ZoneName::Storage,
        } => {
            code: InvalidParameter,
            hint: Hint::from(
                NextCall::new("shed_history").with("path", format!("{zone}/{path}")),
            )
            .say(" lists the numbers of the file's changes")
            .or("to compare with another file, name it in to_path"),
            details: { "parameter": "version", "received": version, "zone": zone.as_str() },
        },
        /// No commit has this name.
        #[error("`{version}` is not a commit of this zone")]
        NoCommit {
            /// The file.
            path: String = "report.md".to_owned(),
            /// The value received.
            version: String = "abc1234".to_owned(),
        } => {
            code: InvalidParameter,
            hint: Hint::from(
                NextCall::here("shed_exec")
                    .with("cmd", "git")
                    .with("args", vec!["log", "--oneline", "--", path.as_str()]),
            )
            .say(" lists the commits of the file"),
            details: { "parameter": "version", "received": version },
        },
        /// One of them has too much.
        #[error(
            "`{path}` is too large to compare: the limits are 50 MiB, 2 million characters and \
             50000 lines"
        )]
        TooLarge {
            /// The file.
            path: String = "log.txt".to_owned(),
        } => {
            code: FileTooLarge,
            hint: "compare parts of the files, or use the command `diff`",
            details: { "path": path },
        },
    }
}
