//! rename: what the server itself does with names, so that no perl is started.

use super::Renaming;
use super::error::CommandError;
use super::judge::Judge;
use super::role::{Effect, Role, Syntax, flag, value};
use super::rule::CommandRule;
use super::scan::Piece;

/// How its command line is read.
pub(super) const SYNTAX: Syntax = Syntax::new(Role::Write)
    .first(&[Role::Substitution])
    .options(&[
        value("e", "expr", Role::Substitution).effect(Effect::TakesFirst),
        flag("n", "nono no-act dry-run", Effect::ToStdout),
        flag("v", "verbose", Effect::Ordinary),
        flag("f", "force", Effect::Ordinary),
        flag("d", "filename nopath nofullpath", Effect::Ordinary),
    ])
    .only("", "");

/// Judges the arguments of rename. What is left of them are the files.
pub(super) fn arguments(
    rule: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
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
