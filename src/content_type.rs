//! The content type of a file that is downloaded: by its name, or by its first bytes if the name
//! says nothing.

/// Bytes at the beginning of a file that show whether it is text.
pub const BEGINNING: usize = 8 * 1024;

const TEXT: &str = "text/plain";
/// The type of a file that is not recognised.
pub const BYTES: &str = "application/octet-stream";

/// The type of a file by its name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static str> {
    mime_guess::from_path(name).first_raw()
}

/// Pictures that every browser shows.
const PICTURES: [&str; 6] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "image/avif",
];

/// Returns `true` if every browser shows a file of this type as a picture.
#[must_use]
pub fn is_picture(content_type: &str) -> bool {
    PICTURES.contains(&content_type)
}

/// Returns `true` if a browser opens a file of this type as a page.
#[must_use]
pub fn is_page(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default();
    kind == "text/html"
}

/// The value of the header `Content-Type`, with the encoding of a text.
#[must_use]
pub fn header(name: &str, beginning: &[u8]) -> String {
    let guessed = by_name(name);
    let is_text = is_text(beginning);
    let kind = guessed.unwrap_or(if is_text { TEXT } else { BYTES });
    if is_text && kind.starts_with("text/") {
        format!("{kind}; charset=utf-8")
    } else {
        kind.to_owned()
    }
}

/// Returns `true` if this may be the beginning of a text in UTF-8.
fn is_text(beginning: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(beginning) {
        Ok(_) => true,
        // A character that the end cuts in two.
        Err(error) => error.error_len().is_none() && beginning.len() == BEGINNING,
    };
    is_utf8 && !beginning.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_files() {
        let cut = [vec![b'a'; BEGINNING - 1], vec![0xc3]].concat();
        for (name, beginning, expected) in [
            ("a.md", &b"x"[..], "text/markdown; charset=utf-8"),
            ("a.HTML", b"x", "text/html; charset=utf-8"),
            ("a.csv", b"\xff", "text/csv"),
            ("a.png", b"x", "image/png"),
            ("a.json", b"{}", "application/json"),
            ("Makefile", b"all:", "text/plain; charset=utf-8"),
            ("Makefile", &cut, "text/plain; charset=utf-8"),
            ("core", b"\0\x01", "application/octet-stream"),
            ("cut", b"\xc3", "application/octet-stream"),
        ] {
            assert_eq!(header(name, beginning), expected, "{name}");
        }
    }
}
