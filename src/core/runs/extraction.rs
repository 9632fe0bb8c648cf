//! The text of documents: what people attach and models cannot read as it is.
//!
//! No parser of a document runs in the server: a file may be made to break it. PDF is read by a
//! command in its jail, everything else by a built-in job in a confined process.

mod error;

use std::fs::File;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::command::{PDF_COMMAND, pdf_text};
use crate::process::{JobBounds, JobEnd, run_job};
use crate::runs::Runs;
use fileshed_extraction::{Kind, Text, extract};
use fileshed_sandbox::{BuiltInJob, PreparedJob};
use fileshed_storage::{DiskError, Entry, Root};
use fileshed_tables::sheets_as_text;
use fileshed_types::Error;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::timings::seconds;
use fileshed_zones::zone::{Zone, ZonePath};

pub use error::DocumentError;

/// Name of the document in the private directory.
const DOCUMENT: &str = "document";

/// The largest document that is read, in bytes.
const LARGEST: u64 = 50 * MEBIBYTE;

/// The most text of a document, in bytes.
const MOST: usize = 4 * MEBIBYTE as usize;

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentText {
    /// Lines; a page, sheet or slide begins with a line such as `--- Page 2 ---`.
    pub text: String,
    /// Whether something is missing at its end.
    pub truncated: bool,
}

/// The text of a file that is a document by its name and its first bytes; nothing where it is none.
pub fn document_text(
    runs: &Runs,
    zone: &Zone<'_>,
    entry: &Entry,
) -> Result<Option<DocumentText>, Error> {
    let name = entry.path().name().unwrap_or_default();
    let Some(reading) = Reading::of(name) else {
        return Ok(None);
    };
    let looked = entry.state_and_beginning();
    let (_, beginning) = looked.map_err(|error| zone.explain_disk(error))?;
    if !reading.begins(&beginning) {
        return Ok(None);
    }
    let path = entry.path().as_str().to_owned();
    let explain = |error: DocumentError| zone.explain(error.into());
    if entry.size() > LARGEST {
        return Err(explain(DocumentError::TooLarge {
            path,
            size: entry.size(),
            limit: LARGEST,
        }));
    }
    match reading {
        Reading::Pdf if !runs.programs().has(PDF_COMMAND) => {
            Err(explain(DocumentError::NoProgram {
                path,
                program: PDF_COMMAND,
            }))
        }
        Reading::Pdf => match pdf_text(runs, zone, entry, MOST)? {
            Ok(pages) => Ok(Some(paged(&pages))),
            Err(reason) => Err(explain(DocumentError::Unreadable { path, reason })),
        },
        Reading::Job(format) => match run(runs, zone, entry, format)? {
            Answer::Text { text, truncated } => Ok(Some(DocumentText { text, truncated })),
            Answer::Unreadable(reason) => Err(explain(DocumentError::Unreadable { path, reason })),
            Answer::TooMuch => Err(explain(DocumentError::TooMuch { path })),
        },
    }
}

/// Whether a file of this name is a document, if its first bytes say so too.
#[must_use]
pub fn may_be_document(name: &str) -> bool {
    Reading::of(name).is_some()
}

/// Who reads a document.
enum Reading {
    Pdf,
    Job(Format),
}

impl Reading {
    fn of(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        Some(match end.to_ascii_lowercase().as_str() {
            "pdf" => Self::Pdf,
            "docx" => Self::Job(Format::Docx),
            "pptx" => Self::Job(Format::Pptx),
            "odt" | "odp" => Self::Job(Format::OpenDocument),
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Self::Job(Format::Sheets),
            _ => return None,
        })
    }

    /// Whether a file that begins so may be one.
    fn begins(&self, bytes: &[u8]) -> bool {
        let old = b"\xd0\xcf\x11\xe0";
        match self {
            Self::Pdf => bytes.windows(4).any(|window| window == b"%PDF"),
            Self::Job(format) => {
                bytes.starts_with(b"PK") || *format == Format::Sheets && bytes.starts_with(old)
            }
        }
    }
}

