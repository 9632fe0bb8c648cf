//! Type of a file: by its content, and by its name if the content is text or unknown.

use std::fs::File;
use std::io::{Read, Seek};

use file_format::FileFormat;

use crate::zone::ZonePath;
use fileshed_storage::DiskError;
use fileshed_text::{Encoding, is_binary_kind};

/// Bytes that tell the encoding: as many as `file` looks at.
const BEGINNING: u64 = 1024 * 1024;

/// The type of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct DetectedType {
    /// Media type.
    pub mime: String,
    /// Encoding of text; `binary` if the content is not text.
    pub encoding: String,
    /// The format in words.
    pub magic: String,
    /// Usual extension of the format, without a dot.
    pub extension: String,
}

impl DetectedType {
    /// Looks at an open file, whose name is the last of `path`. Reads its beginning, and of
    /// containers the places that tell what they hold.
    pub fn of(file: &mut File, path: &ZonePath) -> Result<Self, DiskError> {
        let mut beginning = Vec::new();
        let mut look = || -> std::io::Result<FileFormat> {
            file.by_ref().take(BEGINNING).read_to_end(&mut beginning)?;
            file.rewind()?;
            FileFormat::from_reader(&mut *file)
        };
        let format = look().map_err(|error| DiskError::of("read", path, error))?;
        let whole = (beginning.len() as u64) < BEGINNING;
        let mut encoding = Encoding::of(&beginning, whole);
        let name = path.name().unwrap_or_default();
        let (_, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let (extension, of_content) = (extension.to_lowercase(), format.media_type());
        let (mime, magic, extension) = match format {
            FileFormat::Empty => ("inode/x-empty".to_owned(), format, extension),
            _ if encoding.is_text() && !is_written_as_text(format) => {
                let mime = by_name(name, is_text).unwrap_or_else(|| "text/plain".to_owned());
                (mime, FileFormat::PlainText, or_else(extension, "txt"))
            }
            FileFormat::ArbitraryBinaryData => {
                let mime = by_name(name, |mime| !is_text(mime));
                let mime = mime.unwrap_or_else(|| of_content.to_owned());
                (mime, format, or_else(extension, format.extension()))
            }
            _ => {
                // A guessed encoding does not count if the format is not text.
                if matches!(encoding, Encoding::Guessed(_)) && !is_text(of_content) {
                    encoding = Encoding::Binary;
                }
                (of_content.to_owned(), format, format.extension().to_owned())
            }
        };
        Ok(Self {
            mime,
            encoding: encoding.name().to_owned(),
            magic: magic.name().to_owned(),
            extension,
        })
    }
}

fn or_else(text: String, other: &str) -> String {
    if text.is_empty() {
        other.to_owned()
    } else {
        text
    }
}

/// Returns `true` if a format that was found in a text is believed: a text that begins with `BM` or `MZ`
/// is neither a picture nor a program.
fn is_written_as_text(format: FileFormat) -> bool {
    let is_plain = matches!(
        format,
        FileFormat::PlainText | FileFormat::ArbitraryBinaryData
    );
    let is_binary = is_binary_kind(format);
    !is_plain && (!is_binary || is_text(format.media_type()))
}

/// Returns `true` if files of this media type are text.
fn is_text(mime: &str) -> bool {
    const OTHERS: [&str; 10] = [
        "application/ecmascript",
        "application/javascript",
        "application/json",
        "application/postscript",
        "application/sql",
        "application/toml",
        "application/x-sh",
        "application/x-tex",
        "application/xml",
        "application/yaml",
    ];
    mime.starts_with("text/")
        || mime.ends_with("+xml")
        || mime.ends_with("+json")
        || mime.starts_with("image/x-portable-")
        || mime.starts_with("image/x-xpixmap")
        || OTHERS.contains(&mime)
}

/// Returns the media type that a name means, if the content can have it.
fn by_name(name: &str, allowed: impl Fn(&str) -> bool) -> Option<String> {
    mime_guess::from_path(name)
        .iter_raw()
        .find(|mime| *mime != "application/octet-stream" && allowed(mime))
        .map(str::to_owned)
}
