//! Imports of a CSV file into a table, or of the sheets of a workbook into tables, in one transaction; and
//! conversion of such a file into another format.
//!
//! The file is read twice: once for the types of its columns, once to store its rows. Only the current row is
//! kept in memory.

mod csv_text;
mod look;
mod scan;

use std::collections::BTreeSet;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Transaction, TransactionBehavior};

use self::csv_text::CsvText;
use self::scan::Scan;
use super::csv::{Column, ColumnType, Decimal, TableWriter, shown};
use super::engine::{Deadline, Engine};
use super::table_source::TableSource;
use super::work::{DatabaseError, Export, ExportedCsv, IfExists, ImportedTable, TableFormat};

/// Rows between two looks at the clock.
const ROWS: u64 = 4096;

/// Columns that a failure names.
const COLUMNS_SHOWN: usize = 50;

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
        let mut left_out = Vec::new();
        for source in sources {
            let text = CsvText::new(&source)?;
            let existing = self.existing(&source)?;
            let scan = match Scan::new(&text, &source.import, self) {
                // A sheet with a header alone is no table.
                Err(DatabaseError::CsvEmpty) if !is_only => {
                    left_out.extend(source.sheet);
                    continue;
                }
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
            let columns: BTreeSet<&str> = columns.map(String::as_str).collect();
            let columns: Vec<&str> = columns.into_iter().take(COLUMNS_SHOWN).collect();
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
        let mut tables: Vec<ImportedTable> = tables.collect::<Result<_, _>>()?;
        transaction.commit()?;
        if let Some(last) = tables.last_mut() {
            last.left_out = left_out;
        }
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
        if let Some(columns) = &self.existing {
            expect_columns(&self.source.table, &self.scan, columns)?;
        }
        self.fit(transaction)?;
        let (table, scan) = (&self.source.table, &mut self.scan);
        if self.existing.is_none() {
            create(transaction, table, self.source.import.if_exists, scan)?;
        }
        store(transaction, table, &self.text, scan, clock)?;
        let mut imported = self.scan.imported;
        imported.table = self.source.table;
        imported.sheet = self.source.sheet;
        imported.notes.extend(self.source.notes);
        Ok(imported)
    }

    /// Fits the types of the columns to those of a table that is there, and notes what stays text.
    fn fit(&mut self, transaction: &Transaction<'_>) -> Result<(), DatabaseError> {
        let (table, scan) = (&self.source.table, &mut self.scan);
        let existing = self.existing.as_deref();
        let sign = scan.seen.iter().find_map(Column::decimal);
        let imported = &mut scan.imported;
        let (notes, types) = (&mut imported.notes, &mut imported.info.column_types);
        let mut dated = Vec::new();
        for (index, name) in imported.columns.iter().enumerate() {
            let (kind, seen) = (&mut scan.kinds[index], &scan.seen[index]);
            let mut columns = existing.into_iter().flatten();
            let declared = columns.find(|(existing, _)| existing.eq_ignore_ascii_case(name));
            let declared = declared.map(|(_, declared)| declared.to_ascii_uppercase());
            // A column that is text gets the text, not a number written out again.
            if declared.as_deref().is_some_and(is_text) {
                *kind = ColumnType::Text;
            }
            if *kind == ColumnType::Text && scan.dates[index].is_none() {
                if declared.as_deref().is_some_and(is_number) {
                    *kind = ColumnType::Real(seen.decimal().or(sign).unwrap_or(Decimal::Point));
                }
                if let (Some(amount), None) = (seen.amount(), existing) {
                    notes.push(format!("{name}: text such as {amount}"));
                }
                let (begins, all) = seen.dates();
                if all || (begins && existing.is_some() && holds_dates(transaction, table, name)?) {
                    dated.push(name);
                }
            }
            types.insert(name.clone(), kind.name().into());
        }
        if !dated.is_empty() {
            let note = format!("values look like dates: date_columns={dated:?} makes them ISO");
            notes.push(note);
        }
        Ok(())
    }
}

/// Stores the rows. Counts values of date columns that are no dates, and notes words that became NULL
/// and text in columns of numbers.
fn store(
    transaction: &Transaction<'_>,
    table: &str,
    text: &CsvText,
    scan: &mut Scan,
    clock: &Deadline,
) -> Result<(), DatabaseError> {
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
    let (mut count, mut missing) = (0, 0);
    let mut texts = vec![None; columns.len()];
    while rows.advance()? {
        for (index, kind) in scan.kinds.iter().enumerate() {
            let field = rows.record.get(index).unwrap_or_default();
            let cell = kind.cell(field);
            missing += u64::from(cell == ValueRef::Null && !field.trim_ascii().is_empty());
            let is_number = *kind != ColumnType::Text;
            if is_number && let ValueRef::Text(text) = cell {
                texts[index].get_or_insert_with(|| (0, shown(text))).0 += 1;
            }
            if let Some(dates) = &scan.dates[index]
                && cell != ValueRef::Null
            {
                let written = std::str::from_utf8(field).unwrap_or_default();
                if let Some(iso) = dates.read(written) {
                    insert.raw_bind_parameter(index + 1, iso)?;
                    continue;
                }
                scan.imported.info.unread_dates += 1;
            }
            insert.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(cell))?;
        }
        insert.raw_execute()?;
        count += 1;
        if count % ROWS == 0 && clock.is_over() {
            return Err(DatabaseError::TooLong);
        }
    }
    let ImportedTable { columns, notes, .. } = &mut scan.imported;
    if missing > 0 {
        notes.push(format!(
            "{missing} value(s) such as NA in columns of numbers became NULL"
        ));
    }
    for (name, text) in columns.iter().zip(texts) {
        notes.extend(text.map(|(count, first)| {
            format!("{name}: {count} value(s) are not numbers and stay text, such as {first}")
        }));
    }
    Ok(())
}

/// Returns `true` if SQLite keeps text in a column of a type in capitals as it is (its rules of affinity).
fn is_text(declared: &str) -> bool {
    let holds = |part: &str| declared.contains(part);
    !holds("INT") && (holds("CHAR") || holds("CLOB") || holds("TEXT"))
}

/// Returns `true` if a type in capitals that is no text is one of numbers.
fn is_number(declared: &str) -> bool {
    let types = ["INT", "REAL", "FLOA", "DOUB", "NUM", "DEC"];
    types.iter().any(|part| declared.contains(part))
}

/// Returns `true` if the first value of a column is ISO text.
fn holds_dates(transaction: &Transaction<'_>, table: &str, name: &str) -> rusqlite::Result<bool> {
    let (table, name) = (quoted(table), quoted(name));
    let first = format!("SELECT {name} AS it FROM {table} WHERE {name} NOT NULL LIMIT 1");
    let sql = format!("SELECT count(*) FROM ({first}) WHERE it LIKE '____-__-__%'");
    transaction.query_row(&sql, [], |row| row.get(0))
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
