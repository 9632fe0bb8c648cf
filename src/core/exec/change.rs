//! What a command changed: taken into history and into the ledger, also when it was stopped.

use super::CommandLine;
use super::child::Outcome;
use crate::Error;
use crate::guard::Stand;
use crate::guard::queue::Turn;
use crate::history::{Author, Position, subject};
use crate::ledger::{Act, Deed, Plan};
use crate::zone::Zone;

/// Runs something that may change anything in the zone, and takes what it changed into history
/// and into the ledger, also when it was stopped. With a `turn`, nobody else writes meanwhile; in
/// a group always, because what was changed is judged afterwards and put back as a whole.
pub(super) fn changing(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    turn: Option<Turn<'_>>,
    effect: impl FnOnce() -> Result<Outcome, Error>,
) -> Result<Outcome, Error> {
    let author = zone.author();
    let stand = Stand::of(zone)?;
    let turn = match turn {
        None if stand.is_some() => Some(zone.turn()?),
        turn => turn,
    };
    let begun = stand.as_ref().map(|stand| begin(stand, zone)).transpose()?;
    let written = begun.as_ref().map(|(_, deed)| deed.written());
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
        deed: written.as_deref(),
    };
    let intent = zone.shed.ledger().begin(&entering)?;
    let outcome = effect();
    let taken_in = if let (Some(stand), Some((start, deed))) = (&stand, &begun) {
        let now = zone.shed.clock().now();
        let verdict = stand.judge(deed, start, &describe(line), &author, now);
        verdict.and_then(|verdict| stand.enter(verdict, intent))
    } else {
        let taken_in = match &turn {
            Some(turn) => take_in(zone, line, &author, turn),
            None => zone
                .turn()
                .and_then(|turn| take_in(zone, line, &author, &turn)),
        };
        taken_in.and_then(|()| Ok(zone.shed.ledger().settle(intent)?))
    };
    zone.shed.flusher().changed();
    if let Err(error) = taken_in {
        // Nothing is left to abandon where the change was judged and put back.
        zone.shed.ledger().abandon(intent)?;
        return Err(zone.explain(error));
    }
    drop(turn);
    let outcome = outcome?;
    zone.shed.expect_within_quota(&zone.home)?;
    Ok(outcome)
}

/// Where a command in a group begins, and whose its new files will be.
fn begin(stand: &Stand<'_>, zone: &Zone<'_>) -> Result<(Position, Deed), Error> {
    let start = stand.begin(zone.shed.clock().now())?;
    let deed = Deed {
        owner: zone.user().to_owned(),
        mode: zone.mode().unwrap_or_default().as_str().to_owned(),
        act: Act::Command {
            reference: start.reference.clone(),
            commit: start.commit.clone(),
        },
    };
    Ok((start, deed))
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
        let captured = zone.history(|history| history.capture(&describe(line), author, now))?;
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
