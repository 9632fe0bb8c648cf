//! Databases and CSV files that could not be worked on, told so that the next call is right.

use fileshed_tables::DatabaseError;
use fileshed_types::diagnostics::Facts;
use fileshed_types::hint::Argument;
use fileshed_types::{Hint, NextCall, Repeat, diagnostics};

/// Names that a hint lists.
const LISTED: usize = 12;

/// Tables with their columns.
type Tables = Vec<(String, Vec<String>)>;

diagnostics! {
    /// A database or a CSV file that could not be worked on.
    #[derive(Debug, thiserror::Error)]
    pub enum TableError {
        /// The administrator lets nobody change a database.
        #[error("this server allows only statements that read")]
        ReadOnly => {
            code: CommandForbidden,
            hint: "use SELECT, EXPLAIN or PRAGMA table_info; an administrator may set \
                sqlite_readonly=false",
        },
        /// The other file of the call is the database itself.
        #[error("parameter `{parameter}` names the database itself: `{path}`")]
        SameFile {
            /// The parameter of the other file.
            parameter: &'static str = "import_csv",
            /// The file.
            path: String = "a.db".to_owned(),
        } => {
            code: InvalidParameter,
            hint: format!("name another file in `{parameter}`"),
            details: { "parameter": parameter, "received": path },
        },
        /// The values do not fit the statement.
        #[error("parameter `params` does not fit: {reason}; got: {received} ({kind})")]
        Parameters {
            /// The reason.
            reason: String = "the statement has 2 parameters, 1 is given".to_owned(),
            /// The value received, as JSON.
            received: String = "[1]".to_owned(),
            /// Its type.
            kind: &'static str = "list",
        } => {
            code: InvalidParameter,
            hint: "give `params` as a list for `?`, such as [1, \"a\"], or as an object for `:name`, \
                such as {\"name\": \"a\"}",
            details: { "parameter": "params", "received": received, "received_type": kind },
        },
        /// SQLite's own words, and what there is.
        #[error("SQLite on `{path}`: {message}")]
        Failed {
            /// The database.
            path: String = "a.db".to_owned(),
            /// The message of SQLite.
            message: String => [
                "no such table: x".to_owned(),
                "no such table: x".to_owned(),
                "no such column: x".to_owned(),
                "more than one statement was given".to_owned(),
                "near \"SELCT\": syntax error".to_owned(),
            ],
            /// Its tables with their columns.
            tables: Tables => [
                vec![],
                vec![("people".to_owned(), vec!["name".to_owned()])],
                vec![("people".to_owned(), vec!["name".to_owned()])],
                vec![],
                vec![],
            ],
        } => {
            code: ExecError,
            hint: failed(message, tables),
            details: what_there_is(path, tables),
        },
        /// The statement does what none may do.
        #[error("a statement may not use `{what}`")]
        Forbidden {
            /// The database.
            path: String = "a.db".to_owned(),
            /// The forbidden action.
            what: String => [
                "PRAGMA journal_mode".to_owned(),
                "ATTACH".to_owned(),
                "BEGIN".to_owned(),
                "load_extension".to_owned(),
            ],
        } => {
            code: CommandForbidden,
            hint: forbidden(what),
            details: { "path": path, "forbidden": what },
        },
        /// There is no statement.
        #[error("parameter `query` has no statement")]
        NoStatement => {
            code: ExecError,
            hint: "write one SQL statement in `query`, such as SELECT name FROM sqlite_schema",
            details: { "parameter": "query" },
        },
        /// Another parameter of the call cannot be meant.
        #[error("parameter `{name}` must be {expected}, got: {received:?}")]
        Parameter {
            /// The parameter.
            name: String = "date_columns".to_owned(),
            /// The value received.
            received: String = "day".to_owned(),
            /// The values that it may have.
            expected: String = "names of columns".to_owned(),
        } => {
            code: InvalidParameter,
            hint: format!("correct `{name}`, or leave it out"),
            details: { "parameter": name, "received": received, "expected": expected },
        },
        /// The file is no database.
        #[error("`{path}` is not an SQLite database")]
        NotADatabase {
            /// The file.
            path: String => ["data/people.csv".to_owned(), "a.pdf".to_owned()],
        } => {
            code: InvalidFormat,
            hint: not_a_database(path),
            details: { "path": path },
        },
        /// The time is over.
        #[error("the work on `{path}` took longer than {seconds} s and was stopped")]
        TooLong {
            /// The database.
            path: String = "a.db".to_owned(),
            /// Time that it had.
            seconds: u64 = 30,
        } => {
            code: Timeout,
            hint: "give it less work in `query`: a WHERE or LIMIT, an index, a part of the file",
            details: { "path": path, "timeout": seconds },
        },
        /// The space for temporary files is used up.
        #[error("the disk space for temporary files is used up")]
        Full {
            /// The database.
            path: String = "a.db".to_owned(),
        } => {
            code: QuotaExceeded,
            hint: LESS_WORK,
            details: { "path": path },
        },
        /// The memory is used up.
        #[error("the statement exceeded its limit of memory")]
        Memory {
            /// The database.
            path: String = "a.db".to_owned(),
        } => {
            code: ExecError,
            hint: LESS_WORK,
            details: { "path": path },
        },
        /// The kernel stopped the work at one of its limits.
        #[error("the work on `{path}` exceeded its limit of memory, CPU time or file size")]
        Died {
            /// The database.
            path: String = "a.db".to_owned(),
        } => {
            code: ExecError,
            hint: LESS_WORK,
            details: { "path": path },
        },
        /// Somebody else works on it.
        #[error("`{path}` is in use by a command or another call")]
        Busy {
            /// The database.
            path: String = "a.db".to_owned(),
        } => {
            code: Busy,
            hint: AGAIN,
            details: { "path": path },
            retry_after: 1,
        },
        /// It must be changed before it can be read.
        #[error("`{path}` has an unfinished change")]
        NotReadable {
            /// The database.
            path: String = "a.db".to_owned(),
        } => {
            code: ExecError,
            hint: AGAIN,
            details: { "path": path },
        },
        /// Rows to export, of a statement that gives none or changes something.
        #[error("parameter `output_csv` needs a query that only reads and returns rows")]
        NoExport => {
            code: ExecError,
            hint: "give a SELECT in `query` to export rows; change tables in a call without \
                `output_csv`",
            details: { "parameter": "output_csv" },
        },
        /// The table is there already.
        #[error("table `{table}` exists already in `{path}`")]
        TableExists {
            /// The database.
            path: String = "a.db".to_owned(),
            /// The table.
            table: String = "people".to_owned(),
        } => {
            code: TableExists,
            hint: "give another name in `table`, or if_exists=\"append\" to add the rows, \
                if_exists=\"replace\" to drop the existing table",
            details: { "path": path, "table": table },
        },
        /// The table lacks columns of the file.
        #[error("table `{table}` has no column `{}`", missing.join("`, `"))]
        NoSuchColumns {
            /// The database.
            path: String = "a.db".to_owned(),
            /// The table.
            table: String = "people".to_owned(),
            /// The columns that it lacks.
            missing: Vec<String> = vec!["age".to_owned()],
            /// Those that it has.
            columns: Vec<String> = vec!["name".to_owned(), "city".to_owned()],
        } => {
            code: ExecError,
            hint: Hint::from(format!(
                "the table has {}; give another name in `table`, or if_exists=\"replace\" to drop \
                 the existing table",
                list(columns)
            )),
            details: { "path": path, "table": table, "missing": missing, "columns": columns },
        },
        /// The file has no rows.
        #[error("the file of `{parameter}` has no rows")]
        CsvEmpty {
            /// The parameter that names the file.
            parameter: &'static str = "import_csv",
            /// `true` if the CSV file is in uploads, and not beside the database.
            in_uploads: bool,
        } => {
            code: CsvEmpty,
            hint: csv_head(parameter, *in_uploads).or("has_header=false if its only row is data"),
            details: { "parameter": parameter },
        },
        /// The file has too many columns.
        #[error("the file of `{parameter}` has {columns} columns, a table may have {most}")]
        CsvTooWide {
            /// The parameter that names the file.
            parameter: &'static str = "import_csv",
            /// Those that it has.
            columns: usize = 6000,
            /// Those that it may have.
            most: usize = 5000,
            /// `true` if the CSV file is in uploads, and not beside the database.
            in_uploads: bool = false,
        } => {
            code: CsvTooWide,
            hint: csv_head(parameter, *in_uploads).or(
                "give `delimiter` if it is another one; cut in shed_exec keeps fewer columns",
            ),
            details: { "parameter": parameter, "columns": columns, "max_columns": most },
        },
        /// The file cannot be read.
        #[error(
            "the file of `{parameter}` cannot be read{}: {reason}",
            line.map(|line| format!(" at line {line}")).unwrap_or_default()
        )]
        CsvUnreadable {
            /// The parameter that names the file.
            parameter: &'static str = "import_csv",
            /// The line of the fault, if it is known.
            line: Option<u64>,
            /// The reason.
            reason: String,
            /// `true` if the CSV file is in uploads, and not beside the database.
            in_uploads: bool = false,
        } => {
            code: CsvParseError,
            hint: csv_head(parameter, *in_uploads)
                .or("correct the file, or give `encoding`, `delimiter` or `skip_rows`"),
            details: { "parameter": parameter, "line": line },
        },
        /// The file is a workbook that only its password opens.
        #[error("the file of `{parameter}` is encrypted and opens only with its password")]
        Encrypted {
            /// The parameter that names the file.
            parameter: &'static str = "import_csv",
        } => {
            code: CsvParseError,
            hint: "ask the user for a copy that is saved without the password",
            details: { "parameter": parameter },
        },
        /// A workbook cannot hold the rows.
        #[error("the rows do not fit into a workbook: {reason}")]
        NotInWorkbook {
            /// The reason.
            reason: String = "a sheet has at most 1048576 rows".to_owned(),
        } => {
            code: FileTooLarge,
            hint: "give the new file a name that ends in .csv: a CSV file has no limit of rows",
            details: { "reason": reason },
        },
    }
}

