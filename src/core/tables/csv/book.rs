//! Rows as a file: CSV, or a workbook (XLSX, ODS) whose cells have types.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use rusqlite::types::ValueRef;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Formula, Worksheet, XlsxError};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::dates::is_iso_date;
use super::writer::{Bounded, as_text};
use super::{CsvWriter, unique_names};
use crate::work::{DatabaseError, Export, TableFormat};

/// Rows of a sheet of XLSX, and of the programs that open ODS.
const ROWS: u32 = 1 << 20;

/// Widest column, in characters.
const WIDEST: usize = 60;

/// Integers beyond this are not exact in the numbers of a workbook.
const EXACT: u64 = 1 << 53;

/// Writes rows in the format of an export.
pub(crate) enum TableWriter {
    Csv(Box<CsvWriter>),
    Book(Box<BookWriter>),
}

impl TableWriter {
    pub(crate) fn new(export: &Export) -> Result<Self, DatabaseError> {
        Ok(match export.format {
            TableFormat::Csv => Self::Csv(Box::new(CsvWriter::new(export)?)),
            format => Self::Book(Box::new(BookWriter::new(format, export))),
        })
    }

    /// Begins a sheet. A CSV file has one.
    pub(crate) fn sheet(&mut self, name: &str) -> Result<(), DatabaseError> {
        match self {
            Self::Csv(_) => Ok(()),
            Self::Book(book) => book.sheet(name),
        }
    }

    /// Writes the names of the columns.
    pub(crate) fn header<'n>(
        &mut self,
        names: impl Iterator<Item = &'n [u8]>,
    ) -> Result<(), DatabaseError> {
        self.set_bold(true);
        for name in names {
            self.field(ValueRef::Text(name))?;
        }
        self.end_of_row()?;
        self.set_bold(false);
        Ok(())
    }

    fn set_bold(&mut self, bold: bool) {
        if let Self::Book(book) = self {
            book.bold = bold;
        }
    }

    /// Writes the next field of the row.
    pub(crate) fn field(&mut self, value: ValueRef<'_>) -> Result<(), DatabaseError> {
        match self {
            Self::Csv(writer) => writer.field(value),
            Self::Book(book) => book.field(value),
        }
    }

    pub(crate) fn end_of_row(&mut self) -> Result<(), DatabaseError> {
        match self {
            Self::Csv(writer) => writer.end_of_row(),
            Self::Book(book) => {
                book.end_of_row();
                Ok(())
            }
        }
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<(), DatabaseError> {
        match self {
            Self::Csv(writer) => writer.finish(),
            Self::Book(book) => book.finish(),
        }
    }
}

/// Writes the sheets of a workbook.
pub(crate) struct BookWriter {
    /// Bytes that the file may have.
    most: u64,
    formulas: bool,
    bold: bool,
    row: u32,
    column: u16,
    /// Widths of the columns of this sheet, in characters.
    widths: Vec<usize>,
    names: Vec<String>,
    sheets: Sheets,
}

/// The sheets so far; the last one is being written.
enum Sheets {
    Xlsx(Vec<Worksheet>, Box<Styles>),
    /// Rows as XML, with the widths of their columns.
    Ods(Vec<(String, Vec<usize>)>),
}

struct Styles {
    bold: Format,
    date: Format,
    moment: Format,
}

impl BookWriter {
    fn new(format: TableFormat, export: &Export) -> Self {
        let number = |format: &str| Format::new().set_num_format(format);
        Self {
            most: export.most,
            formulas: export.formulas,
            bold: false,
            row: 0,
            column: 0,
            widths: Vec::new(),
            names: Vec::new(),
            sheets: if format == TableFormat::Ods {
                Sheets::Ods(Vec::new())
            } else {
                let styles = Styles {
                    bold: Format::new().set_bold(),
                    date: number("yyyy-mm-dd"),
                    moment: number("yyyy-mm-dd hh:mm:ss"),
                };
                Sheets::Xlsx(Vec::new(), Box::new(styles))
            },
        }
    }

    fn sheet(&mut self, name: &str) -> Result<(), DatabaseError> {
        self.end_sheet()?;
        self.names.push(name.to_owned());
        (self.row, self.column) = (0, 0);
        match &mut self.sheets {
            Sheets::Xlsx(sheets, _) => {
                let mut sheet = Worksheet::new();
                // The program that opens it calculates them.
                sheet.set_formula_result_default("");
                sheets.push(sheet);
            }
            Sheets::Ods(sheets) => sheets.push((String::new(), Vec::new())),
        }
        Ok(())
    }

