//! The processes below a server, seen from outside.

use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::comes;

/// The unit in which Linux tells processor time (`proc(5)`, `USER_HZ`).
const TICK: Duration = Duration::from_millis(10);

/// A process: number, parent, and its line in the table of the kernel.
struct Process {
    number: i32,
    parent: i32,
    line: String,
}

fn all() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter_map(|line| {
            let (head, fields) = line.rsplit_once(") ")?;
            Some(Process {
                number: head.split(' ').next()?.parse().ok()?,
                parent: fields.split(' ').nth(1)?.parse().ok()?,
                line,
            })
        })
        .collect()
}

/// A child of this process, for another thread.
pub(crate) fn handle(child: &Child) -> OwnedFd {
    pidfd_open(Pid::from_child(child), PidfdFlags::empty()).unwrap()
}

/// Waits for its end, and kills it if that takes too long.
pub(crate) fn kill_after(process: &OwnedFd, patience: Duration) {
    let end = patience.try_into().unwrap();
    let mut polled = [PollFd::new(process, PollFlags::IN)];
    if poll(&mut polled, Some(&end)).unwrap() == 0 {
        pidfd_send_signal(process, Signal::KILL).unwrap();
    }
}

/// The helper of a server: the one process that stays, from which commands are started.
pub fn helper(server: i32) -> i32 {
    let processes = all();
    let children: Vec<_> = processes
        .iter()
        .filter(|process| process.parent == server)
        .collect();
    let lines: Vec<_> = children.iter().map(|child| &child.line).collect();
    assert_eq!(children.len(), 1, "one child, the helper: {lines:?}");
    children[0].number
}

/// Resident memory of a process in bytes.
pub fn resident(process: i32) -> u64 {
    memory(process, "VmRSS:")
}

/// The most resident memory that a process has had, in bytes; since [`forget_peak`], if that was said.
pub fn peak(process: i32) -> u64 {
    memory(process, "VmHWM:")
}

/// From now on, a process has had no more memory than it has (`proc(5)`, `clear_refs`).
pub fn forget_peak(process: i32) {
    std::fs::write(format!("/proc/{process}/clear_refs"), "5").unwrap();
}

fn memory(process: i32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.unwrap().parse::<u64>().unwrap() * 1024
}

/// Processor time that a process has had so far, in steps of 10 ms.
pub fn processor_time(process: i32) -> Duration {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = line.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(11).take(2);
    ticks.map(|ticks| TICK * ticks.parse().unwrap()).sum()
}

/// Returns the processes of commands that are left, ended ones included, once none is left or the time is
/// over: an init ends a moment after its command.
pub fn left_of_commands(server: i32) -> Vec<String> {
    let helper = helper(server);
    let mut left = Vec::new();
    let _none = comes(|| {
        let processes = all();
        let mut family = vec![helper];
        let mut known = 0;
        while known < family.len() {
            let parent = family[known];
            let children = processes
                .iter()
                .filter(|process| process.parent == parent)
                .map(|process| process.number);
            family.extend(children);
            known += 1;
        }
        let below = processes
            .into_iter()
            .filter(|process| family[1..].contains(&process.number));
        left = below.map(|process| process.line).collect();
        left.is_empty().then_some(())
    });
    left
}
