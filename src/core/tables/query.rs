//! One statement: its parameters, its rows.

use std::collections::HashSet;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use fileshed_types::Timings;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement};
use serde_json::{Map, Value, json};

use super::csv::{TableWriter, unique_names};
use super::engine::Engine;
use super::import::quoted;
use super::sql;
use super::work::{
    Changed, DatabaseError, DatabaseReply, Export, ExportedCsv, FEW_ROWS, MOST_ROWS, Query, Rows,
    StatementParameters, TableFormat,
};

/// Rows and time that it may take to say how many there are beyond those of the answer.
const COUNTED: u64 = 10_000;
const COUNTING: Duration = Timings::STANDARD.work.counting;

/// Bytes that the names of columns may have together.
const MOST_OF_NAMES: usize = 1 << 20;

/// Most bytes of a number as SQLite writes it.
const NUMBER_MAX_BYTES: usize = 32;

/// Verbs of statements that read.
const READING: [&str; 4] = ["SELECT", "WITH", "VALUES", "EXPLAIN"];

/// Integers beyond this are not exact in the numbers of JavaScript and many readers of JSON.
const EXACT: i64 = 1 << 53;

/// Notes about values that are not shown as they are stored.
const LARGE_INTEGERS: &str = "integers beyond 2^53 are given as text";
const NOT_FINITE: &str = "infinite numbers are given as text";
const NOT_TEXT: &str = "text that is not UTF-8 is shown with replacement characters";
const BLOBS: &str = "BLOBs are given as base64";

impl Engine {
    pub(super) fn query(&mut self, query: &Query) -> Result<DatabaseReply, DatabaseError> {
        let verb = sql::verb(&query.sql).ok_or(DatabaseError::NoStatement)?;
        let explain = |error: rusqlite::Error| self.refusal(error, Some(&query.sql));
        let prepared = self.connection.prepare(&query.sql);
        if self.imagined && needs_what_is_there(&verb, &prepared) {
            let changes = !READING.contains(&verb.as_str());
            return Ok(DatabaseReply::NeedsDatabase { changes });
        }
        let mut statement = prepared.map_err(explain)?;
        let reads = statement.readonly();
        if query.export.is_some() && !(reads && statement.column_count() > 0) {
            return Err(DatabaseError::NoExport);
        }
        if self.imagined && reads {
            return Ok(DatabaseReply::NeedsDatabase { changes: false });
        }
        bind(&self.connection, &mut statement, &query.parameters)?;
        if !reads && !self.writable {
            return Ok(DatabaseReply::NeedsWrite);
        }
        self.begin();
        if statement.column_count() == 0 {
            statement.raw_execute().map_err(explain)?;
            return Ok(DatabaseReply::Changed(self.changed(&verb)));
        }
        let columns = names(&statement)?;
        if let Some(export) = &query.export {
            return self.export(statement, columns, query, export);
        }
        let limit = most_rows(query, &verb);
        let mut taken = JsonValues::default();
        let mut left = query.bytes;
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        let mut truncated = false;
        while let Some(row) = rows.next().map_err(explain)? {
            if found.len() as u64 == limit {
                truncated = true;
                break;
            }
            let mut object = Map::new();
            for (index, column) in columns.iter().enumerate() {
                let value = row.get_ref(index).map_err(explain)?;
                object.insert(column.clone(), taken.value(value));
            }
            let size = serde_json::to_string(&object).map_or(0, |text| text.len() as u64);
            if size > left {
                truncated = true;
                if found.is_empty() {
                    taken.note(format!(
                        "a row has {size} bytes and an answer takes {}: select fewer columns, or substr(column, 1, 1000)",
                        query.bytes
                    ));
                }
                break;
            }
            left -= size;
            found.push(object);
        }
        let mut total = Some(found.len() as u64);
        if truncated {
            if reads {
                self.clock.shorten(COUNTING);
            }
            // The one row that did not fit was read already.
            let mut count = found.len() as u64 + 1;
            total = loop {
                match rows.next() {
                    Ok(Some(_)) if reads && count >= found.len() as u64 + COUNTED => break None,
                    Ok(Some(_)) => count += 1,
                    Ok(None) => break Some(count),
                    Err(_) if reads => break None,
                    Err(error) => return Err(explain(error)),
                }
            };
        }
        drop(rows);
        Ok(DatabaseReply::Rows(Rows {
            columns,
            rows: found,
            truncated,
            total,
            limit,
            notes: taken.notes,
            changed: (!reads).then(|| self.changed(&verb)),
        }))
    }

