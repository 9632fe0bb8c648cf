//! The child's side: a database opened with every bound that SQLite has.
//!
//! The kernel confines the child already. These are the fences inside: no other file
//! (authorizer), no damage by crafted schemas (defensive, untrusted schema), no endless statement
//! (deadline), no database beyond its space (`max_page_count`).

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::sql;
use super::table_source::TableSource;
use super::work::{
    Action, DatabaseError, DatabaseReply, DatabaseRequest, MOST_COLUMNS, OpenMode, PRIVATE_CSV,
    PRIVATE_NAME, TargetDatabase,
};
use fileshed_storage::{DiskError, Root};
use fileshed_types::{Clock, Mutex, ZonePath, timings};

/// Instructions of SQLite between two looks at the clock.
const INSTRUCTIONS: i32 = 1000;

/// Most tables whose names a failure tells.
const TABLES_TOLD: usize = 40;

/// Most columns of one table that a failure tells.
const COLUMNS_TOLD: usize = 60;

/// Bounds of SQLite on what a statement or a value may be. An attachment is what VACUUM needs.
const LIMITS: [(Limit, i32); 10] = [
    (Limit::SQLITE_LIMIT_LENGTH, 64 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 4 << 20),
    (Limit::SQLITE_LIMIT_COLUMN, MOST_COLUMNS as i32),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
    (Limit::SQLITE_LIMIT_ATTACHED, 1),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 50),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// Pragmas that tell something about a database, with what they are asked for.
const PRAGMAS_THAT_ASK: &str = "\
    collation_list compile_options foreign_key_check foreign_key_list function_list \
    index_info index_list index_xinfo integrity_check module_list pragma_list quick_check \
    table_info table_list table_xinfo";

/// Pragmas that are numbers of a database, to be read.
const PRAGMAS_TO_READ: &str = "\
    auto_vacuum data_version encoding foreign_keys freelist_count max_page_count page_count \
    page_size schema_version";

/// Pragmas that are numbers of a database, to be read and set.
const PRAGMAS_TO_SET: &str = "application_id user_version";

/// Functions that reach beyond the database.
const FUNCTIONS: &str = "edit fts3_tokenizer load_extension readfile writefile";

/// Virtual tables that hold their rows in the database.
const MODULES: &str = "fts3 fts4 fts5 fts5vocab geopoly rtree rtree_i32";

/// Work whose files are open, before the kernel takes all others away.
pub struct Opened {
    work: DatabaseRequest,
    /// Directory of the database, with its name there.
    place: Option<(OwnedFd, String)>,
    /// The database itself, if no other file beside it is needed.
    file: Option<File>,
    csv: Option<File>,
}

impl Opened {
    /// Opens what the work is about, below the working directory.
    pub fn new(work: DatabaseRequest) -> Result<Self, std::io::Error> {
        let gone = |error: DiskError| std::io::Error::other(error.to_string());
        let zone = Root::open_ambient(Path::new(".")).map_err(gone)?;
        let mut opened = Self {
            place: None,
            file: None,
            csv: None,
            work,
        };
        if let TargetDatabase::Zone { path, mode } = &opened.work.database {
            let path = ZonePath::found(path.clone());
            let above = path.parent().unwrap_or_else(ZonePath::root);
            let (directory, _) = zone.directory(&above).map_err(gone)?;
            opened.place = Some((directory, path.name().unwrap_or_default().to_owned()));
            if !matches!(mode, OpenMode::Write { .. }) {
                opened.file = Some(zone.read(&path).map_err(gone)?);
            }
        }
        if let Action::Import(import) | Action::Convert(import, _) | Action::Look(import, _) =
            &opened.work.action
        {
            opened.csv = Some(if import.elsewhere {
                let private = Root::open_ambient(&opened.work.temporary).map_err(gone)?;
                let path = ZonePath::found(PRIVATE_CSV.to_owned());
                private.read(&path).map_err(gone)?
            } else {
                let path = ZonePath::found(import.csv.clone());
                zone.read(&path).map_err(gone)?
            });
        }
        Ok(opened)
    }

