//! Reading a document as a job for the sandbox.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::zone::ZonePath;
use fileshed_extraction::{Kind, Text, extract};
use fileshed_sandbox::{BuiltInJob, Job, PreparedJob};
use fileshed_storage::{DiskError, Root};
use fileshed_tables::sheets_as_text;

/// Name of the job.
const NAME: &str = "document";

/// Name of the document in the private directory.
pub(super) const DOCUMENT: &str = "document";

/// What the server's binary does in a confined process.
pub const DOCUMENT_JOB: BuiltInJob = BuiltInJob {
    name: NAME,
    prepare,
};

/// What to read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub(super) format: Format,
    /// Where the document lies, under the name [`DOCUMENT`].
    pub(super) directory: PathBuf,
    /// Bytes of its text.
    pub(super) most: usize,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Format {
    Docx,
    Pptx,
    OpenDocument,
    Sheets,
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Text {
        text: String,
        truncated: bool,
    },
    Unreadable(String),
    /// The process went over one of its limits.
    TooMuch,
}

impl Work {
    /// The job that does this.
    pub(super) fn job(&self) -> io::Result<Job> {
        Ok(Job::BuiltIn {
            name: NAME.to_owned(),
            spec: serde_json::to_string(self)?,
        })
    }
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
