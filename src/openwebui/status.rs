//! What takes long shows in the conversation.
//!
//! Nobody waits for it: one thread of its own tells Open WebUI, and only about what still goes on
//! after [`PATIENCE`]. A line that could not be shown is no failure of anything.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use fileshed_core::frontend::Line;
use fileshed_core::{Caller, Credential};
use serde_json::{Value, json};

use super::OpenWebUi;
use super::chat::kept;
use super::client::{Client, segment};

/// How long something takes before it shows.
const PATIENCE: Duration = Duration::from_secs(2);

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
    Ended(u64),
}

#[derive(Debug)]
struct Task {
    due: Instant,
    shown: bool,
    path: String,
    key: Credential,
    text: String,
}

/// One line; see [`Line`].
#[derive(Debug)]
struct Shown {
    number: u64,
    thread: Sender<News>,
}

impl Line for Shown {}

impl Drop for Shown {
    fn drop(&mut self) {
        let _nobody_listens_at_the_end = self.thread.send(News::Ended(self.number));
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
        let _shown_or_not = thread.send(News::Begun(number, Box::new(task)));
        Shown {
            number,
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
            shown: false,
            path: events(caller)?,
            key: Credential::new(self.key(caller)?.reveal()),
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
        let waiting = tasks.values().filter(|task| !task.shown);
        let next = waiting.map(|task| task.due).min();
        let heard = match next {
            Some(due) => news.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match heard {
            Ok(News::Begun(number, task)) => {
                tasks.insert(number, task);
            }
            Ok(News::Ended(number)) => {
                if let Some(task) = tasks.remove(&number).filter(|task| task.shown) {
                    say(client, &task, true);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let now = Instant::now();
                for task in tasks.values_mut() {
                    if !task.shown && task.due <= now {
                        task.shown = true;
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
