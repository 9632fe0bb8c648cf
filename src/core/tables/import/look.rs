//! Some rows of a file of a table, as people see them.

use std::fs::File;

use super::ROWS;
use super::csv_text::CsvText;
use crate::csv::is_sheet;
use crate::engine::Engine;
use crate::part::PartBuilder;
use crate::table_source::{TableSource, find_sheet, open_workbook};
use crate::work::{CsvImport, DatabaseError, TablePart};

impl Engine {
    /// Reads rows of a file from the one at this place on: of the sheet that is named, or the first one.
    pub(crate) fn look(
        &self,
        import: CsvImport,
        mut file: File,
        from: u64,
    ) -> Result<TablePart, DatabaseError> {
        if is_sheet(&mut file)? {
            let mut book = open_workbook(&mut file)?;
            let sheets = book.names();
            let sheet = match &import.sheet {
                Some(given) => Some(find_sheet(&sheets, given)?),
                None => sheets.first().cloned(),
            };
            let mut part = PartBuilder::new(TablePart {
                sheets,
                sheet: sheet.clone(),
                ..TablePart::default()
            });
            if let Some(name) = sheet {
                book.look(&name, from, &mut part)?;
            }
            return Ok(part.finish());
        }
        if file.metadata()?.len() == 0 {
            return Ok(TablePart::default());
        }
        let source = TableSource::of_csv(import, file)?;
        let text = CsvText::new(&source)?;
        let mut part = PartBuilder::new(TablePart {
            encoding: Some(text.encoding.name()),
            first: from + 1,
            ..TablePart::default()
        });
        let mut rows = text.rows_from(text.first)?;
        let mut place = 0;
        while rows.advance()? {
            let cells = rows.record.iter();
            let cells = cells.map(|field| String::from_utf8_lossy(field).into_owned());
            if text.first + rows.begins < text.above {
                if from == 0 {
                    part.above(cells.collect::<Vec<_>>().join(" "));
                }
                continue;
            }
            if place >= from && !part.row(place, cells) {
                break;
            }
            place += 1;
            if place.is_multiple_of(ROWS) && self.clock.is_over() {
                return Err(DatabaseError::TooLong);
            }
        }
        Ok(part.finish())
    }
}
