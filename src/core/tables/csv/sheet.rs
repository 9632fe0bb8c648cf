//! Spreadsheets as CSV: what people attach more often than CSV itself.
//!
//! Runs where nothing but the work's own files can be reached, within its memory and time: what
//! reads the formats is not trusted with more.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Cursor, Read, Seek};
use std::rc::Rc;

use calamine::{
    Data, Error, ExcelDateTime, Ods, OdsError, Range, Reader, SheetType, Sheets, Xls, XlsError,
    Xlsb, Xlsx, XlsxError,
};
use zip::ZipArchive;

use crate::part::PartBuilder;
use crate::work::DatabaseError;

/// First bytes of XLSX, XLSB and ODS files, and of XLS files.
const BEGINNINGS: [&[u8]; 2] = [b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"];

/// Said of a workbook that only its password opens.
pub const ENCRYPTED: &str = "it is encrypted and opens only with its password";

/// The last day of Excel, counted from 1900 and from 1904.
const LAST_DAYS: [f64; 2] = [2_958_465.0, 2_957_003.0];

/// Returns `true` if a file may be a spreadsheet. No CSV file has such first bytes.
pub(crate) fn is_sheet(file: &mut File) -> std::io::Result<bool> {
    let mut head = Vec::new();
    Read::by_ref(file).take(8).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(BEGINNINGS
        .iter()
        .any(|beginning| head.starts_with(beginning)))
}

/// An open spreadsheet file.
pub(crate) struct Workbook(Sheets<Cursor<Rc<[u8]>>>);

impl Workbook {
    /// Opens a file, or says why that cannot be.
    pub(crate) fn open(file: &mut File) -> Result<Self, String> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        let opened = sheets(Cursor::new(Rc::from(bytes)));
        opened.map(Self).map_err(|error| match error {
            Error::Xlsx(XlsxError::Password)
            | Error::Xls(XlsError::Password)
            | Error::Ods(OdsError::Password) => ENCRYPTED.to_owned(),
            error => format!("it cannot be read as a spreadsheet: {error}"),
        })
    }

    /// The names of the sheets that have cells.
    pub(crate) fn names(&self) -> Vec<String> {
        let sheets = self.0.sheets_metadata().iter();
        let sheets = sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet);
        sheets.map(|sheet| sheet.name.clone()).collect()
    }

    fn grid(&mut self, name: &str) -> Result<Grid, Error> {
        let cells = self.0.worksheet_range(name)?;
        let formulas = self.0.worksheet_formula(name).unwrap_or_default();
        let areas = match &mut self.0 {
            Sheets::Xlsx(book) => book.merge_cells_by_sheet_name(name).unwrap_or_default(),
            Sheets::Xls(book) => book.merge_cells_by_sheet_name(name).unwrap_or_default(),
            Sheets::Xlsb(_) | Sheets::Ods(_) => Vec::new(),
        };
        let starts = [cells.start(), formulas.start()].into_iter().flatten();
        let ends = [cells.end(), formulas.end()].into_iter().flatten();
        let last = ends.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)));
        let merged = areas.into_iter().flat_map(|area| {
            let (top, left) = area.start;
            let bottom = area.end.0.min(last.unwrap_or_default().0);
            (top + 1..=bottom).map(move |row| ((row, left), (top, left)))
        });
        Ok(Grid {
            first: starts.reduce(|one, other| (one.0.min(other.0), one.1.min(other.1))),
            last,
            merged: merged.collect(),
            cells,
            formulas,
        })
    }

    /// Adds rows of a sheet to a part, from the one at this place on. Cells of a merged area are empty but
    /// for the first, and a formula without a saved result is shown itself.
    pub(crate) fn look(
        &mut self,
        name: &str,
        from: u64,
        part: &mut PartBuilder,
    ) -> Result<(), DatabaseError> {
        let grid = self.grid(name)?;
        let letters = grid.columns().map(column_letters);
        part.columns(letters);
        let top = grid.first.map_or(0, |first| u64::from(first.0));
        part.first(top + from + 1);
        let skipped = usize::try_from(from).unwrap_or(usize::MAX);
        for (row, place) in grid.rows().skip(skipped).zip(from..) {
            let cells = grid.columns().map(|column| {
                let at = (row, column);
                let own = grid.cells.get_value(at).unwrap_or(&Data::Empty);
                grid.unsaved(at).unwrap_or_else(|| text(own))
            });
            if !part.row(place, cells) {
                break;
            }
        }
        Ok(())
    }

    /// Writes the rows of a sheet as CSV, with these words for false and true. Returns how many, with
    /// notes on what is not as a person sees it.
    pub(crate) fn write(
        &mut self,
        name: &str,
        truths: [&str; 2],
        csv: &mut File,
    ) -> Result<(u64, Vec<String>), DatabaseError> {
        let grid = self.grid(name)?;
        let mut writer = ::csv::Writer::from_writer(BufWriter::new(&mut *csv));
        let (mut count, mut filled) = (0, 0);
        let mut unsaved: Vec<String> = Vec::new();
        let mut write = || -> Result<(), Error> {
            for row in grid.rows() {
                let mut fields = Vec::new();
                for column in grid.columns() {
                    let (cell, is_filled) = grid.cell((row, column));
                    if let Some(formula) = grid.unsaved((row, column)) {
                        unsaved.push(format!("{}{} {formula}", column_letters(column), row + 1));
                    }
                    filled += u64::from(is_filled && *cell != Data::Empty);
                    fields.push(match cell {
                        Data::Bool(truth) => truths[usize::from(*truth)].to_owned(),
                        cell => text(cell),
                    });
                }
                if fields.iter().any(|field| !field.is_empty()) {
                    writer.write_record(&fields).map_err(std::io::Error::from)?;
                    count += 1;
                }
            }
            writer.flush()?;
            Ok(())
        };
        write()?;
        drop(writer);
        csv.rewind()?;
        let mut notes = Vec::new();
        if let Some(first) = unsaved.first() {
            notes.push(format!(
                "{} cell(s) hold a formula without a saved result and are empty, the first is {first}: \
                 open and save the file in a spreadsheet program to store the results",
                unsaved.len()
            ));
        }
        if filled > 0 {
            notes.push(format!(
                "{filled} cell(s) of merged areas got the value of the first row of their area"
            ));
        }
        Ok((count, notes))
    }
}

