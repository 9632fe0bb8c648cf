//! pandoc: what it makes a PDF of.
//!
//! pandoc makes a page and has another program print it, which its jail does not start. So the
//! server does both, one after the other: pandoc writes the page to standard output.

use super::error::CommandError;
use super::judge::Judge;
use super::scan::Piece;

/// What prints pages.
const ENGINE: &str = "weasyprint";

/// Formats of a page.
const PAGES: [&str; 4] = ["pdf", "html", "html4", "html5"];

const OUTPUTS: [&str; 2] = ["o", "output"];
const FORMATS: [&str; 4] = ["t", "to", "w", "write"];

/// Judges the arguments of pandoc.
pub(super) fn read(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = judge.rule;
    let mut scan = judge.scan(&rule.syntax, args)?;
    let engine = option(&scan.pieces, &["pdf-engine"]);
    if let Some(engine) = engine {
        expect_engine(judge, engine.value)?;
        scan.pieces.drain(engine.first..=engine.last);
    }
    let is_pdf = |path: &str| path.len() > 4 && path.to_ascii_lowercase().ends_with(".pdf");
    let output = option(&scan.pieces, &OUTPUTS);
    let format = option(&scan.pieces, &FORMATS);
    let Some(output) = output.filter(|output| is_pdf(output.value)) else {
        return match format {
            Some(format) if format.value == "pdf" => Err(judge.refuse_with(
                "pdf",
                "a PDF needs a name: it is no text for the answer",
                "leave the format out and name the file: args=[…, \"-o\", \"document.pdf\"]"
                    .to_owned(),
            )),
            _ => judge.scanned(&rule.syntax, &scan),
        };
    };
    if let Some(format) = &format
        && !PAGES.contains(&format.value)
    {
        return Err(judge.refuse_with(
            format.value,
            "a PDF is printed from a page",
            "leave the format out; the end of the name, `.pdf`, says what is made".to_owned(),
        ));
    }
    let mut gone = vec![output.first..=output.last];
    gone.extend(format.map(|format| format.first..=format.last));
    gone.sort_by_key(|pieces| std::cmp::Reverse(*pieces.start()));
    for pieces in gone {
        scan.pieces.drain(pieces);
    }
    judge.printed(output.value)?;
    for word in ["-s", "-t", "html5"] {
        judge.fixed(word);
    }
    judge.scanned(&rule.syntax, &scan)
}

/// Another engine is asked for, which is not here.
fn expect_engine(judge: &Judge<'_>, engine: &str) -> Result<(), CommandError> {
    if engine == ENGINE {
        return Ok(());
    }
    Err(judge.refuse_with(
        engine,
        "PDFs are made by weasyprint alone",
        "leave --pdf-engine out".to_owned(),
    ))
}

/// An option with its value, and the pieces that it stands in.
struct Given<'a> {
    value: &'a str,
    first: usize,
    last: usize,
}

/// The last of the options of these names.
fn option<'a>(pieces: &[Piece<'a>], names: &[&str]) -> Option<Given<'a>> {
    // A long name may be cut short.
    let is_asked = |word: &str| {
        let name = word.trim_start_matches('-').trim_end_matches('=');
        let is_long = word.starts_with("--");
        names.iter().any(|known| {
            (known.len() > 1) == is_long
                && (name == *known || (name.len() > 2 && known.starts_with(name)))
        })
    };
    pieces.iter().enumerate().rev().find_map(|(at, piece)| {
        let Piece::Value { prefix, text, .. } = *piece else {
            return None;
        };
        let before = at.checked_sub(1);
        match before.and_then(|before| pieces.get(before)) {
            _ if !prefix.is_empty() => is_asked(prefix).then_some(Given {
                value: text,
                first: at,
                last: at,
            }),
            Some(Piece::Switch(word)) => is_asked(word).then_some(Given {
                value: text,
                first: at - 1,
                last: at,
            }),
            _ => None,
        }
    })
}
