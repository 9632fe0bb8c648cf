//! A CSV file into a table, as one transaction.
//!
//! The file is read twice: once to know the types of its columns, once to store its rows. Nothing
//! is kept in memory but the row under way.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;

use ::csv::{ByteRecord, Reader, ReaderBuilder};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Transaction, TransactionBehavior};

use super::csv::{
    Column, ColumnType, CsvEncoding, CsvSource, Dates, Decimal, column_names, find_delimiter,
    parse_delimiter,
};
use super::engine::{Deadline, Engine};
use super::work::{CsvImport, DatabaseError, IfExists, ImportInfo, ImportedTable, MOST_COLUMNS};

/// Bytes that are looked at to find the delimiter.
const SAMPLE: u64 = 1 << 18;

/// The most rows that are told of those that were cut.
const ROWS_TOLD: usize = 10;

/// Rows between two looks at the clock.
const ROWS: u64 = 4096;

impl Engine {
    pub(super) fn import(
        &mut self,
        import: &CsvImport,
        csv: File,
    ) -> Result<ImportedTable, DatabaseError> {
        let text = CsvText::new(import, csv)?;
        let existing = self.existing(import)?;
        let mut scan = Scan::new(&text, import, self)?;
        self.begin();
        if let Some(columns) = &existing {
            expect_columns(import, &scan, columns)?;
        }
        // A column of the table that is text gets the text, not a number written out again.
        for (name, kind) in scan.imported.columns.iter().zip(&mut scan.kinds) {
            let declared = existing
                .iter()
                .flatten()
                .find(|(existing, _)| existing.eq_ignore_ascii_case(name));
            if declared.is_some_and(|(_, declared)| is_text(declared)) {
                *kind = ColumnType::Text;
            }
        }
        let clock = self.clock.clone();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        if existing.is_none() {
            create(&transaction, import, &scan)?;
        }
        let unread_dates = store(&transaction, &import.table, &text, &scan, &clock)?;
        transaction.commit()?;
        let mut imported = scan.imported;
        let types = scan.kinds.iter().map(|kind| kind.name().to_owned());
        imported.info.column_types = imported.columns.iter().cloned().zip(types).collect();
        imported.info.unread_dates = unread_dates;
        Ok(imported)
    }

    /// The columns of the table that rows are added to; none where a table is to be made.
    fn existing(&self, import: &CsvImport) -> Result<Option<Vec<(String, String)>>, DatabaseError> {
        let columns = self.columns(&import.table)?;
        match import.if_exists {
            _ if columns.is_empty() => Ok(None),
            IfExists::Fail => Err(DatabaseError::TableExists {
                table: import.table.clone(),
            }),
            IfExists::Replace => Ok(None),
            IfExists::Append => Ok(Some(columns)),
        }
    }
}

/// Stores the rows. Says how many values of date columns are no dates.
fn store(
    transaction: &Transaction<'_>,
    table: &str,
    text: &CsvText,
    scan: &Scan,
    clock: &Deadline,
) -> Result<u64, DatabaseError> {
    let columns = &scan.imported.columns;
    let columns: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        quoted(table),
        columns.join(", "),
        vec!["?"; columns.len()].join(", ")
    );
    let mut insert = transaction.prepare(&sql)?;
    let mut rows = text.rows(scan.imported.info.has_header)?;
    let (mut count, mut unread_dates) = (0, 0);
    while rows.advance()? {
        for (index, kind) in scan.kinds.iter().enumerate() {
            let field = rows.record.get(index).unwrap_or_default();
            let cell = kind.cell(field);
            if let Some(dates) = &scan.dates[index]
                && cell != ValueRef::Null
            {
                let written = std::str::from_utf8(field).unwrap_or_default();
                if let Some(iso) = dates.read(written) {
                    insert.raw_bind_parameter(index + 1, iso)?;
                    continue;
                }
                unread_dates += 1;
            }
            insert.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(cell))?;
        }
        insert.raw_execute()?;
        count += 1;
        if count % ROWS == 0 && clock.is_over() {
            return Err(DatabaseError::TooLong);
        }
    }
    Ok(unread_dates)
}

