//! Files that become tables: a CSV file one, a workbook as many as it has sheets.

use std::fs::File;
use std::path::Path;

use super::csv::{ENCRYPTED, Workbook, column_name, is_sheet, unique_names};
use super::work::{CsvImport, DatabaseError};

/// One table to be: a CSV file, or a sheet.
pub(super) struct TableSource {
    pub(super) import: CsvImport,
    pub(super) table: String,
    pub(super) sheet: Option<String>,
    pub(super) file: File,
    pub(super) notes: Vec<String>,
}

impl TableSource {
    /// The tables of a file. Sheets become CSV files in a directory that only this process has, with
    /// these words for false and true.
    pub(super) fn all(
        import: CsvImport,
        mut file: File,
        truths: [&str; 2],
        directory: &Path,
    ) -> Result<Vec<Self>, DatabaseError> {
        if is_sheet(&mut file)? {
            return Self::sheets(&import, &mut file, truths, directory);
        }
        Ok(vec![Self::of_csv(import, file)?])
    }

    /// The table of a CSV file.
    pub(super) fn of_csv(import: CsvImport, file: File) -> Result<Self, DatabaseError> {
        if let Some(received) = import.sheet {
            return Err(DatabaseError::Parameter {
                name: "sheet".to_owned(),
                received,
                expected: "left out: the file is not a workbook".to_owned(),
            });
        }
        let name = import.csv.rsplit('/').next().unwrap_or_default();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        Ok(Self {
            table: import.table.clone().unwrap_or_else(|| table_name(stem)),
            import,
            sheet: None,
            file,
            notes: Vec::new(),
        })
    }

    fn sheets(
        import: &CsvImport,
        book: &mut File,
        truths: [&str; 2],
        directory: &Path,
    ) -> Result<Vec<Self>, DatabaseError> {
        let mut book = open_workbook(book)?;
        let names = book.names();
        let wanted = match &import.sheet {
            None => names.clone(),
            Some(given) => vec![find_sheet(&names, given)?],
        };
        let mut sources = Vec::new();
        for (number, name) in wanted.into_iter().enumerate() {
            let place = directory.join(format!("sheet{number}.csv"));
            let mut options = File::options();
            let mut file = options
                .read(true)
                .write(true)
                .create_new(true)
                .open(place)?;
            let (rows, notes) = book.write(&name, truths, &mut file)?;
            if rows > 0 {
                sources.push(Self {
                    import: CsvImport {
                        delimiter: Some(",".to_owned()),
                        encoding: Some("utf-8".to_owned()),
                        decimal: Some(".".to_owned()),
                        ..import.clone()
                    },
                    table: table_name(&name),
                    sheet: Some(name),
                    file,
                    notes,
                });
                if import.table.is_some() {
                    break;
                }
            }
        }
        if let (Some(table), Some(first)) = (&import.table, sources.first_mut()) {
            first.table.clone_from(table);
            if import.sheet.is_none() && names.len() > 1 {
                first.notes.push(format!(
                    "the workbook has the sheets {}; without `table` each becomes one, `sheet` names one",
                    names.join(", ")
                ));
            }
        } else {
            let tables = sources.iter().map(|source| source.table.clone()).collect();
            for (source, table) in sources.iter_mut().zip(unique_names(tables)) {
                source.table = table;
            }
        }
        Ok(sources)
    }
}

/// Opens a workbook.
pub(super) fn open_workbook(book: &mut File) -> Result<Workbook, DatabaseError> {
    Workbook::open(book).map_err(|reason| match reason.as_str() {
        ENCRYPTED => DatabaseError::Encrypted,
        _ => DatabaseError::CsvUnreadable { line: None, reason },
    })
}

/// The sheet of these that is called so, or else so but for case and blanks.
pub(super) fn find_sheet(names: &[String], given: &str) -> Result<String, DatabaseError> {
    let is_meant = |name: &&String| name.trim().to_lowercase() == given.trim().to_lowercase();
    let exact = names.iter().find(|name| *name == given);
    let found = exact.or_else(|| names.iter().find(is_meant));
    found.cloned().ok_or_else(|| DatabaseError::Parameter {
        name: "sheet".to_owned(),
        received: given.to_owned(),
        expected: format!("a sheet of the file: {}", names.join(", ")),
    })
}

/// The name of a table for a sheet or a file.
fn table_name(text: &str) -> String {
    let name = column_name(text);
    match name.chars().next() {
        None => "sheet".to_owned(),
        Some(first) if first.is_numeric() => format!("sheet_{name}"),
        Some(_) => name,
    }
}