/// Pages with a line in front of each.
fn paged(bytes: &[u8]) -> DocumentText {
    let truncated = bytes.len() > MOST;
    let whole = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]);
    let mut text = String::with_capacity(whole.len());
    // Every page ends with a form feed.
    let pages = whole.strip_suffix('\u{c}').unwrap_or(&whole);
    for (page, number) in pages.split('\u{c}').zip(1_u64..) {
        text.extend(["--- Page ", &number.to_string(), " ---\n"]);
        let page = page.trim_end();
        if !page.is_empty() {
            text.push_str(page);
            text.push('\n');
        }
    }
    DocumentText { text, truncated }
}

/// Has a confined process read a copy of the document.
fn run(runs: &Runs, zone: &Zone<'_>, entry: &Entry, format: Format) -> Result<Answer, Error> {
    let private = zone.store.private_directory(&zone.tenant)?;
    private.receive(DOCUMENT, &mut entry.open()?)?;
    let work = Work {
        format,
        directory: private.location().to_owned(),
        most: MOST,
    };
    let bounds = JobBounds {
        command: "read_file",
        private: &private,
        changes: false,
        must_end: false,
        output: None,
        // JSON of a text may be six times as long.
        answer: 6 * MOST + 1024,
        time: seconds(zone.store.settings().exec_timeout_default),
        file_size: 0,
    };
    Ok(match run_job(runs, zone, &DOCUMENT_JOB, &work, bounds)? {
        JobEnd::Answered(answer) => answer,
        JobEnd::TooLong | JobEnd::Died => Answer::TooMuch,
    })
}

/// Reads a document in a confined process.
pub const DOCUMENT_JOB: BuiltInJob = BuiltInJob {
    name: "document",
    prepare,
};

/// A document to read.
#[derive(Debug, Serialize, Deserialize)]
struct Work {
    format: Format,
    /// The directory that holds the document, under the name [`DOCUMENT`].
    directory: PathBuf,
    /// Bytes of its text.
    most: usize,
}

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Format {
    Docx,
    Pptx,
    OpenDocument,
    Sheets,
}

/// The outcome of a reading.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Text {
        text: String,
        truncated: bool,
    },
    Unreadable(String),
    /// The process went over one of its limits.
    TooMuch,
}

fn prepare(spec: &str) -> io::Result<Box<dyn PreparedJob>> {
    let gone = |error: DiskError| io::Error::other(error.to_string());
    let work: Work = serde_json::from_str(spec)?;
    let directory = Root::open_ambient(&work.directory).map_err(gone)?;
    let path = ZonePath::found(DOCUMENT.to_owned());
    let document = directory.read(&path).map_err(gone)?;
    Ok(Box::new(DocumentJob { work, document }))
}

struct DocumentJob {
    work: Work,
    document: File,
}

impl PreparedJob for DocumentJob {
    fn read(&self) -> Option<PathBuf> {
        None
    }

    fn write(&self) -> Option<PathBuf> {
        None
    }

    fn run(mut self: Box<Self>) -> String {
        let most = self.work.most;
        let read = match self.work.format {
            Format::Docx => text_of(Kind::Docx, self.document, most),
            Format::Pptx => text_of(Kind::Pptx, self.document, most),
            Format::OpenDocument => text_of(Kind::OpenDocument, self.document, most),
            Format::Sheets => sheets_as_text(&mut self.document, most),
        };
        let answer = match read {
            Ok((text, truncated)) => Answer::Text { text, truncated },
            Err(reason) => Answer::Unreadable(reason.chars().take(200).collect()),
        };
        serde_json::to_string(&answer).unwrap_or_default()
    }
}

fn text_of(kind: Kind, document: File, most: usize) -> Result<(String, bool), String> {
    let mut text = Text::new(most);
    extract(kind, document, &mut text).map_err(|error| error.to_string())?;
    Ok(text.finish())
}
