//! Edits of file contents, from bytes to bytes.
//!
//! Everything here is a pure function: callers read the file, apply an edit and write the result.
//! A text is a sequence of bytes with lines that end at LF or CRLF and nowhere else; bytes that an
//! edit does not touch come out as they went in, valid UTF-8 or not.

mod binary;
mod bytes;
mod closest;
mod comparison;
mod dialect;
mod edit;
mod encoding;
mod error;
mod excerpt;
mod file_names;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod line_ends;
mod line_range;
mod lines;
mod literal;
mod pattern;
mod references;
mod template;
mod transliteration;

pub use binary::{expect_editable, is_binary_kind};
pub use bytes::{BytePosition, BytesEdit, ContentFormat, EditedBytes, decode, hexdump};
pub use closest::Closest;
pub use comparison::{ComparedLine, Comparison, Hunk, Segment, compare, readable};
pub use edit::{Edited, Leniency, Position, TextEdit, addition, substitute};
pub use encoding::{Encoding, EncodingEvidence, is_pdf};
pub use error::TextError;
pub use excerpt::{beginning, cut};
pub use file_names::{NameEncoding, NameEvidence};
pub use line_ends::{ConversionError, LineEndCount, converted};
pub use line_range::{LineRange, LineRequest, SelectedLines, count_lines};
pub use lines::{LineEnds, line_count, lines, without_line_end};
pub use pattern::line_pattern;
pub use references::with_references;
pub use transliteration::{folded, transliterated, without_accents};

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/text.md");
