//! Rows of a query as CSV on standard output.

use std::borrow::Cow;
use std::io::{BufWriter, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::types::ValueRef;

use super::{CsvEncoding, Decimal, parse_delimiter};
use crate::work::{DatabaseError, Export};

/// Writes fields, never more than the file may have.
pub(crate) struct CsvWriter {
    writer: csv::Writer<Bounded>,
    decimal: Decimal,
}

impl CsvWriter {
    /// A file in UTF-8.
    pub(crate) fn new(export: &Export) -> Result<Self, DatabaseError> {
        let delimiter = match &export.delimiter {
            Some(given) => parse_delimiter(given)?,
            None => b',',
        };
        let decimal = match &export.decimal {
            Some(given) => Decimal::parse(given)?,
            None => Decimal::Point,
        };
        let mut out = Bounded::new(export.most);
        if let Some(name) = &export.encoding
            && CsvEncoding::expect_utf8(name)?
        {
            out.write_all("\u{feff}".as_bytes())
                .map_err(|_| DatabaseError::Full)?;
        }
        Ok(Self {
            writer: csv::WriterBuilder::new()
                .delimiter(delimiter)
                .flexible(true)
                .from_writer(out),
            decimal,
        })
    }

    /// The next field of the row. NULL is empty, a BLOB is base64.
    pub(crate) fn field(&mut self, value: ValueRef<'_>) -> Result<(), DatabaseError> {
        let written = match value {
            ValueRef::Text(text) => self.writer.write_field(text),
            ValueRef::Real(real) if real.is_finite() && self.decimal == Decimal::Comma => {
                self.writer.write_field(as_text(value).replace('.', ","))
            }
            _ => self.writer.write_field(&*as_text(value)),
        };
        written.map_err(|_| DatabaseError::Full)
    }

    /// The row is complete.
    pub(crate) fn end_of_row(&mut self) -> Result<(), DatabaseError> {
        self.writer
            .write_record(None::<&[u8]>)
            .map_err(|_| DatabaseError::Full)
    }

    /// The file is complete.
    pub(crate) fn finish(mut self) -> Result<(), DatabaseError> {
        self.writer.flush().map_err(|_| DatabaseError::Full)
    }
}

/// A value as text: NULL is empty, a number as short as it can be and still the same, a BLOB is base64.
pub(super) fn as_text(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Null => Cow::Borrowed(""),
        ValueRef::Integer(integer) => integer.to_string().into(),
        ValueRef::Real(real) if real.is_infinite() => {
            Cow::Borrowed(if real > 0.0 { "Infinity" } else { "-Infinity" })
        }
        ValueRef::Real(real) => format!("{real:?}").into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text),
        ValueRef::Blob(bytes) => BASE64.encode(bytes).into(),
    }
}

/// Standard output, up to so many bytes.
pub(super) struct Bounded {
    out: BufWriter<std::io::Stdout>,
    left: u64,
}

impl Bounded {
    pub(super) fn new(most: u64) -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 16, std::io::stdout()),
            left: most,
        }
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::FileTooLarge))?;
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
