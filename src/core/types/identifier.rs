//! Checks of texts that identify users or things in logs, commits and answers.

/// Longest name, mail address or identifier that an identity comes with, in bytes.
pub const TEXT_MAX_BYTES: usize = 256;

/// Returns `true` if a text is short and has no control characters, so that it can stand in a log, a
/// commit or a response.
pub fn is_short_text(text: &str) -> bool {
    text.len() <= TEXT_MAX_BYTES && !text.chars().any(char::is_control)
}

/// Returns `true` if a text can be the name of a directory as it is: 1 to `most` bytes of letters,
/// digits and these marks, not beginning with a dot.
pub fn is_plain_name(text: &str, most: usize, marks: &[u8]) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || marks.contains(&byte);
    (1..=most).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(is_plain)
}

/// Returns `true` if a text is a placeholder that programs write instead of a value, or a template that
/// was not filled in. Such a text would be the same for all users.
pub fn is_placeholder(text: &str) -> bool {
    const NO_VALUES: [&str; 7] = [
        "none",
        "null",
        "nil",
        "<nil>",
        "undefined",
        "nan",
        "[object object]",
    ];
    let text = text.trim();
    NO_VALUES
        .iter()
        .any(|no_value| text.eq_ignore_ascii_case(no_value))
        || text.contains("{{")
        || text.contains("${")
        || (text.starts_with('{') && text.ends_with('}'))
}
