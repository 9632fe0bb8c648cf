//! The right of a shell to change zones, given anew whenever what it did was taken in.

use std::cell::RefCell;

use super::SHELL;
use super::locked::LockedFiles;
use crate::Error;
use crate::command::KeptNames;
use crate::guard::{OpenEndedPermit, OpenEndedRequest};
use crate::zone::Zone;
use fileshed_rules::Growth;

/// The permits of one shell, one for each zone that it may change.
pub(super) struct Permits<'a> {
    message: String,
    zones: Vec<&'a Zone<'a>>,
    held: RefCell<Vec<Held<'a>>>,
}

/// The right to change one zone.
struct Held<'a> {
    permit: OpenEndedPermit<'a>,
    kept: KeptNames<'a>,
    locked: LockedFiles<'a>,
    must_stop: Option<Box<dyn Fn() -> bool + 'a>>,
}

/// What became of what a shell did: the refusal where something was put back, and remarks.
type Taken = (Option<Error>, Vec<String>);

impl<'a> Permits<'a> {
    pub(super) fn begin(zones: Vec<&'a Zone<'a>>, message: String) -> Result<Self, Error> {
        let permits = Self {
            message,
            zones,
            held: RefCell::default(),
        };
        permits.ask()?;
        Ok(permits)
    }

    /// Asks for each zone whether it may be changed.
    fn ask(&self) -> Result<(), Error> {
        let before = self.zones.iter().map(|&zone| {
            let kept = KeptNames::before(zone)?;
            Ok((kept, LockedFiles::before(zone)?))
        });
        let before = before.collect::<Result<Vec<_>, Error>>()?;
        let request = OpenEndedRequest {
            operation: "terminal",
            command: SHELL,
            growth: Growth::Either,
            message: self.message.clone(),
        };
        let permits = Zone::open_ended_together(&self.zones, &request)?;
        let mut held = self.held.borrow_mut();
        for (permit, (kept, locked)) in permits.into_iter().zip(before) {
            let must_stop = permit.must_stop();
            held.push(Held {
                must_stop: must_stop.map(|must_stop| Box::new(must_stop) as Box<dyn Fn() -> bool>),
                permit,
                kept,
                locked,
            });
        }
        Ok(())
    }

    /// Whether a zone holds more than it may.
    pub(super) fn is_over(&self) -> bool {
        let held = self.held.borrow();
        held.iter()
            .filter_map(|held| held.must_stop.as_ref())
            .any(|must_stop| must_stop())
    }

    /// Enters what was changed so far, and asks anew. Where it could not be entered, because the zone
    /// was busy, that is left to whoever opens the zone next.
    pub(super) fn renew(&self) -> Result<Result<Taken, Error>, Error> {
        let taken = self.enter(false);
        self.ask()?;
        Ok(taken)
    }

    /// Enters what was changed. `stopped` says whether the shell was, for its space.
    pub(super) fn finish(&self, stopped: bool) -> Result<Taken, Error> {
        self.enter(stopped)
    }

    fn enter(&self, stopped: bool) -> Result<Taken, Error> {
        let mut taken: Taken = (None, Vec::new());
        let mut failed = None;
        // One zone that fails does not keep the others from being entered.
        for held in self.held.take() {
            match held.enter(stopped) {
                Ok((refused, remarks)) => {
                    taken.0 = taken.0.or(refused);
                    taken.1.extend(remarks);
                }
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(taken), Err)
    }
}

impl Held<'_> {
    fn enter(self, stopped: bool) -> Result<Taken, Error> {
        let names = self.kept.remove(&self.permit);
        let undone = self.locked.put_back(&self.permit);
        let refused = self.permit.finish(stopped)?;
        let names = names?.into_iter().map(|path| kept(&path));
        let undone = undone?.into_iter().map(|path| locked(&path));
        Ok((refused, names.chain(undone).collect()))
    }
}

/// What is said of a name that did not stay.
fn kept(path: &str) -> String {
    format!("fileshed: `{path}` was removed: this name is kept for the server")
}

/// What is said of a file that is as it was.
fn locked(path: &str) -> String {
    format!("fileshed: `{path}` is open for a locked edit: what was done to it is undone")
}
