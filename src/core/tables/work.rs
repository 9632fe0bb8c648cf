//! Messages between the server and the child that works on a database.

use std::path::PathBuf;

use fileshed_types::names;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most columns that a CSV file may have.
pub const MOST_COLUMNS: usize = 5000;

/// Most rows of an answer, whatever is asked for.
pub const MOST_ROWS: u64 = 10_000;

/// Rows of an answer to a query that has no limit of its own.
pub const FEW_ROWS: u64 = 10;

/// Task for the child.
#[derive(Debug, Serialize, Deserialize)]
pub struct DatabaseRequest {
    /// The database.
    pub database: TargetDatabase,
    /// Directory for SQLite's temporary files.
    pub temporary: PathBuf,
    /// Time for all of it.
    pub seconds: u64,
    /// Bytes that SQLite itself may take.
    pub heap: u64,
    /// The task.
    pub action: Action,
}

/// The database that is worked on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TargetDatabase {
    /// A database in the zone, which is the child's working directory.
    Zone {
        /// Its path in the zone.
        path: String,
        /// Mode in which it is opened.
        mode: OpenMode,
    },
    /// A new one, [`PRIVATE_NAME`] in the private directory, of at most so many bytes.
    Private {
        /// Bytes that it may have.
        most: u64,
    },
    /// A copy of that name, to read.
    Copy,
    /// Not there yet: only what a statement would do is asked.
    Nowhere,
}

impl TargetDatabase {
    /// Returns `true` if the child changes files.
    pub fn is_changed(&self) -> bool {
        match self {
            Self::Private { .. } | Self::Copy => true,
            Self::Zone { mode, .. } => matches!(mode, OpenMode::Write { .. }),
            Self::Nowhere => false,
        }
    }
}

/// Name of a CSV file of another zone in the private directory.
pub const PRIVATE_CSV: &str = "import.csv";

/// Name of a database in the private directory.
pub const PRIVATE_NAME: &str = "database";

/// Mode in which a database of a zone is opened.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum OpenMode {
    /// Nobody changes it, and no lock is taken.
    Immutable,
    /// To read, while others may change it.
    Read,
    /// To change it, up to so many bytes.
    Write {
        /// Bytes that it may have.
        most: u64,
    },
}

/// Work on a database.
#[derive(Debug, Serialize, Deserialize)]
pub enum Action {
    /// Carry out a statement.
    Query(Query),
    /// Make a table of a CSV file, or tables of the sheets of a workbook.
    Import(CsvImport),
    /// Write such a file anew, in another format.
    Convert(CsvImport, Export),
    /// Read some rows of such a file.
    Look(CsvImport, u64),
    /// Only open the database, so that SQLite rolls back an unfinished change.
    Recover,
}

/// One statement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Query {
    /// The statement.
    pub sql: String,
    /// Values for its parameters.
    pub parameters: StatementParameters,
    /// Rows of the answer; 0 is the most there may be.
    pub limit: Option<u64>,
    /// Bytes of the answer's rows.
    pub bytes: u64,
    /// Send the rows to standard output instead, as CSV.
    pub export: Option<Export>,
}

/// Values for the parameters of a statement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StatementParameters {
    /// In order.
    List(Vec<Value>),
    /// By name, with or without the sign before it.
    Named(Map<String, Value>),
}

/// The format of a file that gets rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableFormat {
    /// Text with delimiters.
    #[default]
    Csv,
    /// A workbook of Excel.
    Xlsx,
    /// An open spreadsheet.
    Ods,
}

impl TableFormat {
    /// The format of a file of this name.
    pub fn of_name(name: &str) -> Self {
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        match end.to_ascii_lowercase().as_str() {
            "xlsx" => Self::Xlsx,
            "ods" => Self::Ods,
            _ => Self::Csv,
        }
    }
}

