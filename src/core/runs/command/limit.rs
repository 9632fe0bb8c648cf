//! The limits of one process, which the kernel keeps: which one struck, as far as that is known.

use fileshed_sandbox::STACK_BYTES;
use fileshed_types::Settings;
use fileshed_types::settings::MEBIBYTE;

use crate::process::{OPEN_FILES, PROCESSES};

/// A limit that the kernel keeps for each process of a command, or for all together, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Bytes of a file.
    #[error("a file may have at most {mebibytes} MiB (max_file_size_mb)")]
    FileSize {
        /// The limit.
        mebibytes: u64,
    },
    /// Time of a processor.
    #[error("a process may use at most {seconds} s of CPU time (exec_cpu_limit_seconds)")]
    CpuTime {
        /// The limit.
        seconds: u64,
    },
    /// Memory of a process.
    #[error("a process may use at most {mebibytes} MiB of memory (exec_memory_limit_mb)")]
    Memory {
        /// The limit.
        mebibytes: u64,
    },
    /// Memory of a process, which is used up by the stacks of its threads.
    #[error(
        "a process may use at most {mebibytes} MiB of memory (exec_memory_limit_mb), which is too \
         little for so many threads"
    )]
    Threads {
        /// The limit.
        mebibytes: u64,
    },
    /// Memory of a command together with all that it started.
    #[error(
        "a command and all processes that it starts may use at most {mebibytes} MiB of memory \
         (exec_memory_limit_mb)"
    )]
    MemoryOfTree {
        /// The limit.
        mebibytes: u64,
    },
    /// Descriptors.
    #[error("a process may have at most {OPEN_FILES} open files")]
    OpenFiles,
    /// Processes and threads.
    #[error("a command may have at most {PROCESSES} processes and threads")]
    Processes,
}

/// Messages of programs that reach the limit on memory, in lower case.
const WORDS_OF_MEMORY: [&str; 8] = [
    "cannot allocate memory",
    "memory exhausted",
    "out of memory",
    "not enough memory",
    "can't allocate",
    "malloc of size",
    "bad_alloc",
    "memoryerror",
];

/// Words of programs that can start no process, beside [`AGAIN`].
const WORDS_OF_STARTING: [&str; 4] = ["fork", "clone", "spawn", "new process"];

/// The same of a thread; the filters of ffmpeg have threads, which it does not mention.
const WORDS_OF_THREADS: [&str; 2] = ["thread", "filter"];

/// Message of the system for EAGAIN, which has other causes too, in lower case.
const AGAIN: &str = "resource temporarily unavailable";

impl Limit {
    /// The limit whose signal ended a process, where there is one.
    pub(crate) fn of_signal(status: i32, settings: &Settings) -> Option<Self> {
        use rustix::process::Signal;
        if status == -Signal::XFSZ.as_raw() {
            return Some(Self::file_size(settings));
        }
        (status == -Signal::XCPU.as_raw()).then_some(Self::CpuTime {
            seconds: settings.exec_cpu_limit_seconds,
        })
    }

    /// The limit of which a program that failed speaks, where its words can mean nothing else.
    pub(crate) fn of_words(words: &str, settings: &Settings) -> Option<Self> {
        let words = words.to_lowercase();
        let has = |text: &str| words.contains(text);
        if WORDS_OF_MEMORY.iter().any(|text| has(text)) {
            return Some(Self::Memory {
                mebibytes: settings.exec_memory_limit_mb,
            });
        }
        if has("file too large") {
            return Some(Self::file_size(settings));
        }
        if has("too many open files") && !has("too many open files in system") {
            return Some(Self::OpenFiles);
        }
        let starting = |words: &[&str]| has(AGAIN) && words.iter().any(|text| has(text));
        if has("can't start new thread") || starting(&WORDS_OF_THREADS) {
            return Some(Self::of_threads(settings.exec_memory_limit_mb));
        }
        starting(&WORDS_OF_STARTING).then_some(Self::Processes)
    }

