//! The text and the pictures of a PDF, as `pdftotext` and `pdftoppm` write them: in the jail of every
//! command, which has the document on its standard input and writes to its standard output.

use std::io::{Read, Seek as _};

use super::invocation::{Invocation, Run};
use super::{CommandLine, line};
use crate::process::file_sink;
use crate::runs::Runs;
use fileshed_storage::DiskError;
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// The program that reads text.
pub(crate) const PDF_COMMAND: &str = "pdftotext";

/// The program that makes pictures of pages.
pub(crate) const PICTURE_COMMAND: &str = "pdftoppm";

/// Pixels of the longer side of a picture: more is scaled down before a model sees it.
const PIXELS: &str = "1568";

/// Output of a program, or a line that it said where it failed.
type ProgramOutput = Result<Vec<u8>, String>;

/// Reads the pages of a PDF, apart by form feeds: at most `most` bytes, and one more if there are more;
/// or says why it cannot be read.
pub(crate) fn pdf_text(
    runs: &Runs,
    zone: &Zone<'_>,
    document: &mut dyn Read,
    most: usize,
) -> Result<ProgramOutput, Error> {
    let arguments = ["-enc", "UTF-8", "-", "-"];
    run_on(runs, zone, (PDF_COMMAND, &arguments), document, most)
}

/// Makes a JPEG of a page of a PDF, within the same bounds.
pub(crate) fn pdf_page(
    runs: &Runs,
    zone: &Zone<'_>,
    document: &mut dyn Read,
    page: u64,
    most: usize,
) -> Result<ProgramOutput, Error> {
    let page = page.to_string();
    let arguments = ["-jpeg", "-scale-to", PIXELS, "-f", &page, "-l", &page, "-"];
    run_on(runs, zone, (PICTURE_COMMAND, &arguments), document, most)
}

fn run_on(
    runs: &Runs,
    zone: &Zone<'_>,
    (command, arguments): (&'static str, &[&str]),
    document: &mut dyn Read,
    most: usize,
) -> Result<ProgramOutput, Error> {
    // The plan stands for what runs: a command without a name in the zone, which every zone has.
    let judged = ["document.pdf", "-"].map(str::to_owned);
    let command_line = CommandLine {
        command: PDF_COMMAND,
        arguments: &judged,
        ..CommandLine::default()
    };
    let plan = line::judge(runs, zone, &command_line, None)?;
    let run = Run::new(runs, zone, &command_line, &plan, &zone.data)?;
    let staging = zone.store.staging(&zone.tenant)?;
    let fail = |error| DiskError::of("read", &ZonePath::root(), error);
    let mut input = staging.create()?;
    std::io::copy(document, input.file()).map_err(fail)?;
    let mut written = staging.create()?;
    let output = file_sink(&mut written)?;
    let ran = run.start(Invocation::helper(command, arguments, &input, output))?;
    let ran = run.finish(ran, None, |_| Ok([None; 2]))?;
    if ran.status != 0 {
        // Among what is wrong with its syntax.
        let says = |line: &&str| line.contains("password") || line.contains("page range");
        let mut lines = ran.stderr.lines();
        let said = lines.clone().find(says).or_else(|| lines.next());
        return Ok(Err(match said.unwrap_or_default().trim() {
            "" => format!("{command} ended with status {}", ran.status),
            said => said.chars().take(200).collect(),
        }));
    }
    let mut bytes = Vec::new();
    let file = written.file();
    file.rewind().map_err(fail)?;
    file.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    Ok(Ok(bytes))
}