    /// Gives the columns of the sheet their widths.
    fn end_sheet(&mut self) -> Result<(), DatabaseError> {
        let widths = std::mem::take(&mut self.widths);
        match &mut self.sheets {
            Sheets::Xlsx(sheets, _) => {
                if let Some(sheet) = sheets.last_mut() {
                    for (column, width) in (0..).zip(&widths) {
                        let width = u32::try_from(*width).unwrap_or_default();
                        sheet.set_column_width(column, width + 2).map_err(refused)?;
                    }
                }
            }
            Sheets::Ods(sheets) => {
                if let Some((_, kept)) = sheets.last_mut() {
                    *kept = widths;
                }
            }
        }
        Ok(())
    }

    fn field(&mut self, value: ValueRef<'_>) -> Result<(), DatabaseError> {
        if self.row >= ROWS {
            let reason = format!("a sheet has at most {ROWS} rows");
            return Err(DatabaseError::NotInWorkbook { reason });
        }
        let text = as_text(value);
        let number = match value {
            ValueRef::Integer(integer) if integer.unsigned_abs() <= EXACT => Some(integer as f64),
            ValueRef::Real(real) if real.is_finite() => Some(real),
            _ => None,
        };
        let (row, column) = (self.row, self.column);
        if usize::from(column) >= self.widths.len() {
            self.widths.push(0);
        }
        let longest = text.lines().map(|line| line.chars().count()).max();
        let width = &mut self.widths[usize::from(column)];
        *width = longest.unwrap_or_default().min(WIDEST).max(*width);
        let (bold, formulas) = (self.bold, self.formulas && text.starts_with('='));
        match &mut self.sheets {
            Sheets::Xlsx(sheets, styles) => {
                if let Some(sheet) = sheets.last_mut() {
                    xlsx_cell(sheet, (row, column), &text, number, styles, bold, formulas)
                        .map_err(refused)?;
                    if bold && row == 0 {
                        sheet.set_freeze_panes(1, 0).map_err(refused)?;
                    }
                }
            }
            Sheets::Ods(sheets) => {
                if let Some((rows, _)) = sheets.last_mut() {
                    ods_cell(rows, column, &text, number, bold);
                }
            }
        }
        self.column += 1;
        Ok(())
    }

    fn end_of_row(&mut self) {
        if let Sheets::Ods(sheets) = &mut self.sheets
            && let Some((rows, _)) = sheets.last_mut()
        {
            let begun = if self.column == 0 {
                "<table:table-row>"
            } else {
                ""
            };
            rows.extend([begun, "</table:table-row>"]);
        }
        (self.row, self.column) = (self.row + 1, 0);
    }

