//! Commands that run on this machine, found by an argument that no other command has.

use rustix::process::{Pid, Signal, kill_process};

/// The processes of which an argument is `word`.
pub fn running(word: &str) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let has_word = |process: &Pid| {
        let file = format!("/proc/{}/cmdline", process.as_raw_nonzero());
        let line = std::fs::read(file).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|part| part == word.as_bytes())
    };
    entries
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(has_word)
        .collect()
}

/// Kills the processes of which an argument is `word`.
pub fn kill(word: &str) {
    for process in running(word) {
        // One that ends by itself meanwhile is gone.
        let _gone = kill_process(process, Signal::KILL);
    }
}
