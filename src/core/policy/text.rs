//! Words as text: shell characters, addresses, and how a value is shown.

use serde_json::Value;

use super::{Rules, ZoneKind};

/// The longest part of a value that an answer repeats.
const SHOWN: usize = 200;

/// A shell construct found in a word, and what to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shell {
    pub(super) token: &'static str,
    pub(super) instead: &'static str,
}

const SHELL: &[Shell] = &[
    Shell {
        token: "$(",
        instead: "no shell runs here, so nothing is substituted: make the inner command a \
            call of its own and put its output into `args`",
    },
    Shell {
        token: "`",
        instead: "no shell runs here, so nothing is substituted: make the inner command a \
            call of its own and put its output into `args`",
    },
    Shell {
        token: "&&",
        instead: "no shell runs here: make one shed_exec call for each command",
    },
    Shell {
        token: ";",
        instead: "no shell runs here: make one shed_exec call for each command",
    },
    Shell {
        token: "|",
        instead: "no shell runs here, so there are no pipes: keep the first command's output \
            with stdout_file=\"step1.txt\" and give that file to the next shed_exec call",
    },
    Shell {
        token: ">",
        instead: "no shell runs here: use the parameters stdout_file=\"out.txt\", \
            stderr_file=\"err.txt\" or redirect_stderr_to_stdout=true",
    },
    Shell {
        token: "&",
        instead: "no shell runs here and commands do not run in the background: leave the `&` out",
    },
];

/// The first shell construct in a word.
pub(super) fn shell(text: &str) -> Option<Shell> {
    SHELL
        .iter()
        .copied()
        .find(|shell| text.contains(shell.token))
}

/// Whether the only shell character is an `&` inside a name, as in `R&D notes.txt`.
pub(super) fn only_ampersand(text: &str) -> bool {
    shell(text).is_some_and(|found| found.token == "&") && text.chars().any(char::is_alphanumeric)
}

/// The scheme of an address (`https://…`), or `git` for the form `git@host:path`.
pub(super) fn scheme(text: &str) -> Option<&str> {
    if text.starts_with("git@") {
        return Some("git");
    }
    let (scheme, _) = text.split_once("://")?;
    is_scheme(scheme).then_some(scheme)
}

/// A prefix such as `file:` or `concat:` that a media tool acts on.
pub(super) fn prefix(text: &str) -> Option<&str> {
    let (prefix, _) = text.split_once([':', ','])?;
    is_scheme(prefix).then_some(prefix)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_'))
}

/// A value as an answer repeats it.
pub(super) fn shown(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain("…".chars()).collect()
}

/// A call in the form hints use.
pub(super) fn call(rules: &Rules<'_>, cmd: &str, args: &[String]) -> String {
    let args: Vec<String> = args
        .iter()
        .map(|argument| Value::from(argument.as_str()).to_string())
        .collect();
    let args = args.join(", ");
    let zone = rules.zone.as_str();
    match (rules.file_being_edited, rules.zone) {
        (Some(path), _) => format!(
            "shed_lockedit_exec(zone=\"{zone}\", path=\"{path}\", cmd=\"{cmd}\", args=[{args}])"
        ),
        (None, ZoneKind::Group) => {
            format!("shed_exec(zone=\"group\", group=\"…\", cmd=\"{cmd}\", args=[{args}])")
        }
        (None, _) => format!("shed_exec(zone=\"{zone}\", cmd=\"{cmd}\", args=[{args}])"),
    }
}
