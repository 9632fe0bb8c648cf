//! The text of a PDF, as `pdftotext` writes it: in the jail of every command, which has the document
//! on its standard input and writes to its standard output.

use std::io::{Read as _, Seek as _};

use super::invocation::{Invocation, Run};
use super::{CommandLine, line};
use crate::process::file_sink;
use crate::runs::Runs;
use fileshed_storage::{DiskError, Entry};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// The program.
pub(crate) const PDF_COMMAND: &str = "pdftotext";

/// Reads the pages of a PDF, apart by form feeds: at most `most` bytes, and one more if there are more;
/// or says why it cannot be read.
pub(crate) fn pdf_text(
    runs: &Runs,
    zone: &Zone<'_>,
    document: &Entry,
    most: usize,
) -> Result<Result<Vec<u8>, String>, Error> {
    // The plan stands for what runs: the same command without a name in the zone.
    let arguments = ["document.pdf", "-"].map(str::to_owned);
    let command_line = CommandLine {
        command: PDF_COMMAND,
        arguments: &arguments,
        ..CommandLine::default()
    };
    let plan = line::judge(runs, zone, &command_line, None)?;
    let run = Run::new(runs, zone, &command_line, &plan, &zone.data)?;
    let staging = zone.store.staging(&zone.tenant)?;
    let fail = |error| DiskError::of("read", &ZonePath::root(), error);
    let mut input = staging.create()?;
    std::io::copy(&mut document.open()?, input.file()).map_err(fail)?;
    let mut text = staging.create()?;
    let output = file_sink(&mut text)?;
    let arguments = ["-q", "-enc", "UTF-8", "-", "-"];
    let ran = run.start(Invocation::helper(PDF_COMMAND, &arguments, &input, output))?;
    let ran = run.finish(ran, None, |_| Ok([None; 2]))?;
    if ran.status != 0 {
        let first = ran.stderr.lines().next().unwrap_or_default().trim();
        return Ok(Err(match first {
            "" => format!("{PDF_COMMAND} ended with status {}", ran.status),
            said => said.chars().take(200).collect(),
        }));
    }
    let mut pages = Vec::new();
    let file = text.file();
    file.rewind().map_err(fail)?;
    file.take(most as u64 + 1)
        .read_to_end(&mut pages)
        .map_err(fail)?;
    Ok(Ok(pages))
}
