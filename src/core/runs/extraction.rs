//! The text of documents: what people attach and models cannot read as it is.
//!
//! No parser of a document runs in the server: a file may be made to break it. PDF is read by a
//! command in its jail, everything else by a built-in job in a confined process.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use serde::{Deserialize, Serialize};

use crate::command::{PDF_COMMAND, PICTURE_COMMAND, pdf_page, pdf_text, recognise_page};
use crate::process::{JobEnd, prepare_copy_job, run_copy_job};
use crate::programs::RECOGNITION_COMMAND;
use crate::runs::Runs;
use fileshed_extraction::{DocumentKind, LineRole, TextBuilder, extract, is_encrypted};
use fileshed_rules::package_of;
use fileshed_sandbox::BuiltInJob;
use fileshed_storage::{DiskError, Entry};
use fileshed_tables::{ENCRYPTED, sheets_as_text};
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::size::human_size;
use fileshed_types::timings::seconds;
use fileshed_types::{Error, Hint, NextCall, diagnostics};
use fileshed_zones::zone::{Zone, ZonePath};

/// The largest document that is read, in bytes.
const LARGEST: u64 = 50 * MEBIBYTE;

/// The most text of a document, in bytes.
const MOST: usize = 4 * MEBIBYTE as usize;

/// The most text of one that is laid out.
const LAID_OUT: usize = MEBIBYTE as usize;

/// The largest picture of a page, in bytes.
const PICTURE_MOST: usize = 8 * MEBIBYTE as usize;

/// The most pages of a document whose text is recognised in pictures.
const RECOGNISED: usize = 10;

/// Bytes at the beginning of a file that show whether it is a document.
const BEGINNING: u64 = 1024;

/// The text of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// Lines; a page, sheet or slide begins with a line such as `--- Page 2 ---`.
    pub text: String,
    /// `true` if something is missing at its end.
    pub truncated: bool,
    /// The first page that has no text, of a document whose pages can be seen as pictures.
    pub page_without_text: Option<u64>,
    /// The lines that are more than text, each with its number from 0, of a text that is laid out.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub roles: Vec<(usize, LineRole)>,
}

impl DocumentText {
    /// The text, with a last line that says so if it is cut.
    #[must_use]
    pub fn shown(self) -> String {
        if self.truncated {
            self.text + "\n[cut: the document has more text]\n"
        } else {
            self.text
        }
    }
}

/// The text of a file; `None` if the file is not a document.
type DocumentResult = Result<Option<DocumentText>, Error>;

/// A file that may be a document, wherever it is stored.
pub struct DocumentSource<'s> {
    /// Its path in messages, which ends with its name.
    pub path: &'s str,
    /// Its bytes.
    pub size: u64,
    /// Its text.
    pub content: &'s mut dyn Read,
}

/// Returns the text of a file that is a document by its name and its first bytes; `None` if it is not one.
pub fn document_text(runs: &Runs, zone: &Zone<'_>, entry: &Entry) -> DocumentResult {
    text_of_entry(runs, zone, entry, false, &mut |_| Ok(String::new()))
}

/// The beginning of the text of a document, and what its lines are; a file that is none is refused.
pub fn laid_out_text(runs: &Runs, zone: &Zone<'_>, entry: &Entry) -> Result<DocumentText, Error> {
    let text = text_of_entry(runs, zone, entry, true, &mut |_| Ok(String::new()))?;
    text.ok_or_else(|| {
        let path = entry.path().as_str().to_owned();
        let reason = "it is no document".to_owned();
        zone.explain(DocumentError::Unreadable { path, reason }.into())
    })
}

