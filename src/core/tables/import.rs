//! A CSV file into a table, or the sheets of a workbook into tables, as one transaction; and such a
//! file into another format.
//!
//! The file is read twice: once to know the types of its columns, once to store its rows. Nothing
//! is kept in memory but the row under way.

use std::fs::File;
use std::io::Read as _;

use ::csv::{ByteRecord, Reader, ReaderBuilder};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Transaction, TransactionBehavior};
use serde_json::{Map, Value};

use super::csv::{
    Column, ColumnType, CsvEncoding, CsvSource, Dates, Decimal, Dialect, Normalizer, TableWriter,
    above_table, column_names, find_delimiter, named_delimiter, parse_delimiter,
};
use super::engine::{Deadline, Engine};
use super::table_source::TableSource;
use super::work::{
    CsvImport, DatabaseError, Export, ExportedCsv, IfExists, ImportInfo, ImportedTable,
    MOST_COLUMNS, TableFormat,
};

/// Bytes that are looked at to find the delimiter.
const SAMPLE: u64 = 1 << 18;

/// The most rows that are told of those that were cut.
const ROWS_TOLD: usize = 10;

/// Rows between two looks at the clock.
const ROWS: u64 = 4096;

/// Most characters of the lines above a table that a note tells.
const ABOVE_TOLD: usize = 80;

/// A table before its rows are stored.
struct PendingTable {
    source: TableSource,
    text: CsvText,
    scan: Scan,
    existing: Option<Vec<(String, String)>>,
}

impl Engine {
    pub(super) fn import(
        &mut self,
        sources: Vec<TableSource>,
    ) -> Result<Vec<ImportedTable>, DatabaseError> {
        let is_only = sources.len() == 1;
        let mut pending = Vec::new();
        for source in sources {
            let text = CsvText::new(&source)?;
            let existing = self.existing(&source)?;
            let scan = match Scan::new(&text, &source.import, self) {
                // A sheet with a header alone is no table.
                Err(DatabaseError::CsvEmpty) if !is_only => continue,
                scan => scan?,
            };
            pending.push(PendingTable {
                source,
                text,
                scan,
                existing,
            });
        }
        let Some(first) = pending.first() else {
            return Err(DatabaseError::CsvEmpty);
        };
        let is_nowhere = |wanted: &&String| {
            let mut scans = pending.iter().map(|table| &table.scan);
            scans.all(|scan| scan.no_dates.contains(wanted))
        };
        if let Some(wanted) = first.scan.no_dates.iter().find(is_nowhere) {
            let columns = pending
                .iter()
                .flat_map(|table| &table.scan.imported.columns);
            let columns: Vec<_> = columns.map(String::as_str).collect();
            return Err(DatabaseError::Parameter {
                name: "date_columns".to_owned(),
                received: wanted.clone(),
                expected: format!("columns of the file: {}", columns.join(", ")),
            });
        }
        self.begin();
        let clock = self.clock.clone();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let tables = pending.into_iter();
        let tables = tables.map(|table| table.fill(&transaction, &clock));
        let tables = tables.collect::<Result<_, _>>()?;
        transaction.commit()?;
        Ok(tables)
    }

    /// Writes files anew in another format, with what stands above their tables.
    pub(super) fn convert(
        &self,
        sources: &[TableSource],
        export: &Export,
    ) -> Result<ExportedCsv, DatabaseError> {
        let mut writer = TableWriter::new(export)?;
        let mut exported = ExportedCsv {
            columns: Vec::new(),
            rows: 0,
            notes: Vec::new(),
        };
        let mut left_out = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            if number > 0 && export.format == TableFormat::Csv {
                left_out.extend(source.sheet.clone());
                continue;
            }
            let text = CsvText::new(source)?;
            // A result without a table has no types.
            let scan = match Scan::new(&text, &source.import, self) {
                Ok(scan) => Some(scan),
                Err(DatabaseError::CsvEmpty) => None,
                Err(error) => return Err(error),
            };
            let typed = scan.as_ref().filter(|_| export.format != TableFormat::Csv);
            let kinds = typed.map_or(&[][..], |scan| &scan.kinds);
            let has_header = scan
                .as_ref()
                .is_none_or(|scan| scan.imported.info.has_header);
            writer.sheet(source.sheet.as_deref().unwrap_or(&export.sheet))?;
            let mut rows = text.rows_from(text.first)?;
            let mut is_above = true;
            let mut is_first = true;
            while rows.advance()? {
                is_above &= text.first + rows.begins < text.above;
                if !is_above && std::mem::take(&mut is_first) && has_header {
                    writer.header(rows.record.iter())?;
                    continue;
                }
                for (index, field) in rows.record.iter().enumerate() {
                    let kind = kinds.get(index).filter(|_| !is_above);
                    let cell = kind.unwrap_or(&ColumnType::Text).cell(field);
                    // A word for a missing value is text in a file.
                    let is_word = cell == ValueRef::Null && !field.trim_ascii().is_empty();
                    writer.field(if is_word { ValueRef::Text(field) } else { cell })?;
                }
                writer.end_of_row()?;
                exported.rows += 1;
                if exported.rows.is_multiple_of(ROWS) && self.clock.is_over() {
                    return Err(DatabaseError::TooLong);
                }
            }
            exported.notes.extend(source.notes.iter().cloned());
            exported.notes.extend(
                scan.filter(|scan| scan.imported.flawed)
                    .map(|_| "bytes that are not UTF-8 became U+FFFD".to_owned()),
            );
        }
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            exported
                .notes
                .push(format!("a CSV file has one sheet: not in it are {names}"));
        }
        writer.finish()?;
        Ok(exported)
    }

    /// The columns of the table that rows are added to; none where a table is to be made.
    fn existing(
        &self,
        source: &TableSource,
    ) -> Result<Option<Vec<(String, String)>>, DatabaseError> {
        let columns = self.columns(&source.table)?;
        match source.import.if_exists {
            _ if columns.is_empty() => Ok(None),
            IfExists::Fail => Err(DatabaseError::TableExists {
                table: source.table.clone(),
            }),
            IfExists::Replace => Ok(None),
            IfExists::Append => Ok(Some(columns)),
        }
    }
}

