//! Status lines in the conversation for what takes long.
//!
//! One thread reports to Open WebUI, and only about what still runs after a while. Nobody waits
//! for it, except for the end of a line that shows: Open WebUI must get that before the answer,
//! because it then writes the whole message anew and may lose what arrives meanwhile. A line that
//! could not be shown is not a failure. An end that was not accepted is sent again, because a line
//! without an end never disappears.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use fileshed_core::chat_host::{Ending, Line, Task};
use fileshed_core::timings::OpenWebUiTimings;
use fileshed_core::{Caller, Clock, Secret};
use serde_json::{Value, json};

use super::OpenWebUi;
use super::chat::{events, kept};
use super::client::Client;
use super::upload_notice::UploadNotice;

/// Longest text of a line, in characters.
const TEXT_MAX: usize = 120;

/// Most times that an end is sent that Open WebUI did not accept.
const ATTEMPTS: u32 = 5;

/// Client and clock with which status lines are reported.
#[derive(Clone, Debug)]
struct Means {
    client: Client,
    clock: Clock,
    timings: OpenWebUiTimings,
}

/// Reports the status lines of all conversations.
#[derive(Debug)]
pub(super) struct StatusReporter {
    means: Means,
    /// Started with the first line.
    thread: OnceLock<Sender<StatusEvent>>,
    next: AtomicU64,
}

/// Event for the thread.
#[derive(Debug)]
enum StatusEvent {
    Begun(u64, Box<RunningTask>),
    /// The sender is dropped when the end was reported.
    Ended(u64, Ending, Sender<()>),
    Arrived(Box<UploadNotice>),
}

#[derive(Debug)]
struct RunningTask {
    started: Instant,
    shown: Arc<AtomicBool>,
    path: String,
    key: Secret,
    task: Task,
}

impl RunningTask {
    fn shows(&self) -> bool {
        self.shown.load(Ordering::Acquire)
    }

    fn event(&self, text: &str, done: bool) -> ChatEvent {
        ChatEvent::new(self.path.clone(), self.key.clone(), text, done)
    }
}

/// An event of a chat, as Open WebUI takes it.
#[derive(Debug)]
struct ChatEvent {
    path: String,
    key: Secret,
    body: Value,
}

impl ChatEvent {
    fn new(path: String, key: Secret, text: &str, done: bool) -> Self {
        let text: String = text.chars().take(TEXT_MAX).collect();
        let body = json!({"type": "status", "data": {"description": text, "done": done}});
        Self { path, key, body }
    }

    /// Sends it; whether it need not be sent again.
    fn send(&self, client: &Client) -> bool {
        match client.post::<Value>(self.key.reveal(), &self.path, &self.body) {
            Ok(_) => true,
            Err(error) => {
                tracing::debug!(%error, "a status line was not shown");
                // It may be taken another time, unless there is no such message for the caller.
                error.is_absence()
            }
        }
    }
}

/// The end of a line that shows, which Open WebUI has not accepted yet.
#[derive(Debug)]
struct PendingRetry {
    event: ChatEvent,
    due: Instant,
    attempts: u32,
}

/// One status line.
#[derive(Debug)]
struct StatusLine {
    number: u64,
    is_seen: Arc<AtomicBool>,
    thread: Sender<StatusEvent>,
    ending: Ending,
    means: Means,
}

impl Line for StatusLine {
    fn end(mut self: Box<Self>, ending: Ending) {
        self.ending = ending;
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        let (reported, wait) = channel();
        let event = StatusEvent::Ended(self.number, self.ending.clone(), reported);
        let _nobody_listens_at_the_end = self.thread.send(event);
        if self.is_seen.load(Ordering::Acquire) {
            let Means { clock, timings, .. } = &self.means;
            let _reported_or_not = clock.receive(&wait, timings.status_end);
        }
    }
}

impl StatusReporter {
    pub(super) fn new(client: Client, clock: &Clock, timings: &OpenWebUiTimings) -> Self {
        Self {
            means: Means {
                client,
                clock: clock.clone(),
                timings: timings.clone(),
            },
            thread: OnceLock::new(),
            next: AtomicU64::new(0),
        }
    }

    fn thread(&self) -> &Sender<StatusEvent> {
        self.thread.get_or_init(|| {
            let (sender, receiver) = channel();
            let reporter = ReporterThread {
                means: self.means.clone(),
                tasks: HashMap::new(),
                retries: Vec::new(),
                notices: Vec::new(),
            };
            std::thread::spawn(move || reporter.run(&receiver));
            sender
        })
    }

    fn begin(&self, work: RunningTask) -> StatusLine {
        let thread = self.thread();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_seen = Arc::clone(&work.shown);
        let _shown_or_not = thread.send(StatusEvent::Begun(number, Box::new(work)));
        StatusLine {
            number,
            is_seen,
            thread: thread.clone(),
            ending: Ending::Stopped,
            means: self.means.clone(),
        }
    }
}

impl OpenWebUi {
    /// A line in the caller's conversation, if there is a message to show it in and a credential
    /// to do it with.
    pub(super) fn status_line(&self, caller: &Caller, task: Task) -> Option<Box<dyn Line>> {
        let reporter = self.reporter.as_ref()?;
        let work = RunningTask {
            started: self.clock.instant(),
            shown: Arc::default(),
            path: events(caller)?,
            key: Secret::new(self.key(caller)?.reveal()),
            task,
        };
        Some(Box::new(reporter.begin(work)))
    }