impl From<Error> for DatabaseError {
    fn from(error: Error) -> Self {
        Self::CsvUnreadable {
            line: None,
            reason: format!("it cannot be read as a spreadsheet: {error}"),
        }
    }
}

/// Opens a workbook by its format, so that a fault is one of that format.
fn sheets(bytes: Cursor<Rc<[u8]>>) -> Result<Sheets<Cursor<Rc<[u8]>>>, Error> {
    if bytes.get_ref().starts_with(b"\xd0\xcf\x11\xe0") {
        // A workbook of another format is wrapped so when it is encrypted.
        if let Err(XlsxError::Password) = Xlsx::new(bytes.clone()) {
            return Err(Error::Xlsx(XlsxError::Password));
        }
        return Xls::new(bytes).map(Sheets::Xls).map_err(Error::Xls);
    }
    let archive = ZipArchive::new(bytes.clone());
    let has = |end| {
        let mut names = archive.iter().flat_map(ZipArchive::file_names);
        names.any(|name| name.is_ok_and(|name| name.ends_with(end)))
    };
    if has("workbook.bin") {
        Xlsb::new(bytes).map(Sheets::Xlsb).map_err(Error::Xlsb)
    } else if has("content.xml") {
        Ods::new(bytes).map(Sheets::Ods).map_err(Error::Ods)
    } else {
        Xlsx::new(bytes).map(Sheets::Xlsx).map_err(Error::Xlsx)
    }
}

/// The letters of a column.
fn column_letters(column: u32) -> String {
    let letter = char::from(b'A' + (column % 26) as u8);
    match column / 26 {
        0 => letter.to_string(),
        more => format!("{}{letter}", column_letters(more - 1)),
    }
}

/// The cells of a sheet.
struct Grid {
    cells: Range<Data>,
    formulas: Range<String>,
    /// Cells below the first row of a merged area, with the cell that has their value.
    merged: HashMap<(u32, u32), (u32, u32)>,
    first: Option<(u32, u32)>,
    last: Option<(u32, u32)>,
}

impl Grid {
    fn rows(&self) -> impl Iterator<Item = u32> + use<> {
        let ends = self.first.zip(self.last);
        ends.into_iter().flat_map(|(first, last)| first.0..=last.0)
    }

    fn columns(&self) -> impl Iterator<Item = u32> + use<> {
        let ends = self.first.zip(self.last);
        ends.into_iter().flat_map(|(first, last)| first.1..=last.1)
    }

    /// The value of a cell; `true` if a merged area gives it.
    fn cell(&self, at: (u32, u32)) -> (&Data, bool) {
        let own = self.cells.get_value(at).unwrap_or(&Data::Empty);
        match self.merged.get(&at) {
            Some(&from) if *own == Data::Empty => {
                (self.cells.get_value(from).unwrap_or(&Data::Empty), true)
            }
            _ => (own, false),
        }
    }

    /// The formula of a cell that has no value.
    fn unsaved(&self, at: (u32, u32)) -> Option<String> {
        // A result that is an empty text is one.
        let value = self.cells.get_value(at).unwrap_or(&Data::Empty);
        let formula = self.formulas.get_value(at)?;
        if *value != Data::Empty || formula.is_empty() {
            return None;
        }
        let formula = formula.trim_start_matches("of:").trim_start_matches('=');
        Some(format!("={formula}"))
    }
}

