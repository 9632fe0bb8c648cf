//! The text of documents: what people attach and models cannot read as it is.
//!
//! No parser of a document runs in the server: a file may be made to break it. PDF is read by a
//! command in its jail, everything else by a built-in job in a confined process.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::command::{PDF_COMMAND, pdf_text};
use crate::process::{JobBounds, JobEnd, run_job};
use crate::runs::Runs;
use fileshed_extraction::{DocumentKind, TextBuilder, extract};
use fileshed_rules::package_of;
use fileshed_sandbox::{BuiltInJob, PreparedJob};
use fileshed_storage::{DiskError, Entry, Root};
use fileshed_tables::sheets_as_text;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::size::human_size;
use fileshed_types::timings::seconds;
use fileshed_types::{Error, Hint, NextCall, diagnostics};
use fileshed_zones::zone::{Zone, ZonePath};

/// Name of the document in the private directory.
const DOCUMENT: &str = "document";

/// The largest document that is read, in bytes.
const LARGEST: u64 = 50 * MEBIBYTE;

/// The most text of a document, in bytes.
const MOST: usize = 4 * MEBIBYTE as usize;

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    let read = match reading {
        Reading::Pdf if !runs.programs.has(PDF_COMMAND) => {
            let program = PDF_COMMAND;
            return Err(explain(DocumentError::NoProgram { path, program }));
        }
        Reading::Pdf => pdf_text(runs, zone, entry, MOST)?.map(|pages| paged(&pages)),
        Reading::Document(_) | Reading::Sheets => match run(runs, zone, entry, name)? {
            JobEnd::Answered(read) => read,
            JobEnd::TooLong | JobEnd::Died => {
                return Err(explain(DocumentError::TooMuch { path }));
            }
        },
    };
    read.map(Some)
        .map_err(|reason| explain(DocumentError::Unreadable { path, reason }))
}

/// Whether a file of this name is a document, if its first bytes say so too.
#[must_use]
pub fn may_be_document(name: &str) -> bool {
    Reading::of(name).is_some()
}

/// Who reads a document.
enum Reading {
    Pdf,
    Document(DocumentKind),
    Sheets,
}

impl Reading {
    fn of(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        Some(match end.to_ascii_lowercase().as_str() {
            "pdf" => Self::Pdf,
            "docx" => Self::Document(DocumentKind::Docx),
            "pptx" => Self::Document(DocumentKind::Pptx),
            "odt" | "odp" => Self::Document(DocumentKind::OpenDocument),
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Self::Sheets,
            _ => return None,
        })
    }

