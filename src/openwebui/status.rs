//! What takes long shows in the conversation.
//!
//! One thread of its own tells Open WebUI, and only about what still goes on after [`PATIENCE`].
//! Nobody waits for it, but for the end of a line that shows: Open WebUI must hear of it before the
//! answer, because it then writes the whole message anew and may lose what is told meanwhile. A line
//! that could not be shown is no failure of anything. An end that was not taken is told again: a
//! line without one goes on for ever.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fileshed_core::chat_host::{Ending, Line, Task};
use fileshed_core::{Caller, Secret};
use serde_json::{Value, json};

use super::OpenWebUi;
use super::arrival::Arrival;
use super::chat::{events, kept};
use super::client::Client;

/// How long something takes before it shows.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest that an answer waits until its line has ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// Longest text of a line, in characters.
const TEXT_MAX: usize = 120;

/// How often an end is told that Open WebUI did not take, and how long lies between.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(4);

/// The lines of all conversations.
#[derive(Debug)]
pub(super) struct Board {
    client: Client,
    /// Begun with the first line.
    thread: OnceLock<Sender<News>>,
    next: AtomicU64,
}

/// Something begins to last, or ends.
#[derive(Debug)]
enum News {
    Begun(u64, Box<Work>),
    /// The sender is dropped when it was told.
    Ended(u64, Ending, Sender<()>),
    Arrived(Box<Arrival>),
}

#[derive(Debug)]
struct Work {
    begun: Instant,
    shown: Arc<AtomicBool>,
    path: String,
    key: Secret,
    task: Task,
}

impl Work {
    fn shows(&self) -> bool {
        self.shown.load(Ordering::Acquire)
    }

    fn event(&self, text: &str, done: bool) -> Event {
        Event::new(self.path.clone(), self.key.clone(), text, done)
    }
}

/// What Open WebUI is told.
#[derive(Debug)]
struct Event {
    path: String,
    key: Secret,
    body: Value,
}

impl Event {
    fn new(path: String, key: Secret, text: &str, done: bool) -> Self {
        let text: String = text.chars().take(TEXT_MAX).collect();
        let body = json!({"type": "status", "data": {"description": text, "done": done}});
        Self { path, key, body }
    }

    /// Whether it need not be told again.
    fn tell(&self, client: &Client) -> bool {
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

/// The end of a line that shows, which has not been told yet.
#[derive(Debug)]
struct Owed {
    event: Event,
    due: Instant,
    attempts: u32,
}

/// One line; see [`Line`].
#[derive(Debug)]
struct Shown {
    number: u64,
    is_seen: Arc<AtomicBool>,
    thread: Sender<News>,
    ending: Ending,
}

impl Line for Shown {
    fn end(mut self: Box<Self>, ending: Ending) {
        self.ending = ending;
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let (told, wait) = channel();
        let news = News::Ended(self.number, self.ending.clone(), told);
        let _nobody_listens_at_the_end = self.thread.send(news);
        if self.is_seen.load(Ordering::Acquire) {
            let _told_or_not = wait.recv_timeout(FAREWELL);
        }
    }
}

impl Board {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            thread: OnceLock::new(),
            next: AtomicU64::new(0),
        }
    }

    fn thread(&self) -> &Sender<News> {
        self.thread.get_or_init(|| {
            let (sender, receiver) = channel();
            let client = self.client.clone();
            std::thread::spawn(move || Teller::new(client).tell(&receiver));
            sender
        })
    }

    fn begin(&self, work: Work) -> Shown {
        let thread = self.thread();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_seen = Arc::clone(&work.shown);
        let _shown_or_not = thread.send(News::Begun(number, Box::new(work)));
        Shown {
            number,
            is_seen,
            thread: thread.clone(),
            ending: Ending::Stopped,
        }
    }
}