const LESS_WORK: &str = "give it less work in `query`: fewer or shorter values, a WHERE, a LIMIT";

const AGAIN: &str = "wait a moment and repeat the same call";

impl TableError {
    /// Converts the child's error about the database at `path`, on which it could work for `seconds`.
    pub(super) fn of(
        refusal: DatabaseError,
        path: String,
        seconds: u64,
        (parameter, in_uploads): (&'static str, bool),
    ) -> Self {
        match refusal {
            DatabaseError::Failed { message, tables } => Self::Failed {
                path,
                message,
                tables,
            },
            // A query says what it was given.
            DatabaseError::Parameters { reason: message } => Self::Failed {
                path,
                message,
                tables: Tables::new(),
            },
            DatabaseError::Forbidden { what } => Self::Forbidden { path, what },
            DatabaseError::NoStatement => Self::NoStatement,
            DatabaseError::Parameter {
                name,
                received,
                expected,
            } => Self::Parameter {
                name,
                received,
                expected,
            },
            DatabaseError::NotADatabase => Self::NotADatabase { path },
            DatabaseError::TooLong => Self::TooLong { path, seconds },
            DatabaseError::Full => Self::Full { path },
            DatabaseError::Memory => Self::Memory { path },
            DatabaseError::Died => Self::Died { path },
            DatabaseError::Busy => Self::Busy { path },
            DatabaseError::NotReadable => Self::NotReadable { path },
            DatabaseError::NoExport => Self::NoExport,
            DatabaseError::TableExists { table } => Self::TableExists { path, table },
            DatabaseError::NoSuchColumns {
                table,
                missing,
                columns,
            } => Self::NoSuchColumns {
                path,
                table,
                missing,
                columns,
            },
            DatabaseError::Encrypted => Self::Encrypted { parameter },
            DatabaseError::NotInWorkbook { reason } => Self::NotInWorkbook { reason },
            DatabaseError::CsvEmpty => Self::CsvEmpty {
                parameter,
                in_uploads,
            },
            DatabaseError::CsvTooWide { columns, most } => Self::CsvTooWide {
                parameter,
                columns,
                most,
                in_uploads,
            },
            DatabaseError::CsvUnreadable { line, reason } => Self::CsvUnreadable {
                parameter,
                line,
                reason,
                in_uploads,
            },
        }
    }
}

/// Returns a hint about a statement that SQLite refuses, from its message and the tables.
fn failed(message: &str, tables: &[(String, Vec<String>)]) -> Hint {
    if message.contains("no such table") {
        let names: Vec<String> = tables.iter().map(|(name, _)| name.clone()).collect();
        return if names.is_empty() {
            "there is no table yet: make one with CREATE TABLE, or with import_csv".into()
        } else {
            format!("the tables are: {}", list(&names)).into()
        };
    }
    if !tables.is_empty() {
        let tables = tables.iter().take(LISTED);
        let tables = tables.map(|(table, columns)| format!("{table} has {}", list(columns)));
        return tables.collect::<Vec<_>>().join("; ").into();
    }
    if message.contains("more than one statement") {
        return "make one call for each statement".into();
    }
    "correct the statement in `query`; SELECT sql FROM sqlite_schema shows the definitions of the \
     tables"
        .into()
}

fn what_there_is(path: &str, tables: &[(String, Vec<String>)]) -> Facts {
    let mut facts = Facts::from_iter([("path".to_owned(), path.into())]);
    if !tables.is_empty() {
        let tables = tables.iter();
        let tables: Facts = tables
            .map(|(table, columns)| (table.clone(), columns.clone().into()))
            .collect();
        facts.insert("tables".to_owned(), tables.into());
    }
    facts
}

/// Returns the alternative to a forbidden action.
fn forbidden(what: &str) -> Hint {
    if what.starts_with("PRAGMA") {
        "use PRAGMA table_info(name), table_list, index_list, integrity_check or user_version"
    } else if what.contains("ATTACH") || what.contains("VACUUM") {
        "a statement has one database: move rows with output_csv and import_csv; cp in shed_exec \
         copies a file"
    } else if what.contains("BEGIN") || what == "SAVEPOINT" {
        "each statement is a transaction of its own"
    } else {
        "leave it out: a statement works on its database alone"
    }
    .into()
}

/// The call that shows how the CSV file begins.
fn csv_head(parameter: &'static str, in_uploads: bool) -> Hint {
    let args = vec!["-n".into(), "5".into(), Argument::Given(parameter)];
    let look = if in_uploads {
        NextCall::new("shed_exec").with("zone", "uploads")
    } else {
        NextCall::here("shed_exec")
    };
    let look = look.with("cmd", "head").with("args", Argument::List(args));
    Hint::new("look at the file: ").call(look)
}

/// A CSV file becomes a table of a database of its own; of another file it is said what it is.
/// The name of a table for the rows of a file.
#[must_use]
pub fn table_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).chars();
    stem.map(|letter| {
        if letter.is_alphanumeric() {
            letter
        } else {
            '_'
        }
    })
    .collect()
}

fn not_a_database(path: &str) -> Hint {
    let (name, end) = path.rsplit_once('.').unwrap_or((path, ""));
    let end = end.to_ascii_lowercase();
    let import = Repeat::with("path", format!("{name}.db")).and("import_csv", path);
    let make =
        |import: Repeat| Hint::new("make a table of it first: ").again(import.and_without("query"));
    match end.as_str() {
        "csv" | "tsv" | "txt" => return make(import.and("table", table_of(path))),
        "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => return make(import),
        _ => {}
    }
    let what = NextCall::here("shed_exec")
        .with("cmd", "file")
        .with("args", vec![path]);
    Hint::new("see what it is: ")
        .call(what)
        .instead("see what it is: ")
        .call(NextCall::here("shed_file_type").with("path", path))
}

fn list(names: &[String]) -> String {
    let shown = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
