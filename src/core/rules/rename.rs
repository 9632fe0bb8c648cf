//! rename: what the server itself does with names, so that no perl is started.

use super::checker::Checker;
use super::error::CommandError;
use super::plan::RenameArguments;
use super::syntax::{ArgumentRole, OptionEffect};
use super::tokenizer::Token;

/// Checks the arguments of rename. What is left of them are the files.
pub(super) fn arguments(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = checker.rule;
    let line = checker.tokenize(&rule.syntax, args)?;
    let mut expressions = Vec::new();
    let mut first_is_file = line.has(OptionEffect::TakesFirst);
    let file = if line.has(OptionEffect::ToStdout) {
        ArgumentRole::Read
    } else {
        ArgumentRole::Write
    };
    for token in &line.tokens {
        match *token {
            Token::Operand(word) if first_is_file => checker.operand(file, word)?,
            Token::Operand(word) | Token::Value { text: word, .. } => {
                checker.operand(ArgumentRole::Substitution, word)?;
                expressions.extend(checker.args.pop());
                first_is_file = true;
            }
            Token::Switch(_) => {}
        }
    }
    if expressions.is_empty() || checker.args.is_empty() {
        return Err(checker.required(
            "a substitution and the files",
            "give both in `args`: a substitution such as s/old/new/, then the names of files",
        ));
    }
    checker.renaming = Some(RenameArguments {
        expression: expressions.join(";"),
        dry_run: line.saw("nono"),
        verbose: line.saw("verbose"),
        force: line.saw("force"),
        last_segment: line.saw("filename"),
    });
    Ok(())
}