impl PendingTable {
    /// Makes the table unless it is there, and stores the rows.
    fn fill(
        mut self,
        transaction: &Transaction<'_>,
        clock: &Deadline,
    ) -> Result<ImportedTable, DatabaseError> {
        let (table, scan) = (&self.source.table, &mut self.scan);
        if let Some(columns) = &self.existing {
            expect_columns(table, scan, columns)?;
        }
        // A column of the table that is text gets the text, not a number written out again.
        for (name, kind) in scan.imported.columns.iter().zip(&mut scan.kinds) {
            let declared = self
                .existing
                .iter()
                .flatten()
                .find(|(existing, _)| existing.eq_ignore_ascii_case(name));
            if declared.is_some_and(|(_, declared)| is_text(declared)) {
                *kind = ColumnType::Text;
            }
        }
        if self.existing.is_none() {
            create(transaction, table, self.source.import.if_exists, scan)?;
        }
        let (unread_dates, missing) = store(transaction, table, &self.text, scan, clock)?;
        let mut imported = self.scan.imported;
        let types = self.scan.kinds.iter().map(|kind| kind.name().into());
        imported.info.column_types = imported.columns.iter().cloned().zip(types).collect();
        imported.info.unread_dates = unread_dates;
        imported.table = self.source.table;
        imported.sheet = self.source.sheet;
        imported.notes.extend(self.source.notes);
        if missing > 0 {
            let note = format!("{missing} value(s) such as NA in columns of numbers became NULL");
            imported.notes.push(note);
        }
        Ok(imported)
    }
}

