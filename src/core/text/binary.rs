//! Checks that bytes can be edited as text.

use file_format::{FileFormat, Kind};
use memchr::memchr;

use super::{Encoding, TextError};

/// Returns `true` if files of this format are no text, however their bytes look.
pub fn is_binary_kind(format: FileFormat) -> bool {
    matches!(
        format.kind(),
        Kind::Archive
            | Kind::Audio
            | Kind::Compressed
            | Kind::Database
            | Kind::Disk
            | Kind::Executable
            | Kind::Font
            | Kind::Image
            | Kind::Package
            | Kind::Rom
            | Kind::Video
    )
}

/// Fails if lines of text would spoil a file with this beginning: one with NUL bytes, which UTF-16 and
/// UTF-32 have, too, or one whose beginning shows a binary format. Bytes that are not UTF-8 do not make
/// a file binary: files in old encodings are edited, with their bytes as they are.
pub fn expect_editable(beginning: &[u8]) -> Result<(), TextError> {
    if memchr(0, beginning).is_some() {
        return Err(match Encoding::of(beginning, false) {
            encoding @ (Encoding::Utf16(_) | Encoding::Utf32(_)) => TextError::WideText {
                encoding: encoding.name().to_owned(),
            },
            _ => TextError::BinaryEdit,
        });
    }
    // To know the encoding all bytes are looked at.
    let encoding = || Encoding::of(beginning, false);
    let is_binary = !beginning.is_empty()
        && match FileFormat::from_bytes(beginning) {
            FileFormat::PortableDocumentFormat => true,
            format => is_binary_kind(format) && encoding() == Encoding::Binary,
        };
    if is_binary {
        return Err(TextError::BinaryEdit);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_edited_as_text() {
        let binary = Err(TextError::BinaryEdit);
        for (bytes, expected) in [
            (&b""[..], Ok(())),
            (b"plain\n", Ok(())),
            ("größer".as_bytes(), Ok(())),
            (b"gr\xf6\xdfer\n", Ok(())),
            (b"\xff\xfe not UTF-16\n", Ok(())),
            (b"\xfd not UTF-8 but text \x80\n", Ok(())),
            (b"BM is no picture here\n", Ok(())),
            (b"MZ gr\xfc\xdft\n", Ok(())),
            (b"a bell \x07, an end \x1a and \x01\n", Ok(())),
            (b"<?xml version=\"1.0\"?>\n<a/>\n", Ok(())),
            (b"{\\rtf1 text}\n", Ok(())),
            (b"%PDF-1.4\nascii only\n", binary.clone()),
            (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", binary.clone()),
            (b"\x89PNG\r\n\x1a\n\x01\x01\x01\rIHDR", binary.clone()),
            (b"\x1f\x8b\x08\x08\x11\x11\x11\x11\x02\x03x", binary.clone()),
            (b"a\0b", binary.clone()),
            (b"FILESHED_ENC_V1\0xyz", binary),
            (
                b"\xff\xfea\0\n\0",
                Err(TextError::WideText {
                    encoding: "utf-16le".to_owned(),
                }),
            ),
        ] {
            assert_eq!(expect_editable(bytes), expected, "{bytes:?}");
        }
    }
}
