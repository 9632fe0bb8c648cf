//! Programs of awk: `system`, pipes and extensions, outside of texts and regular expressions.

use super::{NO_PROGRAMS, begins_word};

/// Returns what is wrong with an awk program.
pub(super) fn fault(program: &str) -> Option<String> {
    let code = code(program);
    if begins_word(&code, "system").any(|after| after.trim_start().starts_with('(')) {
        return Some(format!(
            "`system()` starts a program, and {NO_PROGRAMS}: call the program with shed_exec"
        ));
    }
    let mut directives = ["@load", "@include"].into_iter();
    if let Some(directive) = directives.find(|directive| code.contains(directive)) {
        return Some(format!(
            "`{directive}` brings in other code: write the whole program in one argument"
        ));
    }
    code.replace("||", "").contains('|').then(|| {
        format!(
            "a pipe in awk starts a program, and {NO_PROGRAMS}: keep the output with \
             stdout_file and call the next program on that file"
        )
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

/// Returns `true` if a slash after this character begins a regular expression; otherwise it divides.
fn begins_pattern(last: char) -> bool {
    !(last.is_alphanumeric() || matches!(last, '_' | ')' | ']' | '$' | '"'))
}
