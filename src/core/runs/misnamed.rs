//! Text under the name of a binary format: refused where a model writes it, noted where a command did.

use fileshed_storage::Entry;
use fileshed_types::{Error, Hint, NextCall, Repeat, diagnostics};

/// The operation that makes such a file.
const CONVERSION: &str = "shed_convert";

/// The programs that convert documents and print them.
pub(crate) const PANDOC: &str = "pandoc";
pub(crate) const PRINTER: &str = "weasyprint";

/// Formats that text under their name is not, with the formats that become them.
const BINARY: [(&str, &str); 11] = [
    ("docx", "md"),
    ("pptx", "md"),
    ("odt", "md"),
    ("odp", "md"),
    ("pdf", "md"),
    ("xlsx", "csv"),
    ("ods", "csv"),
    ("xls", "csv"),
    ("xlsm", "csv"),
    ("xlsb", "csv"),
    ("numbers", "csv"),
];

/// Returns the format that the name of a file tells and its first bytes do not have, with the format to
/// write in its place.
#[must_use]
pub fn misnamed(name: &str, beginning: &[u8]) -> Option<(&'static str, &'static str)> {
    let (_, end) = name.rsplit_once('.')?;
    let (format, plain) = BINARY
        .iter()
        .find(|(format, _)| end.eq_ignore_ascii_case(format))?;
    let is_right = match *format {
        "pdf" => beginning.windows(4).any(|window| window == b"%PDF"),
        // An encrypted package is an OLE file.
        _ => beginning.starts_with(b"PK") || beginning.starts_with(b"\xd0\xcf\x11\xe0"),
    };
    (!is_right && !beginning.is_empty()).then_some((format, plain))
}

/// Fails if text would get the name of a format that it is not.
pub fn expect_named_right(path: &str, text: &[u8]) -> Result<(), Error> {
    match misnamed(path, text) {
        None => Ok(()),
        Some((format, plain)) => {
            let path = path.to_owned();
            Err(MisnamedError {
                path,
                format,
                plain,
            }
            .into())
        }
    }
}

/// A note on a file that has the name of a format that it is not.
#[must_use]
pub fn misnamed_note(entry: &Entry) -> Option<Hint> {
    let path = entry.path().as_str();
    let (_, beginning) = entry.state_and_beginning().ok()?;
    let (format, plain) = misnamed(path, &beginning)?;
    Some(
        Hint::new(format!(
            "`{path}` is not a {} file: programs cannot open it",
            format.to_uppercase()
        ))
        .or(format!("write it with the extension .{plain}, then "))
        .call(conversion(path, format, plain)),
    )
}

/// The path with another end.
fn renamed(path: &str, end: &str) -> String {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    format!("{stem}.{end}")
}

diagnostics! {
    /// Text that would get the name of a format that it is not.
    #[derive(Debug, thiserror::Error)]
    #[error(
        "`{path}` would be text with the name of a {} file, which programs cannot open",
        format.to_uppercase()
    )]
    pub struct MisnamedError {
        path: String = "report.docx".to_owned(),
        format: &'static str = "docx",
        /// The format of text that becomes it.
        plain: &'static str = "md",
    } => {
        code: InvalidFormat,
        hint: text_under_name(path, format, plain),
        details: { "path": path, "format": format },
    }
}

fn text_under_name(path: &str, format: &'static str, plain: &'static str) -> Hint {
    let write = Repeat::with("path", renamed(path, plain));
    let write = Hint::new("write the text first: ").again(write);
    let convert = conversion(path, format, plain);
    write.or("then convert it: ").call(convert)
}

/// The call that makes a file of a format of the text, or of a like one if none is made.
fn conversion(path: &str, format: &'static str, plain: &'static str) -> NextCall {
    let to = match format {
        "odp" => "pptx",
        "xls" | "xlsm" | "xlsb" | "numbers" => "xlsx",
        format => format,
    };
    let call = NextCall::here(CONVERSION).with("path", renamed(path, plain));
    let call = call.with("to", to);
    match to {
        "xlsx" | "ods" => call,
        "pdf" => call.needing(&[PANDOC, PRINTER]),
        _ => call.needing(&[PANDOC]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_under_the_name_of_another_format_is_found() {
        for (name, beginning, found) in [
            ("a.docx", &b"# Title"[..], Some(("docx", "md"))),
            ("a.XLSX", b"a,b\n", Some(("xlsx", "csv"))),
            ("a.xls", b"a,b\n", Some(("xls", "csv"))),
            ("a.xls", b"\xd0\xcf\x11\xe0", None),
            ("a.numbers", b"a,b\n", Some(("numbers", "csv"))),
            ("a.pdf", b"text", Some(("pdf", "md"))),
            ("a.pdf", b"%PDF-1.4", None),
            ("a.docx", b"PK\x03\x04", None),
            ("a.docx", b"", None),
            ("a.zip", b"text", None),
            ("a.png", b"text", None),
            ("docx", b"text", None),
        ] {
            assert_eq!(misnamed(name, beginning), found, "{name}");
        }
    }
}
