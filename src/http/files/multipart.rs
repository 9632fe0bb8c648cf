//! `multipart/form-data`, read as it arrives.
//!
//! Memory holds one chunk and the headers of one part, whatever the form holds. Libraries collect
//! headers without an end, or as much of a body as arrives at once.

use std::borrow::Cow;

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use fileshed_core::text::NameEncoding;
use fileshed_core::{Error, diagnostics};
use memchr::memmem::{self, Finder};
use percent_encoding::percent_decode_str;

use super::modified;
use crate::http::body::BodyReader;

/// Longest boundary; the standard has 70.
const BOUNDARY_MAX: usize = 200;
/// Most bytes before the first part, and in the headers of one.
const HEAD_MAX: usize = 8 * 1024;
/// End of the headers of a part.
const HEAD_END: &[u8] = b"\r\n\r\n";
/// Most parts that are not files: one with each file that a form may have, and some more.
const FIELDS_MAX: usize = 600;
/// The encoding of headers that are no UTF-8.
const OLD_ENCODING: &str = "windows-1252";
/// Most bytes of such a part.
const FIELD_MAX: usize = 64 * 1024;

/// Reads a form.
pub(in crate::http) struct MultipartReader<'a> {
    reader: &'a mut BodyReader,
    /// Finds the end of a part.
    delimiter: Finder<'static>,
    buffer: Vec<u8>,
    fields: usize,
}

/// A file of a form.
pub(in crate::http) struct FormFile {
    pub(in crate::http) name: String,
    /// When it was changed where it comes from, in seconds since 1970: the field before the file,
    /// `mtime` in seconds or `lastModified` in milliseconds.
    pub(in crate::http) modified: Option<i64>,
}

impl<'a> MultipartReader<'a> {
    /// A form with these headers.
    pub(in crate::http) fn new(
        headers: &HeaderMap,
        reader: &'a mut BodyReader,
    ) -> Result<Self, MultipartError> {
        let boundary = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .filter(|value| {
                value
                    .get(..19)
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/form-data"))
            })
            .and_then(|value| parameter(value, "boundary"))
            .filter(|boundary| (1..=BOUNDARY_MAX).contains(&boundary.len()))
            .ok_or(MultipartError::NoForm)?;
        let delimiter = format!("\r\n--{boundary}");
        Ok(Self {
            reader,
            delimiter: Finder::new(delimiter.as_bytes()).into_owned(),
            // The first boundary may be the first line: as if one ended before.
            buffer: b"\r\n".to_vec(),
            fields: 0,
        })
    }

    /// Skips what stands before the first part.
    pub(in crate::http) fn begin(&mut self) -> Result<(), Error> {
        self.skip(HEAD_MAX).map(drop)
    }

    /// The next file; nothing at the end. Other parts are skipped. The content of the file must be read
    /// with [`MultipartReader::content`].
    pub(in crate::http) fn file(&mut self) -> Result<Option<FormFile>, Error> {
        let mut modified = None;
        while self.has_part()? {
            let (field, file) = self.head()?;
            let is_file = file.is_some();
            // A file input that was left empty has an empty name.
            if let Some(name) = file.filter(|name| !name.is_empty()) {
                return Ok(Some(FormFile { name, modified }));
            }
            self.fields += 1;
            if self.fields > FIELDS_MAX {
                return Err(MultipartError::TooMuch.into());
            }
            let value = self.skip(FIELD_MAX)?;
            modified = modified::of_field(&field, &value).or(modified.filter(|_| !is_file));
        }
        Ok(None)
    }

    /// Returns `true` if the file whose name was returned last is empty.
    pub(in crate::http) fn is_empty(&mut self) -> Result<bool, Error> {
        while self.buffer.len() < self.delimiter.needle().len() {
            self.fill()?;
        }
        Ok(self.buffer.starts_with(self.delimiter.needle()))
    }

    /// Gives everything up to the end of the part to `take`.
    pub(in crate::http) fn content(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let length = self.delimiter.needle().len();
        loop {
            if let Some(end) = self.delimiter.find(&self.buffer) {
                if end > 0 {
                    take(&self.buffer[..end])?;
                }
                self.buffer.drain(..end + length);
                return Ok(());
            }
            // The end of the buffer may be the beginning of a delimiter.
            let certain = self.buffer.len().saturating_sub(length - 1);
            if certain > 0 {
                take(&self.buffer[..certain])?;
                self.buffer.drain(..certain);
            }
            self.fill()?;
        }
    }

