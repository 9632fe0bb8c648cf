//! Interactive shells: the thread of each, which stands between its terminal and its client.
//!
//! The thread alone has the terminal. It reads only what its client has room for, so a program that
//! prints for ever waits and takes no memory; it types as fast as it is read. Without a client it
//! reads on, and the end is kept for whoever comes back. What the shell changes is taken into
//! history when it falls quiet, and at its end.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::places::HiddenPlaces;
use super::shell::{ShellRequest, ShellWatch, run_shell};
use crate::fair::{Grant, Place};
use crate::shells::{Orders, Shell, ShellEntry, ShellOwner, ShellSessionError};
use crate::view::{View, ViewPath};
use crate::{Caller, Channel, Clock, Code, Error, Store};
use fileshed_sandbox::{
    PseudoTerminal, SandboxError, StandardStreams, StartedJob, TerminalRead, TerminalSize,
    TerminalWait,
};
use fileshed_types::timings::{self, ShellTimings};
use jiff::Timestamp;

/// Most bytes that a model is given of what the user's shell shows.
const SHOWN: usize = 16_000;

impl View<'_> {
    /// The shell that the caller has left in this conversation, or a new one; with a new id.
    pub fn open_shell(&self) -> Result<ShellEntry, Error> {
        let owner = self.store.namespace(self.caller);
        let owner = self.shell_owner(&owner);
        if let Some(entry) = self.store.shells().resume(owner)? {
            return Ok(entry);
        }
        let (shell, entry, place) = self.store.shells().add(owner)?;
        let store = Arc::clone(self.store);
        let caller = self.caller_of_shell();
        let (started, start) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("shell".to_owned());
        let own = Arc::clone(&shell);
        let ending = Arc::downgrade(&shell);
        caller.cancellation.trust().on_end(move |reason| {
            if let Some(shell) = ending.upgrade() {
                shell.complain(&reason.into());
                shell.stop();
            }
        });
        let spawned = thread.spawn(move || live(&store, &caller, &own, place, &started));
        if let Err(error) = spawned {
            self.store.shells().remove(&shell);
            return Err(SandboxError::start(error).into());
        }
        let patience = self.store.settings().timings.shells.start;
        match self.store.clock().receive(&start, patience) {
            Ok(Ok(())) => Ok(entry),
            Ok(Err(error)) => Err(error),
            Err(_) => {
                shell.stop();
                Err(ShellSessionError::NotStarted.into())
            }
        }
    }

    /// The caller's shells of this conversation.
    #[must_use]
    pub fn shells(&self) -> Vec<ShellEntry> {
        let owner = self.store.namespace(self.caller);
        self.store.shells().list(self.shell_owner(&owner))
    }

    /// A shell of the caller.
    pub fn shell(&self, id: &str) -> Result<ShellEntry, Error> {
        Ok(self.store.shells().get(self.caller.user.as_ref(), id)?)
    }

    /// Ends a shell of the caller.
    pub fn close_shell(&self, id: &str) -> Result<(), Error> {
        Ok(self.store.shells().end(self.caller.user.as_ref(), id)?)
    }

    /// The end of what the shell shows at which the user sits, as text.
    pub fn read_user_shell(&self) -> Result<String, Error> {
        let owner = self.store.namespace(self.caller);
        let shells = self.store.shells();
        Ok(shells.read(self.shell_owner(&owner), SHOWN)?)
    }

    /// Types into the shell at which the user sits.
    pub fn write_user_shell(&self, text: &str) -> Result<(), Error> {
        let owner = self.store.namespace(self.caller);
        let shells = self.store.shells();
        Ok(shells.type_in(self.shell_owner(&owner), text)?)
    }

    fn shell_owner<'o>(&'o self, name: &'o str) -> ShellOwner<'o> {
        ShellOwner {
            user: self.caller.user.as_ref(),
            name,
            chat: &self.caller.chat,
        }
    }

    /// The caller as it is after this call: nobody hangs up, and no credential is kept.
    fn caller_of_shell(&self) -> Caller {
        Caller {
            credential: None,
            message: None,
            session: None,
            cancellation: self.caller.cancellation.detached(),
            place: Place::default(),
            channel: Some(Channel::Shell),
            ..self.caller.clone()
        }
    }
}

/// The life of a shell.
fn live(
    store: &Arc<Store>,
    caller: &Caller,
    shell: &Arc<Shell>,
    place: Grant,
    started: &mpsc::SyncSender<Result<(), Error>>,
) {
    let view = View { store, caller };
    let lived = PseudoTerminal::open(TerminalSize::default())
        .and_then(|(terminal, end)| {
            let streams = StandardStreams {
                input: end.try_clone().map_err(SandboxError::start)?,
                output: end.try_clone().map_err(SandboxError::start)?,
                error: end,
            };
            Ok((terminal, streams))
        })
        .map_err(Error::from)
        .and_then(|(terminal, streams)| {
            let request = ShellRequest {
                cwd: ViewPath::home(),
                command: None,
                environment: Vec::new(),
                streams,
                controlling_terminal: true,
            };
            run_shell(view, request, |job, watch| {
                let _nobody_waits = started.send(Ok(()));
                let places = watch.places_on_disk();
                Attendance::new(store, shell, &terminal, places).attend(job, watch)
            })
        });
    match lived {
        Ok(outcome) => {
            for remark in outcome.remarks {
                shell.remark(&remark);
            }
            if let Some(refused) = outcome.refused {
                shell.complain(&refused);
            }
        }
        Err(error) => {
            shell.complain(&error);
            let _began = started.try_send(Err(error));
        }
    }
    drop(place);
    store.shells().remove(shell);
}

