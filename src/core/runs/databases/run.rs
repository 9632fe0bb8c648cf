//! The server's side: what a call may touch, the child that does it, and taking in what it did.
//!
//! Every statement is first looked at by a child that can only read, and most are done with that;
//! reads take no write lock. The engine, not the text, says that a statement changes something: then
//! it is done by a second child, under the write lock, which may write to the database and the
//! journal beside it. A child that dies leaves a journal behind, and the next one rolls back; what
//! anybody else put there is not played ([`journal`]).

use serde_json::json;

use super::child::{CONVERSION, DatabaseCall};
use super::error::TableError;
use super::journal::{self, Statement, foreign};
use crate::process::StreamFile;
use crate::runs::Runs;
use fileshed_changes::{SizeError, Writer};
use fileshed_history::subject;
use fileshed_registry::QuotaError;
use fileshed_storage::{DiskError, Entry, Kind, Staged, Target, Vacancy};
use fileshed_tables::{
    Action, Changed, CsvImport, DatabaseError, DatabaseReply, Export, ExportedCsv, ImportedTable,
    OpenMode, PRIVATE_NAME, Query, Rows, StatementParameters, TablePart, TargetDatabase,
};
use fileshed_types::{Caller, Code, Error};
use fileshed_zones::tenant::{DATA, TenantRoot};
use fileshed_zones::zone::{JOURNAL_ENDS, Zone, ZoneName, ZonePath, named_zone};

/// Task for a database.
#[derive(Debug)]
pub enum DatabaseTask<'a> {
    /// A statement; its rows may go to this file.
    Query(Query, Option<&'a str>),
    /// A file that becomes a table.
    Import(CsvImport),
}

/// Outcome of a task.
#[derive(Debug)]
pub enum DatabaseOutcome {
    /// Rows were read.
    Rows(Rows),
    /// Something changed.
    Changed(Changed),
    /// Rows were written to a file: its path in the zone.
    Exported(ExportedCsv, String),
    /// A file became a table, or its sheets became tables.
    Imported(Vec<ImportedTable>, CsvFile),
}

/// A file that became a table.
#[derive(Debug)]
pub struct CsvFile {
    /// Its path.
    pub path: String,
    /// Its zone, if that is not the database's.
    pub zone: Option<ZoneName>,
}

/// Works on the database at `path`. `operation` is the name for history and logs.
pub fn run(
    runs: &Runs,
    zone: &Zone<'_>,
    operation: &'static str,
    path: &str,
    task: DatabaseTask<'_>,
) -> Result<DatabaseOutcome, Error> {
    let path = zone.path_to_change("path", path)?;
    let call = DatabaseCall::new(runs, zone, operation, path);
    match task {
        DatabaseTask::Query(query, None) => match call.query(query, None)? {
            DatabaseReply::Rows(rows) => Ok(DatabaseOutcome::Rows(rows)),
            DatabaseReply::Changed(changed) => Ok(DatabaseOutcome::Changed(changed)),
            other => Err(call.refused(other)),
        },
        DatabaseTask::Query(query, Some(file)) => {
            let mut file = StreamFile::new(zone, operation, "output_csv", file)?;
            if file.path == call.path {
                return Err(call.same_file("output_csv"));
            }
            let exported = call.export(query, (zone, &mut file))?;
            let path = file.path.as_str().to_owned();
            file.install(zone)?;
            Ok(DatabaseOutcome::Exported(exported, path))
        }
        DatabaseTask::Import(import) => call.import(import),
    }
}

impl<'a> DatabaseCall<'a> {
    /// Does a statement, whatever it does. Values that do not fit are shown as they were given.
    fn query(&self, query: Query, mut rows: Option<&mut Staged>) -> Result<DatabaseReply, Error> {
        let (received, kind) = match &query.parameters {
            StatementParameters::List(values) => (json!(values).to_string(), "list"),
            StatementParameters::Named(values) => (json!(values).to_string(), "object"),
        };
        let answer = match self.read(&query, rows.as_deref_mut())? {
            Some(DatabaseReply::NeedsDatabase { changes }) => {
                if changes {
                    self.expect_changes()?;
                }
                // The failure says what there is instead.
                self.zone.entry(&self.path)?;
                return Err(self.refused(DatabaseReply::NeedsDatabase { changes }));
            }
            Some(DatabaseReply::NeedsWrite) | None => {
                let text = format!("{} on {}: {}", self.operation, self.path, query.sql);
                self.write(Action::Query(query), rows, &subject(&text))?
            }
            Some(answer) => answer,
        };
        match answer {
            DatabaseReply::Refused(DatabaseError::Parameters { reason }) => {
                let received = shortened(received);
                Err(TableError::Parameters {
                    reason,
                    received,
                    kind,
                }
                .into())
            }
            answer => Ok(answer),
        }
    }