    /// Skips a part; returns its beginning.
    fn skip(&mut self, most: usize) -> Result<String, Error> {
        const SEEN: usize = 32;
        let (mut skipped, mut beginning) = (0, Vec::new());
        self.content(|piece| {
            skipped += piece.len();
            if skipped > most {
                return Err(MultipartError::TooMuch.into());
            }
            let seen = piece.len().min(SEEN - beginning.len());
            beginning.extend_from_slice(&piece[..seen]);
            Ok(())
        })?;
        Ok(String::from_utf8_lossy(&beginning).into_owned())
    }

    /// Returns `true` if a part begins behind the delimiter, and `false` at the end of the form.
    fn has_part(&mut self) -> Result<bool, Error> {
        while self.buffer.len() < 2 {
            self.fill()?;
        }
        Ok(!self.buffer.starts_with(b"--"))
    }

    /// Reads the headers of a part: the name of its field, and that of the file if it is one. Old programs
    /// send them in the encoding of their system.
    fn head(&mut self) -> Result<(String, Option<String>), Error> {
        let end = loop {
            if let Some(end) = memmem::find(&self.buffer, HEAD_END) {
                break end;
            }
            if self.buffer.len() >= HEAD_MAX + HEAD_END.len() {
                return Err(MultipartError::TooMuch.into());
            }
            self.fill()?;
        };
        if end > HEAD_MAX {
            return Err(MultipartError::TooMuch.into());
        }
        let head = &self.buffer[..end];
        let head = match std::str::from_utf8(head) {
            Ok(head) => Cow::Borrowed(head),
            Err(_) => NameEncoding::named(OLD_ENCODING)
                .map_or_else(|| String::from_utf8_lossy(head), |it| it.decode(head)),
        };
        let mut lines = head.split("\r\n");
        let rest_of_boundary = lines.next().unwrap_or_default();
        if !rest_of_boundary.trim_matches([' ', '\t']).is_empty() {
            return Err(MultipartError::Malformed.into());
        }
        let disposition = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"));
        let head = disposition.map(|(_, value)| {
            let field = parameter(value, "name").unwrap_or_default();
            (field.into_owned(), file_name(value))
        });
        let head = head.unwrap_or_default();
        self.buffer.drain(..end + HEAD_END.len());
        Ok(head)
    }

    fn fill(&mut self) -> Result<(), Error> {
        let piece = self.reader.next()?.ok_or(MultipartError::Malformed)?;
        self.buffer.extend_from_slice(&piece);
        Ok(())
    }
}

/// The file name of a part: `filename*` in UTF-8 before `filename`.
fn file_name(disposition: &str) -> Option<String> {
    let extended = parameter(disposition, "filename*").and_then(|value| {
        let (charset, rest) = value.split_once('\'')?;
        let (_language, encoded) = rest.split_once('\'')?;
        let decoded = percent_decode_str(encoded).decode_utf8().ok()?;
        charset
            .eq_ignore_ascii_case("utf-8")
            .then(|| decoded.into_owned())
    });
    extended.or_else(|| parameter(disposition, "filename").map(|name| unescaped(&name)))
}

/// A name as a form has it: browsers escape the three characters that would end it, and nothing else.
fn unescaped(name: &str) -> String {
    let characters = [("%22", "\""), ("%0D", "\r"), ("%0A", "\n")];
    characters
        .iter()
        .fold(name.to_owned(), |name, (escaped, character)| {
            name.replace(escaped, character)
        })
}

