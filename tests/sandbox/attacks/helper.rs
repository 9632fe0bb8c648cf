//! The helper, spoken to as the server does.

use std::io::{IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType,
};
use serde_json::{Value, json};

use fileshed_test_support::{PATIENCE, eventually, skip};

/// Kernel accounts of commands begin here, behind those of servers.
const ACCOUNTS: u32 = 0x7C00_0000;

/// The helper of one attack; ended with the value.
pub(super) struct Helper {
    socket: Option<OwnedFd>,
    child: Child,
    /// `true` if its commands have a kernel account of their own, where the machine allows that.
    separates: bool,
}

/// `true` if a command on this machine gets files and processes of its own.
pub(crate) fn has_namespaces() -> bool {
    static ANSWER: LazyLock<bool> = LazyLock::new(|| {
        let order = json!({
            "file": "/dev/null", "name": "", "arguments": [], "environment": [], "input": null,
            "limits": {"memory": 1_u64 << 30, "cpu_seconds": 5, "file_size": 0, "open_files": 64,
                       "processes": 4096},
            "mounts": {"bind_mounts": [{"source": ".", "target": "/zone", "writable": false}],
                       "directory": "/zone"},
            "access": {"execute": [], "read": [], "write": [], "network": {"proxy": {"port": 0}}},
            "supervised": true, "starts_others": false, "changes": true, "probe": true, "best_effort": true,
        });
        let helper = Helper::start("");
        let (_, output) = helper.run(&order, Path::new("/"));
        let report: Value = serde_json::from_slice(&output).expect("a report");
        report["namespaces"] == true
    });
    *ANSWER
}

/// As `has_namespaces`, for a test that skips what needs them.
pub(crate) fn needs_namespaces() -> bool {
    if !has_namespaces() {
        skip("namespaces: this machine lets this account make none");
    }
    has_namespaces()
}

/// The ways in which commands are held: every attack is played in each.
pub(crate) fn ways() -> impl Iterator<Item = bool> {
    [false, true]
        .into_iter()
        .filter(|separate| !separate || needs_namespaces())
}

/// An order as the program reads it: one part of it has all that concerns the program itself.
fn job_spec(order: &Value) -> Value {
    let mut spec = order.clone();
    let parts = spec.as_object_mut().expect("an object");
    let program: serde_json::Map<_, _> = ["file", "name", "arguments", "environment"]
        .into_iter()
        .filter_map(|part| parts.remove_entry(part))
        .collect();
    spec["job"] = json!({"program": program});
    spec
}

impl Helper {
    /// `secret` is in its environment.
    pub(super) fn start(secret: &str) -> Self {
        Self::start_as(secret, None)
    }

    /// The same under an account without any capability, as the image of the product has it; as root,
    /// that of the tests, whose commands then have no kernel account of their own.
    pub(super) fn start_as(secret: &str, account: Option<u32>) -> Self {
        let (ours, theirs) = pair();
        let program = env!("CARGO_BIN_EXE_fileshed");
        let mut command = match account {
            None | Some(0) => Command::new(program),
            Some(account) => under(account, program),
        };
        let child = command
            .arg("jail")
            .env("SERVER_SECRET", secret)
            .stdin(Stdio::from(theirs))
            .spawn()
            .expect("the helper starts");
        Self {
            socket: Some(ours),
            child,
            separates: account.is_none() && rustix::process::geteuid().is_root(),
        }
    }

    /// Has it end the job with most watches of epoll.
    pub(super) fn end_most_watches(&self) {
        let request = json!("end_most_watches").to_string();
        let socket = self.socket.as_ref().expect("open");
        rustix::net::send(socket, request.as_bytes(), SendFlags::empty()).expect("sent");
    }

    /// Carries out one order: the exit status, where it was no signal, and all output. A command that
    /// hangs is ended.
    pub(super) fn run(&self, order: &Value, directory: &Path) -> (Option<i32>, Vec<u8>) {
        let directory = std::fs::File::open(directory).expect("opened");
        let job = job_spec(order);
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(job.to_string().as_bytes())
            .and_then(|()| file.rewind())
            .expect("written");
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let (end, theirs) = pair();
        let nothing = std::fs::File::open("/dev/null").expect("opened");
        let handles = [
            theirs.as_fd(),
            file.as_fd(),
            nothing.as_fd(),
            writer.as_fd(),
            writer.as_fd(),
            directory.as_fd(),
        ];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(6))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&handles));
        let network = &order["access"]["network"];
        let kind = json!({
            "any_program": order["access"]["any_program"] == true,
            "network": network,
        });
        let is_separate = order["mounts"].is_object();
        let takes_spare = is_separate && order["probe"] != true;
        let request = json!({
            "in_namespaces": is_separate,
            "in_network": is_separate && network["proxy"].is_object(),
            "makes_groups": order["makes_groups"] == true,
            "has_group": false,
            "account": (is_separate && self.separates).then_some(ACCOUNTS + self.child.id()),
            "kind": takes_spare.then_some(kind),
        });
        let request = json!({"start": request});
        let socket = self.socket.as_ref().expect("open");
        rustix::net::sendmsg(
            socket,
            &[IoSlice::new(request.to_string().as_bytes())],
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
            tv_sec: i64::try_from(PATIENCE.as_secs()).expect("short"),
            tv_nsec: 0,
        };
        let wait = || {
            let mut news = [PollFd::new(&end, PollFlags::IN)];
            if rustix::event::poll(&mut news, Some(&limit)).expect("waited") == 0 {
                rustix::net::shutdown(&end, Shutdown::Write).expect("told");
            }
        };
        let proxy = order["access"]["network"]["proxy"]["port"].as_u64();
        let mut port = proxy.filter(|_| is_separate && order["probe"] == false);
        let status = loop {
            wait();
            match hear(&end) {
                News::Started => {}
                News::Ended(status) => break status,
                News::Listener(listener) => {
                    let port = port.take().expect("it has a network of its own");
                    bridge(listener.into(), u16::try_from(port).expect("a port"));
                }
            }
        };
        assert_eq!(port, None, "the command has no network of its own");
        let output = collect.join().expect("read");
        ((status >= 0).then_some(status), output)
    }
}

