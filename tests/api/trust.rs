//! Revocation of access: all work that outlives a call ends, for every reason.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fileshed_core::Channel;
use fileshed_core::trust::Revocation;
use fileshed_test_support::socket::Socket;
use fileshed_test_support::standin::{Answer as StandInAnswer, Asked, StandIn};
use fileshed_test_support::{PATIENCE, TestApp, wait_until};
use serde_json::json;

use crate::sign_in::browser::{Browser, COOKIE, printed, token};

/// Work that outlives the moment in which its caller was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    Shell,
    Process,
    Command,
    Answer,
    Upload,
    WebDavUpload,
    Subscription,
}

impl Surface {
    const ALL: [Self; 7] = [
        Self::Shell,
        Self::Process,
        Self::Command,
        Self::Answer,
        Self::Upload,
        Self::WebDavUpload,
        Self::Subscription,
    ];
}

/// By which channel work of a surface comes; a new channel has to be named here.
fn surfaces(channel: Channel) -> &'static [Surface] {
    match channel {
        Channel::Operations | Channel::Fs => &[Surface::Command, Surface::Answer],
        Channel::Mcp => &[Surface::Command, Surface::Answer, Surface::Subscription],
        Channel::Terminal => &[Surface::Process, Surface::Answer, Surface::Upload],
        Channel::Shell => &[Surface::Shell],
        Channel::WebDav => &[Surface::Answer, Surface::WebDavUpload],
        Channel::FileBrowser | Channel::Page | Channel::Files | Channel::Link => {
            &[Surface::Answer, Surface::Upload]
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Token,
    User,
    Suspension,
    Membership,
    Account,
    Session,
}

impl Reason {
    /// The reason of an end; a new one has to be named here.
    fn of(revocation: Revocation) -> Self {
        match revocation {
            Revocation::Token => Self::Token,
            Revocation::Ended => Self::User,
            Revocation::Suspended => Self::Suspension,
            Revocation::Membership => Self::Membership,
            Revocation::Account => Self::Account,
            Revocation::Session => Self::Session,
        }
    }

    /// Returns the work that a caller with this reason can have begun: a session of the page opens no
    /// terminal, and no stream of MCP.
    fn surfaces(self) -> Vec<Surface> {
        let of_page = |surface: &Surface| {
            [Surface::Command, Surface::Answer, Surface::Upload].contains(surface)
        };
        let all = Surface::ALL.into_iter();
        all.filter(|surface| self != Self::Session || of_page(surface))
            .collect()
    }
}

/// An id that Open WebUI is asked about.
const ADA: &str = "8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
const ADMIN: &str = "00000000-0000-4000-8000-000000000001";

/// Bytes of a file that no connection takes at once.
const LARGE: usize = 64 << 20;

/// A request whose answer nobody reads yet. Of the body it may be that not all comes.
fn send(app: &TestApp, proof: &str, request: &str, (length, body): (usize, &str)) -> TcpStream {
    let mut stream = TcpStream::connect(app.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nHost: {}\r\n{proof}\
         Connection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n\
         Content-Length: {length}\r\n\r\n{body}",
        app.address(),
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Reads the beginning of an answer.
fn expect_success(mut stream: &TcpStream) {
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
}

/// All that still comes.
fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    // A connection that is cut off has ended, too.
    let _cut_off = stream.read_to_end(&mut all);
    all
}

/// Returns `true` if a process has this name among its arguments.
fn is_running(name: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines =
        processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| {
        line.split(|byte| *byte == 0)
            .any(|word| word == name.as_bytes())
    })
}

#[expect(
    clippy::too_many_lines,
    reason = "one story: what is begun, and how each of it ends"
)]
fn ends_everything(reason: Reason) {
    let is_active = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&is_active);
    let webui = StandIn::answering(move |question: &Asked| {
        let path = question.path.split('?').next().unwrap_or_default();
        let (id, role) = match path.strip_prefix("/api/v1/users/") {
            Some("user/status" | ADMIN) => (ADMIN, "admin"),
            Some(ADA) if asked.load(Ordering::SeqCst) => (ADA, "user"),
            Some(ADA) => (ADA, "pending"),
            _ => return StandInAnswer::status(400, &json!({"detail": "User not found"})),
        };
        StandInAnswer::json(&json!({"id": id, "name": "x", "role": role}))
    });
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "local")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .start();
    printed(&app.run(&["group", "create", "--name", "team", "--members", ADA]));
    let secret = token(&app, ADA, &[]);
    let browser = Browser::at(&app);
    let has_all = reason.surfaces() == Surface::ALL;
    let (ada, proof) = if has_all {
        let proof = format!("Authorization: Bearer {secret}\r\n");
        (app.with_token(&secret), proof)
    } else {
        browser.sign_in(&secret).data();
        let cookie = format!("Cookie: {COOKIE}={}\r\n", browser.secret());
        let page = "X-Fileshed-Page: 1\r\nSec-Fetch-Site: same-origin\r\n";
        let origin = format!("Origin: {}\r\n", app.url(""));
        (browser.page(), format!("{cookie}{page}{origin}"))
    };
    let of_team = |name: &str| format!("/files/content?zone=group&group=team&path={name}");
    let stored = ada.send("PUT", &of_team("large.bin"), &vec![b'x'; LARGE]);
    assert_eq!(stored.status, 201, "{}", stored.text);
    // A name that nobody else reads.
    let followed = format!("followed-{}-{reason:?}", std::process::id());
    let stored = ada.send("PUT", &of_team(&followed), b"x");
    assert_eq!(stored.status, 201, "{}", stored.text);

    let mut shell = has_all.then(|| {
        let opened = ada.send("POST", "/terminal/api/terminals", b"");
        let shell = opened.body["id"].as_str().expect("an id").to_owned();
        let mut shell = Socket::open(&app, &format!("/terminal/api/terminals/{shell}"), &[]);
        shell.say(&json!({"type": "auth", "token": secret}));
        shell.type_in("echo re''ady\n");
        shell.until("\nready");
        let line = json!({"command": "sleep 600", "cwd": "/groups/team"}).to_string();
        let process = ada.send("POST", "/terminal/execute?wait=0", line.as_bytes());
        assert!(process.body["id"].is_string(), "{}", process.text);
        shell
    });
    let line = json!({
        "zone": "group", "group": "team", "cmd": "tail", "args": ["-f", followed], "timeout": 300,
    });
    let line = line.to_string();
    let command = send(&app, &proof, "POST /shed_exec", (line.len(), &line));
    wait_until("the command runs", || is_running(&followed));
    let answer = send(
        &app,
        &proof,
        &format!("GET {}", of_team("large.bin")),
        (0, ""),
    );
    expect_success(&answer);
    let half = "x".repeat(1 << 20);
    let mut uploads = vec![of_team("upload.bin")];
    if has_all {
        uploads.push("/dav/groups/team/dav.bin".to_owned());
    }
    let uploads: Vec<TcpStream> = uploads
        .iter()
        .map(|address| send(&app, &proof, &format!("PUT {address}"), (LARGE, &half)))
        .collect();
    let listen = json!({
        "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
            "notifications": {"resourceSubscriptions": ["fileshed://group/team/large.bin"]},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            },
        },
    });
    let listen = listen.to_string();
    let subscription = has_all.then(|| {
        let subscription = send(&app, &proof, "POST /mcp", (listen.len(), &listen));
        expect_success(&subscription);
        subscription
    });

    match reason {
        Reason::Token => {
            let list = app.run(&["token", "list"]).stdout;
            let id = list.split('\t').next().unwrap().to_owned();
            printed(&app.run(&["token", "revoke", "--id", &id]));
        }
        Reason::User => drop(printed(&app.run(&["user", "end", "--user", ADA]))),
        Reason::Suspension => drop(printed(&app.run(&["user", "suspend", "--user", ADA]))),
        Reason::Membership => drop(printed(&app.run(&[
            "group",
            "remove",
            "--group",
            "team",
            "--members",
            ADA,
        ]))),
        // The status of an account is cached for 20 seconds.
        Reason::Account => is_active.store(false, Ordering::SeqCst),
        Reason::Session => drop(browser.sign_out(&json!({})).data()),
    }
    let said = String::from_utf8_lossy(&rest(command)).into_owned();
    assert!(said.contains("\"success\":false"), "{reason:?}: {said}");
    wait_until("its process has ended", || !is_running(&followed));
    for upload in uploads {
        let said = String::from_utf8_lossy(&rest(upload)).into_owned();
        assert!(!said.starts_with("HTTP/1.1 2"), "{reason:?}: {said}");
    }
    subscription.map(rest);
    // An answer ends only when more of it is read. The work above that began later has ended, so the answer
    // was ended, too.
    assert!(rest(answer).len() < LARGE, "{reason:?}");
    let Some(shell) = &mut shell else { return };
    // A shell that does not see the group goes on.
    if matches!(reason, Reason::Membership) && !app.has_tree() {
        return;
    }
    shell.until("fileshed: ");
    assert_eq!(shell.close_code(), 1000, "{reason:?}");
    wait_until("the process ended", || {
        let users = std::fs::read_dir(app.data().join("users")).unwrap();
        let mut logs = users
            .flatten()
            .filter_map(|user| std::fs::read_dir(user.path().join("logs")).ok())
            .flat_map(Iterator::flatten);
        logs.any(|log| {
            let text = std::fs::read_to_string(log.path()).unwrap_or_default();
            text.contains("ended: ") && text.contains("\"killed\"")
        })
    });
}

