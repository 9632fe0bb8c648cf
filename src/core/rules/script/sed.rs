//! Scripts of sed: the command `e` and the flag `e` run programs; `w` and `r` name files.
//!
//! sed runs with `--sandbox`, which refuses all of them; this says so before it starts.

use super::NO_PROGRAMS;

/// Returns the fault of a sed script, if it has one. A script that cannot be read is left to sed.
pub(super) fn fault(script: &str) -> Option<String> {
    let mut rest = script;
    loop {
        let mut characters = addresses(rest)?.chars();
        let name = characters.next()?;
        let after = characters.as_str();
        rest = match name {
            'e' => {
                return Some(format!(
                    "the sed command `e` starts a program, and {NO_PROGRAMS}"
                ));
            }
            'w' | 'W' | 'r' | 'R' => {
                return Some(format!(
                    "the sed command `{name}` reads or writes another file: use stdout_file for \
                     output, or name the files as arguments"
                ));
            }
            's' => {
                let flags = behind_parts(after)?;
                let end = flags.find([';', '\n', '}', '#']).unwrap_or(flags.len());
                let (used, rest) = flags.split_at(end);
                if used.contains('e') {
                    return Some(format!(
                        "the flag `e` of `s` starts a program, and {NO_PROGRAMS}"
                    ));
                }
                if used.contains('w') {
                    let reason =
                        "the flag `w` of `s` writes another file: use stdout_file for output";
                    return Some(reason.to_owned());
                }
                rest
            }
            'y' => behind_parts(after)?,
            'a' | 'i' | 'c' => behind_text(after)?,
            'b' | 't' | 'T' | ':' => &after[after.find([';', '\n'])?..],
            '#' => &after[after.find('\n')?..],
            _ => after,
        };
    }
}

/// Returns the script behind the text of `a`, `i` or `c`, which ends at a line end without a backslash.
fn behind_text(text: &str) -> Option<&str> {
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
        let behind = &rest[first.len_utf8()..];
        let is_skipped =
            first.is_whitespace() || first.is_ascii_digit() || ";{},$!~+".contains(first);
        rest = match first {
            '/' => until(behind, '/')?.trim_start_matches(['I', 'M']),
            '\\' => {
                let delimiter = behind.chars().next()?;
                let pattern = &behind[delimiter.len_utf8()..];
                until(pattern, delimiter)?.trim_start_matches(['I', 'M'])
            }
            _ if is_skipped => behind,
            _ => return Some(rest),
        };
    }
}

/// Returns what follows the two parts behind `s` or `y`.
fn behind_parts(text: &str) -> Option<&str> {
    let delimiter = text.chars().next()?;
    until(until(&text[delimiter.len_utf8()..], delimiter)?, delimiter)
}

/// Returns the script behind the next delimiter that is neither escaped nor inside brackets.
fn until(text: &str, delimiter: char) -> Option<&str> {
    let (mut escaped, mut class) = (false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' if !class && delimiter != '[' && text[at..].contains(']') => class = true,
            ']' if class => class = false,
            found if found == delimiter && !class => {
                return Some(&text[at + delimiter.len_utf8()..]);
            }
            _ => {}
        }
    }
    None
}