    /// Returns the path that SQLite must be able to open to read the database.
    pub fn place_to_read(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|file| place(file.as_raw_fd()))
    }

    /// Returns the directory that it must be able to open to change the database and the files beside it.
    pub fn place_to_change(&self) -> Option<PathBuf> {
        let directory = self.place.as_ref().filter(|_| self.file.is_none());
        directory.map(|(directory, _)| place(directory.as_raw_fd()))
    }

    /// Does the work, and returns its outcome as JSON.
    pub fn answer(self) -> String {
        let reads = matches!(
            self.work.database,
            TargetDatabase::Zone {
                mode: OpenMode::Read,
                ..
            }
        );
        let answer = match self.carry_out() {
            Ok(answer) => answer,
            // Left in the middle of a change, which is to be rolled back first, or in the middle of
            // one right now: the write lock helps with both.
            Err(DatabaseError::NotReadable | DatabaseError::Busy) if reads => {
                DatabaseReply::NeedsWrite
            }
            Err(refusal) => DatabaseReply::Refused(refusal),
        };
        serde_json::to_string(&answer).unwrap_or_default()
    }

    fn carry_out(self) -> Result<DatabaseReply, DatabaseError> {
        let mut engine = Engine::open(&self)?;
        match self.work.action {
            Action::Query(query) => engine.query(&query),
            Action::Import(import) => {
                let csv = self.csv.ok_or(DatabaseError::CsvEmpty)?;
                let sources = TableSource::all(import, csv, ["0", "1"], &self.work.temporary)?;
                engine.import(sources).map(DatabaseReply::Imported)
            }
            Action::Convert(import, export) => {
                let csv = self.csv.ok_or(DatabaseError::CsvEmpty)?;
                let truths = ["FALSE", "TRUE"];
                let sources = TableSource::all(import, csv, truths, &self.work.temporary)?;
                engine
                    .convert(&sources, &export)
                    .map(DatabaseReply::Exported)
            }
            Action::Look(import, from) => {
                let csv = self.csv.ok_or(DatabaseError::CsvEmpty)?;
                engine.look(import, csv, from).map(DatabaseReply::Part)
            }
            Action::Recover => {
                let read = "SELECT count(*) FROM sqlite_schema";
                let read = engine.connection.query_row(read, [], |_| Ok(()));
                read.map_err(|error| engine.refusal(error, None))?;
                Ok(DatabaseReply::Recovered)
            }
        }
    }
}

/// The path of an open descriptor.
fn place(handle: i32) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{handle}"))
}

/// An open database.
pub(super) struct Engine {
    pub(super) connection: Connection,
    /// `true` if statements may change it.
    pub(super) writable: bool,
    /// `true` if it is an empty stand-in, made to check a statement.
    pub(super) imagined: bool,
    pub(super) clock: Deadline,
    /// `true` once the statement has passed the authorizer: SQLite's own actions to carry it out come after.
    running: Arc<AtomicBool>,
    /// The last action that the authorizer refused.
    refused: Arc<Mutex<Option<String>>>,
}

/// When to stop; may be moved while a statement runs.
#[derive(Clone)]
pub(super) struct Deadline(Arc<Mutex<Instant>>);

impl Deadline {
    fn new(time: Duration) -> Self {
        Self(Arc::new(Mutex::new(Clock::SYSTEM.instant() + time)))
    }

    pub(super) fn is_over(&self) -> bool {
        Clock::SYSTEM.is_past(*self.0.lock())
    }

    /// Stops after so much more time, unless it is earlier anyway.
    pub(super) fn shorten(&self, time: Duration) {
        let end = Clock::SYSTEM.instant() + time;
        let mut current = self.0.lock();
        *current = end.min(*current);
    }
}

impl Engine {
    fn open(opened: &Opened) -> Result<Self, DatabaseError> {
        let work = &opened.work;
        let (location, flags, most) = location(opened)?;
        let flags = flags | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut engine = Self {
            connection: Connection::open_with_flags(location, flags)?,
            writable: most.is_some(),
            imagined: matches!(work.database, TargetDatabase::Nowhere),
            clock: Deadline::new(timings::seconds(work.seconds)),
            running: Arc::default(),
            refused: Arc::default(),
        };
        let bound = engine.bound(work, most);
        bound.map_err(|error| engine.refusal(error, None))?;
        Ok(engine)
    }