    fn finish(mut self) -> Result<(), DatabaseError> {
        self.end_sheet()?;
        let names = sheet_names(&self.names);
        let bytes = match self.sheets {
            Sheets::Xlsx(sheets, _) => {
                let mut book = rust_xlsxwriter::Workbook::new();
                // The same rows are the same file.
                let made = ExcelDateTime::from_ymd(2000, 1, 1).map_err(refused)?;
                book.set_properties(&DocProperties::new().set_creation_datetime(&made));
                for (mut sheet, name) in sheets.into_iter().zip(names) {
                    sheet.set_name(name).map_err(refused)?;
                    book.push_worksheet(sheet);
                }
                book.save_to_buffer().map_err(refused)?
            }
            Sheets::Ods(sheets) => ods(&sheets, &names).map_err(|_| DatabaseError::Full)?,
        };
        let mut out = Bounded::new(self.most);
        let written = out.write_all(&bytes).and_then(|()| out.flush());
        written.map_err(|_| DatabaseError::Full)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn refused(error: XlsxError) -> DatabaseError {
    DatabaseError::NotInWorkbook {
        reason: error.to_string(),
    }
}

/// Names as sheets may have them: up to 31 characters, some of which are reserved, each once.
fn sheet_names(names: &[String]) -> Vec<String> {
    let fitting = names.iter().map(|name| {
        let reserved = ['[', ']', ':', '*', '?', '/', '\\'];
        let name: String = name.replace(reserved, "_").chars().take(28).collect();
        match name.trim_matches(['\'', ' ']) {
            "" => "Sheet".to_owned(),
            name => name.to_owned(),
        }
    });
    unique_names(fitting.collect())
}

fn xlsx_cell(
    sheet: &mut Worksheet,
    (row, column): (u32, u16),
    text: &str,
    number: Option<f64>,
    styles: &Styles,
    bold: bool,
    formula: bool,
) -> Result<(), XlsxError> {
    if let Some(number) = number {
        sheet.write_number(row, column, number)?;
    } else if bold {
        sheet.write_string_with_format(row, column, text, &styles.bold)?;
    } else if formula {
        sheet.write_formula(row, column, Formula::new(text))?;
    } else if is_iso_date(text)
        // Before it programs count the days differently.
        && text >= "1900-03-01"
        && let Ok(date) = ExcelDateTime::parse_from_str(text)
    {
        let format = if text.len() > 10 {
            &styles.moment
        } else {
            &styles.date
        };
        sheet.write_datetime_with_format(row, column, &date, format)?;
    } else if !text.is_empty() {
        sheet.write_string(row, column, text)?;
    }
    Ok(())
}

fn ods_cell(rows: &mut String, column: u16, text: &str, number: Option<f64>, bold: bool) {
    if column == 0 {
        rows.push_str("<table:table-row>");
    }
    let style = if bold {
        " table:style-name=\"bold\""
    } else {
        ""
    };
    let value = match number {
        Some(number) => format!(" office:value-type=\"float\" office:value=\"{number}\""),
        None if text.is_empty() => {
            rows.push_str("<table:table-cell/>");
            return;
        }
        None if is_iso_date(text) && !bold => {
            let value = text.replace(' ', "T");
            format!(" office:value-type=\"date\" office:date-value=\"{value}\"")
        }
        None => " office:value-type=\"string\"".to_owned(),
    };
    rows.extend(["<table:table-cell", style, &value, ">"]);
    for line in text.split('\n') {
        rows.push_str("<text:p>");
        escape(rows, line);
        rows.push_str("</text:p>");
    }
    rows.push_str("</table:table-cell>");
}

/// Adds a text as XML in which blanks keep their number.
fn escape(xml: &mut String, text: &str) {
    let mut before = ' ';
    for character in text.chars() {
        match character {
            ' ' if before == ' ' => xml.push_str("<text:s/>"),
            '\t' => xml.push_str("<text:tab/>"),
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {}
            other => xml.push(other),
        }
        before = character;
    }
}

const ODS: &str = "application/vnd.oasis.opendocument.spreadsheet";

const NAMESPACES: [(&str, &str); 5] = [
    ("office", "office"),
    ("table", "table"),
    ("text", "text"),
    ("style", "style"),
    ("fo", "xsl-fo-compatible"),
];

/// Packs the parts of an ODS file.
fn ods(sheets: &[(String, Vec<usize>)], names: &[String]) -> Result<Vec<u8>, std::io::Error> {
    let mut content =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document-content".to_owned();
    for (prefix, name) in NAMESPACES {
        let urn = "urn:oasis:names:tc:opendocument:xmlns";
        let _infallible = write!(content, " xmlns:{prefix}=\"{urn}:{name}:1.0\"");
    }
    content.push_str(
        " office:version=\"1.3\"><office:automatic-styles>\
         <style:style style:name=\"bold\" style:family=\"table-cell\">\
         <style:text-properties fo:font-weight=\"bold\"/></style:style>",
    );
    for width in 0..=WIDEST {
        let tenths = (width + 2) * 2;
        let _infallible = write!(
            content,
            "<style:style style:name=\"w{width}\" style:family=\"table-column\">\
             <style:table-column-properties style:column-width=\"{}.{}cm\"/></style:style>",
            tenths / 10,
            tenths % 10
        );
    }
    content.push_str("</office:automatic-styles><office:body><office:spreadsheet>");
    for ((rows, widths), name) in sheets.iter().zip(names) {
        content.push_str("<table:table table:name=\"");
        escape(&mut content, name);
        content.push_str("\">");
        for width in widths {
            let _infallible = write!(
                content,
                "<table:table-column table:style-name=\"w{width}\"/>"
            );
        }
        content.extend([rows, "</table:table>"]);
    }
    content.push_str("</office:spreadsheet></office:body></office:document-content>");
    let manifest = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><manifest:manifest \
         xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\" manifest:version=\"1.3\">\
         <manifest:file-entry manifest:full-path=\"/\" manifest:media-type=\"{ODS}\"/>\
         <manifest:file-entry manifest:full-path=\"content.xml\" manifest:media-type=\"text/xml\"/>\
         </manifest:manifest>"
    );
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, part, method) in [
        ("mimetype", ODS, CompressionMethod::Stored),
        ("content.xml", &content, CompressionMethod::Deflated),
        (
            "META-INF/manifest.xml",
            &manifest,
            CompressionMethod::Deflated,
        ),
    ] {
        let options = SimpleFileOptions::default().compression_method(method);
        archive.start_file(name, options)?;
        archive.write_all(part.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}