/// A parameter of a header: `; name=value` or `; name="value"`. A backslash before a quote is one
/// of the two ways in which clients write a quote; elsewhere it is itself.
fn parameter<'v>(header: &'v str, wanted: &str) -> Option<Cow<'v, str>> {
    let mut rest = &header[header.find(';')? + 1..];
    loop {
        let (name, behind) = rest.split_once('=')?;
        // A parameter without a value before this one.
        let name = name.rsplit(';').next().unwrap_or(name).trim();
        let behind = behind.trim_start();
        let (value, after) = if let Some(quoted) = behind.strip_prefix('"') {
            let end = end_of_quotes(quoted)?;
            (&quoted[..end], &quoted[end + 1..])
        } else {
            let end = behind.find(';').unwrap_or(behind.len());
            (behind[..end].trim_end(), &behind[end..])
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(if value.contains("\\\"") {
                value.replace("\\\"", "\"").into()
            } else {
                value.into()
            });
        }
        rest = after;
    }
}

fn end_of_quotes(text: &str) -> Option<usize> {
    text.match_indices('"')
        .map(|(place, _)| place)
        .find(|place| !text[..*place].ends_with('\\'))
}

diagnostics! {
    /// A body that is no form, or one beyond any need.
    #[derive(Debug, thiserror::Error)]
    pub(in crate::http) enum MultipartError {
        /// Another content type.
        #[error(
            "the request is not a form: `content-type` is not multipart/form-data with a boundary"
        )]
        NoForm => {
            code: InvalidParameter,
            hint: "send a form, for instance curl -F file=@notes.md, or send the file alone with \
                   PUT to /files/content?zone=…&path=…",
        },
        /// No boundary where one must be, or an end too early.
        #[error("the form in the request is broken or incomplete")]
        Malformed => {
            code: InvalidParameter,
            hint: "send the whole form again",
        },
        /// Headers or fields without an end.
        #[error("the form holds too many fields, or headers that are too long")]
        TooMuch => {
            code: InvalidParameter,
            hint: "send the files and nothing else",
        },
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;

    use super::*;

    #[test]
    fn the_bound_of_headers_is_the_same_in_pieces() {
        let mut headers = HeaderMap::new();
        let form = axum::http::HeaderValue::from_static("multipart/form-data; boundary=x");
        headers.insert(CONTENT_TYPE, form);
        let named = "\r\nContent-Disposition: form-data; filename=a\r\nX: ";
        for (more, fits) in [(0, true), (1, false)] {
            let filler = "a".repeat(HEAD_MAX - named.len() + more);
            let body = format!("--x{named}{filler}\r\n\r\ncontent\r\n--x--");
            let end = body.len() - "\r\n\r\ncontent\r\n--x--".len();
            for cut in end - 2..end + 6 {
                let (first, second) = body.split_at(cut);
                let pieces = [first, second].map(|piece| Bytes::from(piece.to_owned()));
                let mut reader = BodyReader::arrived(pieces.to_vec());
                let mut form = MultipartReader::new(&headers, &mut reader).expect("a form");
                form.begin().expect("a part");
                let file = form.file().ok().flatten();
                assert_eq!(file.is_some(), fits, "{more} {cut}");
            }
        }
    }

    #[test]
    fn names_as_clients_send_them() {
        for (header, name) in [
            (r#"form-data; name="file"; filename="a.txt""#, Some("a.txt")),
            (" form-data; name=file; filename=a.txt", Some("a.txt")),
            (
                r#"form-data; name="a;filename=x"; filename="d/a b;c.txt""#,
                Some("d/a b;c.txt"),
            ),
            (r#"form-data; name="f"; filename="a\"b""#, Some("a\"b")),
            (r#"form-data; name="f"; filename="a%22b""#, Some("a\"b")),
            (r#"form-data; filename="a%0Db%41%20c""#, Some("a\rb%41%20c")),
            (
                r#"form-data; name="f"; filename="C:\x\y""#,
                Some("C:\\x\\y"),
            ),
            (
                "form-data; filename=\"x\"; filename*=UTF-8''%C3%A9.txt",
                Some("é.txt"),
            ),
            (
                "form-data; filename=\"x\"; filename*=latin1''%E9",
                Some("x"),
            ),
            (r#"form-data; filename="""#, Some("")),
            (r#"form-data; name="field""#, None),
            (r#"form-data; filename="open"#, None),
            ("form-data", None),
            ("form-data; filename", None),
            ("form-data; x; filename=\"a\"", Some("a")),
        ] {
            assert_eq!(file_name(header).as_deref(), name, "{header}");
        }
    }
}