/// The thread of a shell at its terminal.
struct Attendance<'a> {
    store: &'a Store,
    clock: &'a Clock,
    timings: &'a ShellTimings,
    shell: &'a Shell,
    terminal: &'a PseudoTerminal,
    buffer: Vec<u8>,
    places: HiddenPlaces,
    /// When something was typed or written last.
    active: Instant,
    /// Whether that was taken in.
    taken_in: bool,
    at_prompt: bool,
    next_look: Instant,
}

impl<'a> Attendance<'a> {
    fn new(
        store: &'a Store,
        shell: &'a Shell,
        terminal: &'a PseudoTerminal,
        places: &[(String, String)],
    ) -> Self {
        let (clock, timings) = (store.clock(), &store.settings().timings.shells);
        let now = clock.instant();
        Self {
            store,
            clock,
            timings,
            shell,
            terminal,
            buffer: vec![0; 16 * 1024],
            places: HiddenPlaces::new(places),
            active: now,
            taken_in: true,
            at_prompt: false,
            next_look: now + timings.busy,
        }
    }

    /// Stands between the terminal and the client until the shell is over, or must be.
    fn attend(&mut self, job: &StartedJob<'_>, watch: &mut ShellWatch<'_>) -> Result<(), Error> {
        loop {
            let orders = self.shell.orders();
            if orders.stop || self.is_left(&orders) {
                job.kill();
                break;
            }
            self.apply(&orders);
            let ready = self.terminal.wait(&TerminalWait {
                read: orders.has_room,
                write: !orders.typed.is_empty(),
                waker: self.shell.waker(),
                end: job.end(),
                patience: self.patience(),
            })?;
            if !ready.read {
                self.show_rest();
            }
            if ready.write {
                self.shell.took(self.terminal.write(&orders.typed));
                self.note_activity();
            }
            if ready.read && self.read() == TerminalRead::Ended {
                // Nobody can type to it any more.
                job.kill();
                break;
            }
            if ready.end && job.wait(Duration::ZERO)?.is_some() {
                break;
            }
            if self.clock.is_past(self.next_look) && self.look(job, watch) {
                job.kill();
                break;
            }
        }
        self.read_last_words();
        Ok(())
    }

    /// Whether nobody has been connected for too long.
    fn is_left(&self, orders: &Orders) -> bool {
        let longest = timings::minutes(self.store.settings().terminal_shell_idle_minutes);
        let until = |since: Timestamp| since.checked_add(longest).ok();
        let until = orders.alone_since.and_then(until);
        until.is_some_and(|until| self.clock.now() >= until)
    }

    fn apply(&self, orders: &Orders) {
        if let Some(size) = orders.size {
            self.terminal.resize(size);
        }
        // The shell's own line was shown with everything before it.
        if orders.redraw && !self.at_prompt {
            self.terminal.redraw();
        }
    }

    /// How long it is waited for something to happen.
    fn patience(&self) -> Duration {
        let look = self.clock.until_look(self.next_look);
        if self.places.holds() {
            look.min(self.timings.held_back)
        } else {
            look
        }
    }

    /// Shows what was held back, since nothing follows.
    fn show_rest(&mut self) {
        if self.places.holds() {
            self.shell.wrote(&self.places.rest());
        }
    }

    fn note_activity(&mut self) {
        self.active = self.clock.instant();
        self.taken_in = false;
        self.next_look = self.next_look.min(self.active + self.timings.busy);
    }

    fn read(&mut self) -> TerminalRead {
        let read = self.terminal.read(&mut self.buffer);
        if let TerminalRead::Bytes(count) = read {
            self.shell.wrote(&self.places.shown(&self.buffer[..count]));
            self.note_activity();
        }
        read
    }

    /// What is done from time to time; true where the shell must end.
    fn look(&mut self, job: &StartedJob<'_>, watch: &mut ShellWatch<'_>) -> bool {
        self.at_prompt = self.terminal.is_at_prompt();
        self.shell.set_at_prompt(self.at_prompt);
        let is_quiet = self.clock.elapsed(self.active) >= self.timings.quiet;
        if is_quiet && self.at_prompt && !self.taken_in {
            self.taken_in = match watch.commit_changes() {
                // Others change the zone: later.
                Err(error) if error.code() == Code::Busy => false,
                Err(error) => {
                    self.shell.complain(&error);
                    true
                }
                Ok((refused, remarks)) => {
                    for remark in &remarks {
                        self.shell.remark(remark);
                    }
                    if let Some(refused) = &refused {
                        self.shell.complain(refused);
                    }
                    true
                }
            };
        }
        let rests = is_quiet && self.at_prompt;
        let pause = if rests {
            self.timings.idle
        } else {
            self.timings.busy
        };
        self.next_look = self.clock.instant() + pause;
        watch.must_stop(job)
    }

    /// Reads what was written before the end.
    fn read_last_words(&mut self) {
        let deadline = self.clock.instant() + self.timings.last_words;
        while !self.clock.is_past(deadline) {
            match self.read() {
                TerminalRead::Bytes(_) => {}
                TerminalRead::Ended => break,
                TerminalRead::Nothing => self.clock.sleep(self.timings.last_look),
            }
        }
        self.show_rest();
    }
}
