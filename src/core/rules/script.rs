//! Looks into the little languages that commands take as an argument, for what starts programs.
//!
//! These are friendly early answers: the tools run with their own sandbox switches and the kernel
//! allows no other program, so a construct that slips through fails later and less clearly.

mod awk;
mod sed;

use super::syntax::ArgumentRole;
use fileshed_text::substitute;

const NO_PROGRAMS: &str = "commands start no other programs";

/// Returns what is wrong with a program, mode, suffix or format.
pub(super) fn fault(role: ArgumentRole, text: &str) -> Option<String> {
    match role {
        ArgumentRole::Awk => awk::fault(text),
        ArgumentRole::Sed => sed::fault(text),
        ArgumentRole::Dc => dc(text),
        ArgumentRole::Filter => filter(text),
        ArgumentRole::Sql => sql(text),
        ArgumentRole::Substitution => substitution(text),
        ArgumentRole::Mode => mode(text),
        ArgumentRole::Suffix => text
            .contains('/')
            .then(|| "a suffix holds no `/`".to_owned()),
        ArgumentRole::Format => (text.contains(['/', '\\']) || text.contains(".lua"))
            .then(|| "a format is a name such as `markdown` or `docx`, never a script".to_owned()),
        _ => None,
    }
}

/// `!` starts a program, unless it compares: `!<`, `!=`, `!>`.
fn dc(text: &str) -> Option<String> {
    let mut behind = text.split('!').skip(1);
    let starts = behind.any(|after| !after.starts_with(['<', '=', '>']));
    starts.then(|| format!("`!` in dc starts a program, and {NO_PROGRAMS}"))
}

/// Functions of yq that read the environment or other files.
fn filter(text: &str) -> Option<String> {
    const READING: &[&str] = &[
        "load(",
        "load_str(",
        "load_xml(",
        "load_props(",
        "load_base64(",
        "strenv(",
    ];
    let mut reading = READING.iter();
    let name = reading.find(|name| begins_word(text, name).next().is_some())?;
    Some(format!(
        "`{name}…)` reads outside of its input: name the files as arguments"
    ))
}

/// Returns what follows a name wherever a word begins with it.
fn begins_word<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices(name).filter_map(|(at, name)| {
        let before = text[..at].chars().next_back();
        let begins = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        begins.then(|| &text[at + name.len()..])
    })
}

/// Dot commands of sqlite3 that touch files or start programs.
fn sql(text: &str) -> Option<String> {
    const FILES: &[&str] = &[
        "read", "import", "output", "once", "log", "open", "backup", "save", "load", "ar",
        "archive", "cd", "clone", "excel", "restore", "recover", "trace", "iotrace", "testcase",
        "www",
    ];
    let dot = text.trim_start().strip_prefix('.')?;
    let end = dot.find(|c: char| !c.is_ascii_alphabetic());
    let name = &dot[..end.unwrap_or(dot.len())];
    let is_short_for = |full: &str, least| name.len() >= least && full.starts_with(name);
    if is_short_for("shell", 2) || is_short_for("system", 2) {
        return Some(format!("`.{name}` starts a program, and {NO_PROGRAMS}"));
    }
    let mut files = FILES.iter();
    let full = files.find(|full| **full == name || is_short_for(full, 3))?;
    Some(format!(
        "`.{full}` touches other files: use stdout_file for output, and INSERT \
         statements for input"
    ))
}

/// `s/old/new/`, and nothing that perl or a shell would run.
fn substitution(text: &str) -> Option<String> {
    if text.contains(['`', '\n']) || text.contains("$(") {
        return Some("it must be one line of text, which is not run as a script".to_owned());
    }
    substitute(text, &[]).err()
}

/// A mode without set-user-id and set-group-id.
fn mode(text: &str) -> Option<String> {
    let special = text
        .len()
        .checked_sub(4)
        .and_then(|at| text.as_bytes().get(at));
    let is_octal = text.bytes().all(|digit| (b'0'..b'8').contains(&digit));
    let numeric = is_octal && special.is_some_and(|digit| *digit >= b'2');
    let symbolic = text.split(',').any(|clause| {
        let set = clause.find(['+', '=']);
        set.is_some_and(|at| clause[at..].contains('s'))
    });
    (numeric || symbolic).then(|| {
        "set-user-id and set-group-id bits cannot be set here: use a mode such as `644` or `u+x`"
            .to_owned()
    })
}
