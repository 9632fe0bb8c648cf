//! The terminal of an interactive shell, between its programs and its client.
//!
//! Its thread alone has the terminal. It reads only as much as its client has room for, so a program
//! that prints for ever waits and takes no memory; it types as fast as it is read. Without a client it
//! reads on, and the end is kept for a client that comes back. The changes of the shell are committed
//! when it falls quiet, and at its end.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::advice::Advice;
use super::shell::ShellWatch;
use crate::hidden_places::HiddenPlaces;
use crate::processes::{EndRequest, Orders, Process};
use fileshed_sandbox::{PseudoTerminal, StartedJob, TerminalRead, TerminalWait};
use fileshed_types::timings::{self, ShellTimings};
use fileshed_types::{Clock, Code, Error};
use fileshed_zones::store::Store;

/// Stands between a terminal and its client until the shell is over, or must be.
pub(super) fn attend_shell(
    store: &Store,
    shell: &Process,
    job: &StartedJob<'_>,
    watch: &mut ShellWatch<'_>,
    terminal: &PseudoTerminal,
) -> Result<(), Error> {
    let (clock, timings) = (&store.clock, &store.settings.timings.shells);
    let now = clock.instant();
    let attendance = Attendance {
        longest_alone: timings::minutes(store.settings.terminal_shell_idle_minutes),
        clock,
        timings,
        shell,
        terminal,
        buffer: vec![0; 16 * 1024],
        places: watch.places.clone(),
        advice: Advice::default(),
        active: now,
        committed: true,
        at_prompt: false,
        next_look: now + timings.busy,
    };
    attendance.attend(job, watch)
}

/// The thread of a shell at its terminal.
struct Attendance<'a> {
    clock: &'a Clock,
    timings: &'a ShellTimings,
    /// The longest time without a client.
    longest_alone: Duration,
    shell: &'a Process,
    terminal: &'a PseudoTerminal,
    buffer: Vec<u8>,
    places: HiddenPlaces,
    advice: Advice,
    /// The time at which something was typed or written last.
    active: Instant,
    /// `true` if that was committed.
    committed: bool,
    at_prompt: bool,
    next_look: Instant,
}

impl Attendance<'_> {
    fn attend(mut self, job: &StartedJob<'_>, watch: &mut ShellWatch<'_>) -> Result<(), Error> {
        while let Some(waker) = self.shell.waker() {
            let orders = self.shell.orders();
            if self.shell.request() != EndRequest::None || self.is_left(&orders) {
                break;
            }
            self.apply(&orders);
            let ready = self.terminal.wait(&TerminalWait {
                read: orders.has_room,
                write: !orders.typed.is_empty(),
                waker: &waker,
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
            // Nobody can type to it any more after the end of the terminal.
            let is_over = ready.read && self.read() == TerminalRead::Ended;
            let ended = || Ok::<_, Error>(ready.end && job.wait(Duration::ZERO)?.is_some());
            if is_over || ended()? {
                break;
            }
            if self.clock.is_past(self.next_look) && self.look(job, watch) {
                break;
            }
        }
        job.kill();
        self.read_last_words();
        Ok(())
    }

    /// Returns `true` if nobody has been connected for too long.
    fn is_left(&self, orders: &Orders) -> bool {
        let until = |since: Timestamp| since.checked_add(self.longest_alone).ok();
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

    /// Returns how long to wait for something to happen.
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
            self.shell.show(&self.places.rest());
        }
    }

    fn note_activity(&mut self) {
        self.active = self.clock.instant();
        self.committed = false;
        self.next_look = self.next_look.min(self.active + self.timings.busy);
    }

    fn read(&mut self) -> TerminalRead {
        let read = self.terminal.read(&mut self.buffer);
        if let TerminalRead::Bytes(count) = read {
            let shown = self.places.shown(&self.buffer[..count]);
            self.shell.show(&shown);
            for advice in self.advice.hear(&String::from_utf8_lossy(&shown)) {
                self.shell.remark(advice);
            }
            self.note_activity();
        }
        read
    }

    /// Does what is done from time to time; returns `true` if the shell must end.
    fn look(&mut self, job: &StartedJob<'_>, watch: &mut ShellWatch<'_>) -> bool {
        self.at_prompt = self.terminal.is_at_prompt();
        if let Some(mut screen) = self.shell.screen() {
            screen.at_prompt = self.at_prompt;
        }
        let is_quiet = self.clock.elapsed(self.active) >= self.timings.quiet;
        let rests = is_quiet && self.at_prompt;
        if rests && !self.committed {
            self.committed = self.commit(watch);
        }
        if rests {
            watch.renew_histories();
        }
        let pause = if rests {
            self.timings.idle
        } else {
            self.timings.busy
        };
        self.next_look = self.clock.instant() + pause;
        watch.must_stop(job)
    }

    /// Commits what was changed so far; returns `false` if others change the zone: then later.
    fn commit(&self, watch: &mut ShellWatch<'_>) -> bool {
        match watch.commit_changes() {
            Err(error) if error.code() == Code::Busy => return false,
            Err(error) => self.shell.complain(&error),
            Ok((refused, remarks)) => self.shell.tell(&remarks, refused.as_ref()),
        }
        true
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
