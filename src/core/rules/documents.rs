//! pandoc, and the tools of poppler: the files that they name by themselves.
//!
//! For a PDF pandoc makes a page and has another program print it, which its jail does not start. So
//! the server does both, one after the other: pandoc writes the page to standard output.

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::ArgumentRole;
use super::tokenizer::Token;
use fileshed_types::zone::ZoneName;

/// What prints pages.
const ENGINE: &str = "weasyprint";

/// Formats of a page.
const PAGES: [&str; 4] = ["pdf", "html", "html4", "html5"];

const OUTPUTS: [&str; 2] = ["o", "output"];
const FORMATS: [&str; 4] = ["t", "to", "w", "write"];

/// Checks the arguments of pandoc.
pub(super) fn pandoc(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = checker.rule;
    let mut line = checker.tokenize(&rule.syntax, args)?;
    let engine = option(&line.tokens, &["pdf-engine"]);
    if let Some(engine) = engine {
        expect_engine(checker, engine.value)?;
        line.tokens.drain(engine.first..=engine.last);
    }
    let is_pdf = |path: &str| path.len() > 4 && path.to_ascii_lowercase().ends_with(".pdf");
    let output = option(&line.tokens, &OUTPUTS);
    let format = option(&line.tokens, &FORMATS);
    let Some(output) = output.filter(|output| is_pdf(output.value)) else {
        return match format {
            Some(format) if format.value == "pdf" => Err(checker.refuse_with(
                "pdf",
                "a PDF needs a name: it is no text for the answer",
                "leave the format out and name the file: args=[…, \"-o\", \"document.pdf\"]"
                    .to_owned(),
            )),
            _ => checker.check_line(&rule.syntax, &line),
        };
    };
    if let Some(format) = &format
        && !PAGES.contains(&format.value)
    {
        return Err(checker.refuse_with(
            format.value,
            "a PDF is printed from a page",
            "leave the format out; the end of the name, `.pdf`, says what is made".to_owned(),
        ));
    }
    let mut gone = vec![output.first..=output.last];
    gone.extend(format.map(|format| format.first..=format.last));
    gone.sort_by_key(|tokens| std::cmp::Reverse(*tokens.start()));
    for tokens in gone {
        line.tokens.drain(tokens);
    }
    checker.printed(output.value)?;
    for word in ["-s", "-t", "html5"] {
        checker.fixed(word);
    }
    checker.check_line(&rule.syntax, &line)
}

/// Another engine is asked for, which is not here.
fn expect_engine(checker: &Checker<'_>, engine: &str) -> Result<(), CommandError> {
    if engine == ENGINE {
        return Ok(());
    }
    Err(checker.refuse_with(
        engine,
        "PDFs are made by weasyprint alone",
        "leave --pdf-engine out".to_owned(),
    ))
}

/// An option with its value, and the tokens that it stands in.
struct GivenOption<'a> {
    value: &'a str,
    first: usize,
    last: usize,
}

/// The last of the options of these names.
fn option<'a>(tokens: &[Token<'a>], names: &[&str]) -> Option<GivenOption<'a>> {
    // A long name may be cut short.
    let is_asked = |word: &str| {
        let name = word.trim_start_matches('-').trim_end_matches('=');
        let is_long = word.starts_with("--");
        names.iter().any(|known| {
            (known.len() > 1) == is_long
                && (name == *known || (name.len() > 2 && known.starts_with(name)))
        })
    };
    tokens.iter().enumerate().rev().find_map(|(at, token)| {
        let Token::Value { prefix, text, .. } = *token else {
            return None;
        };
        let before = at.checked_sub(1);
        match before.and_then(|before| tokens.get(before)) {
            _ if !prefix.is_empty() => is_asked(prefix).then_some(GivenOption {
                value: text,
                first: at,
                last: at,
            }),
            Some(Token::Switch(word)) => is_asked(word).then_some(GivenOption {
                value: text,
                first: at - 1,
                last: at,
            }),
            _ => None,
        }
    })
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
