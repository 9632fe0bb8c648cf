//! Identities of processes, which tell whether a process on the same machine has ended.
//!
//! The kernel gives the number of an ended process to a later one. The number identifies one process for
//! good together with the time of its start, the boot of the machine and the PID namespace (proc(5)).

#![expect(
    clippy::disallowed_methods,
    reason = "what the kernel says of processes is in no zone"
)]

use std::fs;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessIdentity(String);

/// Returns the identity of this process.
pub(crate) fn own() -> ProcessIdentity {
    let number = rustix::process::getpid().as_raw_nonzero().to_string();
    let started = started(&number).unwrap_or_default();
    ProcessIdentity(format!("{} {number} {started}", machine()))
}

/// Returns the host name of this machine.
#[must_use]
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

impl ProcessIdentity {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if this process can see that another one has ended; `false` if it cannot know.
    pub(crate) fn knows_the_end_of(&self, other: &str) -> bool {
        let (Some((here, own)), Some((there, rest))) = (parts(&self.0), parts(other)) else {
            return false;
        };
        let is_own_known = started(own.0).is_some_and(|moment| moment == own.1);
        here == there && is_own_known && started(rest.0).is_none_or(|moment| moment != rest.1)
    }
}

/// Splits an identity into the machine, the number and the start.
fn parts(text: &str) -> Option<(&str, (&str, &str))> {
    let (before, started) = text.rsplit_once(' ')?;
    let (machine, number) = before.rsplit_once(' ')?;
    Some((machine, (number, started)))
}

/// Returns the boot of the machine and the PID namespace.
fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let numbers = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{}/{}", boot.trim(), numbers.display())
}

/// Returns the start time of a process; `None` if it has ended, even if it is still a zombie.
fn started(number: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything.
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?;
    (!matches!(state, "Z" | "X")).then(|| started.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_seen_by_those_of_its_machine() {
        let own = own();
        assert!(!own.knows_the_end_of(own.as_str()), "it lives");
        let (machine, (number, started)) = parts(own.as_str()).expect("parts");
        let with = |machine: &str, number: &str, started: &str| {
            own.knows_the_end_of(&format!("{machine} {number} {started}"))
        };
        assert!(with(machine, number, &format!("{started}0")), "a later one");
        assert!(with(machine, "4194305", started), "no such number");
        assert!(!with("elsewhere", "4194305", started), "nobody knows");
        assert!(!own.knows_the_end_of(""));
    }
}