/// Returns all sheets of a spreadsheet as text: the name of each, then its rows, with tabs between
/// cells. At most so many bytes, and whether there is more; or why it cannot be read.
pub fn sheets_as_text(book: &mut File, most: usize) -> Result<(String, bool), String> {
    let mut lines = String::new();
    let mut book = Workbook::open(book)?;
    for name in book.names() {
        let grid = book.grid(&name).map_err(|error| error.to_string())?;
        lines.extend(["--- ", &name, " ---\n"]);
        for row in grid.rows() {
            for (number, column) in grid.columns().enumerate() {
                if number > 0 {
                    lines.push('\t');
                }
                let at = (row, column);
                let own = grid.cells.get_value(at).unwrap_or(&Data::Empty);
                let shown = grid.unsaved(at).unwrap_or_else(|| text(own));
                lines.push_str(&shown.replace(['\t', '\n', '\r'], " "));
            }
            lines.truncate(lines.trim_end_matches('\t').len());
            lines.push('\n');
            if lines.len() > most {
                lines.truncate(lines.floor_char_boundary(most));
                return Ok((lines, true));
            }
        }
    }
    Ok((lines, false))
}

fn text(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        Data::DateTime(moment) if moment.is_datetime() => {
            date(moment).unwrap_or_else(|| moment.as_f64().to_string())
        }
        Data::DateTime(span) => clock(span.as_f64()),
        Data::DateTimeIso(text) => text.replacen('T', " ", 1),
        Data::DurationIso(text) => duration(text).map_or_else(|| text.clone(), clock),
        other => other.to_string(),
    }
}

/// The days of a duration such as `PT16H45M00S`, as ODS has times.
fn duration(text: &str) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (days, time) = rest
        .strip_prefix('P')?
        .split_once('T')
        .unwrap_or((&rest[1..], ""));
    let mut seconds = match days.strip_suffix('D') {
        Some(days) => days.parse::<f64>().ok()? * 86_400.0,
        None if days.is_empty() => 0.0,
        None => return None,
    };
    for part in time.split_inclusive(['H', 'M', 'S']) {
        let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
        let unit = match unit {
            "H" => 3600.0,
            "M" => 60.0,
            "S" => 1.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
    }
    Some(sign * seconds / 86_400.0)
}

/// A date, with the time where it has one; below a day it is a time alone. `None` for days that
/// Excel does not have.
fn date(moment: &ExcelDateTime) -> Option<String> {
    if moment.as_f64() < 1.0 {
        return Some(clock(moment.as_f64()));
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    // Every number beyond the last day is given as that day.
    if date == "9999-12-31" && !LAST_DAYS.contains(&moment.as_f64().floor()) {
        return None;
    }
    if (hour, minute, second) == (0, 0, 0) {
        return Some(date);
    }
    Some(format!("{date} {hour:02}:{minute:02}:{second:02}"))
}

/// Days as hours, minutes and seconds.
fn clock(days: f64) -> String {
    let seconds = (days * 86_400.0).round() as i64;
    let sign = if seconds < 0 { "-" } else { "" };
    let seconds = seconds.abs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{sign}{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    #[test]
    fn cells_are_written_as_tables_have_them() {
        let moment = |days, kind| Data::DateTime(ExcelDateTime::new(days, kind, false));
        for (cell, expected) in [
            (Data::Empty, ""),
            (Data::Int(3), "3"),
            (Data::Float(3.0), "3"),
            (Data::Float(2.5), "2.5"),
            (Data::String("a, b".to_owned()), "a, b"),
            (Data::Bool(true), "true"),
            (
                Data::DateTimeIso("2026-01-02T03:04:05".to_owned()),
                "2026-01-02 03:04:05",
            ),
            (moment(45_000.0, ExcelDateTimeType::DateTime), "2023-03-15"),
            (
                moment(45_000.5, ExcelDateTimeType::DateTime),
                "2023-03-15 12:00:00",
            ),
            (moment(0.25, ExcelDateTimeType::DateTime), "06:00:00"),
            (
                moment(2_958_465.5, ExcelDateTimeType::DateTime),
                "9999-12-31 12:00:00",
            ),
            (moment(2_958_466.0, ExcelDateTimeType::DateTime), "2958466"),
            (moment(1e9, ExcelDateTimeType::DateTime), "1000000000"),
            (
                Data::DateTime(ExcelDateTime::new(
                    43_538.0,
                    ExcelDateTimeType::DateTime,
                    true,
                )),
                "2023-03-15",
            ),
            (Data::DurationIso("PT16H45M00S".to_owned()), "16:45:00"),
            (Data::DurationIso("PT27H05M30S".to_owned()), "27:05:30"),
            (
                Data::DurationIso("-P1DT00H30M00.4S".to_owned()),
                "-24:30:00",
            ),
            (Data::DurationIso("P1Y".to_owned()), "P1Y"),
            (moment(1.5, ExcelDateTimeType::TimeDelta), "36:00:00"),
        ] {
            assert_eq!(text(&cell), expected, "{cell:?}");
        }
    }
}