    /// Sets every bound. The authorizer comes last: it refuses the pragmas that are set here.
    fn bound(&mut self, work: &DatabaseRequest, most: Option<u64>) -> Result<(), rusqlite::Error> {
        let connection = &mut self.connection;
        connection.busy_handler(Some(wait_a_moment))?;
        // A misspelt column in double quotes would be a text, and the answer wrong in silence. Views and
        // triggers of other programs may have such texts, so that only a statement decides it.
        let quotes_names = matches!(&work.action, Action::Query(query) if query.sql.contains('"'));
        for (setting, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
            (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, !quotes_names),
        ] {
            connection.set_db_config(setting, value)?;
        }
        for (limit, value) in LIMITS {
            connection.set_limit(limit, value)?;
        }
        let temporary = work.temporary.to_string_lossy();
        connection.pragma_update(None, "temp_store_directory", &*temporary)?;
        connection.pragma_update(None, "hard_heap_limit", work.heap as i64)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "mmap_size", 0)?;
        connection.pragma_update(None, "cache_size", -8192)?;
        let clock = self.clock.clone();
        connection.progress_handler(INSTRUCTIONS, Some(move || clock.is_over()))?;
        if let Some(most) = most {
            let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let pages = (most as i64 / page.max(512)).max(1);
            connection.pragma_update(None, "max_page_count", pages)?;
        }
        let (running, refused) = (Arc::clone(&self.running), Arc::clone(&self.refused));
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            match judge(&context.action, running.load(Ordering::Relaxed)) {
                Ok(()) => Authorization::Allow,
                Err(what) => {
                    *refused.lock() = Some(what);
                    Authorization::Deny
                }
            }
        }))
    }

    /// The statement has been judged and is carried out now.
    pub(super) fn begin(&self) {
        self.running.store(true, Ordering::Relaxed);
    }

    /// A failure of SQLite as a refusal; with the statement, it tells which tables there are.
    pub(super) fn refusal(&self, error: rusqlite::Error, statement: Option<&str>) -> DatabaseError {
        let refused = self.refused.lock().take();
        let is_refused = is_denial(&error);
        match (DatabaseError::from(error), refused) {
            (DatabaseError::Failed { .. }, Some(what)) if is_refused => {
                DatabaseError::Forbidden { what }
            }
            (DatabaseError::Failed { message, .. }, _) => DatabaseError::Failed {
                tables: statement
                    .map(|statement| self.tables(statement, &message))
                    .unwrap_or_default(),
                message,
            },
            (refusal, _) => refusal,
        }
    }

    /// The tables that a failed statement was about with their columns, or all tables.
    fn tables(&self, statement: &str, message: &str) -> Vec<(String, Vec<String>)> {
        if !(message.contains("no such") || message.contains("has no column")) {
            return Vec::new();
        }
        let names = || -> Result<Vec<String>, rusqlite::Error> {
            self.connection
                .prepare(
                    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') \
                     AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
                )?
                .query_map([], |row| row.get(0))?
                .take(10 * TABLES_TOLD)
                .collect()
        };
        let Ok(mut names) = names() else {
            return Vec::new();
        };
        let is_named =
            |name: &String| sql::words(statement).any(|word| word.text.eq_ignore_ascii_case(name));
        if message.contains("column") {
            names.retain(is_named);
        }
        names.truncate(TABLES_TOLD);
        names
            .into_iter()
            .map(|name| {
                let columns = self.columns(&name).unwrap_or_default();
                let columns = columns.into_iter().map(|(column, _)| column);
                (name, columns.take(COLUMNS_TOLD).collect())
            })
            .collect()
    }

    /// Names and declared types of the columns of a table; none where there is no such table.
    pub(super) fn columns(&self, table: &str) -> Result<Vec<(String, String)>, rusqlite::Error> {
        self.connection
            .prepare("SELECT name, type FROM pragma_table_info(?1)")?
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    }
}

/// Waits for whoever holds a lock on the database, a little longer each time; false is the end.
fn wait_a_moment(attempt: i32) -> bool {
    const WAITS: [u64; 3] = [100, 200, 400];
    let wait = usize::try_from(attempt)
        .ok()
        .and_then(|attempt| WAITS.get(attempt));
    if let Some(milliseconds) = wait {
        Clock::SYSTEM.sleep(timings::milliseconds(*milliseconds));
    }
    wait.is_some()
}

