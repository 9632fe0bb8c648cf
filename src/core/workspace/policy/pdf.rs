//! The tools of poppler: what they name by themselves, and what they would pour out.

use super::ZoneKind;
use super::error::CommandError;
use super::judge::Judge;
use super::role::Role;
use super::scan::Piece;

/// Judges the arguments of pdftotext. Without a place for the text it goes into a file beside the
/// document, as the program has it, and in the read-only zone into the answer.
pub(super) fn text(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = judge.rule;
    let scan = judge.scan(&rule.syntax, args)?;
    let mut operands = scan.pieces.iter().filter_map(|piece| match piece {
        Piece::Operand(word) => Some(*word),
        _ => None,
    });
    let only = operands.next().filter(|_| operands.next().is_none());
    judge.scanned(&rule.syntax, &scan)?;
    match only {
        None => Ok(()),
        Some(_) if judge.rules.zone == ZoneKind::Uploads => judge.operand(Role::Write, "-"),
        Some(document) => {
            let stem = document
                .strip_suffix(".pdf")
                .or_else(|| document.strip_suffix(".PDF"));
            let file = format!("{}.txt", stem.unwrap_or(document));
            judge.operand(Role::Write, &file)
        }
    }
}

/// Judges the arguments of pdftoppm and pdfimages, whose pictures need a name.
pub(super) fn pictures(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = judge.rule;
    let scan = judge.scan(&rule.syntax, args)?;
    let tells = |word: &str| matches!(word, "-list" | "-v" | "-h" | "-help" | "--help");
    if scan.operands() < 2 && !args.iter().any(|word| tells(word)) {
        return Err(judge.required(
            "the beginning of the names that the pictures get",
            "add the beginning of those names to `args`, such as page",
        ));
    }
    judge.scanned(&rule.syntax, &scan)
}
