//! Calls that last show their status in the chat.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::{Value, json};

use fileshed_core::Timings;
use fileshed_core::timings::{hours, milliseconds};
use fileshed_test_support::commands::{kill, running};
use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Client, Setup, TestApp, pause, wait_until};

/// Microseconds that an event takes which comes late.
const LATE: u64 = 100_000;

const EVENTS: &str = "/api/v1/chats/chat-1/messages/message-1/event";

fn webui() -> StandIn {
    StandIn::answering(|_: &Asked| Answer::json(&json!(true)))
}

fn setup(webui: &StandIn, status: &str) -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .env("FILESHED_LIVE_STATUS", status)
}

/// A client whose answer is being written.
fn message(server: &TestApp) -> Client<'_> {
    server
        .as_user("ada")
        .chat("chat-1")
        .header("X-OpenWebUI-Message-Id", "message-1")
}

/// The same in this process, where everything lasts long enough to show.
fn app(webui: &StandIn, status: &str) -> TestApp {
    let shows_at_once = |timings: &mut Timings| timings.openwebui.status = milliseconds(1);
    setup(webui, status).timings(shows_at_once).app()
}

/// Runs a command in a message of a chat until there are so many events.
fn run_until(server: &TestApp, webui: &StandIn, count: usize) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mark = format!("{}.{number}", 5_000_000 + std::process::id());
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": [mark], "timeout": 120});
    std::thread::scope(|scope| {
        let call = scope.spawn(|| message(server).call("shed_exec", &sleep));
        wait_until("the command runs and shows", || {
            !running(&mark).is_empty() && webui.count(EVENTS) >= count
        });
        kill(&mark);
        call.join().unwrap().data();
    });
}

/// Runs a command that takes so many seconds, in a message of a chat.
fn sleep(server: &TestApp, seconds: &str) {
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": [seconds]});
    message(server).call("shed_exec", &sleep).data();
}

/// The text of a line, with its seconds as `N`, and whether it has ended.
fn line(event: &Value) -> (String, bool) {
    assert_eq!(event["type"], "status");
    let text = event["data"]["description"].as_str().unwrap();
    let words = text.split(' ').map(|word| {
        let number = word.parse::<u32>().is_ok();
        if number { "N" } else { word }
    });
    let words: Vec<&str> = words.collect();
    (words.join(" "), event["data"]["done"] == true)
}

fn lines(events: &[Value]) -> Vec<(String, bool)> {
    events.iter().map(line).collect()
}

fn shows(texts: [(&str, bool); 2]) -> Vec<(String, bool)> {
    let texts = texts.into_iter();
    texts.map(|(text, done)| (text.to_owned(), done)).collect()
}

/// The events once there are so many.
fn events(webui: &StandIn, count: usize) -> Vec<Value> {
    wait_until("there are events", || webui.count(EVENTS) >= count);
    let asked = webui.asked();
    asked.iter().map(Asked::json).collect()
}

#[test]
fn a_long_command_shows_while_it_runs_and_a_short_one_does_not() {
    let webui = webui();
    let late = |timings: &mut Timings| timings.openwebui.status = hours(1);
    let server = setup(&webui, "true").timings(late).app();
    sleep(&server, "0");
    assert_eq!(webui.asked().len(), 0);
    let server = app(&webui, "true");
    run_until(&server, &webui, 1);
    let shown = events(&webui, 2);
    let expected = shows([("Running sleep", false), ("sleep: N s, status -9", true)]);
    assert_eq!(lines(&shown), expected);
    let asked = webui.asked();
    assert!(asked.iter().all(|asked| asked.method == "POST"));
    assert!(asked.iter().all(|asked| asked.bearer() == "sk-admin"));
}

#[test]
fn a_message_that_changes_files_links_to_them_once() {
    let webui = webui();
    let server = setup(&webui, "true").env("FILESHED_PUBLIC_URL", "https://files.example.org/shed");
    let server = server.app();
    let write = |client: Client<'_>, path: &str| {
        let file = json!({"zone": "documents", "path": path, "content": "x"});
        client.call("shed_create_file", &file)
    };
    let read = json!({"zone": "documents", "path": "none"});
    message(&server).call("shed_read", &read);
    assert!(write(message(&server), "../a").status >= 400);
    write(message(&server), "a").data();
    let touch = json!({"zone": "storage", "cmd": "touch", "args": ["made"]});
    message(&server).call("shed_exec", &touch).data();
    write(message(&server), "b").data();
    let other = server.as_user("ada").chat("chat-1");
    write(other.header("X-OpenWebUI-Message-Id", "message-2"), "c").data();
    let later = EVENTS.replace("message-1", "message-2");
    wait_until("the other message links to its change", || {
        webui.count(&later) == 1
    });
    let mut asked = webui.asked();
    asked.retain(|asked| asked.path.ends_with("/event"));
    let paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(paths, [EVENTS, &later]);
    let source = &asked[0].json()["data"]["source"];
    let link = "https://files.example.org/shed/#/changes/message-1";
    assert_eq!(source, &json!({"name": "Changed files", "url": link}));
}

