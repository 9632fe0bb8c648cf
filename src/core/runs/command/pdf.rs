//! The text and the pictures of a PDF, as `pdftotext` and `pdftoppm` write them: in the jail of every
//! command, which has the document on its standard input and writes to its standard output.

use std::io::{Read, Seek as _};

use super::filter;
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
    let fail = |error| DiskError::of("read", &ZonePath::root(), error);
    let mut input = zone.store.staging(&zone.tenant)?.create()?;
    std::io::copy(document, input.file()).map_err(fail)?;
    let judged = (PDF_COMMAND, ["document.pdf", "-"].as_slice());
    let written = filter(runs, zone, command, judged, arguments, &input)?;
    let mut written = match written {
        Ok(written) => written,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut bytes = Vec::new();
    let file = written.file();
    file.rewind().map_err(fail)?;
    file.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    Ok(Ok(bytes))
}
