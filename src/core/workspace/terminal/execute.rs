//! Starting a background process, and looking after it until it ends, on a thread of its own.

use fileshed_types::fair::Full;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::drain::Drain;
use super::processes::begin_log;
use super::shell::{ShellRequest, ShellWatch, run_shell};
use crate::background::{
    BackgroundError, BackgroundProcess, Identity, InputPatience, OutputStream, Request, StartLine,
    wait_for,
};
use crate::store::Store;
use crate::tenant::TenantRoot;
use crate::view::{View, ViewPath};
use crate::{Caller, Error, random};
use fileshed_sandbox::{StandardStreams, StartedJob};
use fileshed_storage::DiskError;
use fileshed_types::fair::Place;
use fileshed_types::timings;

/// A line for the shell.
#[derive(Debug)]
pub struct CommandRequest {
    /// The line.
    pub command: String,
    /// Where it begins.
    pub cwd: ViewPath,
    /// Variables beyond the usual ones.
    pub environment: Vec<(String, String)>,
}

impl Store {
    /// Starts a shell line of the caller in the background. What can be refused is refused here; what
    /// happens later is in the log of the process.
    pub fn start_process(
        self: &Arc<Self>,
        caller: &Caller,
        request: CommandRequest,
    ) -> Result<Arc<BackgroundProcess>, Error> {
        let tenant = self.tenant(caller)?;
        let (process, streams) = self.enter_process(caller, &request)?;
        let (sender, started) = sync_channel(1);
        let run = ProcessThread {
            store: Arc::clone(self),
            tenant: TenantRoot {
                place: Place::default(),
                ..tenant.try_clone()?
            },
            // It lives longer than the call.
            caller: Caller {
                session: None,
                cancellation: caller.cancellation.detached(),
                place: Place::default(),
                ..caller.clone()
            },
            request,
            process: Arc::clone(&process),
            started: sender,
        };
        let thread = std::thread::Builder::new().name(format!("process {}", process.id()));
        let (ending, clock) = (Arc::downgrade(&process), self.clock().clone());
        caller.cancellation.trust().on_end(move |reason| {
            if let Some(process) = ending.upgrade() {
                let text = format!("ended: {reason}\n");
                process.wrote(OutputStream::Stderr, text, clock.seconds());
                process.stop(true);
            }
        });
        let began = match thread.spawn(move || run.run(streams)) {
            Ok(_runs_by_itself) => started.recv().unwrap_or(Err(None)),
            Err(error) => Err(Some(DiskError::server(error).into())),
        };
        match began {
            Ok(()) => Ok(process),
            Err(error) => {
                self.forget_process(&tenant, process.id())?;
                Err(error.unwrap_or_else(|| {
                    DiskError::server(std::io::Error::other("a thread ended early")).into()
                }))
            }
        }
    }

    /// Enters a process that is about to run, with its log and the ends of its pipes.
    fn enter_process(
        &self,
        caller: &Caller,
        request: &CommandRequest,
    ) -> Result<(Arc<BackgroundProcess>, Pipes), Error> {
        let tenant = self.tenant(caller)?;
        let known = self.known_processes(&tenant)?;
        let mut state = known.state();
        state.forget_ended(self.clock().now().as_second());
        let limit = self.settings().terminal_max_processes;
        let place = self.background().place(&tenant.key);
        let place = place.map_err(|full| match full {
            Full::User => BackgroundError::TooMany { limit },
            Full::All => BackgroundError::Full,
        })?;
        self.forget_logs(&tenant, &mut state)?;
        let start = StartLine {
            command: request.command.clone(),
            cwd: request.cwd.as_str().to_owned(),
            chat: caller.chat.as_str().to_owned(),
            server: self.instance().to_owned(),
            ts: self.clock().seconds(),
        };
        let (id, log) = loop {
            let id = hex::encode(random::bytes::<ID_BYTES>()?);
            if let Some(log) = begin_log(&tenant, &mut state, (&id, start.clone()))? {
                break (id, log);
            }
        };
        let identity = Identity {
            id,
            user: caller.user.clone(),
            chat: start.chat,
            command: start.command,
            cwd: start.cwd,
            started: start.ts as i64,
        };
        let (input, ours) = std::io::pipe().map_err(DiskError::server)?;
        let (stdout, output) = std::io::pipe().map_err(DiskError::server)?;
        let (stderr, error) = std::io::pipe().map_err(DiskError::server)?;
        let process = BackgroundProcess::new(
            identity,
            log,
            ours.into(),
            InputPatience {
                clock: self.clock().clone(),
                time: self.settings().timings.processes.input,
            },
        )?;
        let process = Arc::new(process.with_place(place));
        state.processes.push(Arc::clone(&process));
        let pipes = Pipes {
            theirs: StandardStreams {
                input: input.into(),
                output: output.into(),
                error: error.into(),
            },
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        Ok((process, pipes))
    }
}

/// Random bytes of an id.
const ID_BYTES: usize = 6;

/// The streams of a process, and the ends at which they are read.
struct Pipes {
    theirs: StandardStreams,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// What a thread needs that looks after one process.
struct ProcessThread {
    store: Arc<Store>,
    tenant: TenantRoot,
    caller: Caller,
    request: CommandRequest,
    process: Arc<BackgroundProcess>,
    /// Told once whether the process runs.
    started: SyncSender<Result<(), Option<Error>>>,
}

impl ProcessThread {
    fn run(self, pipes: Pipes) {
        let view = View {
            store: &self.store,
            caller: &self.caller,
        };
        let request = ShellRequest {
            cwd: self.request.cwd.clone(),
            command: Some(&self.request.command),
            environment: self.request.environment.clone(),
            streams: pipes.theirs,
            controlling_terminal: false,
        };
        let (mut began, mut stopped) = (false, false);
        let ran = run_shell(view, request, |job, watch| {
            began = true;
            let _somebody_waits = self.started.send(Ok(()));
            stopped = self.attend(job, watch, [pipes.stdout, pipes.stderr])?;
            Ok(())
        });
        match ran {
            Err(error) if !began => {
                let _somebody_waits = self.started.send(Err(Some(error)));
            }
            Err(error) => {
                tracing::warn!(id = self.process.id(), %error, "a background process failed");
                self.say(&error.to_string());
                self.end(None, true);
            }
            Ok(outcome) => {
                for remark in &outcome.remarks {
                    self.say(remark);
                }
                if let Some(refused) = &outcome.refused {
                    self.say(&refused.to_string());
                }
                self.end(Some(outcome.status), stopped);
            }
        }
    }