/// The form in which rows are written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Export {
    /// The format of the file.
    pub format: TableFormat,
    /// Name of its sheet, unless the rows have one.
    pub sheet: String,
    /// Texts that begin with `=` become formulas.
    pub formulas: bool,
    /// The rows of the statement name tables, each of which becomes a sheet.
    pub tables: bool,
    /// Between fields; a comma unless given.
    pub delimiter: Option<String>,
    /// UTF-8, with a mark at the beginning for `utf-8-sig`.
    pub encoding: Option<String>,
    /// Between the digits of a number; a point unless given.
    pub decimal: Option<String>,
    /// Bytes that the file may have.
    pub most: u64,
}

impl Export {
    /// Fits the format to the file that gets the rows.
    pub fn fit(&mut self, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
        self.format = TableFormat::of_name(name);
        stem.clone_into(&mut self.sheet);
        if self.delimiter.is_none() && end.eq_ignore_ascii_case("tsv") {
            self.delimiter = Some("tab".to_owned());
        }
    }
}

/// A CSV file that becomes a table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CsvImport {
    /// The file.
    pub csv: String,
    /// `true` if it is in the private directory, and not in the zone.
    pub elsewhere: bool,
    /// The table; each sheet has one of its own name unless given.
    pub table: Option<String>,
    /// The sheet of a workbook; the first that has rows, or all, unless given.
    pub sheet: Option<String>,
    /// Action if the table exists.
    pub if_exists: IfExists,
    /// Delimiter of fields; detected unless given.
    pub delimiter: Option<String>,
    /// Encoding of the file; detected unless given.
    pub encoding: Option<String>,
    /// Columns that hold dates.
    pub date_columns: Vec<String>,
    /// Format of their dates; detected unless given.
    pub date_format: Option<DateFormat>,
    /// Decimal sign; detected unless given.
    pub decimal: Option<String>,
    /// Lines before the table.
    pub skip_rows: u64,
    /// `true` if the first row names the columns; detected unless given.
    pub has_header: Option<bool>,
}

names! {
    /// Action of an import if the table exists.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum IfExists {
        /// Refuse.
        #[default]
        Fail = "fail",
        /// Drop it first.
        Replace = "replace",
        /// Add the rows.
        Append = "append",
    }
}

/// Format of dates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DateFormat {
    /// 31/12/2026
    DayFirst,
    /// 12/31/2026
    MonthFirst,
    /// Directives of strptime.
    Directives(String),
}

/// Outcome of the work.
#[derive(Debug, Serialize, Deserialize)]
pub enum DatabaseReply {
    /// A query gave rows.
    Rows(Rows),
    /// A statement changed something.
    Changed(Changed),
    /// Rows went to a file.
    Exported(ExportedCsv),
    /// Tables were filled.
    Imported(Vec<ImportedTable>),
    /// Some rows of a file.
    Part(TablePart),
    /// The database is as it should be.
    Recovered,
    /// The statement changes something, and the database was opened to be read.
    NeedsWrite,
    /// The statement needs a database that is not there.
    NeedsDatabase {
        /// `true` if it would change it.
        changes: bool,
    },
    /// The work failed and changed nothing.
    Refused(DatabaseError),
}

/// Rows of a query.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rows {
    /// Names of the columns, made unique.
    pub columns: Vec<String>,
    /// A value for each column.
    pub rows: Vec<Map<String, Value>>,
    /// `true` if there are more.
    pub truncated: bool,
    /// Number of all rows, if it is known.
    pub total: Option<u64>,
    /// Most rows that the response could have held.
    pub limit: u64,
    /// Notes about values that are not shown as they are stored.
    pub notes: Vec<String>,
    /// Changes by a statement that also gives rows.
    pub changed: Option<Changed>,
}

/// Changes by a statement.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Changed {
    /// Rows inserted, updated or deleted.
    pub rows: u64,
    /// The last row inserted; 0 where none was.
    pub last_row_id: i64,
}

/// A CSV file that was written.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExportedCsv {
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows without the header.
    pub rows: u64,
    /// Notes about files beside the database that were not read with it.
    pub notes: Vec<String>,
}

