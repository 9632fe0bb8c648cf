//! rename: what the server itself does with names, so that no perl is started.

use super::Renaming;
use super::error::CommandError;
use super::judge::Judge;
use super::role::{Effect, Role};
use super::scan::Piece;

/// Judges the arguments of rename. What is left of them are the files.
pub(super) fn arguments(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = judge.rule;
    let scan = judge.scan(&rule.syntax, args)?;
    let mut expressions = Vec::new();
    let mut first_is_file = scan.has(Effect::TakesFirst);
    let file = if scan.has(Effect::ToStdout) {
        Role::Read
    } else {
        Role::Write
    };
    for piece in &scan.pieces {
        match *piece {
            Piece::Operand(word) if first_is_file => judge.operand(file, word)?,
            Piece::Operand(word) | Piece::Value { text: word, .. } => {
                judge.operand(Role::Substitution, word)?;
                expressions.extend(judge.args.pop());
                first_is_file = true;
            }
            Piece::Switch(_) => {}
        }
    }
    if expressions.is_empty() || judge.args.is_empty() {
        return Err(judge.required(
            "a substitution and the files",
            "give both in `args`: a substitution such as s/old/new/, then the names of files",
        ));
    }
    judge.renaming = Some(Renaming {
        expression: expressions.join(";"),
        dry_run: scan.saw("nono"),
        verbose: scan.saw("verbose"),
        force: scan.saw("force"),
        last_segment: scan.saw("filename"),
    });
    Ok(())
}
