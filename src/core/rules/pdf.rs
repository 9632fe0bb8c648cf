//! The tools of poppler: what they name by themselves, and what they would pour out.

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::ArgumentRole;
use super::tokenizer::Token;
use fileshed_types::zone::ZoneName;

/// Checks the arguments of pdftotext. Without a place for the text it goes into a file beside the
/// document, as the program has it, and in the read-only zone into the answer.
pub(super) fn text(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
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
pub(super) fn pictures(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
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
