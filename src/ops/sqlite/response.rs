//! The answer of `shed_sqlite`: the result of a statement or of an import.

use fileshed_core::ZoneName;
use fileshed_core::databases::{CsvFile, DatabaseOutcome, IfExists, ImportInfo, ImportedTable};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::ops::Reply;

/// The result.
#[derive(Default, Serialize, ToSchema)]
pub struct Response {
    /// Path of the database; absent after an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The statement that was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    /// Names of the columns, made unique.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) columns: Option<Vec<String>>,
    /// Rows as objects; the values are those of the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<Map<String, Value>>>,
    /// Rows in this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) row_count: Option<u64>,
    /// `true` if the statement has more rows than this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// Total number of rows of the statement, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_rows: Option<u64>,
    /// Rows that this answer might hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_applied: Option<u64>,
    /// Values shown otherwise than stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Rows that the statement changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rows_affected: Option<u64>,
    /// Row id of the row that was inserted last.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_row_id: Option<i64>,
    /// Path of the CSV file that got the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_csv: Option<String>,
    /// Rows written to the CSV file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rows_exported: Option<u64>,
    /// Path of the database, after an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    db_path: Option<String>,
    /// Path of the file that was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    csv_path: Option<String>,
    /// Zone of the imported file, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    csv_zone: Option<&'static str>,
    /// Table that got the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    /// Sheet of the workbook.
    #[serde(skip_serializing_if = "Option::is_none")]
    sheet: Option<String>,
    /// Tables that the sheets of a workbook became, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tables: Vec<SheetTable>,
    /// Rows that were imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rows_imported: Option<u64>,
    /// Requested action if the table exists: fail, replace or append.
    #[serde(skip_serializing_if = "Option::is_none")]
    if_exists: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    import_info: Option<ImportInfo>,
}

/// A table that a sheet became.
#[derive(Serialize, ToSchema)]
pub(super) struct SheetTable {
    /// Name of the table.
    table: String,
    /// Sheet of the workbook, if it has another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    sheet: Option<String>,
    /// Rows that were imported.
    rows: u64,
    /// Its columns with their types.
    columns: String,
}

/// Returns the answer to a call, with a short sentence about the result.
pub(super) fn reply(
    outcome: DatabaseOutcome,
    path: String,
    query: Option<String>,
    if_exists: IfExists,
) -> Reply<Response> {
    match outcome {
        DatabaseOutcome::Rows(rows) => {
            let count = rows.rows.len() as u64;
            let message = match (rows.truncated, rows.total) {
                (false, _) => format!("{count} rows"),
                (true, Some(total)) => format!("{count} of {total} rows"),
                (true, None) => format!("the first {count} rows"),
            };
            let data = Response {
                path: Some(path),
                query,
                columns: Some(rows.columns),
                rows: Some(rows.rows),
                row_count: Some(count),
                truncated: Some(rows.truncated),
                total_rows: rows.total,
                limit_applied: Some(rows.limit),
                notes: rows.notes,
                rows_affected: rows.changed.map(|changed| changed.rows),
                last_row_id: rows.changed.map(|changed| changed.last_row_id),
                ..Response::default()
            };
            Reply::new(data, message)
        }
        DatabaseOutcome::Changed(changed) => {
            let message = format!("Done: {} rows changed in {path}", changed.rows);
            let data = Response {
                path: Some(path),
                query,
                rows_affected: Some(changed.rows),
                last_row_id: Some(changed.last_row_id),
                ..Response::default()
            };
            Reply::new(data, message)
        }
        DatabaseOutcome::Exported(exported, csv) => {
            let message = format!("{} rows written to {csv}", exported.rows);
            let data = Response {
                path: Some(path),
                query,
                output_csv: Some(csv),
                rows_exported: Some(exported.rows),
                notes: exported.notes,
                columns: Some(exported.columns),
                ..Response::default()
            };
            Reply::new(data, message)
        }
        DatabaseOutcome::Imported(tables, csv) => imported(tables, csv, path, if_exists),
    }
}

/// The answer to an import.
fn imported(
    mut tables: Vec<ImportedTable>,
    csv: CsvFile,
    path: String,
    if_exists: IfExists,
) -> Reply<Response> {
    let of = csv.zone;
    let of = of.map_or_else(String::new, |zone| format!(" of {zone}"));
    let rows = tables.iter().map(|table| table.rows).sum();
    let names: Vec<&str> = tables.iter().map(|table| &*table.table).collect();
    let are = if names.len() > 1 { "tables" } else { "table" };
    let message = format!(
        "{rows} rows of {}{of} are in {are} {}",
        csv.path,
        names.join(", ")
    );
    let mut notes = Vec::new();
    let is_one_of_many = tables.len() > 1;
    for table in &mut tables {
        let mut own = std::mem::take(&mut table.notes);
        own.extend(lost(table));
        own.extend(table.flawed.then(|| FLAWED.to_owned()));
        let sheet = table.sheet.as_ref().filter(|_| is_one_of_many);
        notes.extend(own.into_iter().map(|note| match sheet {
            Some(sheet) => format!("sheet {sheet}: {note}"),
            None => note,
        }));
        notes.extend((!table.left_out.is_empty()).then(|| {
            let sheets = table.left_out.join(", ");
            format!(
                "no table, because there are no rows below the header: sheet {sheets}; \
                 has_header=false makes one"
            )
        }));
    }
    let mut data = Response {
        db_path: Some(path),
        csv_path: Some(csv.path),
        csv_zone: csv.zone.map(ZoneName::as_str),
        rows_imported: Some(rows),
        if_exists: Some(if_exists.as_str()),
        ..Response::default()
    };
    if tables.len() == 1 {
        for only in tables {
            data.table = Some(only.table);
            data.sheet = only.sheet;
            data.columns = Some(only.columns);
            data.import_info = Some(only.info);
        }
    } else {
        let tables = tables.into_iter().map(|table| SheetTable {
            sheet: table.sheet.filter(|sheet| *sheet != table.table),
            table: table.table,
            rows: table.rows,
            columns: with_types(&table.info.column_types),
        });
        data.tables = tables.collect();
    }
    Reply::new(data, message).noting(notes)
}

/// Columns as in the definition of a table.
pub(super) fn with_types(types: &Map<String, Value>) -> String {
    let types = types.iter().map(|(name, kind)| (name, kind.as_str()));
    let columns = types.map(|(name, kind)| format!("{name} {}", kind.unwrap_or_default()));
    columns.collect::<Vec<_>>().join(", ")
}

const FLAWED: &str =
    "bytes that are not UTF-8 are stored as U+FFFD; give the file's encoding in `encoding`";

/// Returns the note about fields that an import did not store, with their rows in the file.
fn lost(imported: &ImportedTable) -> Option<String> {
    let (lost, cut) = (&imported.lost_in_rows, imported.info.rows_cut);
    let rows: Vec<String> = lost.iter().map(u64::to_string).collect();
    let more = if (lost.len() as u64) < cut { "…" } else { "" };
    let rows = (!rows.is_empty()).then(|| rows.join(", ") + more)?;
    Some(format!(
        "{cut} row(s) have more fields than there are columns and were cut: the fields after the \
         last column of row {rows} are not stored; quote fields that contain the delimiter, or \
         give `delimiter`"
    ))
}
