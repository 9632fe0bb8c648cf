//! The text of a PDF, as `pdftotext` writes it: in the jail of every command, which has the document
//! on its standard input and writes to its standard output.

use std::io::{Read as _, Seek as _};

use super::invocation::{Invocation, Run};
use super::{CommandLine, line};
use crate::Error;
use crate::process::file_sink;
use crate::zone::{Zone, ZonePath};
use fileshed_sandbox::Sink;
use fileshed_storage::{DiskError, Entry};

/// The program.
pub(crate) const PDF_COMMAND: &str = "pdftotext";

/// Bytes of what it says.
const COMPLAINTS: usize = 4096;

/// What came of it.
pub(crate) enum PdfText {
    /// Its pages, apart by form feeds; at most so many bytes, and one more if there are more.
    Pages(Vec<u8>),
    /// It is none that can be read.
    Unreadable(String),
}

/// Reads the pages of a PDF.
pub(crate) fn pdf_text(zone: &Zone<'_>, document: &Entry, most: usize) -> Result<PdfText, Error> {
    // What is judged stands for what runs: the same command without a name in the zone.
    let arguments = ["document.pdf", "-"].map(str::to_owned);
    let command_line = CommandLine {
        command: PDF_COMMAND,
        arguments: &arguments,
        ..CommandLine::default()
    };
    let plan = line::judge(zone, &command_line, None)?;
    let run = Run::new(zone, &command_line, &plan, zone.data())?;
    let staging = zone.store.staging(&zone.tenant)?;
    let fail = |error| DiskError::of("read", &ZonePath::root(), error);
    let mut input = staging.create()?;
    std::io::copy(&mut document.open()?, input.file()).map_err(fail)?;
    let mut text = staging.create()?;
    let sinks = (file_sink(&mut text)?, Sink::Answer(COMPLAINTS));
    let outcome = run.start(Invocation {
        arguments: ["-q", "-enc", "UTF-8", "-", "-"]
            .map(str::to_owned)
            .to_vec(),
        input: Some(&input),
        writes: false,
        ..run.invocation(sinks)
    })?;
    let ran = run.finish(outcome)?;
    if ran.status != 0 {
        let first = ran.stderr.lines().next().unwrap_or_default().trim();
        let reason = match first {
            "" => format!("{PDF_COMMAND} ended with status {}", ran.status),
            said => said.chars().take(200).collect(),
        };
        return Ok(PdfText::Unreadable(reason));
    }
    let mut pages = Vec::new();
    let file = text.file();
    file.rewind().map_err(fail)?;
    file.take(most as u64 + 1)
        .read_to_end(&mut pages)
        .map_err(fail)?;
    Ok(PdfText::Pages(pages))
}