impl Helper {
    /// Has it do something harmless in the same circumstances first, and waits for the jail that it
    /// prepares then for the next order.
    pub(super) fn warm(&self, order: &Value, directory: &Path) -> i32 {
        let mut harmless = order.clone();
        harmless["file"] = "/usr/bin/true".into();
        harmless["arguments"] = json!([]);
        harmless["access"]["execute"] = json!(["/usr/bin/true", super::loader()]);
        let (status, output) = self.run(&harmless, directory);
        let output = String::from_utf8_lossy(&output);
        assert_eq!((status, &*output), (Some(0), ""), "the harmless one");
        spare_of(self.child.id() as i32)
    }

    /// Ends it as a machine does that has no memory left.
    pub(super) fn kill(&self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("killed");
    }

    /// Its processes.
    pub(super) fn children(&self) -> Vec<i32> {
        children(self.child.id() as i32)
    }
}

/// The jail that waits for the next order of a helper.
pub(crate) fn spare_of(helper: i32) -> i32 {
    eventually("a jail waits", || {
        let mut children = children(helper).into_iter();
        children.find(|child| {
            // One that was ended keeps its name until its parent knows.
            let stat = std::fs::read_to_string(format!("/proc/{child}/stat"));
            stat.is_ok_and(|stat| stat.contains("(fileshed-spare) ") && !stat.contains(") Z "))
        })
    })
}

/// The processes that a process has started.
pub(crate) fn children(process: i32) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").expect("listed").flatten();
    let number = |name: std::ffi::OsString| name.to_str()?.parse().ok();
    let is_child = |child: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let (_, fields) = stat.rsplit_once(") ").unwrap_or_default();
        fields.split(' ').nth(1) == Some(&process.to_string())
    };
    all.filter_map(|entry| number(entry.file_name()))
        .filter(is_child)
        .collect()
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.socket = None;
        self.child.wait().expect("it ends with its socket");
    }
}

/// Messages of the helper about a command.
enum News {
    /// It listens in a network of its own.
    Listener(OwnedFd),
    /// It has a first process.
    Started,
    Ended(i32),
}

fn hear(end: &OwnedFd) -> News {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut text = [0; 64];
    let told = rustix::net::recvmsg(
        end,
        &mut [IoSliceMut::new(&mut text)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )
    .expect("an answer");
    let listener = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut handles) => handles.next(),
        _ => None,
    });
    if let Some(listener) = listener {
        return News::Listener(listener);
    }
    let event: Value =
        serde_json::from_slice(&text[..told.bytes]).expect("the helper has not ended");
    match event["ended"].as_i64() {
        Some(status) => News::Ended(i32::try_from(status).expect("a status")),
        None if event["started"].is_i64() => News::Started,
        None => panic!("no place for it: {event}"),
    }
}

/// Leads what connects in a command's network to a port of this machine, as long as the command
/// and its network are there.
fn bridge(listener: TcpListener, port: u16) {
    std::thread::spawn(move || {
        while let Ok((near, _)) = listener.accept() {
            let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else {
                continue;
            };
            for (mut from, mut to) in [
                (
                    near.try_clone().expect("cloned"),
                    far.try_clone().expect("cloned"),
                ),
                (far, near),
            ] {
                std::thread::spawn(move || {
                    let _cut_off = std::io::copy(&mut from, &mut to);
                    let _closed = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
}

/// A program under another account, without capabilities.
pub(super) fn under(account: u32, program: &str) -> Command {
    let account = account.to_string();
    let mut command = Command::new("/usr/bin/setpriv");
    command
        .args(["--reuid", &account, "--regid", &account, "--clear-groups"])
        .args(["--inh-caps=-all", "--bounding-set=-all", program]);
    command
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
