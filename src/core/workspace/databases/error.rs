//! Databases and CSV files that could not be worked on, told so that the next call is right.

use serde_json::{Map, Value, json};

use crate::hint::Argument;
use crate::tables::Refusal;
use crate::{Call, Code, Diagnostic, Hint, Repeat};

/// Names that a hint lists.
const LISTED: usize = 12;

/// A database or a CSV file that could not be worked on.
#[derive(Debug)]
pub enum TableError {
    /// The child says why.
    Refused {
        /// Why.
        refusal: Refusal,
        /// The database.
        path: String,
        /// Time that it had.
        seconds: u64,
        /// Whether the CSV file of an import is in uploads, and not beside the database.
        in_uploads: bool,
    },
    /// The administrator lets nobody change a database.
    ReadOnly,
    /// The other file of the call is the database itself.
    SameFile {
        /// The parameter of the other file.
        parameter: &'static str,
        /// The file.
        path: String,
    },
    /// The values do not fit the statement.
    Parameters {
        /// Why not.
        reason: String,
        /// What was given, as JSON.
        received: String,
        /// Its type.
        kind: &'static str,
    },
}

impl std::error::Error for TableError {}

impl std::fmt::Display for TableError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused {
                refusal,
                path,
                seconds,
                ..
            } => write_refusal(formatter, refusal, path, *seconds),
            Self::ReadOnly => write!(formatter, "statements only read on this server"),
            Self::SameFile { parameter, path } => {
                write!(
                    formatter,
                    "parameter `{parameter}` names the database itself: `{path}`"
                )
            }
            Self::Parameters {
                reason,
                received,
                kind,
            } => write!(
                formatter,
                "parameter `params` does not fit: {reason}; got: {received} ({kind})"
            ),
        }
    }
}

fn write_refusal(
    out: &mut std::fmt::Formatter<'_>,
    refusal: &Refusal,
    path: &str,
    seconds: u64,
) -> std::fmt::Result {
    match refusal {
        Refusal::Failed { message, .. } => write!(out, "SQLite on `{path}`: {message}"),
        Refusal::Forbidden { what } => write!(out, "a statement may not use `{what}`"),
        Refusal::NoStatement => write!(out, "parameter `query` holds no statement"),
        Refusal::Parameters { reason } => {
            write!(out, "parameter `params` does not fit: {reason}")
        }
        Refusal::Parameter {
            name,
            received,
            expected,
        } => write!(
            out,
            "parameter `{name}` must be {expected}, got: {received:?}"
        ),
        Refusal::NotADatabase => write!(out, "`{path}` is not an SQLite database"),
        Refusal::TooLong => write!(
            out,
            "the work on `{path}` took longer than {seconds} s and was stopped"
        ),
        Refusal::Full => write!(out, "the disk space for temporary files is used up"),
        Refusal::NotReadable => write!(out, "`{path}` was left in the middle of a change"),
        Refusal::Busy => write!(out, "`{path}` is in use by a command or another call"),
        Refusal::Memory => write!(out, "the statement needs more memory than it may have"),
        Refusal::Died => write!(
            out,
            "the work on `{path}` went over its limits of memory, CPU time or file size"
        ),
        Refusal::NoExport => write!(
            out,
            "parameter `output_csv` needs a query that only reads and gives rows"
        ),
        Refusal::TableExists { table } => write!(out, "table `{table}` exists already in `{path}`"),
        Refusal::NoSuchColumns { table, missing, .. } => {
            write!(
                out,
                "table `{table}` has no column `{}`",
                missing.join("`, `")
            )
        }
        Refusal::CsvEmpty => write!(out, "the CSV file of `import_csv` has no rows"),
        Refusal::CsvTooWide { columns, most } => {
            write!(
                out,
                "the CSV file of `import_csv` has {columns} columns, a table may have {most}"
            )
        }
        Refusal::CsvUnreadable {
            line: Some(line),
            reason,
        } => write!(
            out,
            "the CSV file of `import_csv` cannot be read at line {line}: {reason}"
        ),
        Refusal::CsvUnreadable { line: None, reason } => {
            write!(out, "the CSV file of `import_csv` cannot be read: {reason}")
        }
    }
}

