//! Programs that read a document on standard input and write another on standard output: in the jail of
//! every command, without a file of their own. `pdftotext`, `pdftoppm` and `tesseract` make the text and
//! the pictures of a PDF in this way.

use std::io::{Read, Seek as _};

use super::invocation::{Invocation, Run};
use super::{CommandLine, line};
use crate::process::file_sink;
use crate::programs::RECOGNITION_COMMAND;
use crate::runs::Runs;
use fileshed_storage::{DiskError, Staged};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// The program that reads text.
pub(crate) const PDF_COMMAND: &str = "pdftotext";

/// The program that makes pictures of pages.
pub(crate) const PICTURE_COMMAND: &str = "pdftoppm";

/// Pixels of the longer side of a picture: more is scaled down before a model sees it.
const PIXELS: &str = "1568";

/// Pixels of the longer side of a picture whose text is recognised: about 210 an inch of A4.
const PIXELS_TO_RECOGNISE: &str = "2480";

/// Most languages in which a text is recognised.
const LANGUAGES: usize = 4;

/// Runs `command` with these arguments on `input`. Returns its output, or why it failed. `judged` is a
/// command without a name in the zone, which stands for what runs: every zone has it.
pub(crate) fn filter(
    runs: &Runs,
    zone: &Zone<'_>,
    command: &'static str,
    (judged, words): (&'static str, &[&str]),
    arguments: &[&str],
    input: &Staged,
) -> Result<Result<Staged, String>, Error> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let command_line = CommandLine {
        command: judged,
        arguments: &words,
        ..CommandLine::default()
    };
    let plan = line::judge(runs, zone, &command_line, None)?;
    let run = Run::new(runs, zone, &command_line, &plan, &zone.data)?;
    let mut output = zone.store.staging(&zone.tenant)?.create()?;
    let sink = file_sink(&mut output)?;
    let ran = run.start(Invocation::helper(command, arguments, input, sink))?;
    let ran = run.finish(ran, None, |_| Ok([None; 2]))?;
    if ran.status != 0 {
        // Among what is wrong with the syntax of a document.
        let says = |line: &&str| line.contains("password") || line.contains("page range");
        let mut lines = ran.stderr.lines();
        let said = lines.clone().find(says).or_else(|| lines.next());
        return Ok(Err(match said.unwrap_or_default().trim() {
            "" => format!("{command} ended with status {}", ran.status),
            said => said.chars().take(200).collect(),
        }));
    }
    Ok(Ok(output))
}

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

/// Recognises the text of a page of a PDF in a picture of at most so many bytes. `languages` has those of the
/// page before, or gets those that there are.
pub(crate) fn recognise_page(
    runs: &Runs,
    zone: &Zone<'_>,
    document: &mut dyn Read,
    (page, most): (u64, usize),
    languages: &mut Option<String>,
) -> Result<ProgramOutput, Error> {
    let page = page.to_string();
    let arguments = ["-jpeg", "-gray", "-scale-to", PIXELS_TO_RECOGNISE];
    let arguments = [&arguments, ["-f", &page, "-l", &page, "-"].as_slice()].concat();
    let picture = match run_on(runs, zone, (PICTURE_COMMAND, &arguments), document, most)? {
        Ok(picture) => picture,
        Err(reason) => return Ok(Err(reason)),
    };
    if languages.is_none() {
        let list = (RECOGNITION_COMMAND, ["--list-langs"].as_slice());
        match run_on(runs, zone, list, &mut std::io::empty(), most)? {
            Ok(listed) => *languages = Some(languages_of(&String::from_utf8_lossy(&listed))),
            Err(reason) => return Ok(Err(reason)),
        }
    }
    let languages = languages.as_deref().unwrap_or_default();
    let arguments = ["-", "-", "-l", languages];
    let recognise = (RECOGNITION_COMMAND, arguments.as_slice());
    run_on(runs, zone, recognise, &mut picture.as_slice(), most)
}

/// The languages that `tesseract` lists below a line of its own, as it takes them.
fn languages_of(listed: &str) -> String {
    // `osd` finds the direction of a text, and a name with a slash is a script.
    let is_language = |name: &&str| *name != "osd" && !name.contains('/');
    let names = listed.lines().skip(1).filter(is_language);
    names.take(LANGUAGES).collect::<Vec<_>>().join("+")
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
