//! Words as text: shell syntax, addresses, paths, and how a value is shown.

use unicode_normalization::UnicodeNormalization;

use super::plan::CommandContext;
use fileshed_text::cut;
use fileshed_types::NextCall;

/// The longest part of a value that an answer repeats.
const SHOWN: usize = 200;

/// A shell construct found in a word, and what to do instead.
pub(super) type ShellSyntax = (&'static str, &'static str);

const SUBSTITUTION: &str = "no shell runs here, so nothing is substituted: make the inner command a \
    call of its own and put its output into `args`";
const CALLS: &str = "no shell runs here: make one shed_exec call for each command";
const PIPE: &str = "no shell runs here, so there are no pipes: keep the first command's output \
    with stdout_file=\"step1.txt\" and give that file to the next shed_exec call";
const REDIRECTION: &str = "no shell runs here: use the parameters stdout_file=\"out.txt\", \
    stderr_file=\"err.txt\" or redirect_stderr_to_stdout=true";
const BACKGROUND: &str =
    "no shell runs here and commands do not run in the background: leave the `&` out";

/// Characters of a shell, wherever they stand in a word.
const SHELL: &[ShellSyntax] = &[
    ("$(", SUBSTITUTION),
    ("`", SUBSTITUTION),
    ("&&", CALLS),
    (";", CALLS),
    ("|", PIPE),
    (">", REDIRECTION),
    ("&", BACKGROUND),
];

/// Words that are nothing but shell syntax.
const OPERATORS: &[ShellSyntax] = &[
    ("|", PIPE),
    ("|&", PIPE),
    ("&&", CALLS),
    ("||", CALLS),
    (";", CALLS),
    ("&", BACKGROUND),
    (">", REDIRECTION),
    (">>", REDIRECTION),
    (">|", REDIRECTION),
    (">&2", REDIRECTION),
    ("<", REDIRECTION),
    ("<<", REDIRECTION),
    ("<<<", REDIRECTION),
];

fn among(list: &[ShellSyntax], is: impl Fn(&str) -> bool) -> Option<ShellSyntax> {
    list.iter().copied().find(|(token, _)| is(token))
}

/// Returns the first shell construct in a word.
pub(super) fn shell(text: &str) -> Option<ShellSyntax> {
    among(SHELL, |token| text.contains(token))
}

/// Returns the shell construct that a word plainly is: an operator, a redirection, a command to be
/// substituted. The same characters inside of a text are text, since no shell reads it.
pub(super) fn operator(word: &str) -> Option<ShellSyntax> {
    let inner = word
        .strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'));
    let is_substituted = word.find("$(").is_some_and(|at| word[at..].contains(')'))
        || inner.is_some_and(|inner| !inner.is_empty() && !inner.contains('`'));
    if is_substituted {
        return shell(word);
    }
    let word = if is_redirection(word) { ">" } else { word };
    among(OPERATORS, |token| token == word)
}

/// `2>&1`, `2>err.txt`, `&>>all.log` and `>out.txt` as one word.
fn is_redirection(word: &str) -> bool {
    let of_stream = word.strip_prefix(['1', '2', '&']);
    let rest = of_stream.unwrap_or(word);
    let Some(target) = rest.strip_prefix(">>").or_else(|| rest.strip_prefix('>')) else {
        return false;
    };
    let is_name = |target: &str| {
        target.starts_with(|c: char| c.is_alphabetic() || matches!(c, '.' | '/' | '_'))
            && !target.contains(char::is_whitespace)
    };
    (of_stream.is_some() && (target.is_empty() || target.starts_with('&'))) || is_name(target)
}

/// Returns the shell construct in a word that was to be a path: one that it is, one between blanks in it,
/// or a pipe or redirection at an end, which some programs act upon.
pub(super) fn operator_in_path(path: &str) -> Option<ShellSyntax> {
    let trimmed = path.trim();
    let at_end = |token: &str| {
        (token == "|" && trimmed.ends_with('|'))
            || (matches!(token, "|" | ">") && trimmed.starts_with(token))
    };
    let between = || {
        let mut words = path.split_whitespace().filter_map(operator);
        words.find(|(token, _)| !matches!(*token, "&" | ";"))
    };
    operator(path)
        .or_else(between)
        .or_else(|| among(OPERATORS, at_end))
}

/// `true` if the only shell character is an `&` inside a name, as in `R&D notes.txt`.
pub(super) fn only_ampersand(text: &str) -> bool {
    shell(text).is_some_and(|(token, _)| token == "&") && text.chars().any(char::is_alphanumeric)
}

/// Returns the scheme of an address (`https://…`), or `git` for the form `git@host:path`.
pub(super) fn scheme(text: &str) -> Option<&str> {
    if text.starts_with("git@") {
        return Some("git");
    }
    let (scheme, _) = text.split_once("://")?;
    is_scheme(scheme).then_some(scheme)
}

/// Returns a prefix such as `file:` or `concat:` that a media tool acts on.
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

/// Returns a value as an answer repeats it.
pub(super) fn shown(text: &str) -> String {
    cut(text, SHOWN)
}

/// Returns a call of a command in the form that hints use.
pub(super) fn call(context: &CommandContext<'_>, cmd: &str, args: &[String]) -> NextCall {
    let zone = context.zone.as_str();
    let call = match context.file_being_edited {
        Some(path) => NextCall::here("shed_lockedit_exec")
            .with("zone", zone)
            .with("path", path),
        None => NextCall::here("shed_exec").with("zone", zone),
    };
    call.with("cmd", cmd).with("args", args.to_vec())
}

/// Returns a path without `.`, `..` and doubled slashes, in NFC; the zone itself is `.`. `None` if it is
/// absolute or leads out of the zone.
pub(super) fn normalise(path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()?),
            other => segments.push(other),
        }
    }
    if segments.is_empty() {
        return Some(".".to_owned());
    }
    Some(segments.join("/").nfc().collect())
}

/// Returns the path without the zone's own name in front, if it has it there.
pub(super) fn without_zone<'a>(normal: &'a str, zone: &str) -> Option<&'a str> {
    let (first, rest) = normal.split_once('/').unwrap_or((normal, "."));
    first.eq_ignore_ascii_case(zone).then_some(rest)
}