impl Diagnostic for TableError {
    fn code(&self) -> Code {
        match self {
            Self::ReadOnly => Code::CommandForbidden,
            Self::SameFile { .. } | Self::Parameters { .. } => Code::InvalidParameter,
            Self::Refused { refusal, .. } => match refusal {
                Refusal::Failed { .. }
                | Refusal::NoStatement
                | Refusal::NoExport
                | Refusal::NotReadable
                | Refusal::Memory
                | Refusal::Died
                | Refusal::NoSuchColumns { .. } => Code::ExecError,
                Refusal::Forbidden { .. } => Code::CommandForbidden,
                Refusal::Parameters { .. } | Refusal::Parameter { .. } => Code::InvalidParameter,
                Refusal::NotADatabase => Code::InvalidFormat,
                Refusal::TooLong => Code::Timeout,
                Refusal::Full => Code::QuotaExceeded,
                Refusal::Busy => Code::Busy,
                Refusal::TableExists { .. } => Code::TableExists,
                Refusal::CsvEmpty => Code::CsvEmpty,
                Refusal::CsvTooWide { .. } => Code::CsvTooWide,
                Refusal::CsvUnreadable { .. } => Code::CsvParseError,
            },
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::ReadOnly => "use SELECT, EXPLAIN or PRAGMA table_info; an administrator may set sqlite_readonly=false".into(),
            Self::SameFile { parameter, .. } => format!("name another file in `{parameter}`").into(),
            Self::Parameters { .. } => "give `params` as a list for `?`, such as [1, \"a\"], or as an object for `:name`, such as {\"name\": \"a\"}".into(),
            Self::Refused {
                refusal,
                path,
                in_uploads,
                ..
            } => hint(refusal, path, *in_uploads),
        }
    }

    fn details(&self) -> Map<String, Value> {
        let details = match self {
            Self::ReadOnly => json!({}),
            Self::SameFile { parameter, path } => json!({"parameter": parameter, "received": path}),
            Self::Parameters { received, kind, .. } => {
                json!({"parameter": "params", "received": received, "received_type": kind})
            }
            Self::Refused {
                refusal,
                path,
                seconds,
                ..
            } => match refusal {
                Refusal::Failed { tables, .. } if !tables.is_empty() => {
                    let tables: Map<String, Value> = tables
                        .iter()
                        .map(|(table, columns)| (table.clone(), columns.clone().into()))
                        .collect();
                    json!({"path": path, "tables": tables})
                }
                Refusal::Forbidden { what } => json!({"path": path, "forbidden": what}),
                Refusal::Parameter {
                    name,
                    received,
                    expected,
                } => json!({"parameter": name, "received": received, "expected": expected}),
                Refusal::TooLong => json!({"path": path, "timeout": seconds}),
                Refusal::TableExists { table } => json!({"path": path, "table": table}),
                Refusal::NoSuchColumns {
                    table,
                    missing,
                    columns,
                } => json!({"path": path, "table": table, "missing": missing, "columns": columns}),
                Refusal::CsvTooWide { columns, most } => {
                    json!({"parameter": "import_csv", "columns": columns, "max_columns": most})
                }
                Refusal::CsvUnreadable { line, .. } => {
                    json!({"parameter": "import_csv", "line": line})
                }
                Refusal::CsvEmpty => json!({"parameter": "import_csv"}),
                Refusal::NoStatement => json!({"parameter": "query"}),
                Refusal::NoExport => json!({"parameter": "output_csv"}),
                _ => json!({"path": path}),
            },
        };
        match details {
            Value::Object(details) => details,
            _ => Map::new(),
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Refused {
                refusal: Refusal::Busy,
                ..
            } => Some(1),
            _ => None,
        }
    }
}