/// Some rows of a CSV file or of a sheet, as people see them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct TablePart {
    /// The sheets of a workbook.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sheets: Vec<String>,
    /// The sheet that has the rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sheet: Option<String>,
    /// Letters of the columns of a sheet.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub columns: Vec<String>,
    /// Lines above the table of a CSV file, told with its first rows.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub above: Vec<String>,
    /// The number of the first row in the sheet or table, from 1.
    pub first: u64,
    /// Cells. The first row of a CSV file has the names of its columns, if they have names.
    pub rows: Vec<Vec<String>>,
    /// The place of the row behind these, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<u64>,
    /// Columns that are left out at the right.
    #[serde(skip_serializing_if = "is_none", default)]
    pub left_out: u64,
    /// The encoding of a CSV file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub encoding: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A table that was filled.
#[derive(Debug, Serialize, Deserialize)]
pub struct ImportedTable {
    /// Its name.
    pub table: String,
    /// The sheet that it was, in a workbook.
    pub sheet: Option<String>,
    /// Its columns.
    pub columns: Vec<String>,
    /// Rows of the file.
    pub rows: u64,
    /// Details of how the file was read.
    pub info: ImportInfo,
    /// The first rows that lost a value because they had too many fields, counted from 1 behind the header.
    pub lost_in_rows: Vec<u64>,
    /// `true` if bytes were no text, and became U+FFFD.
    pub flawed: bool,
    /// Other differences of the table from the file.
    pub notes: Vec<String>,
    /// Sheets of the workbook that hold a header alone and became no table; told with the last one.
    pub left_out: Vec<String>,
}

/// Details of how a CSV file was read.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportInfo {
    /// Character between the fields.
    pub detected_delimiter: String,
    /// Character encoding of the file.
    pub detected_encoding: String,
    /// `true` if the first row names the columns.
    pub has_header: bool,
    /// SQLite type of each column, in the order of the file.
    #[schema(value_type = BTreeMap<String, String>)]
    pub column_types: Map<String, Value>,
    /// Header of each column whose name differs from it.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    #[schema(value_type = BTreeMap<String, String>, required = false)]
    pub headers: Map<String, Value>,
    /// Rows with too few fields.
    pub rows_padded: u64,
    /// Rows with too many fields.
    pub rows_cut: u64,
    /// Values of date columns that are not dates.
    pub unread_dates: u64,
}

/// Why the work was not done, as the child says.
#[derive(Debug, Serialize, Deserialize)]
pub enum DatabaseError {
    /// SQLite's own words, and what there is: tables with their columns.
    Failed {
        /// The message of SQLite.
        message: String,
        /// Tables, each with its columns.
        tables: Vec<(String, Vec<String>)>,
    },
    /// The statement does what none may do.
    Forbidden {
        /// The forbidden action.
        what: String,
    },
    /// There is no statement.
    NoStatement,
    /// The values do not fit the statement.
    Parameters {
        /// The reason.
        reason: String,
    },
    /// Another parameter of the call cannot be meant.
    Parameter {
        /// Its name.
        name: String,
        /// The value received.
        received: String,
        /// The values that it may have.
        expected: String,
    },
    /// The file is no database.
    NotADatabase,
    /// The time is over.
    TooLong,
    /// The database would grow too large.
    Full,
    /// Somebody else works on it.
    Busy,
    /// It must be changed before it can be read.
    NotReadable,
    /// The memory is used up.
    Memory,
    /// The child ended without an answer: the kernel stopped it at one of its limits.
    Died,
    /// Rows to export, of a statement that gives none or changes something.
    NoExport,
    /// The table is there already.
    TableExists {
        /// Its name.
        table: String,
    },
    /// The table lacks columns of the file.
    NoSuchColumns {
        /// The table.
        table: String,
        /// Columns of the file that it lacks.
        missing: Vec<String>,
        /// Columns that it has.
        columns: Vec<String>,
    },
    /// A workbook cannot hold the rows.
    NotInWorkbook {
        /// The reason.
        reason: String,
    },
    /// The file has no rows.
    CsvEmpty,
    /// The file has too many columns.
    CsvTooWide {
        /// Number of columns.
        columns: usize,
        /// Most columns.
        most: usize,
    },
    /// The file is a workbook that only its password opens.
    Encrypted,
    /// The file cannot be read.
    CsvUnreadable {
        /// The line that cannot be read, where that is known.
        line: Option<u64>,
        /// The reason.
        reason: String,
    },
}