/// Whether SQLite keeps text in a column as it is (its rules of affinity).
fn is_text(declared: &str) -> bool {
    let declared = declared.to_ascii_uppercase();
    let holds = |part: &str| declared.contains(part);
    !holds("INT") && (holds("CHAR") || holds("CLOB") || holds("TEXT"))
}

/// Fails where an existing table lacks a column of the file. They are found by name.
fn expect_columns(
    import: &CsvImport,
    scan: &Scan,
    columns: &[(String, String)],
) -> Result<(), DatabaseError> {
    let find = |name: &String| columns.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
    let names = scan.imported.columns.iter();
    let missing: Vec<String> = names.filter(|name| find(name).is_none()).cloned().collect();
    if !missing.is_empty() {
        return Err(DatabaseError::NoSuchColumns {
            table: import.table.clone(),
            missing,
            columns: columns.iter().map(|(name, _)| name.clone()).collect(),
        });
    }
    Ok(())
}

/// Makes the table, in the place of what is there.
fn create(
    transaction: &Transaction<'_>,
    import: &CsvImport,
    scan: &Scan,
) -> Result<(), DatabaseError> {
    let table = quoted(&import.table);
    if import.if_exists == IfExists::Replace {
        transaction.execute(&format!("DROP TABLE IF EXISTS {table}"), [])?;
    }
    let columns = scan.imported.columns.iter().zip(&scan.kinds);
    let columns: Vec<String> = columns
        .map(|(name, kind)| format!("{} {}", quoted(name), kind.name()))
        .collect();
    let create = format!("CREATE TABLE {table} ({})", columns.join(", "));
    transaction.execute(&create, [])?;
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A file, and how it is read.
struct CsvText {
    file: File,
    encoding: CsvEncoding,
    delimiter: u8,
    skip: u64,
}

impl CsvText {
    fn new(import: &CsvImport, mut file: File) -> Result<Self, DatabaseError> {
        let encoding = match &import.encoding {
            Some(name) => CsvEncoding::parse(name)?,
            None => CsvEncoding::find(&mut file)?,
        };
        let delimiter = if let Some(given) = &import.delimiter {
            parse_delimiter(given)?
        } else {
            let mut sample = Vec::new();
            CsvSource::open(&file, encoding, import.skip_rows)
                .and_then(|source| source.take(SAMPLE).read_to_end(&mut sample))?;
            find_delimiter(&sample, (sample.len() as u64) < SAMPLE)
        };
        Ok(Self {
            file,
            encoding,
            delimiter,
            skip: import.skip_rows,
        })
    }

    /// The rows from the first, or from the one behind the header.
    fn rows(&self, behind_header: bool) -> Result<FileRows, DatabaseError> {
        let source = CsvSource::open(&self.file, self.encoding, self.skip)?;
        let mut rows = FileRows {
            reader: ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(self.delimiter)
                .buffer_capacity(1 << 17)
                .from_reader(source),
            record: ByteRecord::new(),
            skipped: self.skip,
        };
        if behind_header {
            rows.advance()?;
        }
        Ok(rows)
    }
}

/// The rows of a file, one after the other.
struct FileRows {
    reader: Reader<CsvSource>,
    record: ByteRecord,
    skipped: u64,
}

impl FileRows {
    /// Reads the next row into `record`. False at the end.
    fn advance(&mut self) -> Result<bool, DatabaseError> {
        let read = self.reader.read_byte_record(&mut self.record);
        self.reader.get_mut().end_row();
        read.map_err(|error| {
            let reason = match error.into_kind() {
                ::csv::ErrorKind::Io(error) => error.to_string(),
                _ => "its fields cannot be told apart".to_owned(),
            };
            let line = Some(self.line());
            DatabaseError::CsvUnreadable { line, reason }
        })
    }

    /// The line of the file where the next row begins.
    fn line(&self) -> u64 {
        self.skipped + self.reader.position().line()
    }

    /// Whether the row may end inside quotes: it then holds all that follows the quote, line ends
    /// too.
    fn may_be_open(&self) -> bool {
        let last = self.record.iter().next_back();
        last.is_some_and(|field| field.contains(&b'\n'))
    }
}

/// A file that cannot be read.
impl From<std::io::Error> for DatabaseError {
    fn from(error: std::io::Error) -> Self {
        Self::CsvUnreadable {
            line: None,
            reason: error.to_string(),
        }
    }
}

/// What the first reading of a file found.
struct Scan {
    kinds: Vec<ColumnType>,
    /// Of the columns that hold dates.
    dates: Vec<Option<Dates>>,
    /// The answer, without the types of the columns.
    imported: ImportedTable,
}

impl Scan {
    fn new(text: &CsvText, import: &CsvImport, engine: &Engine) -> Result<Self, DatabaseError> {
        let mut rows = text.rows(false)?;
        if !rows.advance()? {
            return Err(DatabaseError::CsvEmpty);
        }
        let first = rows.record.clone();
        let has_header = import.has_header.unwrap_or_else(|| !is_data(&first));
        let mut width = first.len();
        expect_width(width)?;
        let header = has_header.then_some(first);
        if header.is_none() {
            // Without names the widest row says how many columns there are.
            while rows.advance()? {
                width = width.max(rows.record.len());
            }
            expect_width(width)?;
            rows = text.rows(false)?;
        }
        let names = match &header {
            Some(record) => column_names(record.iter()),
            None => (1..=width).map(|number| format!("col_{number}")).collect(),
        };
        let mut dates = dates(import, header.as_ref(), &names)?;
        let decimal = decimal(import, text.delimiter)?;
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
            && !rows.reader.get_ref().ends_with_quote()
        {
            return Err(DatabaseError::CsvUnreadable {
                line: Some(line),
                reason: "a quote opens there and never closes".to_owned(),
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
        Ok(Self {
            kinds: kinds.collect(),
            dates,
            imported: ImportedTable {
                columns: names,
                rows: count,
                info: ImportInfo {
                    detected_delimiter: char::from(text.delimiter).to_string(),
                    detected_encoding: text.encoding.name(),
                    has_header,
                    column_types: BTreeMap::new(),
                    rows_padded: padded,
                    rows_cut: cut,
                    unread_dates: 0,
                },
                lost_in_rows,
                flawed: text.encoding == CsvEncoding::FlawedUtf8,
            },
        })
    }
}

/// Whether a first row can only be data: something is in it, and nothing but numbers.
fn is_data(record: &ByteRecord) -> bool {
    let mut found = record
        .iter()
        .filter(|field| !field.trim_ascii().is_empty())
        .peekable();
    found.peek().is_some()
        && found.all(|field| {
            let mut column = Column::default();
            column.see(field, None);
            column.kind() != ColumnType::Text
        })
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

/// Which columns hold dates; they are named as in the file or as in the table.
fn dates(
    import: &CsvImport,
    header: Option<&ByteRecord>,
    names: &[String],
) -> Result<Vec<Option<Dates>>, DatabaseError> {
    let mut found = vec![None; names.len()];
    for wanted in &import.date_columns {
        let in_table = names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(wanted.trim()));
        let in_file = || {
            header?
                .iter()
                .position(|field| String::from_utf8_lossy(field).trim() == wanted.trim())
        };
        let Some(index) = in_table.or_else(in_file) else {
            return Err(DatabaseError::Parameter {
                name: "date_columns".to_owned(),
                received: wanted.clone(),
                expected: format!("columns of the file: {}", names.join(", ")),
            });
        };
        found[index] = Some(Dates::new(import.date_format.clone())?);
    }
    Ok(found)
}