    /// Whether a file that begins so may be one.
    fn begins(&self, bytes: &[u8]) -> bool {
        let old = b"\xd0\xcf\x11\xe0";
        match self {
            Self::Pdf => bytes.windows(4).any(|window| window == b"%PDF"),
            Self::Document(_) => bytes.starts_with(b"PK"),
            Self::Sheets => bytes.starts_with(b"PK") || bytes.starts_with(old),
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

/// The text of a document, or why it cannot be read.
type ExtractionResult = Result<DocumentText, String>;

/// Has a confined process read a copy of the document.
fn run(
    runs: &Runs,
    zone: &Zone<'_>,
    entry: &Entry,
    name: &str,
) -> Result<JobEnd<ExtractionResult>, Error> {
    let private = zone.store.private_directory(&zone.tenant)?;
    private.receive(DOCUMENT, &mut entry.open()?)?;
    let work = ExtractionJob {
        name: name.to_owned(),
        directory: private.location().to_owned(),
    };
    let bounds = JobBounds {
        command: "read_file",
        private: &private,
        changes: false,
        must_end: false,
        output: None,
        // JSON of a text may be six times as long.
        answer: 6 * MOST + 1024,
        time: seconds(zone.store.settings.exec_timeout_default),
        file_size: 0,
    };
    run_job(runs, zone, &DOCUMENT_JOB, &work, bounds)
}

/// Reads a document in a confined process.
pub const DOCUMENT_JOB: BuiltInJob = BuiltInJob {
    name: "document",
    prepare,
};

/// A document to read.
#[derive(Debug, Serialize, Deserialize)]
struct ExtractionJob {
    /// Its name in its zone.
    name: String,
    /// The directory that holds the document, under the name [`DOCUMENT`].
    directory: PathBuf,
}

fn prepare(spec: &str) -> io::Result<PreparedJob> {
    let gone = |error: DiskError| io::Error::other(error.to_string());
    let job: ExtractionJob = serde_json::from_str(spec)?;
    let directory = Root::open_ambient(&job.directory).map_err(gone)?;
    let path = ZonePath::found(DOCUMENT.to_owned());
    let document = directory.read(&path).map_err(gone)?;
    Ok(PreparedJob {
        read: None,
        write: None,
        work: Box::new(move || {
            let answer: ExtractionResult = text_of(&job.name, document)
                .map(|(text, truncated)| DocumentText { text, truncated })
                .map_err(|reason| reason.chars().take(200).collect());
            serde_json::to_string(&answer).unwrap_or_default()
        }),
    })
}

fn text_of(name: &str, mut document: File) -> Result<(String, bool), String> {
    match Reading::of(name) {
        Some(Reading::Document(kind)) => {
            let mut text = TextBuilder::new(MOST);
            extract(kind, document, &mut text).map_err(|error| error.to_string())?;
            Ok(text.finish())
        }
        Some(Reading::Sheets) => sheets_as_text(&mut document, MOST),
        Some(Reading::Pdf) | None => Err("it is no document of this job".to_owned()),
    }
}

diagnostics! {
    /// A document that has no text for anybody.
    #[derive(Debug, thiserror::Error)]
    pub enum DocumentError {
        /// It is broken, or encrypted, or something else.
        #[error("the text of `{path}` cannot be read: {reason}")]
        Unreadable {
            /// The document.
            path: String = "report.docx".to_owned(),
            /// Why not.
            reason: String = "it is no archive that can be read".to_owned(),
        } => {
            code: InvalidFormat,
            hint: Hint::new("see what it is with the command `")
                .commands(["file"])
                .say("`")
                .instead("see what it is with shed_file_type")
                .or("a document that needs a password must be saved without it"),
            details: { "path": path, "reason": reason },
        },
        /// It has more bytes than are read.
        #[error("`{path}` has {}, a document may have {}", human_size(*size), human_size(*limit))]
        TooLarge {
            /// The document.
            path: String = "report.pdf".to_owned(),
            /// Its bytes.
            size: u64 = 60 << 20,
            /// The most.
            limit: u64 = 50 << 20,
        } => {
            code: FileTooLarge,
            hint: Hint::new("take a part of it with a command: ")
                .commands(["pdftotext"])
                .say(" takes a range of pages"),
            details: { "path": path, "size": size, "limit": limit },
        },
        /// This server has no program that reads it.
        #[error(
            "`{path}` is a PDF, and `{program}`, which reads it, is not installed on this server; the \
                Debian package `{}` has it",
            package_of(program)
        )]
        NoProgram {
            /// The document.
            path: String = "report.pdf".to_owned(),
            /// The program.
            program: &'static str = "pdftotext",
        } => {
            code: UnsupportedFileType,
            hint: Hint::from(NextCall::here("shed_hexdump").with("path", path.as_str()))
                .say(" shows its bytes")
                .or("an administrator installs the package"),
            details: { "path": path, "program": program, "package": package_of(program) },
        },
        /// Reading it takes more memory or time than there is.
        #[error("reading the text of `{path}` took more memory or time than it may")]
        TooMuch {
            /// The document.
            path: String = "report.xlsx".to_owned(),
        } => {
            code: ExecError,
            hint: "save it with less in it, or read a part of it with a command",
            details: { "path": path },
        },
    }
}