    /// Statements that make things count rows of SQLite's own.
    fn changed(&self, verb: &str) -> Changed {
        if !["INSERT", "REPLACE", "UPDATE", "DELETE", "WITH"].contains(&verb) {
            return Changed::default();
        }
        Changed {
            rows: self.connection.changes(),
            last_row_id: self.connection.last_insert_rowid(),
        }
    }

    /// Sends the rows to standard output.
    fn export(
        &self,
        mut statement: Statement<'_>,
        columns: Vec<String>,
        query: &Query,
        export: &Export,
    ) -> Result<DatabaseReply, DatabaseError> {
        let limit = match query.limit {
            None | Some(0) => u64::MAX,
            Some(limit) => limit,
        };
        let explain = |error: rusqlite::Error| self.refusal(error, Some(&query.sql));
        let mut writer = TableWriter::new(export)?;
        let mut count = 0;
        let mut left_out = Vec::new();
        if export.tables {
            let tables = statement.raw_query().mapped(|row| row.get::<_, String>(0));
            let tables = tables.collect::<Result<Vec<_>, _>>().map_err(explain)?;
            for (index, table) in tables.into_iter().enumerate() {
                if index > 0 && export.format == TableFormat::Csv {
                    left_out.push(table);
                    continue;
                }
                let all = format!("SELECT * FROM {}", quoted(&table));
                let mut rows = self.connection.prepare(&all).map_err(explain)?;
                let columns = names(&rows)?;
                count += send(&mut writer, &table, &mut rows, &columns, limit, explain)?;
            }
        } else {
            count = send(
                &mut writer,
                &export.sheet,
                &mut statement,
                &columns,
                limit,
                explain,
            )?;
        }
        writer.finish()?;
        Ok(DatabaseReply::Exported(ExportedCsv {
            columns,
            rows: count,
            notes: match left_out.len() {
                0 => Vec::new(),
                _ => vec![format!(
                    "a file of this format has one table; not in it are {}",
                    left_out.join(", ")
                )],
            },
        }))
    }
}

/// Writes the rows of a statement as a sheet. Returns how many.
fn send(
    writer: &mut TableWriter,
    sheet: &str,
    statement: &mut Statement<'_>,
    columns: &[String],
    limit: u64,
    explain: impl Fn(rusqlite::Error) -> DatabaseError,
) -> Result<u64, DatabaseError> {
    writer.sheet(sheet)?;
    writer.header(columns.iter().map(String::as_bytes))?;
    let mut count = 0;
    let mut rows = statement.raw_query();
    while count < limit
        && let Some(row) = rows.next().map_err(&explain)?
    {
        for index in 0..columns.len() {
            writer.field(row.get_ref(index).map_err(&explain)?)?;
        }
        writer.end_of_row()?;
        count += 1;
    }
    Ok(count)
}

/// Returns `true` if a statement is about existing tables, so that a new database would be of no use.
fn needs_what_is_there(verb: &str, prepared: &Result<Statement<'_>, rusqlite::Error>) -> bool {
    const ABOUT_TABLES: [&str; 6] = ["DROP", "ALTER", "INSERT", "REPLACE", "UPDATE", "DELETE"];
    match prepared {
        Ok(_) => ABOUT_TABLES.contains(&verb),
        Err(error) => error.to_string().contains("no such"),
    }
}

/// Returns the most rows of a response. A query without a limit gives a few; a statement that is not a query
/// of tables gives all.
fn most_rows(query: &Query, verb: &str) -> u64 {
    match query.limit {
        Some(0) => MOST_ROWS,
        Some(limit) => limit.min(MOST_ROWS),
        None => {
            let asks = ["SELECT", "WITH", "VALUES"].contains(&verb);
            if asks && !sql::has_limit(&query.sql) {
                FEW_ROWS
            } else {
                MOST_ROWS
            }
        }
    }
}

/// The names of the columns, each once.
fn names(statement: &Statement<'_>) -> Result<Vec<String>, DatabaseError> {
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    if names.iter().map(String::len).sum::<usize>() > MOST_OF_NAMES {
        return Err(DatabaseError::Failed {
            message: "the names of the columns are too long".to_owned(),
            tables: Vec::new(),
        });
    }
    Ok(unique_names(names))
}

