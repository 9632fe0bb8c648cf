//! Output that is no text: what it is instead.

use file_format::FileFormat;

use fileshed_text::{TextError, expect_editable};

/// The format of bytes that cannot be shown as text, in words; nothing for text in any encoding.
pub(super) fn recognise(bytes: &[u8]) -> Option<Binary> {
    let encoding = match expect_editable(bytes) {
        Ok(()) => return None,
        Err(TextError::WideText { encoding }) => Some(encoding),
        Err(_) if are_records(bytes) => return None,
        Err(_) => None,
    };
    let format = FileFormat::from_bytes(bytes);
    Some(Binary { format, encoding })
}

/// Texts that end with NUL bytes, as `find -print0` writes them.
fn are_records(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    let Ok(text) = text else {
        return false;
    };
    let records: Vec<&str> = text.split_terminator('\0').collect();
    let has_control = |record: &&str| record.chars().any(|c| c < '\t' || c == '\u{7f}');
    let shortest = text.len() / records.len().max(1);
    shortest > 2
        && !records.iter().any(|record| record.is_empty())
        && !records.iter().any(has_control)
}

/// What binary output is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Binary {
    pub(super) format: FileFormat,
    /// Of text with more than a byte for every character.
    pub(super) encoding: Option<String>,
}

impl Binary {
    pub(super) fn name(&self) -> String {
        match (&self.encoding, self.format) {
            (Some(encoding), _) => format!("text in {encoding}"),
            (None, FileFormat::ArbitraryBinaryData) => "of no known format".to_owned(),
            (None, format) => format.name().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text() {
        for (bytes, name) in [
            (&b""[..], None),
            (b"plain\n", None),
            (b"gr\xf6\xdfer\n", None),
            (b"a.md\0notes/b.md\0", None),
            (b"SQLite format 3\0\x10\0\x01\x01", Some("SQLite 3")),
            (b"\xff\xfea\0b\0", Some("text in utf-16le")),
            (b"a\0b\0c\0", Some("of no known format")),
            (b"\0\0\0\0", Some("of no known format")),
        ] {
            let found = recognise(bytes).map(|binary| binary.name());
            assert_eq!(found.as_deref(), name, "{bytes:?}");
        }
    }
}