    /// Rows to a file of a zone.
    fn export(
        &self,
        mut query: Query,
        (zone, file): (&Zone<'_>, &mut StreamFile),
    ) -> Result<ExportedCsv, Error> {
        let old = zone.target("output_csv", &file.path)?.size();
        let most = self.most(old)?;
        if let Some(export) = &mut query.export {
            export.most = most;
            export.fit(file.path.as_str());
        }
        match self.query(query, Some(&mut file.staged))? {
            DatabaseReply::Exported(exported) => Ok(exported),
            DatabaseReply::Refused(DatabaseError::Full) => self.full(&file.path, most, old),
            other => Err(self.refused(other)),
        }
    }

    /// A file to a table.
    fn import(self, mut import: CsvImport) -> Result<DatabaseOutcome, Error> {
        self.expect_changes()?;
        let (entry, zone) = source(self.zone, "import_csv", &import.csv)?;
        if zone.is_none() && entry.path() == &self.path {
            return Err(self.same_file("import_csv"));
        }
        let path = entry.path().as_str().to_owned();
        import.csv.clone_from(&path);
        import.elsewhere = zone.is_some();
        let text = subject(&format!("Import {path} into {}", self.path));
        let call = Self {
            csv: zone.map(|_| entry),
            ..self
        };
        match call.write(Action::Import(import), None, &text)? {
            DatabaseReply::Imported(imported) => {
                Ok(DatabaseOutcome::Imported(imported, CsvFile { path, zone }))
            }
            other => Err(call.refused(other)),
        }
    }

    /// Lets a child read. Returns `None` if that needs a write: the database keeps its changes in a log
    /// beside it.
    fn read(
        &self,
        query: &Query,
        rows: Option<&mut Staged>,
    ) -> Result<Option<DatabaseReply>, Error> {
        let private = self.private()?;
        let action = Action::Query(query.clone());
        let entry = match self.zone.data.followed(&self.path) {
            Ok(entry) => entry,
            Err(DiskError::NotFound { .. }) => {
                return self
                    .child(TargetDatabase::Nowhere, action, rows, &private)
                    .map(Some);
            }
            Err(error) => return Err(self.zone.explain_disk(error)),
        };
        entry
            .expect_file()
            .map_err(|error| self.zone.explain_disk(error))?;
        let in_zone = |mode| TargetDatabase::Zone {
            path: entry.path().as_str().to_owned(),
            mode,
        };
        let mut unread = Vec::new();
        // Nobody else writes while it is looked at without what lies beside it.
        let mut _hold = None;
        if self.zone.name.is_writable() && !foreign(self.zone, entry.path())?.is_empty() {
            _hold = Some(fileshed_changes::hold(self.zone)?);
            unread = foreign(self.zone, entry.path())?;
        }
        let database = if !unread.is_empty() {
            in_zone(OpenMode::Immutable)
        } else if self.only_reads() {
            let beside = self.beside(&entry)?;
            if beside.is_empty() {
                in_zone(OpenMode::Immutable)
            } else {
                // The journal or log belongs to the database: SQLite recovers both in a copy.
                private.receive(PRIVATE_NAME, &mut entry.open()?)?;
                for (end, entry) in &beside {
                    private.receive(&format!("{PRIVATE_NAME}{end}"), &mut entry.open()?)?;
                }
                TargetDatabase::Copy
            }
        } else if keeps_a_log(&entry)? {
            return Ok(None);
        } else {
            in_zone(OpenMode::Read)
        };
        let answer = self.child(database, action, rows, &private)?;
        Ok(Some(without(answer, &unread)))
    }

    /// Lets a child change the database, under the write lock.
    fn write(
        &self,
        action: Action,
        rows: Option<&mut Staged>,
        text: &str,
    ) -> Result<DatabaseReply, Error> {
        self.expect_changes()?;
        let writer = fileshed_changes::writer(self.zone, self.operation)?;
        match self.zone.target("path", &self.path)? {
            Target::Entry(entry) => self.change(writer, &entry, action, rows, text),
            Target::Vacancy(vacancy) => self.create(writer, vacancy, action, text),
        }
    }

    /// Changes a database where it lies.
    fn change(
        &self,
        writer: Writer<'a>,
        entry: &Entry,
        action: Action,
        rows: Option<&mut Staged>,
        text: &str,
    ) -> Result<DatabaseReply, Error> {
        let path = entry.path();
        let files = std::iter::once(path.clone()).chain(path.journals());
        let permit = writer.guard_in_place(files.collect())?;
        let statement = Statement::begin(self.zone, path)?;
        let change = permit.in_place()?;
        let most = self.most(entry.size())?;
        let database = TargetDatabase::Zone {
            path: path.as_str().to_owned(),
            mode: OpenMode::Write { most },
        };
        let private = self.private()?;
        let answer = self.child(database, action, rows, &private);
        // Rolled back here, or else with the next call.
        statement.end(self.runs)?;
        change.finish(text)?;
        match answer? {
            DatabaseReply::Refused(DatabaseError::Full) => self.full(path, most, entry.size()),
            answer => Ok(answer),
        }
    }

    /// Makes a database beside the zone, and moves it in whole.
    fn create(
        &self,
        writer: Writer<'a>,
        vacancy: Vacancy,
        action: Action,
        text: &str,
    ) -> Result<DatabaseReply, Error> {
        // It would be taken in with the next call.
        journal::expect_none(self.zone, vacancy.path())?;
        let most = self.most(0)?;
        let private = self.private()?;
        match self.child(TargetDatabase::Private { most }, action, None, &private)? {
            DatabaseReply::Refused(DatabaseError::Full) => self.full(vacancy.path(), most, 0),
            refused @ DatabaseReply::Refused(_) => Ok(refused),
            answer => {
                let staged = writer.staging().take(&private, PRIVATE_NAME)?;
                // A temporary table leaves none.
                if staged.size()? > 0 {
                    writer.write(staged, Target::Vacancy(vacancy), None, text)?;
                }
                Ok(answer)
            }
        }
    }

    /// Returns the journal and log of a database that are not empty.
    fn beside(&self, database: &Entry) -> Result<Vec<(&'static str, Entry)>, Error> {
        let mut found = Vec::new();
        for (end, path) in JOURNAL_ENDS.into_iter().zip(database.path().journals()) {
            match self.zone.data.entry(&path) {
                Ok(entry) if entry.kind() == Kind::File && entry.size() > 0 => {
                    found.push((end, entry));
                }
                Ok(_) | Err(DiskError::NotFound { .. }) => {}
                Err(error) => return Err(self.zone.explain_disk(error)),
            }
        }
        Ok(found)
    }

    /// Returns `true` if no caller may change databases here.
    fn only_reads(&self) -> bool {
        !self.zone.name.is_writable() || self.zone.store.settings.sqlite_readonly
    }

    /// Fails where databases are only read.
    fn expect_changes(&self) -> Result<(), Error> {
        self.zone.expect_writable()?;
        if self.only_reads() {
            return Err(TableError::ReadOnly.into());
        }
        Ok(())
    }

    /// Fails for a file that would have had more than `most` bytes, where it had `old`.
    fn full<T>(&self, path: &ZonePath, most: u64, old: u64) -> Result<T, Error> {
        let (zone, limit) = (self.zone, self.zone.store.settings.largest_file());
        let error: Error = if most == limit {
            let (path, size) = (path.clone(), limit + 1);
            SizeError { path, size, limit }.into()
        } else {
            let left = zone.store.space_left(&zone.tenant)?;
            QuotaError {
                used: zone.tenant.limit - left,
                needed: (most + 1).saturating_sub(old),
                limit: zone.tenant.limit,
            }
            .into()
        };
        Err(zone.explain(error))
    }

    fn same_file(&self, parameter: &'static str) -> Error {
        let path = self.path.as_str().to_owned();
        TableError::SameFile { parameter, path }.into()
    }
}

fn file(zone: &Zone<'_>, path: &ZonePath) -> Result<Entry, Error> {
    let entry = zone.entry(path)?;
    let is_file = entry.expect_file();
    is_file.map_err(|error| zone.explain_disk(error))?;
    Ok(entry)
}

/// The file that gives rows or text: of this zone, or else of the conversation's uploads, where
/// people bring it.
pub(crate) fn source(
    zone: &Zone<'_>,
    parameter: &'static str,
    text: &str,
) -> Result<(Entry, Option<ZoneName>), Error> {
    let found = zone.path(parameter, text);
    let error = match found.and_then(|path| file(zone, &path)) {
        Ok(entry) => return Ok((entry, None)),
        Err(error) => error,
    };
    let from = ZoneName::Uploads;
    let named = named_zone(&error).filter(|(zone, _)| *zone == from);
    if named.is_none() && error.code() != Code::FileNotFound {
        return Err(error);
    }
    let uploads = zone.store.personal_zone(zone.caller, from)?;
    if let Some((_, path)) = named {
        return Ok((file(&uploads, &path)?, Some(from)));
    }
    let path = ZonePath::parse(parameter, text)?;
    // A missing file is missing in the zone that was named.
    file(&uploads, &path).map_or(Err(error), |entry| Ok((entry, Some(from))))
}

/// Writes every table of a database as a sheet of a file, which may be in another zone.
pub(crate) fn tables(
    runs: &Runs,
    zone: &Zone<'_>,
    path: &str,
    export: Export,
    file: (&Zone<'_>, &mut StreamFile),
) -> Result<ExportedCsv, Error> {
    let names = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') \
                 AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid";
    let path = zone.path_to_change("path", path)?;
    let call = DatabaseCall::new(runs, zone, CONVERSION, path);
    let query = Query {
        sql: names.to_owned(),
        parameters: StatementParameters::List(Vec::new()),
        limit: None,
        bytes: 0,
        export: Some(Export {
            tables: true,
            ..export
        }),
    };
    call.export(query, file)
}

/// Writes the rows of a CSV file or workbook to another file, as its format has them.
pub(crate) fn convert(
    runs: &Runs,
    zone: &Zone<'_>,
    (entry, from): (Entry, Option<ZoneName>),
    mut export: Export,
    target: &mut Staged,
) -> Result<ExportedCsv, Error> {
    let import = CsvImport {
        csv: entry.path().as_str().to_owned(),
        elsewhere: from.is_some(),
        ..CsvImport::default()
    };
    let mut call = DatabaseCall::new(runs, zone, CONVERSION, entry.path().clone());
    call.csv = from.map(|_| entry);
    export.most = call.most(0)?;
    let most = export.most;
    let action = Action::Convert(import, export);
    match call.child(
        TargetDatabase::Nowhere,
        action,
        Some(target),
        &call.private()?,
    )? {
        DatabaseReply::Exported(exported) => Ok(exported),
        DatabaseReply::Refused(DatabaseError::Full) => call.full(&call.path, most, 0),
        other => Err(call.refused(other)),
    }
}

/// Reads some rows of a CSV file or workbook, for people: of this sheet, from the row at this place on.
pub fn look(
    runs: &Runs,
    zone: &Zone<'_>,
    path: &ZonePath,
    sheet: Option<&str>,
    from: u64,
) -> Result<TablePart, Error> {
    let entry = file(zone, path)?;
    let import = CsvImport {
        csv: entry.path().as_str().to_owned(),
        sheet: sheet.map(str::to_owned),
        ..CsvImport::default()
    };
    let call = DatabaseCall::new(runs, zone, CONVERSION, entry.path().clone());
    let action = Action::Look(import, from);
    match call.child(TargetDatabase::Nowhere, action, None, &call.private()?)? {
        DatabaseReply::Part(part) => Ok(part),
        other => Err(call.refused(other)),
    }
}

/// Rolls back the unfinished changes of statements that were cut off, before any other access. A database for
/// which this fails is recovered with its next statement.
pub fn recover_all(runs: &Runs, tenant: &TenantRoot, name: ZoneName) -> Result<(), Error> {
    let store = &*runs.store;
    let paths = store
        .registry
        .cut_off_databases(&tenant.key, name.as_str())?;
    let Some(base) = tenant.existing_base(name)?.filter(|_| !paths.is_empty()) else {
        return Ok(());
    };
    let caller = Caller::default();
    let zone = Zone {
        store,
        caller: &caller,
        name,
        tenant: tenant.try_clone()?,
        data: base.subdirectory(DATA)?,
        base,
        group: None,
        ready: true,
        absent: false,
    };
    for path in paths {
        let path = ZonePath::found(path);
        if let Err(error) = journal::put_right(runs, &zone, &path) {
            tracing::warn!(tenant = tenant.key, %error, "a database waits for its repair");
        }
    }
    Ok(())
}

/// An answer that says what was not read with the database.
fn without(mut answer: DatabaseReply, unread: &[ZonePath]) -> DatabaseReply {
    let Some(first) = unread.first() else {
        return answer;
    };
    let note = format!(
        "`{first}` beside the database does not come from a statement of this server and was not \
         read"
    );
    match &mut answer {
        DatabaseReply::Rows(rows) => rows.notes.push(note),
        DatabaseReply::Exported(exported) => exported.notes.push(note),
        DatabaseReply::Refused(DatabaseError::Failed { message, .. }) => {
            message.push_str("; ");
            message.push_str(&note);
        }
        _ => {}
    }
    answer
}

/// A value that need not be shown whole.
fn shortened(mut text: String) -> String {
    const SHOWN: usize = 80;
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns `true` if a database keeps changes in a log beside it (bytes 18 and 19 of its header,
/// <https://sqlite.org/fileformat.html>): then even a reader writes there.
fn keeps_a_log(database: &Entry) -> Result<bool, DiskError> {
    let (_, header) = database.state_and_beginning()?;
    Ok(header
        .get(18..20)
        .is_some_and(|versions| versions.contains(&2)))
}
