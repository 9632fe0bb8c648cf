//! `shed_sqlite`: SQL on a database of a zone, tables from CSV files and back.

use fileshed_core::chat_host::{self, counted};
use fileshed_core::databases::{
    self, CsvImport, DatabaseTask, DateFormat, Export, IfExists, Query, StatementParameters,
    table_of,
};
use fileshed_core::misnamed::{expect_named_right, misnamed};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Client, Repeat, Settings};

use super::arguments::{ArgumentError, choice, not_negative};
use super::prelude::*;
use super::short_answer::csv;

mod dialect;
mod response;

use response::{Response, reply, with_types};

/// `shed_sqlite`
pub struct Sqlite;

/// A statement, or a CSV file to import.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = AnyZone)]
    zone: String,
    /// Database; made when missing
    path: String,
    /// One statement
    query: Option<String>,
    /// Values for ?; "100" is a number
    #[serde(default)]
    #[schema(value_type = Vec<String>, required = false)]
    params: Vec<Encoded>,
    /// Rows; 0: all
    #[schema(default = 10)]
    limit: Option<i64>,
    /// CSV, XLSX or ODS for the rows
    output_csv: Option<String>,
    /// CSV, XLSX or ODS to import, here or in uploads
    import_csv: Option<String>,
    /// For an import; default for a workbook: one per sheet
    table: Option<String>,
    /// Of a workbook; default first
    sheet: Option<String>,
    /// For an import
    #[schema(default = "fail")]
    if_exists: Option<IfExists>,
    /// Detected
    delimiter: Option<String>,
    /// Detected
    encoding: Option<String>,
    /// Columns to read as dates
    #[serde(default)]
    date_columns: Vec<String>,
    /// dayfirst, monthfirst or %d.%m.%Y
    date_format: Option<String>,
    /// . or ,; detected
    decimal: Option<String>,
    /// Before the header
    skip_rows: Option<i64>,
    /// Detected
    has_header: Option<bool>,
    /// For zone group
    group: Option<String>,
}

impl Operation for Sqlite {
    const ID: &str = "shed_sqlite";
    const SUMMARY: &str = "Query an SQLite database, import and export tables";
    const DOC: &str = "Query or change an SQLite database, import a table, export rows. shed_sqlite(zone=\"storage\", path=\"shop.db\", query=\"SELECT * FROM sales\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::CHANGES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE, CHANGE, GROWTH;
        InvalidFormat, PermissionDenied, CommandForbidden, ExecError, Timeout, TableExists, CsvEmpty,
        CsvParseError, CsvTooWide
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "shop.db", "query": "CREATE TABLE IF NOT EXISTS sales (item TEXT, amount REAL)"}"#,
        r#"{"zone": "storage", "path": "shop.db", "query": "SELECT * FROM sales WHERE amount > ?", "params": ["100"]}"#,
        r#"{"zone": "storage", "path": "shop.db", "import_csv": "sales.csv", "table": "sales", "if_exists": "replace"}"#,
        r#"{"zone": "storage", "path": "shop.db", "query": "SELECT item, sum(amount) AS total FROM sales GROUP BY item", "output_csv": "totals.csv"}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("rows"),
        Keep::Always("row_count"),
        Keep::Unusual("truncated"),
        Keep::Always("total_rows"),
        Keep::Lines("notes"),
        Keep::Always("rows_affected"),
        Keep::Unusual("last_row_id"),
        Keep::Always("rows_exported"),
        Keep::Always("rows_imported"),
        Keep::Always("columns"),
        Keep::Always("tables"),
        Keep::Unusual("import_info"),
    ];
    const BODY_MAX: u64 = 16 * MEBIBYTE;
    type Request = Request;
    type Response = Response;

    fn answer_max(settings: &Settings, arguments: &Map<String, Value>) -> u64 {
        // A call without `limit` gets few rows.
        match arguments.get("limit") {
            None => 0,
            Some(_) => settings.max_output_absolute.saturating_mul(2),
        }
    }

    fn access(arguments: &Map<String, Value>) -> FileAccess {
        let sql = arguments.get("query").and_then(Value::as_str);
        let first = sql.and_then(|sql| sql.split_whitespace().next());
        let reads = ["SELECT", "WITH", "VALUES", "PRAGMA", "EXPLAIN"];
        match first {
            Some(word) if reads.iter().any(|read| word.eq_ignore_ascii_case(read)) => {
                FileAccess::Read
            }
            _ => FileAccess::Change,
        }
    }

    /// Values may have any type, and every provider knows lists of strings only: so each becomes
    /// its JSON. Named values come as an object, or as one written as text.
    fn prepare(arguments: &mut Map<String, Value>) {
        let Some(params) = arguments.get_mut("params") else {
            return;
        };
        let read = params.as_str().map(crate::json::value);
        if let Some(Ok(read @ (Value::Object(_) | Value::Array(_)))) = read {
            *params = read;
        }
        *params = match params.take() {
            Value::Array(values) => values.iter().map(Value::to_string).collect(),
            named @ Value::Object(_) => [named.to_string()].into_iter().collect(),
            other => other,
        };
    }

    fn shorten(data: &mut Map<String, Value>) {
        if let Some(Value::Array(rows)) = data.get("rows") {
            let columns = data.get("columns").and_then(Value::as_array);
            let columns: Vec<&str> = columns
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let text = csv(&columns, rows.iter().map(|row| |name: &str| &row[name]));
            data.insert("rows".to_owned(), text.into());
            data.shift_remove("columns");
            if data.get("total_rows") == data.get("row_count") {
                data.shift_remove("total_rows");
            }
        }
        if let Some(Value::Object(info)) = data.get_mut("import_info") {
            let types = info.shift_remove("column_types");
            // The usual values are left out.
            info.retain(|name, value| match name.as_str() {
                "detected_delimiter" => value != ",",
                "detected_encoding" => value != "utf-8",
                "has_header" => value == false,
                _ => *value != 0,
            });
            if let Some(Value::Object(types)) = types {
                data.insert("columns".to_owned(), with_types(&types).into());
            }
        }
    }

    fn task(request: &Request) -> Option<chat_host::Task> {
        Some(match &request.import_csv {
            Some(csv) => chat_host::Task::new("Importing", csv),
            None => chat_host::Task::new("Working on", &request.path),
        })
    }

    fn result(response: &Response) -> Option<String> {
        let found = response.row_count.filter(|_| response.columns.is_some());
        let rows = [
            response.rows_imported,
            response.rows_exported,
            found,
            response.rows_affected,
        ];
        let rows = rows.into_iter().flatten().next()?;
        Some(counted(rows, "row"))
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let limit = not_negative("limit", request.limit)?;
        let path = request.path.clone();
        let if_exists = request.if_exists.unwrap_or(IfExists::Fail);
        let query = request.query.clone();
        let output = request.output_csv.clone();
        let exclusive = |first| ArgumentError::Exclusive {
            first,
            second: "import_csv",
        };
        let task = match (&query, &request.import_csv) {
            (Some(_), Some(_)) => return Err(exclusive("query").into()),
            (None, None) => return Err(ArgumentError::missing::<Self>("query").into()),
            (None, Some(csv)) => {
                if output.is_some() {
                    return Err(exclusive("output_csv").into());
                }
                let csv = csv.clone();
                DatabaseTask::Import(request.import(csv, if_exists)?)
            }
            (Some(sql), None) => {
                if let Some(output) = &output {
                    expect_rows_in(output)?;
                }
                let sql = sql.clone();
                DatabaseTask::Query(
                    request.query(core, caller.client, sql, limit),
                    output.as_deref(),
                )
            }
        };
        let outcome =
            databases::run(&core.runs, &zone, Self::ID, &path, task).map_err(|error| {
                let meant = query.as_deref().and_then(dialect::meant);
                match meant.filter(|_| error.code() == Code::ExecError) {
                    Some(meant) => error.with_hint(Repeat::with("query", meant)),
                    None => error,
                }
            })?;
        let name = zone.path("path", &path)?.as_str().to_owned();
        Ok(reply(outcome, name, query, if_exists))
    }
}