    /// Reports files that came, in the last answer of the caller's conversation.
    pub(super) fn report_upload(&self, caller: &Caller, place: &str, names: Vec<String>) {
        let (Some(reporter), Some(key), Some(chat), Some(user)) = (
            self.reporter.as_ref(),
            self.key(caller),
            kept(&caller.chat),
            caller.user.clone(),
        ) else {
            return;
        };
        let now = self.clock.instant();
        let notice = UploadNotice {
            user,
            chat,
            place: place.to_owned(),
            key: Secret::new(key.reveal()),
            names,
            first: now,
            last: now,
        };
        let _reported_or_not = reporter
            .thread()
            .send(StatusEvent::Arrived(Box::new(notice)));
    }
}

/// The thread that reports to Open WebUI.
struct ReporterThread {
    means: Means,
    tasks: HashMap<u64, Box<RunningTask>>,
    retries: Vec<PendingRetry>,
    notices: Vec<UploadNotice>,
}

impl ReporterThread {
    fn run(mut self, events: &Receiver<StatusEvent>) {
        loop {
            let received = match self.next() {
                Some(due) => self.means.clock.receive(events, self.means.clock.left(due)),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(StatusEvent::Begun(number, work)) => {
                    self.tasks.insert(number, work);
                }
                Ok(StatusEvent::Ended(number, ending, reported)) => {
                    self.end(number, &ending);
                    drop(reported);
                }
                Ok(StatusEvent::Arrived(notice)) => self.gather(*notice),
                Err(RecvTimeoutError::Timeout) => self.show(self.means.clock.instant()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// When something is to be sent, unless an event comes before.
    fn next(&self) -> Option<Instant> {
        let waiting = self.tasks.values().filter(|work| !work.shows());
        let waiting = waiting.map(|work| work.started + self.means.timings.status);
        let retries = self.retries.iter().map(|retry| retry.due);
        let notices = self
            .notices
            .iter()
            .map(|notice| notice.due(&self.means.timings));
        waiting.chain(retries).chain(notices).min()
    }

    fn end(&mut self, number: u64, ending: &Ending) {
        let work = self.tasks.remove(&number);
        let Some(work) = work.filter(|work| work.shows()) else {
            return;
        };
        let event = work.event(
            &work
                .task
                .ended(ending, self.means.clock.elapsed(work.started)),
            true,
        );
        self.send_until_accepted(event);
    }

    /// Sends what must arrive, if not now then later.
    fn send_until_accepted(&mut self, event: ChatEvent) {
        if !event.send(&self.means.client) {
            self.retries.push(PendingRetry {
                event,
                due: self.means.clock.instant() + self.means.timings.status_again,
                attempts: 1,
            });
        }
    }

    fn gather(&mut self, notice: UploadNotice) {
        let mut notices = self.notices.iter_mut();
        let left = notices.try_fold(notice, |notice, earlier| {
            earlier
                .join(notice)
                .map_or(ControlFlow::Break(()), ControlFlow::Continue)
        });
        if let ControlFlow::Continue(notice) = left {
            self.notices.push(notice);
        }
    }

    fn show(&mut self, now: Instant) {
        for work in self.tasks.values() {
            if !work.shows() && work.started + self.means.timings.status <= now {
                work.shown.store(true, Ordering::Release);
                work.event(work.task.doing(), false)
                    .send(&self.means.client);
            }
        }
        let (due, wait) = std::mem::take(&mut self.notices)
            .into_iter()
            .partition(|notice: &UploadNotice| notice.due(&self.means.timings) <= now);
        self.notices = wait;
        let due: Vec<UploadNotice> = due;
        for notice in due {
            if let Some(path) = notice.path(&self.means.client) {
                self.send_until_accepted(ChatEvent::new(
                    path,
                    notice.key.clone(),
                    &notice.text(),
                    true,
                ));
            }
        }
        let (client, again) = (&self.means.client, self.means.timings.status_again);
        self.retries.retain_mut(|retries| {
            if retries.due > now {
                return true;
            }
            retries.attempts += 1;
            retries.due = now + again;
            !retries.event.send(client) && retries.attempts < ATTEMPTS
        });
    }
}

#[cfg(test)]
mod tests {
    use fileshed_core::Chat;

    use super::*;

    #[test]
    fn only_a_message_of_a_chat_that_is_kept_has_a_place_for_lines() {
        let place = |chat: &str, message: Option<&str>| {
            events(&Caller {
                message: message.map(str::to_owned),
                ..Caller::shared(Chat::new(chat))
            })
        };
        let path = place("c-1", Some("m/1")).expect("a place");
        assert_eq!(path, "/api/v1/chats/c-1/messages/m%2F1/event");
        for (chat, message) in [
            ("c-1", None),
            ("", Some("m")),
            ("temporary:x", Some("m")),
            ("channel:x", Some("m")),
            ("..", Some("m")),
            ("c-1", Some(".")),
        ] {
            assert_eq!(place(chat, message), None, "{chat} {message:?}");
        }
    }
}