/// Returns the path of the database for SQLite, the flags to open it, and its largest size if it may be
/// changed. Paths begin with `./`, so that none is a URI or a database in memory.
fn location(opened: &Opened) -> Result<(String, OpenFlags, Option<u64>), DatabaseError> {
    let stand_in = |handle: Result<(), rustix::io::Errno>| {
        handle.map_err(|error| DatabaseError::Failed {
            message: error.to_string(),
            tables: Vec::new(),
        })
    };
    let create = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    match &opened.work.database {
        TargetDatabase::Nowhere => Ok((":memory:".to_owned(), create, None)),
        database @ (TargetDatabase::Private { .. } | TargetDatabase::Copy) => {
            stand_in(rustix::process::chdir(&opened.work.temporary))?;
            let most = match database {
                TargetDatabase::Private { most } => Some(*most),
                _ => None,
            };
            Ok((format!("./{PRIVATE_NAME}"), create, most))
        }
        TargetDatabase::Zone { mode, .. } => {
            let (directory, name) = opened.place.as_ref().ok_or(DatabaseError::NotADatabase)?;
            stand_in(rustix::process::fchdir(directory))?;
            Ok(match mode {
                OpenMode::Immutable => (
                    format!("file:{}?immutable=1", escape(name)),
                    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
                    None,
                ),
                OpenMode::Read => (format!("./{name}"), OpenFlags::SQLITE_OPEN_READ_ONLY, None),
                OpenMode::Write { most } => (
                    format!("./{name}"),
                    OpenFlags::SQLITE_OPEN_READ_WRITE,
                    Some(*most),
                ),
            })
        }
    }
}

/// A name inside an address.
fn escape(name: &str) -> String {
    use std::fmt::Write as _;

    let mut address = "./".to_owned();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            address.push(char::from(byte));
        } else {
            let _infallible = write!(address, "%{byte:02X}");
        }
    }
    address
}

/// Fails for actions that no statement may take. While it is `running`, SQLite takes actions of its own:
/// VACUUM attaches a database without a name and works in a transaction.
fn judge(action: &AuthAction<'_>, running: bool) -> Result<(), String> {
    let listed = |list: &str, name: &str| list.split(' ').any(|it| it.eq_ignore_ascii_case(name));
    let refused = match action {
        AuthAction::Attach { filename: "" }
        | AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. }
            if running =>
        {
            return Ok(());
        }
        AuthAction::Attach { .. } if running => "VACUUM INTO".to_owned(),
        AuthAction::Attach { .. } => "ATTACH".to_owned(),
        AuthAction::Detach { .. } => "DETACH".to_owned(),
        AuthAction::Transaction { .. } => "BEGIN, COMMIT or ROLLBACK".to_owned(),
        AuthAction::Savepoint { .. } => "SAVEPOINT".to_owned(),
        AuthAction::Pragma {
            pragma_name,
            pragma_value,
        } => {
            let allowed = listed(PRAGMAS_THAT_ASK, pragma_name)
                || listed(PRAGMAS_TO_SET, pragma_name)
                || (pragma_value.is_none() && listed(PRAGMAS_TO_READ, pragma_name));
            if allowed {
                return Ok(());
            }
            format!("PRAGMA {pragma_name}")
        }
        AuthAction::Function { function_name } if listed(FUNCTIONS, function_name) => {
            format!("{function_name}()")
        }
        AuthAction::CreateVtable { module_name, .. } if !listed(MODULES, module_name) => {
            format!("a virtual table of {module_name}")
        }
        AuthAction::Unknown { .. } => "this".to_owned(),
        _ => return Ok(()),
    };
    Err(refused)
}

/// `true` if a failure is the authorizer's: SQLite says so in a code or, for functions, in words.
fn is_denial(error: &rusqlite::Error) -> bool {
    let is_denied =
        |message: String| message.contains("not authorized") || message.contains("prohibited");
    error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied)
        || is_denied(message(error))
}

/// A failure of SQLite, sorted by its code.
impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(ErrorCode::OperationInterrupted) => Self::TooLong,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::OutOfMemory) => Self::Memory,
            Some(ErrorCode::ReadOnly) => Self::NotReadable,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Failed {
                message: message(&error),
                tables: Vec::new(),
            },
        }
    }
}

/// SQLite's own words, without where in the text and what the text was.
fn message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(code, None) => code.to_string(),
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::MultipleStatement => "more than one statement".to_owned(),
        other => other.to_string(),
    }
}