/// The same with a text for the first pages of a PDF that have none: it is recognised in their pictures,
/// where `tesseract` is installed.
pub fn recognised_text(runs: &Runs, zone: &Zone<'_>, entry: &Entry) -> DocumentResult {
    let can_recognise = [PICTURE_COMMAND, RECOGNITION_COMMAND].map(|name| runs.programs.has(name));
    let mut left = if can_recognise == [true; 2] {
        RECOGNISED
    } else {
        0
    };
    let clock = &zone.store.clock;
    let deadline = clock.instant() + seconds(zone.store.settings.exec_timeout_default);
    let mut languages = None;
    text_of_entry(runs, zone, entry, false, &mut |page| {
        if left == 0 || clock.is_past(deadline) {
            return Ok(String::new());
        }
        left -= 1;
        let mut document = entry.open().map_err(|error| zone.explain_disk(error))?;
        let picture = (page, PICTURE_MOST);
        match recognise_page(runs, zone, &mut document, picture, &mut languages) {
            Ok(Ok(text)) => Ok(String::from_utf8_lossy(&text).into()),
            Ok(Err(_)) => Ok(String::new()),
            Err(error) if zone.caller.cancellation.is_cancelled() => Err(error),
            // A page that takes too much is seen as a picture, and the text of the others is there.
            Err(_) => {
                left = 0;
                Ok(String::new())
            }
        }
    })
}

fn text_of_entry(
    runs: &Runs,
    zone: &Zone<'_>,
    entry: &Entry,
    is_laid_out: bool,
    recognise: Recognition<'_>,
) -> DocumentResult {
    if !entry.path().name().is_some_and(may_be_document) {
        return Ok(None);
    }
    let mut file = entry.open().map_err(|error| zone.explain_disk(error))?;
    let source = DocumentSource {
        path: entry.path().as_str(),
        size: entry.size(),
        content: &mut file,
    };
    read_source(runs, zone, source, is_laid_out, recognise)
}

/// Returns the text of a file that is a document, read by processes of `zone`; `None` if it is not one.
pub fn text_of_source(runs: &Runs, zone: &Zone<'_>, source: DocumentSource<'_>) -> DocumentResult {
    read_source(runs, zone, source, false, &mut |_| Ok(String::new()))
}

/// Callback that returns the text of a page that has none; empty if it cannot be recognised.
type Recognition<'r> = &'r mut dyn FnMut(u64) -> Result<String, Error>;

fn read_source(
    runs: &Runs,
    zone: &Zone<'_>,
    source: DocumentSource<'_>,
    is_laid_out: bool,
    recognise: Recognition<'_>,
) -> DocumentResult {
    let (path, size) = (source.path.to_owned(), source.size);
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some(reading) = Reading::of(name) else {
        return Ok(None);
    };
    let (mut beginning, content) = (Vec::new(), source.content);
    let read = Read::take(&mut *content, BEGINNING).read_to_end(&mut beginning);
    read.map_err(|error| zone.explain_disk(DiskError::of("read", &ZonePath::root(), error)))?;
    if !reading.begins(&beginning) {
        return Ok(None);
    }
    let explain = |error: DocumentError| zone.explain(error.into());
    if size > LARGEST {
        let limit = LARGEST;
        return Err(explain(DocumentError::TooLarge { path, size, limit }));
    }
    let mut content = beginning.as_slice().chain(content).take(LARGEST);
    let read = match reading {
        Reading::Pdf if !runs.programs.has(PDF_COMMAND) => {
            let program = PDF_COMMAND;
            return Err(explain(DocumentError::NoProgram { path, program }));
        }
        Reading::Pdf => match pdf_text(runs, zone, &mut content, MOST)? {
            Ok(pages) => Ok(paged(&pages, recognise)?),
            Err(said) => Err(fault_of_program(said)),
        },
        Reading::Document(_) | Reading::Sheets => {
            let job = (&DOCUMENT_JOB, "read_file");
            let time = seconds(zone.store.settings.exec_timeout_default);
            // JSON of a text may be six times as long.
            let bounds = (time, 6 * MOST + 1024);
            match run_copy_job(runs, zone, job, &mut content, (name, is_laid_out), bounds)? {
                JobEnd::Answered(read) => read,
                JobEnd::TooLong | JobEnd::Died => {
                    return Err(explain(DocumentError::TooMuch { path }));
                }
            }
        }
    };
    read.map(Some)
        .map_err(|reason| explain(DocumentError::of(path, reason)))
}

