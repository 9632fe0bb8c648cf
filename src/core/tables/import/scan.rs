//! The first reading of a file: its columns, and the types that hold all their values.

use ::csv::ByteRecord;
use serde_json::{Map, Value};

use super::ROWS;
use super::csv_text::CsvText;
use crate::csv::{Column, ColumnType, CsvEncoding, Dates, Decimal, column_names, is_data};
use crate::engine::Engine;
use crate::work::{CsvImport, DatabaseError, ImportInfo, ImportedTable, MOST_COLUMNS};

/// The most rows that are told of those that were cut.
const ROWS_TOLD: usize = 10;

/// Rows that are compared with the first to know whether that is a header.
const ROWS_COMPARED: usize = 20;

/// Bytes of such a row.
const BYTES_COMPARED: usize = 1 << 16;

/// Results of the first reading of a file.
pub(super) struct Scan {
    pub(super) kinds: Vec<ColumnType>,
    /// The values of each column.
    pub(super) seen: Vec<Column>,
    /// Parsers of the columns that hold dates.
    pub(super) dates: Vec<Option<Dates>>,
    /// Columns of `date_columns` that do not exist.
    pub(super) no_dates: Vec<String>,
    /// The answer, without the types of the columns.
    pub(super) imported: ImportedTable,
}

/// Returns the first row of a text, and whether it is a header.
fn first_row(text: &CsvText, import: &CsvImport) -> Result<(ByteRecord, bool), DatabaseError> {
    let mut rows = text.rows(false)?;
    if !rows.advance()? {
        return Err(DatabaseError::CsvEmpty);
    }
    let first = rows.record.clone();
    let mut below = Vec::new();
    while import.has_header.is_none() && below.len() < ROWS_COMPARED && rows.advance()? {
        // A quote that never closes makes a row of all that follows.
        if rows.record.as_slice().len() > BYTES_COMPARED {
            break;
        }
        below.push(rows.record.clone());
    }
    let has_header = import
        .has_header
        .unwrap_or_else(|| !is_data(&first, &below));
    Ok((first, has_header))
}

impl Scan {
    pub(super) fn new(
        text: &CsvText,
        import: &CsvImport,
        engine: &Engine,
    ) -> Result<Self, DatabaseError> {
        let (first, has_header) = first_row(text, import)?;
        let mut width = first.len();
        expect_width(width)?;
        let header = has_header.then_some(first);
        if header.is_none() {
            // Without names the widest row says how many columns there are.
            let mut rows = text.rows(false)?;
            while rows.advance()? {
                width = width.max(rows.record.len());
            }
            expect_width(width)?;
        }
        let mut rows = text.rows(has_header)?;
        let names = match &header {
            Some(record) => column_names(record.iter()),
            None => (1..=width).map(|number| format!("col_{number}")).collect(),
        };
        let (mut dates, no_dates) = dates(import, header.as_ref(), &names)?;
        let decimal = decimal(import, text.delimiter)?;
        let headers = other_headers(&names, header.as_ref());
        let mut columns = vec![Column::default(); width];
        let (mut count, mut padded, mut cut) = (0, 0, 0);
        let mut lost_in_rows = Vec::new();
        let mut began = rows.line();
        let mut open = None;
        while rows.advance()? {
            let record = &rows.record;
            padded += u64::from(record.len() < width);
            cut += u64::from(record.len() > width);
            let loses = record
                .iter()
                .skip(width)
                .any(|field| !field.trim_ascii().is_empty());
            if loses && lost_in_rows.len() < ROWS_TOLD {
                lost_in_rows.push(count + 1);
            }
            for (column, field) in columns.iter_mut().zip(record.iter()) {
                column.see(field, decimal);
            }
            for (dates, field) in dates.iter_mut().zip(record.iter()) {
                if let Some(dates) = dates {
                    dates.see(&String::from_utf8_lossy(field));
                }
            }
            open = rows.may_be_open().then_some(began);
            began = rows.line();
            count += 1;
            if count % ROWS == 0 && engine.clock.is_over() {
                return Err(DatabaseError::TooLong);
            }
        }
        if let Some(line) = open
            && !rows.reader.get_ref().ends_with_quote(text.dialect.quote)
        {
            return Err(DatabaseError::CsvUnreadable {
                line: Some(line),
                reason: "a quote opens there and is not closed".to_owned(),
            });
        }
        if count == 0 {
            return Err(DatabaseError::CsvEmpty);
        }
        let kinds = columns
            .iter()
            .zip(&dates)
            .map(|(column, dates)| match dates {
                Some(_) => ColumnType::Text,
                None => column.kind(),
            });
        let notes = text.notes_with(rows.reader.get_ref().nuls());
        Ok(Self {
            kinds: kinds.collect(),
            seen: columns,
            dates,
            no_dates,
            imported: ImportedTable {
                table: String::new(),
                sheet: None,
                notes,
                columns: names,
                rows: count,
                info: ImportInfo {
                    detected_delimiter: char::from(text.delimiter).to_string(),
                    detected_encoding: text.encoding.name(),
                    has_header,
                    column_types: Map::new(),
                    headers,
                    rows_padded: padded,
                    rows_cut: cut,
                    unread_dates: 0,
                },
                lost_in_rows,
                left_out: Vec::new(),
                flawed: text.encoding == CsvEncoding::FlawedUtf8,
            },
        })
    }
}

/// The header of each column that is called otherwise.
fn other_headers(names: &[String], header: Option<&ByteRecord>) -> Map<String, Value> {
    let fields = header.into_iter().flatten();
    let fields = fields.map(|field| String::from_utf8_lossy(field));
    let pairs = names.iter().zip(fields);
    pairs
        .map(|(name, field)| (name, field.trim().to_owned()))
        .filter(|(name, field)| *name != field && !field.is_empty())
        .map(|(name, field)| (name.clone(), field.into()))
        .collect()
}

fn expect_width(columns: usize) -> Result<(), DatabaseError> {
    if columns > MOST_COLUMNS {
        return Err(DatabaseError::CsvTooWide {
            columns,
            most: MOST_COLUMNS,
        });
    }
    Ok(())
}

/// The decimal sign that is given or the only one that can be meant: where commas separate
/// fields, a quoted `1,234` may be either.
fn decimal(import: &CsvImport, delimiter: u8) -> Result<Option<Decimal>, DatabaseError> {
    match &import.decimal {
        Some(given) => Decimal::parse(given).map(Some),
        None if delimiter == b',' => Ok(Some(Decimal::Point)),
        None => Ok(None),
    }
}

/// Returns the parser of each column that holds dates, and the names that are in neither the file nor the
/// table.
fn dates(
    import: &CsvImport,
    header: Option<&ByteRecord>,
    names: &[String],
) -> Result<(Vec<Option<Dates>>, Vec<String>), DatabaseError> {
    let (mut found, mut missing) = (vec![None; names.len()], Vec::new());
    for wanted in &import.date_columns {
        let in_table = names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(wanted.trim()));
        let in_file = || {
            header?
                .iter()
                .position(|field| String::from_utf8_lossy(field).trim() == wanted.trim())
        };
        match in_table.or_else(in_file) {
            Some(index) => found[index] = Some(Dates::new(import.date_format.clone())?),
            None => missing.push(wanted.clone()),
        }
    }
    Ok((found, missing))
}
