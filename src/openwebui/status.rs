//! What takes long shows in the conversation.
//!
//! One thread of its own tells Open WebUI, and only about what still goes on after [`PATIENCE`].
//! Nobody waits for it, but for the end of a line that shows: Open WebUI must hear of it before the
//! answer, because it then writes the whole message anew and may lose what is told meanwhile. A line
//! that could not be shown is no failure of anything.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fileshed_core::frontend::Line;
use fileshed_core::{Caller, Secret};
use serde_json::{Value, json};

use super::OpenWebUi;
use super::chat::kept;
use super::client::{Client, segment};

/// How long something takes before it shows.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest that an answer waits until its line has ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// Longest text of a line, in characters.
const TEXT_MAX: usize = 120;

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
    Begun(u64, Box<Task>),
    /// The sender is dropped when it was told.
    Ended(u64, Sender<()>),
}

#[derive(Debug)]
struct Task {
    due: Instant,
    shown: Arc<AtomicBool>,
    path: String,
    key: Secret,
    text: String,
}

impl Task {
    fn shows(&self) -> bool {
        self.shown.load(Ordering::Acquire)
    }
}

/// One line; see [`Line`].
#[derive(Debug)]
struct Shown {
    number: u64,
    is_seen: Arc<AtomicBool>,
    thread: Sender<News>,
}

impl Line for Shown {}

impl Drop for Shown {
    fn drop(&mut self) {
        let (told, wait) = channel();
        let _nobody_listens_at_the_end = self.thread.send(News::Ended(self.number, told));
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

    fn begin(&self, task: Task) -> Shown {
        let thread = self.thread.get_or_init(|| {
            let (sender, receiver) = channel();
            let client = self.client.clone();
            std::thread::spawn(move || tell(&client, &receiver));
            sender
        });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_seen = Arc::clone(&task.shown);
        let _shown_or_not = thread.send(News::Begun(number, Box::new(task)));
        Shown {
            number,
            is_seen,
            thread: thread.clone(),
        }
    }
}

impl OpenWebUi {
    /// A line in the caller's conversation, if there is a message to show it in and a credential
    /// to do it with.
    pub(super) fn status_line(&self, caller: &Caller, text: &str) -> Option<Box<dyn Line>> {
        let board = self.board.as_ref()?;
        let task = Task {
            due: Instant::now() + PATIENCE,
            shown: Arc::default(),
            path: events(caller)?,
            key: Secret::new(self.key(caller)?.reveal()),
            text: text.chars().take(TEXT_MAX).collect(),
        };
        Some(Box::new(board.begin(task)))
    }
}

/// Where events of the message go that is being written; none in conversations that are not kept.
pub(super) fn events(caller: &Caller) -> Option<String> {
    let (chat, message) = (kept(&caller.chat)?, segment(caller.message.as_deref()?)?);
    Some(format!("/api/v1/chats/{chat}/messages/{message}/event"))
}

fn tell(client: &Client, news: &Receiver<News>) {
    let mut tasks: HashMap<u64, Box<Task>> = HashMap::new();
    loop {
        let waiting = tasks.values().filter(|task| !task.shows());
        let next = waiting.map(|task| task.due).min();
        let heard = match next {
            Some(due) => news.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match heard {
            Ok(News::Begun(number, task)) => {
                tasks.insert(number, task);
            }
            Ok(News::Ended(number, told)) => {
                if let Some(task) = tasks.remove(&number).filter(|task| task.shows()) {
                    say(client, &task, true);
                }
                drop(told);
            }
            Err(RecvTimeoutError::Timeout) => {
                let now = Instant::now();
                for task in tasks.values() {
                    if !task.shows() && task.due <= now {
                        task.shown.store(true, Ordering::Release);
                        say(client, task, false);
                    }
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn say(client: &Client, task: &Task, done: bool) {
    let event = json!({"type": "status", "data": {"description": task.text, "done": done}});
    if let Err(error) = client.post::<Value>(task.key.reveal(), &task.path, &event) {
        tracing::debug!(%error, "a status line was not shown");
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
