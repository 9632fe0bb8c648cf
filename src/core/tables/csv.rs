//! CSV files: bytes to fields, fields to typed columns, and rows back to fields.
//!
//! Nothing here holds a file: it is read three times, once for its encoding, once for the types
//! of its columns, once for its rows.

mod dates;
mod kinds;
mod shape;
mod sheet;
mod source;
mod writer;

pub(super) use dates::Dates;
pub(super) use kinds::{Column, ColumnType, Decimal};
pub(super) use shape::{column_names, find_delimiter, parse_delimiter, unique_names};
pub use sheet::sheets_as_text;
pub(super) use sheet::{is_sheet, write_sheet};
pub(super) use source::{CsvEncoding, CsvSource};
pub(super) use writer::CsvWriter;
