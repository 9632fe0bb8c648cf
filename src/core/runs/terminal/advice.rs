//! Advice on what a line says on its standard error: programs that it cannot start, and limits.

use crate::command::Limit;
use fileshed_rules::instead_in_terminal;
use fileshed_types::Settings;

/// Bytes of standard error that are looked at: the last ones.
const LAST_BYTES: usize = 4096;

/// Names of the shell in front of its messages.
const SHELLS: [&str; 3] = ["bash: ", "sh: ", "/bin/sh: "];

/// Ends of the messages of a shell about a program that it cannot start.
const NOT_STARTED: [&str; 3] = [": command not found", ": not found", ": Permission denied"];

/// Parts of what git says where it may not write: in a mount that is read-only, and without one.
const NOT_WRITTEN: [&str; 3] = [
    "Read-only file system",
    "insufficient permission for adding an object",
    "/repo.git/",
];

/// Status of a shell whose program was ended by a signal, beside the number of the signal.
const SIGNALLED: i32 = 128;

/// The output of a line so far on one stream.
#[derive(Default)]
pub(super) struct Advice {
    words: String,
    given: Vec<&'static str>,
}

impl Advice {
    /// Takes what was written. Returns advice that was not given yet.
    pub(super) fn hear(&mut self, text: &str) -> Vec<&'static str> {
        self.words.push_str(text);
        let before = self.given.len();
        for line in self.words.lines() {
            if let Some(advice) = program(line).and_then(instead_in_terminal)
                && !self.given.contains(&advice)
            {
                self.given.push(advice);
            }
        }
        let surplus = self.words.len().saturating_sub(LAST_BYTES);
        self.words.drain(..self.words.ceil_char_boundary(surplus));
        self.given.split_at(before).1.to_vec()
    }

    /// Returns the limit that struck a line that ended with this status.
    pub(super) fn limit(&self, status: i32, settings: &Settings) -> Option<Limit> {
        let signal = if status > SIGNALLED {
            SIGNALLED - status
        } else {
            status
        };
        let of_words = || Limit::of_words(&self.words, settings).filter(|_| status != 0);
        Limit::of_signal(signal, settings).or_else(of_words)
    }
}

/// Returns the program that is no use here, or cannot do what it was to, as a line of messages has it.
fn program(line: &str) -> Option<&str> {
    if line.starts_with("Vim: Warning: ") {
        return Some("vim");
    }
    let is_of_git = line.starts_with("error: ") || line.starts_with("fatal: ");
    if is_of_git && NOT_WRITTEN.iter().any(|part| line.contains(part)) {
        return Some("git");
    }
    SHELLS.iter().find(|shell| line.starts_with(**shell))?;
    let named = NOT_STARTED.iter().find_map(|end| line.strip_suffix(end))?;
    named.rsplit([' ', '/']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_given_once_whatever_the_pieces() {
        let mut advice = Advice::default();
        assert!(advice.hear("bash: line 1: vi").is_empty());
        let [editing] = advice.hear("m: command not found\n")[..] else {
            panic!("one advice");
        };
        assert!(editing.contains("replace_file_content"), "{editing}");
        assert!(advice.hear("sh: 1: nano: not found\n").is_empty());
        let long = format!("{}\nsh: 1: ps: Permission denied\n", "é".repeat(5000));
        let [listing] = advice.hear(&long)[..] else {
            panic!("one advice");
        };
        assert!(listing.contains("list_processes"), "{listing}");
        for other in ["cat: vim: Permission denied\n", "sh: 1: mine: not found\n"] {
            assert!(advice.hear(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn git_that_may_not_write_is_told_what_does() {
        for said in [
            "error: unable to create temporary file: Read-only file system",
            "error: insufficient permission for adding an object to repository database /x/objects",
            "fatal: could not open '/documents/repo.git/COMMIT_EDITMSG': Permission denied",
        ] {
            let [advice] = Advice::default().hear(&format!("{said}\n"))[..] else {
                panic!("{said}");
            };
            assert!(advice.contains("git restore"), "{advice}");
        }
        for said in [
            "touch: cannot touch 'x': Read-only file system",
            "fatal: not a git repository (or any of the parent directories): .git",
        ] {
            assert!(
                Advice::default().hear(&format!("{said}\n")).is_empty(),
                "{said}"
            );
        }
    }

    #[test]
    fn a_limit_is_known_by_a_status_or_by_words() {
        let settings = Settings::new("unused");
        let limit = |words: &str, status| {
            let mut advice = Advice::default();
            advice.hear(words);
            Some(advice.limit(status, &settings)?.setting().0)
        };
        for status in [-25, 153] {
            assert_eq!(limit("", status), Some("max_file_size_mb"));
        }
        for status in [-24, 152] {
            assert_eq!(limit("", status), Some("exec_cpu_limit_seconds"));
        }
        assert_eq!(limit("MemoryError\n", 1), Some("exec_memory_limit_mb"));
        assert_eq!(limit("MemoryError\n", 0), None);
        assert_eq!(limit("no such file\n", 1), None);
    }
}