impl OpenWebUi {
    /// A line in the caller's conversation, if there is a message to show it in and a credential
    /// to do it with.
    pub(super) fn status_line(&self, caller: &Caller, task: Task) -> Option<Box<dyn Line>> {
        let board = self.board.as_ref()?;
        let work = Work {
            begun: Instant::now(),
            shown: Arc::default(),
            path: events(caller)?,
            key: Secret::new(self.key(caller)?.reveal()),
            task,
        };
        Some(Box::new(board.begin(work)))
    }

    /// Tells files that came, in the last answer of the caller's conversation.
    pub(super) fn tell_arrival(&self, caller: &Caller, place: &str, names: Vec<String>) {
        let (Some(board), Some(key), Some(chat), Some(user)) = (
            self.board.as_ref(),
            self.key(caller),
            kept(&caller.chat),
            caller.user.clone(),
        ) else {
            return;
        };
        let arrival = Arrival::new(user, chat, place, Secret::new(key.reveal()), names);
        let _told_or_not = board.thread().send(News::Arrived(Box::new(arrival)));
    }
}

/// The one that tells Open WebUI.
struct Teller {
    client: Client,
    works: HashMap<u64, Box<Work>>,
    owed: Vec<Owed>,
    arrivals: Vec<Arrival>,
}

impl Teller {
    fn new(client: Client) -> Self {
        Self {
            client,
            works: HashMap::new(),
            owed: Vec::new(),
            arrivals: Vec::new(),
        }
    }

    fn tell(mut self, news: &Receiver<News>) {
        loop {
            let heard = match self.next() {
                Some(due) => news.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match heard {
                Ok(News::Begun(number, work)) => {
                    self.works.insert(number, work);
                }
                Ok(News::Ended(number, ending, told)) => {
                    self.end(number, &ending);
                    drop(told);
                }
                Ok(News::Arrived(arrival)) => self.gather(*arrival),
                Err(RecvTimeoutError::Timeout) => self.show(Instant::now()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// When something is to be told, unless something happens before.
    fn next(&self) -> Option<Instant> {
        let waiting = self.works.values().filter(|work| !work.shows());
        let waiting = waiting.map(|work| work.begun + PATIENCE);
        let owed = self.owed.iter().map(|owed| owed.due);
        let arrivals = self.arrivals.iter().map(Arrival::due);
        waiting.chain(owed).chain(arrivals).min()
    }

    fn end(&mut self, number: u64, ending: &Ending) {
        let work = self.works.remove(&number);
        let Some(work) = work.filter(|work| work.shows()) else {
            return;
        };
        let event = work.event(&work.task.ended(ending, work.begun.elapsed()), true);
        self.insist(event);
    }

    /// Tells what must be told, if not now then later.
    fn insist(&mut self, event: Event) {
        if !event.tell(&self.client) {
            self.owed.push(Owed {
                event,
                due: Instant::now() + PAUSE,
                attempts: 1,
            });
        }
    }

    fn gather(&mut self, arrival: Arrival) {
        let mut arrivals = self.arrivals.iter_mut();
        let left = arrivals.try_fold(arrival, |arrival, earlier| {
            earlier
                .join(arrival)
                .map_or(ControlFlow::Break(()), ControlFlow::Continue)
        });
        if let ControlFlow::Continue(arrival) = left {
            self.arrivals.push(arrival);
        }
    }

    fn show(&mut self, now: Instant) {
        for work in self.works.values() {
            if !work.shows() && work.begun + PATIENCE <= now {
                work.shown.store(true, Ordering::Release);
                work.event(work.task.doing(), false).tell(&self.client);
            }
        }
        let (due, wait) = std::mem::take(&mut self.arrivals)
            .into_iter()
            .partition(|arrival: &Arrival| arrival.due() <= now);
        self.arrivals = wait;
        let due: Vec<Arrival> = due;
        for arrival in due {
            if let Some(path) = arrival.path(&self.client) {
                self.insist(Event::new(path, arrival.key.clone(), &arrival.text(), true));
            }
        }
        let client = &self.client;
        self.owed.retain_mut(|owed| {
            if owed.due > now {
                return true;
            }
            owed.attempts += 1;
            owed.due = now + PAUSE;
            !owed.event.tell(client) && owed.attempts < ATTEMPTS
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
