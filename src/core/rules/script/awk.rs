//! Programs of awk: `system`, pipes and extensions, outside of texts and regular expressions.

use super::NO_PROGRAMS;

/// What is wrong with an awk program.
pub(super) fn check(program: &str) -> Result<(), String> {
    let code = code(program);
    if calls(&code, "system") {
        return Err(format!(
            "`system()` starts a program, and {NO_PROGRAMS}: call the program with shed_exec"
        ));
    }
    for directive in ["@load", "@include"] {
        if code.contains(directive) {
            return Err(format!(
                "`{directive}` brings in other code: write the whole program in one argument"
            ));
        }
    }
    if code.replace("||", "").contains('|') {
        return Err(format!(
            "a pipe in awk starts a program, and {NO_PROGRAMS}: keep the output with \
                stdout_file and call the next program on that file"
        ));
    }
    Ok(())
}

/// Whether a name is called as a function.
fn calls(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + name.len()..].trim_start();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_') && after.starts_with('(')
    })
}

/// The program without the contents of texts, regular expressions and comments.
fn code(program: &str) -> String {
    let mut code = String::with_capacity(program.len());
    let mut characters = program.chars().peekable();
    let mut last = ' ';
    while let Some(character) = characters.next() {
        let closing = match character {
            '"' => '"',
            '/' if begins_pattern(last) => '/',
            '#' => '\n',
            other => {
                code.push(other);
                if !other.is_whitespace() || other == '\n' {
                    last = other;
                }
                continue;
            }
        };
        let mut class = false;
        while let Some(inside) = characters.next() {
            match inside {
                '\\' if closing != '\n' => {
                    characters.next();
                }
                '[' if closing == '/' => class = true,
                ']' if closing == '/' => class = false,
                found if found == closing && !class => break,
                _ => {}
            }
        }
        last = closing;
        code.push(closing);
    }
    code
}

/// Whether a slash after this character begins a regular expression; otherwise it divides.
fn begins_pattern(last: char) -> bool {
    !(last.is_alphanumeric() || matches!(last, '_' | ')' | ']' | '$' | '"'))
}
