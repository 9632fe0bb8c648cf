//! CSV files: bytes to fields, fields to typed columns, and rows back to fields.
//!
//! This module holds no whole file in memory: a file is read three times, once for its encoding, once for the
//! types of its columns, once for its rows.

mod book;
mod dates;
mod dialect;
mod kinds;
mod shape;
mod sheet;
mod source;
mod writer;

pub(super) use book::TableWriter;
pub(super) use dates::Dates;
pub(super) use dialect::{Dialect, Normalizer, above_table, is_data, named_delimiter};
pub(super) use kinds::{Column, ColumnType, Decimal, shown};
pub(super) use shape::{column_name, column_names, find_delimiter, parse_delimiter, unique_names};
pub use sheet::{ENCRYPTED, sheets_as_text};
pub(super) use sheet::{Workbook, is_sheet};
pub(super) use source::{CsvEncoding, CsvSource};
pub(super) use writer::CsvWriter;
