//! Looks into the little languages that commands take as an argument, for what starts programs.
//!
//! These are friendly early answers: the tools run with their own sandbox switches and the kernel
//! allows no other program, so a construct that slips through fails later and less clearly.

mod awk;
mod sed;

use super::syntax::ArgumentRole;
use fileshed_text::substitute;

const NO_PROGRAMS: &str = "commands start no other programs";

/// What is wrong with a program, mode, suffix or format.
pub(super) fn check(role: ArgumentRole, text: &str) -> Result<(), String> {
    match role {
        ArgumentRole::Awk => awk::check(text),
        ArgumentRole::Sed => sed::check(text),
        ArgumentRole::Dc => dc(text),
        ArgumentRole::Filter => filter(text),
        ArgumentRole::Sql => sql(text),
        ArgumentRole::Substitution => substitution(text),
        ArgumentRole::Mode => mode(text),
        ArgumentRole::Suffix if text.contains('/') => Err("a suffix holds no `/`".to_owned()),
        ArgumentRole::Format if text.contains(['/', '\\']) || text.contains(".lua") => {
            Err("a format is a name such as `markdown` or `docx`, never a script".to_owned())
        }
        _ => Ok(()),
    }
}

/// `!` starts a program, unless it compares: `!<`, `!=`, `!>`.
fn dc(text: &str) -> Result<(), String> {
    let starts = text
        .split('!')
        .skip(1)
        .any(|after| !after.starts_with(['<', '=', '>']));
    if starts {
        Err(format!("`!` in dc starts a program, and {NO_PROGRAMS}"))
    } else {
        Ok(())
    }
}

/// Functions of yq that read the environment or other files.
fn filter(text: &str) -> Result<(), String> {
    const READING: &[&str] = &[
        "load(",
        "load_str(",
        "load_xml(",
        "load_props(",
        "load_base64(",
        "strenv(",
    ];
    let word = |at: usize| {
        text[..at]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && c != '_')
    };
    match READING
        .iter()
        .find(|name| text.match_indices(*name).any(|(at, _)| word(at)))
    {
        Some(name) => Err(format!(
            "`{name}…)` reads outside of its input: name the files as arguments"
        )),
        None => Ok(()),
    }
}

/// Dot commands of sqlite3 that touch files or start programs.
fn sql(text: &str) -> Result<(), String> {
    const FILES: &[&str] = &[
        "read", "import", "output", "once", "log", "open", "backup", "save", "load", "ar",
        "archive", "cd", "clone", "excel", "restore", "recover", "trace", "iotrace", "testcase",
        "www",
    ];
    let Some(dot) = text.trim_start().strip_prefix('.') else {
        return Ok(());
    };
    let name: String = dot.chars().take_while(char::is_ascii_alphabetic).collect();
    if name.is_empty() {
        return Ok(());
    }
    if name.len() >= 2
        && ["shell", "system"]
            .iter()
            .any(|full| full.starts_with(&name))
    {
        return Err(format!("`.{name}` starts a program, and {NO_PROGRAMS}"));
    }
    let cut = |full: &&&str| **full == name || (name.len() >= 3 && full.starts_with(&name));
    match FILES.iter().find(cut) {
        Some(full) => Err(format!(
            "`.{full}` touches other files: use stdout_file for output, and INSERT \
                statements for input"
        )),
        None => Ok(()),
    }
}

/// `s/old/new/`, and nothing that perl or a shell would run.
fn substitution(text: &str) -> Result<(), String> {
    if text.contains(['`', '\n']) || text.contains("$(") {
        return Err("it is one line of text, and nothing in it is run".to_owned());
    }
    substitute(text, &[]).map(drop)
}

/// A mode without set-user-id and set-group-id.
fn mode(text: &str) -> Result<(), String> {
    let numeric = text.len() > 3
        && text.chars().all(|c| c.is_digit(8))
        && text
            .len()
            .checked_sub(4)
            .and_then(|at| text.chars().nth(at))
            .is_some_and(|c| matches!(c, '2'..='7'));
    let symbolic = text.split(',').any(|clause| {
        clause
            .find(['+', '='])
            .is_some_and(|at| clause[at..].contains('s'))
    });
    if numeric || symbolic {
        return Err(
            "set-user-id and set-group-id bits are not given here: use a mode such as \
            `644` or `u+x`"
                .to_owned(),
        );
    }
    Ok(())
}