/// Stores the rows. Says how many values of date columns are no dates, and how many words became
/// NULL.
fn store(
    transaction: &Transaction<'_>,
    table: &str,
    text: &CsvText,
    scan: &Scan,
    clock: &Deadline,
) -> Result<(u64, u64), DatabaseError> {
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
    let (mut count, mut unread_dates, mut missing) = (0, 0, 0);
    while rows.advance()? {
        for (index, kind) in scan.kinds.iter().enumerate() {
            let field = rows.record.get(index).unwrap_or_default();
            let cell = kind.cell(field);
            missing += u64::from(cell == ValueRef::Null && !field.trim_ascii().is_empty());
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
    Ok((unread_dates, missing))
}

/// Whether SQLite keeps text in a column as it is (its rules of affinity).
fn is_text(declared: &str) -> bool {
    let declared = declared.to_ascii_uppercase();
    let holds = |part: &str| declared.contains(part);
    !holds("INT") && (holds("CHAR") || holds("CLOB") || holds("TEXT"))
}

/// Fails where an existing table lacks a column of the file. They are found by name.
fn expect_columns(
    table: &str,
    scan: &Scan,
    columns: &[(String, String)],
) -> Result<(), DatabaseError> {
    let find = |name: &String| columns.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
    let names = scan.imported.columns.iter();
    let missing: Vec<String> = names.filter(|name| find(name).is_none()).cloned().collect();
    if !missing.is_empty() {
        return Err(DatabaseError::NoSuchColumns {
            table: table.to_owned(),
            missing,
            columns: columns.iter().map(|(name, _)| name.clone()).collect(),
        });
    }
    Ok(())
}

/// Makes the table, in the place of what is there.
fn create(
    transaction: &Transaction<'_>,
    table: &str,
    if_exists: IfExists,
    scan: &Scan,
) -> Result<(), DatabaseError> {
    let table = quoted(table);
    if if_exists == IfExists::Replace {
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

/// A name as SQL takes it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A file, and how it is read.
struct CsvText {
    file: File,
    encoding: CsvEncoding,
    delimiter: u8,
    dialect: Dialect,
    skip: u64,
    /// Bytes of a line that names the delimiter.
    first: u64,
    /// Bytes of the text above the table.
    above: u64,
    /// The lines there, and a note on them.
    lines_above: u64,
    notes: Vec<String>,
}

impl CsvText {
    fn new(source: &TableSource) -> Result<Self, DatabaseError> {
        let import = &source.import;
        let mut file = source.file.try_clone()?;
        let encoding = match &import.encoding {
            Some(name) => CsvEncoding::parse(name)?,
            None => CsvEncoding::find(&mut file)?,
        };
        let mut sample = Vec::new();
        CsvSource::open(&file, encoding, import.skip_rows)
            .and_then(|source| source.take(SAMPLE).read_to_end(&mut sample))?;
        let is_whole = (sample.len() as u64) < SAMPLE;
        let (named, first) = named_delimiter(&sample).unzip();
        let first = first.unwrap_or_default();
        let delimiter = match &import.delimiter {
            Some(given) => parse_delimiter(given)?,
            None => named.unwrap_or_else(|| find_delimiter(&sample, is_whole)),
        };
        // A sheet was written here.
        let dialect = match source.sheet {
            Some(_) => Dialect::STANDARD,
            None => Dialect::find(&sample[first..], delimiter),
        };
        if let Some(mut normalizer) = Normalizer::new(dialect, delimiter) {
            sample = normalizer.piece(&sample);
        }
        let table = &sample[first..];
        let above = above_table(table, delimiter, dialect, is_whole, import.has_header);
        let text = String::from_utf8_lossy(&table[..above]).into_owned();
        let lines = text.trim().lines().filter(|line| !line.trim().is_empty());
        let shown: String = text.trim().chars().take(ABOVE_TOLD).collect();
        let note = (above > 0).then(|| {
            let shown = shown.replace(['\r', '\n'], " ");
            format!(
                "{} line(s) above the header were left out: `{shown}`",
                lines.count()
            )
        });
        let lines_above = sample[..first + above]
            .iter()
            .filter(|byte| **byte == b'\n');
        Ok(Self {
            lines_above: lines_above.count() as u64,
            first: first as u64,
            above: (first + above) as u64,
            notes: note.into_iter().collect(),
            file,
            encoding,
            delimiter,
            dialect,
            skip: import.skip_rows,
        })
    }

    /// The notes on what was left out, with so many NUL characters.
    fn notes_with(&self, nuls: u64) -> Vec<String> {
        let mut notes = self.notes.clone();
        if nuls > 0 {
            notes.push(format!("{nuls} NUL character(s) were left out"));
        }
        notes
    }

    /// The rows from the first, or from the one behind the header.
    fn rows(&self, behind_header: bool) -> Result<FileRows, DatabaseError> {
        let mut rows = self.rows_from(self.above)?;
        rows.skipped += self.lines_above;
        if behind_header {
            rows.advance()?;
        }
        Ok(rows)
    }

    /// The rows behind so many bytes of the text.
    fn rows_from(&self, bytes: u64) -> Result<FileRows, DatabaseError> {
        let normalizer = Normalizer::new(self.dialect, self.delimiter);
        let source = CsvSource::open(&self.file, self.encoding, self.skip)?;
        let mut source = source.normalized(normalizer);
        std::io::copy(&mut source.by_ref().take(bytes), &mut std::io::sink())?;
        source.end_row();
        Ok(FileRows {
            reader: ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(self.delimiter)
                .quote(self.dialect.quote)
                .buffer_capacity(1 << 17)
                .from_reader(source),
            record: ByteRecord::new(),
            skipped: self.skip,
            begins: 0,
        })
    }
}

/// The rows of a file, one after the other.
struct FileRows {
    reader: Reader<CsvSource>,
    record: ByteRecord,
    skipped: u64,
    /// Bytes before the row.
    begins: u64,
}

impl FileRows {
    /// Reads the next row into `record`. False at the end.
    fn advance(&mut self) -> Result<bool, DatabaseError> {
        self.begins = self.reader.position().byte();
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
    /// Columns of dates that are not there.
    no_dates: Vec<String>,
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
        let notes = text.notes_with(rows.reader.get_ref().nuls());
        Ok(Self {
            kinds: kinds.collect(),
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

/// Which columns hold dates, and those that are not there; they are named as in the file or as in the
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
