//! What a command changed: taken into history and into the ledger, also when it was stopped.

use super::CommandLine;
use super::child::Outcome;
use crate::Error;
use crate::guard::queue::Turn;
use crate::history::{Author, subject};
use crate::ledger::Plan;
use crate::zone::Zone;

/// Runs something that may change anything in the zone, and takes what it changed into history
/// and into the ledger, also when it was stopped. With a `turn`, nobody else writes meanwhile.
pub(super) fn changing(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    turn: Option<Turn<'_>>,
    effect: impl FnOnce() -> Result<Outcome, Error>,
) -> Result<Outcome, Error> {
    let author = zone.author();
    let entering = Plan {
        home: &zone.home.key,
        zone: zone.name().as_str(),
        instance: zone.shed.instance(),
        operation: "shed_exec",
        author_name: &author.name,
        author_email: &author.email,
        bytes: 0,
        files: 0,
        limit: zone.home.limit,
    };
    let intent = zone.shed.ledger().begin(&entering)?;
    let outcome = effect();
    let taken_in = match turn {
        Some(turn) => take_in(zone, line, &author, &turn),
        None => zone
            .turn()
            .and_then(|turn| take_in(zone, line, &author, &turn)),
    };
    zone.shed.flusher().changed();
    match taken_in {
        Ok(()) => zone.shed.ledger().settle(intent)?,
        Err(error) => {
            zone.shed.ledger().abandon(intent)?;
            return Err(error);
        }
    }
    let outcome = outcome?;
    zone.shed.expect_within_quota(&zone.home)?;
    Ok(outcome)
}

/// Commits what a command changed, where the zone has history, and enters its space.
fn take_in(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    author: &Author,
    _turn: &Turn<'_>,
) -> Result<(), Error> {
    if zone.name().is_versioned() {
        let now = zone.shed.clock().now();
        let captured = zone.history()?.capture(&describe(line), author, now)?;
        let ledger = zone.shed.ledger();
        ledger.measured(&zone.home.key, zone.name().as_str(), captured.totals)?;
    } else {
        zone.measure()?;
    }
    Ok(())
}

/// The command line as a commit message.
fn describe(line: &CommandLine<'_>) -> String {
    let words = std::iter::once(line.command).chain(line.arguments.iter().map(String::as_str));
    subject(&words.collect::<Vec<_>>().join(" "))
}
