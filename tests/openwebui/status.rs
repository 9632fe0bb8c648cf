//! What takes long shows in the chat.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::standin::{Answer, Asked, StandIn};
use crate::support::{PATIENCE, Server};

const EVENTS: &str = "/api/v1/chats/chat-1/messages/message-1/event";

fn webui() -> StandIn {
    StandIn::answering(|_: &Asked| Answer::json(&json!(true)))
}

fn server(webui: &StandIn, status: &str) -> Server {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .env("FILESHED_LIVE_STATUS", status)
        .start()
}

/// Runs a command that takes so many seconds, in a message of a chat.
fn sleep(server: &Server, seconds: &str) {
    let message = server
        .as_user("ada")
        .chat("chat-1")
        .header("X-OpenWebUI-Message-Id", "message-1");
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": [seconds]});
    message.call("shed_exec", &sleep).data();
}

/// The events once there are so many.
fn events(webui: &StandIn, count: usize) -> Vec<Value> {
    let begun = Instant::now();
    while webui.count(EVENTS) < count {
        assert!(begun.elapsed() < PATIENCE, "no events in time");
        std::thread::yield_now();
    }
    let asked = webui.asked();
    asked.iter().map(Asked::json).collect()
}

#[test]
fn a_long_command_shows_while_it_runs_and_a_short_one_does_not() {
    let webui = webui();
    let server = server(&webui, "true");
    sleep(&server, "0");
    sleep(&server, "3");
    let shown = events(&webui, 2);
    let line = |done: bool| json!({"type": "status", "data": {"description": "Running sleep", "done": done}});
    assert_eq!(shown, [line(false), line(true)]);
    let asked = webui.asked();
    assert!(asked.iter().all(|asked| asked.method == "POST"));
    assert!(asked.iter().all(|asked| asked.bearer() == "sk-admin"));
}

/// A chat whose message is written anew after the answer may lose what it is told meanwhile.
#[test]
fn a_line_has_ended_before_the_answer() {
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let webui = StandIn::answering(move |_: &Asked| {
        std::thread::sleep(Duration::from_millis(300));
        count.fetch_add(1, Ordering::SeqCst);
        Answer::json(&json!(true))
    });
    let server = server(&webui, "true");
    sleep(&server, "3");
    assert_eq!(told.load(Ordering::SeqCst), 2);
}

#[test]
fn an_answer_does_not_wait_for_a_chat_that_keeps_silent() {
    let (end, silence) = mpsc::channel::<()>();
    let silence = Mutex::new(silence);
    let webui = StandIn::answering(move |_: &Asked| {
        let _ended = silence.lock().map(|silence| silence.recv());
        Answer::json(&json!(true))
    });
    let server = server(&webui, "true");
    // An answer that does not come in time fails the call.
    sleep(&server, "3");
    assert!(!webui.asked().is_empty());
    drop(end);
}

#[test]
fn nothing_shows_where_it_is_turned_off() {
    let webui = webui();
    let server = server(&webui, "false");
    sleep(&server, "3");
    assert_eq!(webui.asked().len(), 0);
}

#[test]
fn a_personal_token_does_not_write_into_chats() {
    let webui = webui();
    let server = server(&webui, "true");
    let token = server.run(&["token", "create", "--user", "ada"]).stdout;
    let script = server
        .with_token(token.trim())
        .chat("chat-1")
        .header("X-OpenWebUI-Message-Id", "message-1");
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": ["3"]});
    script.call("shed_exec", &sleep).data();
    assert_eq!(webui.asked().len(), 0);
}