fn bind(
    connection: &Connection,
    statement: &mut Statement<'_>,
    parameters: &StatementParameters,
) -> Result<(), DatabaseError> {
    let unfit = |reason: String| DatabaseError::Parameters { reason };
    let wanted = statement.parameter_count();
    match parameters {
        StatementParameters::List(values) if values.len() != wanted => {
            let given = values.len();
            return Err(unfit(format!(
                "the statement takes {wanted} values, {given} are given"
            )));
        }
        StatementParameters::List(values) => {
            for (index, value) in (1..).zip(values) {
                bind_one(connection, statement, index, value)?;
            }
        }
        StatementParameters::Named(values) => {
            let plain = |name: &str| name.trim_start_matches([':', '@', '$']).to_owned();
            let mut named = HashSet::new();
            for index in 1..=wanted {
                let Some(name) = statement.parameter_name(index).map(plain) else {
                    return Err(unfit(
                        "the statement has a parameter without a name: give a list".to_owned(),
                    ));
                };
                let value = values.iter().find(|(given, _)| plain(given) == name);
                let Some((_, value)) = value else {
                    return Err(unfit(format!("there is no value for `:{name}`")));
                };
                bind_one(connection, statement, index, value)?;
                named.insert(name);
            }
            if let Some(extra) = values.keys().find(|given| !named.contains(&plain(given))) {
                return Err(unfit(format!(
                    "the statement has no parameter `:{}`",
                    plain(extra)
                )));
            }
        }
    }
    Ok(())
}

fn bind_one(
    connection: &Connection,
    statement: &mut Statement<'_>,
    index: usize,
    value: &Value,
) -> Result<(), DatabaseError> {
    let bytes;
    let text;
    let bound = match value {
        Value::Null => ValueRef::Null,
        Value::Bool(flag) => ValueRef::Integer(i64::from(*flag)),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => ValueRef::Integer(integer),
            None => ValueRef::Real(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => match number(connection, text)? {
            Some(number) => number,
            None => ValueRef::Text(text.as_bytes()),
        },
        Value::Object(object) if object.len() == 1 && object.contains_key("base64") => {
            let encoded = object["base64"].as_str().unwrap_or_default();
            bytes = BASE64
                .decode(encoded)
                .map_err(|_| DatabaseError::Parameters {
                    reason: format!("value {index} is not base64"),
                })?;
            ValueRef::Blob(&bytes)
        }
        Value::Array(_) | Value::Object(_) => {
            text = value.to_string();
            ValueRef::Text(text.as_bytes())
        }
    };
    statement.raw_bind_parameter(index, ToSqlOutput::Borrowed(bound))?;
    Ok(())
}

/// The number that a text is. Callers that can send texts only mean one by `20` and `-3.5`, and
/// SQL compares a text with a number as larger. `007` and `2.50` are no numbers of SQLite's, and
/// would not come back as they went in.
fn number(connection: &Connection, text: &str) -> Result<Option<ValueRef<'static>>, DatabaseError> {
    let is_part = |byte: u8| byte.is_ascii_digit() || b"+-.e".contains(&byte);
    if text.is_empty() || text.len() > NUMBER_MAX_BYTES || !text.bytes().all(is_part) {
        return Ok(None);
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Ok((integer.to_string() == text).then_some(ValueRef::Integer(integer)));
    }
    let Ok(real) = text.parse::<f64>() else {
        return Ok(None);
    };
    let mut written = connection.prepare_cached("SELECT CAST(?1 AS TEXT)")?;
    let written: String = written.query_row([real], |row| row.get(0))?;
    Ok((written == text).then_some(ValueRef::Real(real)))
}

/// Values as JSON, and notes about those that JSON cannot hold.
#[derive(Default)]
struct JsonValues {
    notes: Vec<String>,
}

impl JsonValues {
    fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn value(&mut self, value: ValueRef<'_>) -> Value {
        match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(integer) if (-EXACT..=EXACT).contains(&integer) => integer.into(),
            ValueRef::Integer(integer) => {
                self.note(LARGE_INTEGERS);
                integer.to_string().into()
            }
            ValueRef::Real(real) if real.is_finite() => real.into(),
            ValueRef::Real(real) => {
                self.note(NOT_FINITE);
                if real > 0.0 { "Infinity" } else { "-Infinity" }.into()
            }
            ValueRef::Text(bytes) => {
                if std::str::from_utf8(bytes).is_err() {
                    self.note(NOT_TEXT);
                }
                String::from_utf8_lossy(bytes).into()
            }
            ValueRef::Blob(bytes) => {
                self.note(BLOBS);
                json!({"base64": BASE64.encode(bytes)})
            }
        }
    }
}
