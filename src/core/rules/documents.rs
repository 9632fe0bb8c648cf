//! pandoc, and the tools of poppler: the files that they name by themselves.
//!
//! For a PDF pandoc makes a page and has another program print it, which its jail does not start. So
//! the server does both, one after the other: pandoc writes the page to standard output.

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::ArgumentRole;
use super::tokenizer::Token;
use fileshed_types::zone::ZoneName;

/// Program that makes PDFs of pages.
const ENGINE: &str = "weasyprint";

/// Formats of a page.
const PAGES: [&str; 4] = ["pdf", "html", "html4", "html5"];

/// Checks the arguments of pandoc.
pub(super) fn pandoc(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = checker.rule;
    let mut line = checker.tokenize(&rule.syntax, args)?;
    if let Some(engine) = line.take("pdf-engine")
        && engine != ENGINE
    {
        let hint = "leave --pdf-engine out";
        return Err(checker.refuse_with(engine, "only weasyprint makes PDFs here", hint));
    }
    let is_pdf = |path: &&str| path.len() > 4 && path.to_ascii_lowercase().ends_with(".pdf");
    match (line.value("output").filter(is_pdf), line.value("to")) {
        (None, Some("pdf")) => Err(checker.refuse_with(
            "pdf",
            "a PDF needs a file name: it cannot be shown as text",
            "leave the format out and name the file: args=[…, \"-o\", \"document.pdf\"]",
        )),
        (None, _) => checker.check_line(&rule.syntax, &line),
        (Some(_), Some(format)) if !PAGES.contains(&format) => Err(checker.refuse_with(
            format,
            "a PDF is made from HTML",
            "leave the format out; the extension `.pdf` selects the format".to_owned(),
        )),
        (Some(path), _) => {
            line.take("output");
            line.take("to");
            checker.printed(path)?;
            for word in ["-s", "-t", "html5"] {
                checker.fixed(word);
            }
            checker.check_line(&rule.syntax, &line)
        }
    }
}

/// Checks the arguments of pdftotext. Without a place for the text it goes into a file beside the
/// document, as the program has it, and in the read-only zone into the answer.
pub(super) fn pdftotext(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = checker.rule;
    let line = checker.tokenize(&rule.syntax, args)?;
    let mut operands = line.tokens.iter().filter_map(|token| match token {
        Token::Operand(word) => Some(*word),
        _ => None,
    });
    let only = operands.next().filter(|_| operands.next().is_none());
    checker.check_line(&rule.syntax, &line)?;
    match only {
        None => Ok(()),
        Some(_) if checker.context.zone == ZoneName::Uploads => {
            checker.operand(ArgumentRole::Write, "-")
        }
        Some(document) => {
            let stem = document
                .strip_suffix(".pdf")
                .or_else(|| document.strip_suffix(".PDF"));
            let file = format!("{}.txt", stem.unwrap_or(document));
            checker.operand(ArgumentRole::Write, &file)
        }
    }
}

/// Checks the arguments of pdftoppm and pdfimages, whose pictures need a name.
pub(super) fn pdf_pictures(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = checker.rule;
    let line = checker.tokenize(&rule.syntax, args)?;
    let tells = |word: &str| matches!(word, "-list" | "-v" | "-h" | "-help" | "--help");
    if line.operands() < 2 && !args.iter().any(|word| tells(word)) {
        return Err(checker.required(
            "the beginning of the names that the pictures get",
            "add the beginning of those names to `args`, such as page",
        ));
    }
    checker.check_line(&rule.syntax, &line)
}