/// Fails for a file that gets rows but has the name of a format that holds none.
fn expect_rows_in(output: &str) -> Result<(), Error> {
    let rows = b"rows";
    if let None | Some(("xlsx" | "ods", _)) = misnamed(output, rows) {
        return Ok(());
    }
    let stem = output.rsplit_once('.').map_or(output, |(stem, _)| stem);
    let repeat = Repeat::with("output_csv", format!("{stem}.xlsx"));
    expect_named_right(output, rows).map_err(|error| error.with_hint(repeat))
}

/// `true` for the name of a file that may have several sheets.
fn is_workbook(name: &str) -> bool {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    ["xlsx", "xlsm", "xlsb", "xls", "ods"].contains(&end.to_ascii_lowercase().as_str())
}

/// A value as its JSON; a string that is none is itself.
#[derive(Deserialize)]
#[serde(from = "String")]
struct Encoded(Value);

impl From<String> for Encoded {
    fn from(text: String) -> Self {
        Self(crate::json::value(&text).unwrap_or(Value::String(text)))
    }
}

fn date_format(text: &str) -> Result<DateFormat, ArgumentError> {
    if text.contains('%') {
        return Ok(DateFormat::Directives(text.to_owned()));
    }
    let allowed = &["dayfirst", "monthfirst", "%d.%m.%Y"];
    Ok(match choice("date_format", text, allowed)? {
        "monthfirst" => DateFormat::MonthFirst,
        _ => DateFormat::DayFirst,
    })
}

impl Request {
    fn query(self, core: &Core, client: Client, sql: String, limit: Option<u64>) -> Query {
        let settings = &core.store.settings;
        let mut values: Vec<Value> = self.params.into_iter().map(|value| value.0).collect();
        let named = match values.as_mut_slice() {
            [Value::Object(only)] if !only.contains_key("base64") => Some(std::mem::take(only)),
            _ => None,
        };
        Query {
            sql,
            parameters: named.map_or(
                StatementParameters::List(values),
                StatementParameters::Named,
            ),
            limit,
            // A call that names a number of rows wants them.
            bytes: match limit {
                None => settings.output_of(client),
                Some(_) => settings.max_output_absolute,
            },
            export: self.output_csv.map(|_| Export {
                delimiter: self.delimiter,
                encoding: self.encoding,
                decimal: self.decimal,
                ..Export::default()
            }),
        }
    }

    fn import(self, csv: String, if_exists: IfExists) -> Result<CsvImport, Error> {
        let table = self.table.filter(|table| !table.trim().is_empty());
        if table.is_none() && !is_workbook(&csv) {
            let missing = Error::from(ArgumentError::missing::<Sqlite>("table"));
            return Err(missing.with_hint(Repeat::with("table", table_of(&csv))));
        }
        Ok(CsvImport {
            csv,
            elsewhere: false,
            table,
            sheet: self.sheet.filter(|sheet| !sheet.trim().is_empty()),
            if_exists,
            delimiter: self.delimiter,
            encoding: self.encoding,
            date_columns: self.date_columns,
            date_format: self.date_format.as_deref().map(date_format).transpose()?,
            decimal: self.decimal,
            skip_rows: not_negative("skip_rows", self.skip_rows)?.unwrap_or(0),
            has_header: self.has_header,
        })
    }
}
