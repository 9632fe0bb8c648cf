//! Scripts of sed: the command `e` and the flag `e` run programs; `w` and `r` name files.
//!
//! sed runs with `--sandbox`, which refuses all of them; this says so before it starts.

use super::NO_PROGRAMS;

/// What is wrong with a sed script. A script that cannot be read is left to sed.
pub(super) fn check(script: &str) -> Result<(), String> {
    let mut rest = script;
    while !rest.is_empty() {
        rest = match command(rest)? {
            Some(rest) => rest,
            None => return Ok(()),
        };
    }
    Ok(())
}

/// Reads one command and answers with what follows.
fn command(script: &str) -> Result<Option<&str>, String> {
    let Some(body) = addresses(script) else {
        return Ok(None);
    };
    let mut characters = body.chars();
    let Some(name) = characters.next() else {
        return Ok(None);
    };
    let after = characters.as_str();
    match name {
        'e' => Err(format!(
            "the sed command `e` starts a program, and {NO_PROGRAMS}"
        )),
        'w' | 'W' | 'r' | 'R' => Err(format!(
            "the sed command `{name}` reads or writes another file: use stdout_file for \
                output, or name the files as arguments"
        )),
        's' => {
            let Some((_, _, flags)) = parts(after) else {
                return Ok(None);
            };
            let end = flags.find([';', '\n', '}', '#']).unwrap_or(flags.len());
            let used = &flags[..end];
            if used.contains('e') {
                return Err(format!(
                    "the flag `e` of `s` starts a program, and {NO_PROGRAMS}"
                ));
            }
            if used.contains('w') {
                return Err(
                    "the flag `w` of `s` writes another file: use stdout_file for output"
                        .to_owned(),
                );
            }
            Ok(Some(&flags[end..]))
        }
        'y' => Ok(parts(after).map(|(_, _, rest)| rest)),
        'a' | 'i' | 'c' => Ok(text_end(after)),
        'b' | 't' | 'T' | ':' => Ok(after.find([';', '\n']).map(|at| &after[at..])),
        '#' => Ok(after.find('\n').map(|at| &after[at..])),
        _ => Ok(Some(after)),
    }
}

/// What follows the text of `a`, `i` and `c`: it ends at a line end without a backslash.
fn text_end(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            '\\' => escaped = !escaped,
            '\n' if !escaped => return Some(&text[at..]),
            _ => escaped = false,
        }
    }
    None
}

/// Skips blanks, separators and addresses.
fn addresses(script: &str) -> Option<&str> {
    let mut rest = script;
    loop {
        let first = rest.chars().next()?;
        rest = match first {
            '/' => {
                let (_, after) = until(&rest[1..], '/')?;
                after.trim_start_matches(['I', 'M'])
            }
            '\\' => {
                let delimiter = rest[1..].chars().next()?;
                let (_, after) = until(&rest[1 + delimiter.len_utf8()..], delimiter)?;
                after.trim_start_matches(['I', 'M'])
            }
            _ if first.is_whitespace() || first.is_ascii_digit() || ";{},$!~+".contains(first) => {
                &rest[first.len_utf8()..]
            }
            _ => return Some(rest),
        };
    }
}

/// The two parts behind `s` or `y`, and what follows.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let delimiter = text.chars().next()?;
    let (one, rest) = until(&text[delimiter.len_utf8()..], delimiter)?;
    let (two, rest) = until(rest, delimiter)?;
    Some((one, two, rest))
}

/// Splits at the next delimiter that is neither escaped nor inside brackets.
pub(super) fn until(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let (mut escaped, mut class) = (false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' if !class && delimiter != '[' && text[at..].contains(']') => class = true,
            ']' if class => class = false,
            found if found == delimiter && !class => {
                return Some((&text[..at], &text[at + delimiter.len_utf8()..]));
            }
            _ => {}
        }
    }
    None
}