#[test]
fn a_revoked_token_ends_what_was_begun_with_it() {
    ends_everything(Reason::Token);
}

#[test]
fn the_end_of_a_user_ends_what_was_begun_before() {
    ends_everything(Reason::User);
}

#[test]
fn a_suspension_ends_what_runs() {
    ends_everything(Reason::Suspension);
}

#[test]
fn a_lost_membership_ends_what_is_in_the_group() {
    ends_everything(Reason::Membership);
}

#[test]
fn an_account_that_is_set_to_pending_ends_what_it_began() {
    ends_everything(Reason::Account);
}

#[test]
fn the_end_of_a_session_of_the_page_ends_what_it_began() {
    ends_everything(Reason::Session);
}

/// `ends_everything` begins what is named here, and every test above has one of the reasons.
#[test]
fn every_surface_ends_for_every_reason() {
    let channels = [
        Channel::Operations,
        Channel::Mcp,
        Channel::Terminal,
        Channel::Shell,
        Channel::WebDav,
    ];
    for surface in Surface::ALL {
        let mut of_channels = channels.into_iter().map(surfaces);
        assert!(of_channels.any(|of| of.contains(&surface)), "{surface:?}");
    }
    for revocation in [
        Revocation::Token,
        Revocation::Ended,
        Revocation::Suspended,
        Revocation::Membership,
        Revocation::Account,
        Revocation::Session,
    ] {
        let reason = Reason::of(revocation);
        assert!(reason.surfaces().contains(&Surface::Command), "{reason:?}");
    }
}
