//! The content type of a file that is downloaded: by its name, or by its first bytes if the name
//! says nothing.

use fileshed_core::text::Encoding;

/// Bytes at the beginning of a large file that show whether it is text.
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

/// Returns `true` if a browser shows a file of this type as nothing that could pass for a page: a picture
/// without text of its own, sound, a film, a PDF or plain text.
#[must_use]
pub fn is_no_page(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default();
    let is_media = ["image/", "audio/", "video/"]
        .iter()
        .any(|media| kind.starts_with(media));
    (is_media && kind != "image/svg+xml") || [TEXT, "application/pdf"].contains(&kind)
}

/// The value of the header `Content-Type`, with the encoding of a text. `whole` where `beginning` is
/// all that the file has. Without a parameter, JSON and the like are in UTF-8.
#[must_use]
pub fn header(name: &str, beginning: &[u8], whole: bool) -> String {
    let encoding = if beginning.is_empty() {
        Encoding::Ascii
    } else {
        Encoding::of(beginning, whole)
    };
    let kind = by_name(name).unwrap_or(if encoding.is_text() { TEXT } else { BYTES });
    let charset = match &encoding {
        // Browsers do not know the latter.
        Encoding::Binary | Encoding::Utf32(_) => None,
        Encoding::Ascii | Encoding::Utf8 => kind.starts_with("text/").then_some("utf-8"),
        encoding => is_text(kind).then(|| encoding.name()),
    };
    match charset {
        Some(charset) => format!("{kind}; charset={charset}"),
        None => kind.to_owned(),
    }
}

/// Returns `true` if files of this type are text in some encoding.
fn is_text(kind: &str) -> bool {
    let application = kind.strip_prefix("application/");
    let is_source = |kind: &str| {
        ["json", "javascript", "xml", "sql", "toml", "yaml", "x-sh"]
            .iter()
            .any(|text| kind.ends_with(text))
    };
    kind.starts_with("text/") || kind == "image/svg+xml" || application.is_some_and(is_source)
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
            (
                "a.csv",
                b"gr\xf6\xdfer als gro\xdf",
                "text/csv; charset=iso-8859-1",
            ),
            ("a.txt", b"\xff\xfea\0", "text/plain; charset=utf-16le"),
            ("a.txt", b"\0\0\xfe\xff\0\0\0a", "text/plain"),
            (
                "a.json",
                b"\xff\xfe{\0}\0",
                "application/json; charset=utf-16le",
            ),
            ("a.txt", b"", "text/plain; charset=utf-8"),
            ("a.zip", b"gr\xf6\xdfer als gro\xdf", "application/zip"),
            ("a.png", b"x", "image/png"),
            ("a.json", b"{}", "application/json"),
            ("Makefile", b"all:", "text/plain; charset=utf-8"),
            ("Makefile", &cut, "text/plain; charset=utf-8"),
            ("core", b"\0\x01", "application/octet-stream"),
        ] {
            let whole = beginning.len() < BEGINNING;
            assert_eq!(header(name, beginning, whole), expected, "{name}");
        }
    }
}