    /// Returns the limit that threads of one process reach first.
    fn of_threads(mebibytes: u64) -> Self {
        // The kernel counts stacks whole, and bounds twice the memory.
        if 2 * mebibytes * MEBIBYTE / STACK_BYTES < PROCESSES {
            Self::Threads { mebibytes }
        } else {
            Self::Processes
        }
    }

    fn file_size(settings: &Settings) -> Self {
        Self::FileSize {
            mebibytes: settings.largest_file() / MEBIBYTE,
        }
    }

    /// The name of its setting, and its value.
    pub(crate) fn setting(self) -> (&'static str, u64) {
        match self {
            Self::FileSize { mebibytes } => ("max_file_size_mb", mebibytes),
            Self::CpuTime { seconds } => ("exec_cpu_limit_seconds", seconds),
            Self::Memory { mebibytes }
            | Self::Threads { mebibytes }
            | Self::MemoryOfTree { mebibytes } => ("exec_memory_limit_mb", mebibytes),
            Self::OpenFiles => ("open_files", OPEN_FILES),
            Self::Processes => ("processes", PROCESSES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_known_by_its_signal() {
        let settings = Settings::new("unused");
        let limit = |status| Limit::of_signal(status, &settings).map(|limit| limit.setting().0);
        assert_eq!(limit(-25), Some("max_file_size_mb"));
        assert_eq!(limit(-24), Some("exec_cpu_limit_seconds"));
        for other in [0, 1, 24, 25, 153, -9, -11, -15] {
            assert_eq!(limit(other), None, "{other}");
        }
    }

    #[test]
    fn threads_reach_the_limit_that_is_lower() {
        for words in [
            "libgomp: Thread creation failed: Resource temporarily unavailable",
            "RuntimeError: can't start new thread",
            "Failed to inject frame into filter network: Resource temporarily unavailable\n\
             Error while processing the decoded data for stream #0:0",
        ] {
            for (mebibytes, setting) in [(512, "exec_memory_limit_mb"), (4096, "processes")] {
                let mut settings = Settings::new("unused");
                settings.exec_memory_limit_mb = mebibytes;
                let found = Limit::of_words(words, &settings).map(|limit| limit.setting().0);
                assert_eq!(found, Some(setting), "{words} {mebibytes}");
            }
        }
    }

    #[test]
    fn a_limit_is_known_by_what_programs_say_of_it() {
        let settings = Settings::new("unused");
        for (words, setting) in [
            (
                "gawk: fatal: cannot allocate 9 bytes of memory: Cannot allocate memory",
                "exec_memory_limit_mb",
            ),
            ("sort: memory exhausted", "exec_memory_limit_mb"),
            (
                "fatal: Out of memory, malloc failed",
                "exec_memory_limit_mb",
            ),
            (
                "ERROR: Can't allocate required memory!",
                "exec_memory_limit_mb",
            ),
            ("std::bad_alloc", "exec_memory_limit_mb"),
            (
                "x264 [error]: malloc of size 10982272 failed",
                "exec_memory_limit_mb",
            ),
            ("dd: error writing 'x': File too large", "max_file_size_mb"),
            ("paste: xaiq: Too many open files", "open_files"),
            (
                "fatal: cannot fork: Resource temporarily unavailable",
                "processes",
            ),
        ] {
            let found = Limit::of_words(words, &settings).map(|limit| limit.setting().0);
            assert_eq!(found, Some(setting), "{words}");
        }
        for words in [
            "",
            "cat: x: No such file or directory",
            "read: Resource temporarily unavailable",
            "x: Too many open files in system",
            "memory.md: Permission denied",
            "Error while processing x: Resource temporarily unavailable",
        ] {
            assert_eq!(Limit::of_words(words, &settings), None, "{words}");
        }
    }
}
