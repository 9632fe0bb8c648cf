//! Status lines in the conversation for what takes long.
//!
//! One thread reports to Open WebUI, and only about what still runs after a while. Nobody waits
//! for it, except for the end of a line that shows: Open WebUI must get that before the answer,
//! because it then writes the whole message anew and may lose what arrives meanwhile. A line that
//! could not be shown is not a failure. An end that was not accepted is sent again, because a line
//! without an end never disappears.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use fileshed_core::Secret;
use fileshed_core::chat_host::{ChatStatusLine, Task, TaskEnd};
use serde_json::{Value, json};

use super::client::OpenWebUiClient;
use super::upload_notice::UploadNotice;

/// Longest text of a line, in characters.
const TEXT_MAX: usize = 120;

/// Most times that an end is sent that Open WebUI did not accept.
const ATTEMPTS: u32 = 5;

/// Reports the status lines of all conversations.
#[derive(Debug)]
pub(super) struct StatusReporter {
    client: OpenWebUiClient,
    /// Started with the first line.
    thread: OnceLock<Sender<StatusEvent>>,
}

/// Event for the thread.
#[derive(Debug)]
pub(super) enum StatusEvent {
    Begun(Arc<RunningTask>),
    /// The sender is dropped when the end was reported.
    Ended(Arc<RunningTask>, TaskEnd, Sender<()>),
    Arrived(Box<UploadNotice>),
    /// Sent once: the text of a file, or a link to what a message changed.
    Once(ChatEvent),
}

#[derive(Debug)]
pub(super) struct RunningTask {
    pub(super) started: Instant,
    pub(super) shown: AtomicBool,
    pub(super) path: String,
    pub(super) key: Secret,
    pub(super) task: Task,
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
pub(super) struct ChatEvent {
    pub(super) path: String,
    pub(super) key: Secret,
    pub(super) body: Value,
}

impl ChatEvent {
    fn new(path: String, key: Secret, text: &str, done: bool) -> Self {
        let text: String = text.chars().take(TEXT_MAX).collect();
        let body = json!({"type": "status", "data": {"description": text, "done": done}});
        Self { path, key, body }
    }

    /// Sends it; whether it need not be sent again.
    fn send(&self, client: &OpenWebUiClient) -> bool {
        match client.post::<Value>(self.key.reveal(), &self.path, &self.body) {
            Ok(_) => true,
            Err(error) => {
                tracing::debug!(%error, "Open WebUI did not accept a status");
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
pub(super) struct StatusLine {
    work: Arc<RunningTask>,
    thread: Sender<StatusEvent>,
    ending: TaskEnd,
    client: OpenWebUiClient,
}

impl ChatStatusLine for StatusLine {
    fn end(mut self: Box<Self>, ending: TaskEnd) {
        self.ending = ending;
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        let (reported, wait) = channel();
        let event = StatusEvent::Ended(Arc::clone(&self.work), self.ending.clone(), reported);
        let _nobody_listens_at_the_end = self.thread.send(event);
        if self.work.shows() {
            let OpenWebUiClient { clock, timings, .. } = &self.client;
            let _reported_or_not = clock.receive(&wait, timings.status_end);
        }
    }
}

impl StatusReporter {
    pub(super) fn new(client: OpenWebUiClient) -> Self {
        Self {
            client,
            thread: OnceLock::new(),
        }
    }

    fn thread(&self) -> &Sender<StatusEvent> {
        self.thread.get_or_init(|| {
            let (sender, receiver) = channel();
            let reporter = ReporterThread {
                client: self.client.clone(),
                tasks: Vec::new(),
                retries: Vec::new(),
                notices: Vec::new(),
            };
            std::thread::spawn(move || reporter.run(&receiver));
            sender
        })
    }

    /// Sends an event to the thread. Nobody listens at the end of the server.
    pub(super) fn send(&self, event: StatusEvent) {
        let _gone = self.thread().send(event);
    }

    pub(super) fn begin(&self, work: RunningTask) -> StatusLine {
        let work = Arc::new(work);
        self.send(StatusEvent::Begun(Arc::clone(&work)));
        StatusLine {
            work,
            thread: self.thread().clone(),
            ending: TaskEnd::Stopped,
            client: self.client.clone(),
        }
    }
}

/// The thread that reports to Open WebUI.
struct ReporterThread {
    client: OpenWebUiClient,
    tasks: Vec<Arc<RunningTask>>,
    retries: Vec<PendingRetry>,
    notices: Vec<UploadNotice>,
}

impl ReporterThread {
    fn run(mut self, events: &Receiver<StatusEvent>) {
        loop {
            let received = match self.next() {
                Some(due) => self
                    .client
                    .clock
                    .receive(events, self.client.clock.left(due)),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(StatusEvent::Begun(work)) => self.tasks.push(work),
                Ok(StatusEvent::Ended(work, ending, reported)) => {
                    self.end(&work, &ending);
                    drop(reported);
                }
                Ok(StatusEvent::Arrived(notice)) => self.gather(*notice),
                Ok(StatusEvent::Once(event)) => drop(event.send(&self.client)),
                Err(RecvTimeoutError::Timeout) => self.show(self.client.clock.instant()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// When something is to be sent, unless an event comes before.
    fn next(&self) -> Option<Instant> {
        let waiting = self.tasks.iter().filter(|work| !work.shows());
        let waiting = waiting.map(|work| work.started + self.client.timings.status);
        let retries = self.retries.iter().map(|retry| retry.due);
        let notices = self.notices.iter();
        let notices = notices.map(|notice| notice.due(&self.client.timings));
        waiting.chain(retries).chain(notices).min()
    }

    fn end(&mut self, work: &Arc<RunningTask>, ending: &TaskEnd) {
        self.tasks.retain(|other| !Arc::ptr_eq(other, work));
        if work.shows() {
            let elapsed = self.client.clock.elapsed(work.started);
            self.send_until_accepted(work.event(&work.task.ended(ending, elapsed), true));
        }
    }

    /// Sends what must arrive, if not now then later.
    fn send_until_accepted(&mut self, event: ChatEvent) {
        if !event.send(&self.client) {
            self.retries.push(PendingRetry {
                event,
                due: self.client.clock.instant() + self.client.timings.status_again,
                attempts: 1,
            });
        }
    }

    fn gather(&mut self, notice: UploadNotice) {
        let mut left = Some(notice);
        for earlier in &mut self.notices {
            left = left.and_then(|notice| earlier.join(notice));
        }
        self.notices.extend(left);
    }

    fn show(&mut self, now: Instant) {
        for work in &self.tasks {
            if !work.shows() && work.started + self.client.timings.status <= now {
                work.shown.store(true, Ordering::Release);
                work.event(work.task.doing(), false).send(&self.client);
            }
        }
        let is_due = |notice: &mut UploadNotice| notice.due(&self.client.timings) <= now;
        let due: Vec<UploadNotice> = self.notices.extract_if(.., is_due).collect();
        for notice in due {
            if let Some(path) = notice.path(&self.client) {
                let (text, key) = (notice.text(), notice.key);
                self.send_until_accepted(ChatEvent::new(path, key, &text, true));
            }
        }
        let (client, again) = (&self.client, self.client.timings.status_again);
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
    use fileshed_core::{Caller, Chat};

    use super::super::chat::events;

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