/// A page of a PDF as a JPEG.
pub fn page_picture(
    runs: &Runs,
    zone: &Zone<'_>,
    entry: &Entry,
    page: u64,
) -> Result<Vec<u8>, Error> {
    let path = entry.path().as_str().to_owned();
    let explain = |error: DocumentError| zone.explain(error.into());
    let pdf = entry.begins_with(b"%PDF");
    if !pdf.map_err(|error| zone.explain_disk(error))? {
        return Err(explain(DocumentError::NoPages { path }));
    }
    let program = PICTURE_COMMAND;
    if !runs.programs.has(program) {
        return Err(explain(DocumentError::NoProgram { path, program }));
    }
    let mut content = entry.open().map_err(|error| zone.explain_disk(error))?;
    let picture = pdf_page(runs, zone, &mut content, page, PICTURE_MOST)?;
    let is_there = |bytes: &Vec<u8>| !bytes.is_empty() && bytes.len() <= PICTURE_MOST;
    let error = match picture.map_err(fault_of_program) {
        Ok(bytes) if is_there(&bytes) => return Ok(bytes),
        Err(reason) if !reason.contains("page range") => DocumentError::of(path, reason),
        _ => DocumentError::NoPage { path, page },
    };
    Err(explain(error))
}

/// Returns `true` if a file of this name is a document, provided that its first bytes agree.
#[must_use]
pub fn may_be_document(name: &str) -> bool {
    Reading::of(name).is_some()
}

/// Reader of a document, chosen by the end of its name.
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
            "epub" => Self::Document(DocumentKind::Epub),
            "rtf" => Self::Document(DocumentKind::Rtf),
            "eml" => Self::Document(DocumentKind::Mail),
            "zip" => Self::Document(DocumentKind::Zip),
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Self::Sheets,
            _ => return None,
        })
    }

    /// Returns `true` if a file with these first bytes may be one.
    fn begins(&self, bytes: &[u8]) -> bool {
        // A document of Microsoft's that is old, or encrypted.
        let is_compound = bytes.starts_with(b"\xd0\xcf\x11\xe0");
        match self {
            Self::Pdf => bytes.windows(4).any(|window| window == b"%PDF"),
            Self::Document(DocumentKind::Rtf) => bytes.starts_with(b"{\\rtf"),
            Self::Document(DocumentKind::Mail) => {
                let line = bytes
                    .split(|byte| *byte == b'\n')
                    .next()
                    .unwrap_or_default();
                line.contains(&b':') && !bytes.contains(&0)
            }
            Self::Document(_) | Self::Sheets => bytes.starts_with(b"PK") || is_compound,
        }
    }
}

/// Pages with a line in front of each.
fn paged(bytes: &[u8], recognise: Recognition<'_>) -> Result<DocumentText, Error> {
    let truncated = bytes.len() > MOST;
    let whole = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]);
    let mut text = String::with_capacity(whole.len());
    // Every page ends with a form feed.
    let pages = whole.strip_suffix('\u{c}').unwrap_or(&whole);
    let count = pages.split('\u{c}').count();
    let mut page_without_text = None;
    for (page, number) in pages.split('\u{c}').zip(1_u64..) {
        text.extend(["--- Page ", &number.to_string(), " ---\n"]);
        let page = page.trim_end();
        if page.trim().is_empty() {
            page_without_text.get_or_insert(number);
            let recognised = recognise(number)?;
            let _written = match recognised.trim() {
                "" => write!(
                    text,
                    "[page {number} of {count} has no text: read it as an image]"
                ),
                recognised => write!(
                    text,
                    "[page {number} of {count} is an image: its text was recognised and may have \
                     errors]\n{recognised}"
                ),
            };
        } else {
            text.push_str(page);
        }
        text.push('\n');
    }
    Ok(DocumentText {
        text,
        truncated,
        page_without_text,
        roles: Vec::new(),
    })
}

/// The fault of a document of which a program for PDF speaks.
fn fault_of_program(said: String) -> String {
    if said.contains("password") {
        ENCRYPTED.to_owned()
    } else {
        said
    }
}

/// Reads a document in a confined process. The parameters are its name in its zone, and whether the roles of
/// its lines are reported, too.
pub const DOCUMENT_JOB: BuiltInJob = BuiltInJob {
    name: "document",
    prepare: |spec| prepare_copy_job(spec, text_of),
};

