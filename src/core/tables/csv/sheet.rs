//! Spreadsheets as CSV: what people attach more often than CSV itself.
//!
//! Runs where nothing but the work's own files can be reached, within its memory and time: what
//! reads the formats is not trusted with more.

use std::fs::File;
use std::io::{BufWriter, Cursor, Read, Seek};
use std::rc::Rc;

use calamine::{Data, Error, ExcelDateTime, Range, Reader};

use crate::work::DatabaseError;

/// How XLSX, XLSB and ODS begin, and how XLS does.
const BEGINNINGS: [&[u8]; 2] = [b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"];

/// Whether a file may be a spreadsheet. No CSV file begins so.
pub(crate) fn is_sheet(file: &mut File) -> std::io::Result<bool> {
    let mut head = Vec::new();
    Read::by_ref(file).take(8).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(BEGINNINGS
        .iter()
        .any(|beginning| head.starts_with(beginning)))
}

/// Reads the sheets of a spreadsheet, each with its name and its cells.
fn sheets(
    book: &mut File,
) -> Result<impl Iterator<Item = Result<(String, Range<Data>), Error>>, Error> {
    let mut bytes = Vec::new();
    book.read_to_end(&mut bytes)?;
    let bytes: Rc<[u8]> = bytes.into();
    let mut book = calamine::open_workbook_auto_from_rs(Cursor::new(bytes))?;
    let names = book.sheet_names().into_iter();
    Ok(names.map(move |name| {
        let cells = book.worksheet_range(&name)?;
        Ok((name, cells))
    }))
}

/// Writes the first sheet that has rows.
pub(crate) fn write_sheet(book: &mut File, csv: &mut File) -> Result<(), DatabaseError> {
    let unread = |error: Error| DatabaseError::CsvUnreadable {
        line: None,
        reason: format!("it cannot be read as a spreadsheet: {error}"),
    };
    let mut write = || -> Result<(), Error> {
        let mut writer = ::csv::Writer::from_writer(BufWriter::new(&mut *csv));
        for sheet in sheets(book)? {
            let (_, cells) = sheet?;
            if !cells.is_empty() {
                for row in cells.rows() {
                    writer
                        .write_record(row.iter().map(text))
                        .map_err(std::io::Error::from)?;
                }
                break;
            }
        }
        writer.flush()?;
        drop(writer);
        csv.rewind()?;
        Ok(())
    };
    write().map_err(unread)
}

/// Returns all sheets of a spreadsheet as text: the name of each, then its rows, with tabs between
/// cells. At most so many bytes, and whether there is more; or why it cannot be read.
pub fn sheets_as_text(book: &mut File, most: usize) -> Result<(String, bool), String> {
    let mut lines = String::new();
    for sheet in sheets(book).map_err(|error| error.to_string())? {
        let (name, cells) = sheet.map_err(|error| error.to_string())?;
        lines.extend(["--- ", &name, " ---\n"]);
        for row in cells.rows() {
            for (number, cell) in row.iter().enumerate() {
                if number > 0 {
                    lines.push('\t');
                }
                lines.push_str(&text(cell).replace(['\t', '\n', '\r'], " "));
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
        Data::DateTime(moment) if moment.is_datetime() => date(moment),
        Data::DateTime(span) => clock(span.as_f64()),
        Data::DateTimeIso(text) => text.replacen('T', " ", 1),
        other => other.to_string(),
    }
}

/// A date, with the time where it has one; below a day it is a time alone.
fn date(moment: &ExcelDateTime) -> String {
    if moment.as_f64() < 1.0 {
        return clock(moment.as_f64());
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    if (hour, minute, second) == (0, 0, 0) {
        return date;
    }
    format!("{date} {hour:02}:{minute:02}:{second:02}")
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
            (moment(1.5, ExcelDateTimeType::TimeDelta), "36:00:00"),
        ] {
            assert_eq!(text(&cell), expected, "{cell:?}");
        }
    }
}
