//! The helper, spoken to as the server does.

use std::io::{IoSlice, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown,
    SocketFlags, SocketType,
};
use serde_json::{Value, json};

/// The helper of one attack; ended with the value.
pub(super) struct Helper {
    socket: Option<OwnedFd>,
    child: Child,
}

/// Whether a command on this machine gets files and processes of its own.
pub(crate) fn has_namespaces() -> &'static bool {
    static ANSWER: LazyLock<bool> = LazyLock::new(|| {
        let order = json!({
            "task": {"program": "/dev/null"}, "name": "", "arguments": [], "environment": [], "input": null,
            "limits": {"memory": 1_u64 << 30, "cpu_seconds": 5, "file_size": 0, "open_files": 64,
                       "processes": 4096},
            "view": {"rooms": [{"source": ".", "target": "/room", "writable": false}],
                     "directory": "/room"},
            "access": {"execute": [], "read": [], "write": [], "network": "none"},
            "starts_others": false, "changes": true, "probe": true, "best_effort": true,
        });
        let helper = Helper::start("");
        let (_, output) = helper.run(&order, Path::new("/"), Duration::from_secs(20));
        let report: Value = serde_json::from_slice(&output).expect("a report");
        let has = report["namespaces"] == true;
        if !has {
            println!("SKIP: namespaces: this machine lets this account make none");
        }
        has
    });
    &ANSWER
}

/// The ways in which commands are held: every attack is played in each.
pub(super) fn ways() -> impl Iterator<Item = bool> {
    [false, true]
        .into_iter()
        .filter(|separate| !separate || *has_namespaces())
}

impl Helper {
    /// `secret` is in its environment.
    pub(super) fn start(secret: &str) -> Self {
        let (ours, theirs) = pair();
        let child = Command::new(env!("CARGO_BIN_EXE_fileshed"))
            .arg("jail")
            .env("SERVER_SECRET", secret)
            .stdin(Stdio::from(theirs))
            .spawn()
            .expect("the helper starts");
        Self {
            socket: Some(ours),
            child,
        }
    }

    /// Carries out one order: the exit status, where it was no signal, and all output. After
    /// `patience` the command is ended.
    pub(super) fn run(
        &self,
        order: &Value,
        directory: &Path,
        patience: Duration,
    ) -> (Option<i32>, Vec<u8>) {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(order.to_string().as_bytes())
            .and_then(|()| file.rewind())
            .expect("written");
        let directory = std::fs::File::open(directory).expect("opened");
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let (end, theirs) = pair();
        let handles = [
            file.as_fd(),
            writer.as_fd(),
            writer.as_fd(),
            directory.as_fd(),
            theirs.as_fd(),
        ];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(5))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&handles));
        let word = [u8::from(order["view"].is_object())];
        let socket = self.socket.as_ref().expect("open");
        rustix::net::sendmsg(
            socket,
            &[IoSlice::new(&word)],
            &mut control,
            SendFlags::empty(),
        )
        .expect("sent");
        drop((theirs, writer));
        let collect = std::thread::spawn(move || {
            let mut output = Vec::new();
            let _whole = reader.read_to_end(&mut output);
            output
        });
        let limit = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).expect("short"),
            tv_nsec: 0,
        };
        let mut news = [PollFd::new(&end, PollFlags::IN)];
        if rustix::event::poll(&mut news, Some(&limit)).expect("waited") == 0 {
            rustix::net::shutdown(&end, Shutdown::Write).expect("told");
        }
        let mut status = [0; 4];
        let (length, _) =
            rustix::net::recv(&end, &mut status, RecvFlags::empty()).expect("an answer");
        assert_eq!(length, 4, "the helper has ended");
        let status = i32::from_ne_bytes(status);
        let output = collect.join().expect("read");
        ((status >= 0).then_some(status), output)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.socket = None;
        self.child.wait().expect("it ends with its socket");
    }
}

fn pair() -> (OwnedFd, OwnedFd) {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .expect("a pair")
}