/// The list of changes has it, for those who ask.
#[test]
fn no_answer_of_a_change_has_the_address_of_the_page() {
    let webui = webui();
    let server = setup(&webui, "true").env("FILESHED_PUBLIC_URL", "https://files.example.org/shed");
    let server = server.app();
    let client = message(&server);
    let short = client.clone().header("Prefer", "return=minimal");
    let change = |client: &Client<'_>, operation: &str, arguments: Value| {
        let answer = client.post(operation, arguments.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{operation}: {}", answer.text);
        assert!(!answer.text.contains("example.org"), "{}", answer.text);
    };
    for client in [&client, &short] {
        for zone in ["storage", "documents"] {
            let file = |content: &str| json!({"zone": zone, "path": "a", "content": content});
            change(client, "shed_create_file", file("one"));
            change(client, "shed_create_file", file("two"));
            let touch = json!({"zone": zone, "cmd": "touch", "args": ["b"]});
            change(client, "shed_exec", touch);
            change(client, "shed_delete", json!({"zone": zone, "path": "b"}));
        }
        change(client, "shed_undo", json!({"path": "documents/b"}));
        let file = json!({"path": "a", "content": "three"});
        change(client, "fs/write_file", file);
        let file = json!({"path": "/documents/a", "content": "three"});
        change(client, "terminal/files/write", file);
        change(client, "terminal/undo", json!({"answer": "last"}));
    }
    wait_until("the chat links to the changes", || webui.count(EVENTS) > 0);
}

/// However a call ends, its line does, and says how.
#[test]
fn a_line_says_how_it_ended() {
    let webui = webui();
    let server = setup(&webui, "true").app();
    let slow =
        "BEGIN {end = systime() + 7; for (n = 0; n < 240; n++) print n; while (systime() < end);}";
    let slow = json!({"zone": "storage", "cmd": "awk", "args": [slow]});
    message(&server).call("shed_exec", &slow).data();
    let expected = shows([("Running awk", false), ("awk: N s, N lines", true)]);
    assert_eq!(lines(&events(&webui, 2)), expected);

    let late = json!({"zone": "storage", "cmd": "sleep", "args": ["60"], "timeout": 7});
    message(&server)
        .call("shed_exec", &late)
        .refused(504, "TIMEOUT");
    let expected = shows([("Running sleep", false), ("sleep: stopped after N s", true)]);
    assert_eq!(lines(&events(&webui, 4)[2..]), expected);
}

#[test]
fn a_line_ends_when_its_caller_hangs_up_and_when_the_server_stops() {
    let webui = webui();
    let mut server = setup(&webui, "true").start();
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": ["60"], "timeout": 10});
    let body = sleep.to_string();
    let head = format!(
        "POST /shed_exec HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer service-key\r\n\
        X-OpenWebUI-User-Id: ada\r\nX-OpenWebUI-Chat-Id: chat-1\r\n\
        X-OpenWebUI-Message-Id: message-1\r\nContent-Length: {}\r\n\r\n{body}",
        server.address(),
        body.len()
    );
    let call = || {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let expected = shows([("Running sleep", false), ("sleep: stopped after N s", true)]);
    let stream = call();
    events(&webui, 1);
    drop(stream);
    assert_eq!(lines(&events(&webui, 2)), expected);
    let _waits = call();
    events(&webui, 3);
    server.terminate();
    server.wait();
    assert_eq!(lines(&events(&webui, 4)[2..]), expected);
}

#[test]
fn an_end_that_is_not_taken_is_told_again() {
    let count = AtomicUsize::new(0);
    let webui = StandIn::answering(move |asked: &Asked| {
        if asked.path == EVENTS && count.fetch_add(1, Ordering::SeqCst) == 1 {
            return Answer::status(500, &json!({"detail": "database is locked"}));
        }
        Answer::json(&json!(true))
    });
    let again = |timings: &mut Timings| {
        timings.openwebui.status = milliseconds(1);
        timings.openwebui.status_again = milliseconds(1);
    };
    let server = setup(&webui, "true").timings(again).app();
    run_until(&server, &webui, 1);
    let shown = events(&webui, 3);
    assert_eq!(line(&shown[0]), ("Running sleep".to_owned(), false));
    assert_eq!(shown[1], shown[2]);
    assert_eq!(line(&shown[2]), ("sleep: N s, status -9".to_owned(), true));
}

/// A chat whose message is written anew after the answer may lose what it is told meanwhile.
#[test]
fn a_line_has_ended_before_the_answer() {
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let webui = StandIn::answering(move |asked: &Asked| {
        if asked.path == EVENTS {
            pause(LATE);
            count.fetch_add(1, Ordering::SeqCst);
        }
        Answer::json(&json!(true))
    });
    let server = app(&webui, "true");
    run_until(&server, &webui, 1);
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
    let server = app(&webui, "true");
    // An answer that does not come in time fails the call.
    run_until(&server, &webui, 1);
    assert!(!webui.asked().is_empty());
    drop(end);
}

#[test]
fn nothing_shows_where_it_is_turned_off() {
    let webui = webui();
    let server = app(&webui, "false");
    sleep(&server, "0.1");
    assert_eq!(webui.asked().len(), 0);
}

#[test]
fn a_personal_token_does_not_write_into_chats() {
    let webui = webui();
    let server = app(&webui, "true");
    let token = server.run(&["token", "create", "--user", "ada"]).stdout;
    let script = server
        .with_token(token.trim())
        .chat("chat-1")
        .header("X-OpenWebUI-Message-Id", "message-1");
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": ["0.1"]});
    script.call("shed_exec", &sleep).data();
    assert_eq!(webui.asked().len(), 0);
}