    /// Reads what the process writes until it ends. Says whether the server ended it.
    fn attend(
        &self,
        job: &StartedJob<'_>,
        watch: &mut ShellWatch<'_>,
        [stdout, stderr]: [OwnedFd; 2],
    ) -> Result<bool, Error> {
        let Some(control) = self.process.control() else {
            return Ok(true);
        };
        let minutes = self.store.settings().terminal_process_max_minutes;
        let (clock, timings) = (self.store.clock(), &self.store.settings().timings.processes);
        let mut deadline = clock.instant() + timings::minutes(minutes);
        let places = watch.places_on_disk().to_vec();
        let places = places.as_slice();
        let mut stdout = Drain::new(OutputStream::Stdout, stdout, places, (clock, timings))?;
        let mut stderr = Drain::new(OutputStream::Stderr, stderr, places, (clock, timings))?;
        let (mut asked, mut stopped) = (Request::None, false);
        loop {
            let ended = job.wait(Duration::ZERO)?.is_some();
            let now = clock.instant();
            for drain in [&mut stdout, &mut stderr] {
                drain.read(now, |stream, data| self.wrote(stream, data));
            }
            if ended {
                break;
            }
            control.heard();
            let wished = control.request();
            if wished > asked {
                match wished {
                    Request::Terminate => job.terminate(),
                    _ => job.kill(),
                }
                asked = wished;
            }
            if watch.must_stop(job) {
                job.kill();
                stopped = true;
            }
            if now >= deadline {
                if stopped {
                    job.kill();
                } else {
                    self.say(&format!(
                        "stopped after {minutes} minutes, as long as a process may run"
                    ));
                    job.terminate();
                }
                stopped = true;
                deadline = now + timings.grace;
            }
            let mut watched = vec![PollFd::from_borrowed_fd(job.end(), PollFlags::IN)];
            watched.push(PollFd::from_borrowed_fd(control.wake(), PollFlags::IN));
            watched.extend(
                [&stdout, &stderr]
                    .into_iter()
                    .filter_map(|drain| drain.watched(now)),
            );
            wait_for(&mut watched, timings.attention);
        }
        let until = clock.instant() + timings.last_words;
        for drain in [&mut stdout, &mut stderr] {
            drain.finish(until, |stream, data| self.wrote(stream, data));
        }
        Ok(stopped)
    }

    fn wrote(&self, stream: OutputStream, data: String) {
        self.process
            .wrote(stream, data, self.store.clock().seconds());
    }

    /// Words of the server.
    fn say(&self, text: &str) {
        self.wrote(OutputStream::Stderr, format!("{text}\n"));
    }

    fn end(&self, exit_code: Option<i32>, stopped: bool) {
        let clock = self.store.clock();
        let now = (clock.seconds(), clock.now().as_second());
        self.process.end(exit_code, stopped, now);
        if let Err(error) = self.store.keep_log(&self.tenant, &self.process) {
            tracing::warn!(%error, "the log of a process is not counted");
        }
        self.store.changed();
    }
}

#[cfg(test)]
mod tests;
