//! What whoever attends to a shell can ask and do.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::jail::Jail;
use super::permits::Permits;
use crate::Error;
use crate::process::{Temporary, watch};
use crate::zone::Zone;
use fileshed_sandbox::{Ending, StartedJob};
use fileshed_storage::PrivateDirectory;

/// Says why a job must end, if it must.
type Look<'a> = Box<dyn FnMut(&StartedJob<'_>) -> Option<Ending> + 'a>;

/// Looks after the space of one shell while it runs.
pub struct ShellWatch<'a> {
    permits: Rc<Permits<'a>>,
    look: RefCell<Look<'a>>,
    ending: Cell<Option<Ending>>,
    places: Vec<(String, String)>,
}

impl<'a> ShellWatch<'a> {
    pub(super) fn new(
        zone: &'a Zone<'a>,
        temporary: &'a Temporary<'a>,
        private: &'a PrivateDirectory,
        permits: Rc<Permits<'a>>,
        jail: &Jail<'_>,
    ) -> Self {
        let asked = Rc::clone(&permits);
        let look = watch(zone, temporary, private, Vec::new(), move || {
            asked.is_over()
        });
        Self {
            permits,
            look: RefCell::new(Box::new(look)),
            ending: Cell::new(None),
            places: jail.places_on_disk(),
        }
    }

    /// Whether the shell must be ended: it takes too much space, or nobody wants it any more. To be
    /// asked several times a second.
    pub fn must_stop(&self, job: &StartedJob<'_>) -> bool {
        if self.ending.get().is_none() {
            self.ending.set((self.look.borrow_mut())(job));
        }
        self.ending.get().is_some()
    }

    /// Enters what was changed so far, when the shell has fallen quiet: in `/documents` it becomes a
    /// commit. Returns the refusal if it is more than fits, and what else its user has to know; fails
    /// if it could not be entered now. The shell goes on.
    pub fn take_in(&self) -> Result<(Option<Error>, Vec<String>), Error> {
        self.permits.renew().inspect_err(|_| {
            // Without a permit nothing may change any more.
            self.ending.set(Some(Ending::Cancelled));
        })?
    }

    /// Places on disk that the shell's output may name, and what they are called in the tree. None
    /// where the machine has mount namespaces.
    pub fn places_on_disk(&self) -> &[(String, String)] {
        &self.places
    }

    /// Why it had to end, where it had.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending.get()
    }
}
