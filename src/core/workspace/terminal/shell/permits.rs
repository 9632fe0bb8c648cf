//! The right of a shell to change zones, given anew whenever what it did was taken in.

use std::cell::RefCell;
use std::rc::Rc;

use super::SHELL;
use super::locked::LockedFiles;
use crate::Error;
use crate::changes::{LINE, OpenEndedPermit, OpenEndedRequest};
use crate::command::NamesBefore;
use crate::zone::Zone;
use fileshed_rules::Growth;

/// The permits of one shell, one for each zone that it may change.
pub(super) struct Permits<'a> {
    message: String,
    zones: Vec<&'a Zone<'a>>,
    /// What each zone had before the shell began.
    names: Vec<Rc<NamesBefore<'a>>>,
    held: RefCell<Vec<Held<'a>>>,
}

/// The right to change one zone.
struct Held<'a> {
    permit: OpenEndedPermit<'a>,
    names: Rc<NamesBefore<'a>>,
    locked: LockedFiles<'a>,
    must_stop: Option<Box<dyn Fn() -> bool + 'a>>,
}

/// What became of what a shell did: the refusal where something was put back, and remarks.
type Taken = (Option<Error>, Vec<String>);

impl<'a> Permits<'a> {
    pub(super) fn begin(zones: Vec<&'a Zone<'a>>, message: String) -> Result<Self, Error> {
        let names = zones
            .iter()
            .map(|&zone| Ok(Rc::new(NamesBefore::of(zone)?)));
        let permits = Self {
            message,
            names: names.collect::<Result<_, Error>>()?,
            zones,
            held: RefCell::default(),
        };
        permits.ask()?;
        Ok(permits)
    }

    /// Asks for each zone whether it may be changed.
    fn ask(&self) -> Result<(), Error> {
        let locked = self.zones.iter().map(|&zone| LockedFiles::before(zone));
        let locked = locked.collect::<Result<Vec<_>, Error>>()?;
        let request = OpenEndedRequest {
            operation: LINE,
            command: SHELL,
            growth: Growth::Either,
            message: self.message.clone(),
        };
        let permits = Zone::open_ended_together(&self.zones, &request)?;
        let mut held = self.held.borrow_mut();
        for ((permit, names), locked) in permits.into_iter().zip(&self.names).zip(locked) {
            let must_stop = permit.must_stop();
            held.push(Held {
                must_stop: must_stop.map(|must_stop| Box::new(must_stop) as Box<dyn Fn() -> bool>),
                permit,
                names: Rc::clone(names),
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

    /// Commits what was changed so far, and asks anew. Fails with `BUSY`, and changes nothing, if
    /// another change has one of the zones: a shell does not stand still for it.
    pub(super) fn renew(&self) -> Result<Result<Taken, Error>, Error> {
        let mut held = self.held.borrow_mut();
        let all = held.iter_mut().try_for_each(|held| held.permit.hold_now());
        if let Err(busy) = all {
            held.iter_mut().for_each(|held| held.permit.release());
            return Ok(Err(busy));
        }
        drop(held);
        let taken = self.enter(false);
        self.ask()?;
        Ok(taken)
    }

    /// Commits what was changed: nothing of it runs any more, so it waits for a command to end.
    pub(super) fn finish(&self) -> Result<Taken, Error> {
        self.enter(true)
    }

    fn enter(&self, is_over: bool) -> Result<Taken, Error> {
        let mut taken: Taken = (None, Vec::new());
        let mut failed = None;
        // One zone that fails does not keep the others from being entered.
        for held in self.held.take() {
            match held.enter(is_over) {
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
    /// `is_over` says whether the shell is: what still runs finds its files under their names.
    fn enter(mut self, is_over: bool) -> Result<Taken, Error> {
        self.permit.hold_at_end()?;
        let put_right = self.names.put_right(&self.permit, is_over);
        let undone = self.locked.put_back(&self.permit);
        let refused = self.permit.finish()?.refused;
        let put_right = put_right?;
        let removed = put_right.removed.iter().map(|path| kept(path));
        let renamed = put_right.renamed.iter();
        let renamed = renamed.map(|renamed| format!("fileshed: {renamed}"));
        let undone = undone?.into_iter().map(|path| locked(&path));
        Ok((refused, removed.chain(renamed).chain(undone).collect()))
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
