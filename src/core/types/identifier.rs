//! Checks of texts that identify users or things in logs, commits and answers.

/// Longest name, mail address or identifier that an identity comes with, in bytes.
pub const TEXT_MAX_BYTES: usize = 256;

/// Whether a text can stand in a log, a commit or an answer: short, and without control characters.
#[must_use]
pub fn is_short_text(text: &str) -> bool {
    text.len() <= TEXT_MAX_BYTES && !text.chars().any(char::is_control)
}

/// Returns `true` if a text can be the name of a directory as it is: 1 to `most` bytes of letters,
/// digits and these marks, not beginning with a dot.
#[must_use]
pub fn is_plain_name(text: &str, most: usize, marks: &[u8]) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || marks.contains(&byte);
    (1..=most).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(is_plain)
}

/// Whether a text is what programs write where they have no value, or a template that nobody
/// filled in: it is the same for everybody.
#[must_use]
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