fn hint(refusal: &Refusal, path: &str, in_uploads: bool) -> Hint {
    match refusal {
        Refusal::Failed { message, tables } if message.contains("no such table") => {
            let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
            if names.is_empty() {
                "there is no table yet: make one with CREATE TABLE, or with import_csv".into()
            } else {
                format!("the tables are: {}", list(&names)).into()
            }
        }
        Refusal::Failed { tables, .. } if !tables.is_empty() => {
            let tables: Vec<String> = tables
                .iter()
                .take(LISTED)
                .map(|(table, columns)| {
                    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                    format!("{table} has {}", list(&columns))
                })
                .collect();
            tables.join("; ").into()
        }
        Refusal::Failed { message, .. } if message.contains("more than one statement") => {
            "make one call for each statement".into()
        }
        Refusal::Failed { .. } => {
            "correct the statement in `query`; SELECT sql FROM sqlite_schema shows how the tables are made".into()
        }
        Refusal::Forbidden { what } if what.starts_with("PRAGMA") => {
            "use PRAGMA table_info(name), table_list, index_list, integrity_check or user_version".into()
        }
        Refusal::Forbidden { what } if what.contains("ATTACH") || what.contains("VACUUM") => {
            "a statement has one database: move rows with output_csv and import_csv; cp in shed_exec copies a file".into()
        }
        Refusal::Forbidden { what } if what.contains("BEGIN") || what == "SAVEPOINT" => {
            "each statement is a transaction of its own".into()
        }
        Refusal::Forbidden { .. } => "leave it out: a statement works on its database alone".into(),
        Refusal::NoStatement => "write one SQL statement in `query`, such as SELECT name FROM sqlite_schema".into(),
        Refusal::Parameters { .. } => "give one value in `params` for each parameter of the statement".into(),
        Refusal::Parameter { name, .. } => format!("correct `{name}`, or leave it out").into(),
        Refusal::NotADatabase => not_a_database(path),
        Refusal::TooLong => "give it less work in `query`: a WHERE or LIMIT, an index, a part of the file".into(),
        Refusal::Full | Refusal::Memory | Refusal::Died => "give it less work in `query`: fewer or shorter values, a WHERE, a LIMIT".into(),
        Refusal::Busy | Refusal::NotReadable => "wait a moment and repeat the same call".into(),
        Refusal::NoExport => "give a SELECT in `query` to export rows; change tables in a call without `output_csv`".into(),
        Refusal::TableExists { .. } => "give another name in `table`, or if_exists=\"append\" to add the rows, if_exists=\"replace\" to drop what is there".into(),
        Refusal::NoSuchColumns { columns, .. } => {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            format!("the table has {}; give another name in `table`, or if_exists=\"replace\" to drop what is there", list(&columns)).into()
        }
        Refusal::CsvEmpty => csv_head(in_uploads).or("has_header=false if its only row is data"),
        Refusal::CsvTooWide { .. } => csv_head(in_uploads).or("give `delimiter` if it is another one; cut in shed_exec keeps fewer columns"),
        Refusal::CsvUnreadable { .. } => {
            csv_head(in_uploads).or("correct the file, or give `encoding`, `delimiter` or `skip_rows`")
        }
    }
}

/// The call that shows how the CSV file begins.
fn csv_head(in_uploads: bool) -> Hint {
    let args = vec!["-n".into(), "5".into(), Argument::Given("import_csv")];
    let look = if in_uploads {
        Call::new("shed_exec").with("zone", "uploads")
    } else {
        Call::here("shed_exec")
    };
    let look = look.with("cmd", "head").with("args", Argument::List(args));
    Hint::new("look at the file: ").call(look)
}

/// A CSV file becomes a table of a database of its own; of another file it is said what it is.
fn not_a_database(path: &str) -> Hint {
    let (name, end) = path.rsplit_once('.').unwrap_or((path, ""));
    if ["csv", "tsv", "txt"].contains(&end.to_ascii_lowercase().as_str()) {
        let table = name.rsplit('/').next().unwrap_or(name);
        let table: String = table
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        let import = Repeat::with("path", format!("{name}.db"))
            .and("import_csv", path)
            .and("table", table)
            .and_without("query");
        return Hint::new("make a table of it first: ").again(import);
    }
    let what = Call::here("shed_exec")
        .with("cmd", "file")
        .with("args", vec![path]);
    Hint::new("see what it is: ").call(what)
}

fn list(names: &[&str]) -> String {
    let shown = names
        .iter()
        .take(LISTED)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
