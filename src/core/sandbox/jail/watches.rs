//! Watches of epoll, which the kernel counts for the account (`fs.epoll.max_user_watches`): who has used
//! them up keeps the server from accepting connections.

use std::path::Path;

use super::children::ForkedChild;
use crate::tree::processes_of;

/// A job that can have fewer is not the reason.
const LEAST: usize = 1024;

/// Ends the job whose processes can have most of them, if one has many.
pub(super) fn end_most(children: &mut [ForkedChild]) {
    let first: Vec<i32> = children
        .iter()
        .map(|child| child.pid.as_raw_pid())
        .collect();
    let mut watches = vec![0; children.len()];
    for (job, process) in processes_of(&first) {
        watches[job] += most_watches(process);
    }
    let most = (0..watches.len()).max_by_key(|job| watches[*job]);
    if let Some(most) = most.filter(|most| watches[*most] >= LEAST) {
        children[most].kill();
        children[most].stopped = true;
    }
}

/// As many as a process can have: each of its epolls may watch all its files.
fn most_watches(process: i32) -> usize {
    let mut descriptors = 0;
    let mut epolls = 0;
    let place = format!("/proc/{process}/fd");
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        descriptors += 1;
        let target = std::fs::read_link(entry.path());
        epolls += usize::from(target.is_ok_and(|to| to == Path::new("anon_inode:[eventpoll]")));
    }
    epolls * descriptors
}