/// The text of a document, or why it cannot be read.
fn text_of(
    (name, is_laid_out): (String, bool),
    mut document: File,
) -> Result<DocumentText, String> {
    let unreadable = |reason: String| -> String { reason.chars().take(200).collect() };
    let mut roles = Vec::new();
    let (text, truncated) = match Reading::of(&name) {
        Some(Reading::Document(kind)) => {
            let encrypted = is_encrypted(&mut document);
            if encrypted.map_err(|error| unreadable(error.to_string()))? {
                return Err(ENCRYPTED.to_owned());
            }
            let mut text = TextBuilder::new(if is_laid_out { LAID_OUT } else { MOST });
            let read = extract(kind, document, &mut text);
            read.map_err(|error| unreadable(error.to_string()))?;
            if is_laid_out {
                roles = text.roles();
            }
            text.finish()
        }
        Some(Reading::Sheets) => sheets_as_text(&mut document, MOST).map_err(unreadable)?,
        Some(Reading::Pdf) | None => return Err("it is no document of this job".to_owned()),
    };
    Ok(DocumentText {
        text,
        truncated,
        page_without_text: None,
        roles,
    })
}

impl DocumentError {
    /// A document that cannot be read for this reason.
    fn of(path: String, reason: String) -> Self {
        match reason.as_str() {
            ENCRYPTED => Self::Encrypted { path },
            _ => Self::Unreadable { path, reason },
        }
    }
}

diagnostics! {
    /// A document that has no text for anybody.
    #[derive(Debug, thiserror::Error)]
    pub enum DocumentError {
        /// It needs a password.
        #[error("`{path}` is encrypted and cannot be read without its password")]
        Encrypted {
            /// The document.
            path: String = "report.docx".to_owned(),
        } => {
            code: InvalidFormat,
            hint: "tell the user to save it without a password and to upload that copy",
            details: { "path": path, "encrypted": true },
        },
        /// It is no PDF, and only a PDF has pages that can be seen.
        #[error("`{path}` has no pages to show as images: it is not a PDF")]
        NoPages {
            /// The file.
            path: String = "report.docx".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "leave `page` out to read its text",
            details: { "parameter": "page", "path": path },
        },
        /// The PDF has fewer pages, or one that is too large.
        #[error("page {page} of `{path}` cannot be shown as an image")]
        NoPage {
            /// The document.
            path: String = "report.pdf".to_owned(),
            /// The page.
            page: u64 = 99,
        } => {
            code: InvalidParameter,
            hint: Hint::new("its text has a line for each page: ")
                .call(NextCall::here("shed_read").with("path", path.as_str())),
            details: { "parameter": "page", "received": page, "path": path },
        },
        /// It is broken, or something else.
        #[error("the text of `{path}` cannot be read: {reason}")]
        Unreadable {
            /// The document.
            path: String = "report.docx".to_owned(),
            /// The reason.
            reason: String = "it is not a readable archive".to_owned(),
        } => {
            code: InvalidFormat,
            hint: Hint::new("identify its format with the command `")
                .commands(["file"])
                .say("`")
                .instead("identify its format with shed_file_type"),
            details: { "path": path, "reason": reason },
        },
        /// It has more bytes than are read.
        #[error(
            "`{path}` has {}; the limit for documents is {}",
            human_size(*size), human_size(*limit)
        )]
        TooLarge {
            /// The document.
            path: String = "report.pdf".to_owned(),
            /// Its bytes.
            size: u64 = 60 << 20,
            /// The most.
            limit: u64 = 50 << 20,
        } => {
            code: FileTooLarge,
            hint: if matches!(Reading::of(path), Some(Reading::Document(DocumentKind::Zip))) {
                Hint::from(NextCall::here("shed_zipinfo").with("path", path.as_str()))
                    .say(" lists it")
                    .instead("list it with the command `unzip -l`")
            } else {
                Hint::new("take a part of it with a command: ")
                    .commands(["pdftotext"])
                    .say(" takes a range of pages")
            },
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
        /// A search had read as many documents as it may.
        #[error("the documents of this search exceeded the limit of time or memory")]
        NoTime => {
            code: ExecError,
            hint: "search in a part of the directory",
        },
        /// Reading it takes more memory or time than there is.
        #[error("reading the text of `{path}` exceeded the limit of memory or time")]
        TooMuch {
            /// The document.
            path: String = "report.xlsx".to_owned(),
        } => {
            code: ExecError,
            hint: "split the document, or read a part of it with a command",
            details: { "path": path },
        },
    }
}
