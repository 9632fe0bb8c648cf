//! The rows of a file of a table, behind what stands above it.

use std::fs::File;
use std::io::Read as _;

use ::csv::{ByteRecord, Reader, ReaderBuilder};

use crate::csv::{
    CsvEncoding, CsvSource, Dialect, Normalizer, above_table, find_delimiter, named_delimiter,
    parse_delimiter,
};
use crate::table_source::TableSource;
use crate::work::DatabaseError;

/// Bytes that are looked at to find the delimiter.
const SAMPLE: u64 = 1 << 18;

/// Most characters of the lines above a table that a note tells.
const ABOVE_TOLD: usize = 80;

/// A file, and how it is read.
pub(super) struct CsvText {
    file: File,
    pub(super) encoding: CsvEncoding,
    pub(super) delimiter: u8,
    pub(super) dialect: Dialect,
    skip: u64,
    /// Bytes of a line that names the delimiter.
    pub(super) first: u64,
    /// Bytes of the text above the table.
    pub(super) above: u64,
    /// The lines there, and a note on them.
    lines_above: u64,
    notes: Vec<String>,
}

impl CsvText {
    pub(super) fn new(source: &TableSource) -> Result<Self, DatabaseError> {
        let import = &source.import;
        let mut file = source.file.try_clone()?;
        let encoding = match &import.encoding {
            Some(name) => CsvEncoding::parse(name)?,
            None => CsvEncoding::find(&mut file)?,
        };
        let mut sample = Vec::new();
        CsvSource::open(&file, encoding, import.skip_rows)
            .and_then(|source| source.take(SAMPLE).read_to_end(&mut sample))?;
        let is_whole = (sample.len() as u64) < SAMPLE;
        let (named, first) = named_delimiter(&sample).unzip();
        let first = first.unwrap_or_default();
        let delimiter = match &import.delimiter {
            Some(given) => parse_delimiter(given)?,
            None => named.unwrap_or_else(|| find_delimiter(&sample, is_whole)),
        };
        // A sheet was written here.
        let dialect = match source.sheet {
            Some(_) => Dialect::STANDARD,
            None => Dialect::find(&sample[first..], delimiter),
        };
        if let Some(mut normalizer) = Normalizer::new(dialect, delimiter) {
            sample = normalizer.piece(&sample);
        }
        let table = &sample[first..];
        let above = above_table(table, delimiter, dialect, is_whole, import.has_header);
        let text = String::from_utf8_lossy(&table[..above]).into_owned();
        let lines = text.trim().lines().filter(|line| !line.trim().is_empty());
        let shown: String = text.trim().chars().take(ABOVE_TOLD).collect();
        let note = (above > 0).then(|| {
            let shown = shown.replace(['\r', '\n'], " ");
            format!(
                "{} line(s) above the header were left out: `{shown}`",
                lines.count()
            )
        });
        let lines_above = sample[..first + above]
            .iter()
            .filter(|byte| **byte == b'\n');
        Ok(Self {
            lines_above: lines_above.count() as u64,
            first: first as u64,
            above: (first + above) as u64,
            notes: note.into_iter().collect(),
            file,
            encoding,
            delimiter,
            dialect,
            skip: import.skip_rows,
        })
    }

    /// The notes on what was left out, with so many NUL characters.
    pub(super) fn notes_with(&self, nuls: u64) -> Vec<String> {
        let mut notes = self.notes.clone();
        if nuls > 0 {
            notes.push(format!("{nuls} NUL character(s) were left out"));
        }
        notes
    }

    /// The rows from the first, or from the one behind the header.
    pub(super) fn rows(&self, behind_header: bool) -> Result<FileRows, DatabaseError> {
        let mut rows = self.rows_from(self.above)?;
        rows.skipped += self.lines_above;
        if behind_header {
            rows.advance()?;
        }
        Ok(rows)
    }

    /// The rows behind so many bytes of the text.
    pub(super) fn rows_from(&self, bytes: u64) -> Result<FileRows, DatabaseError> {
        let normalizer = Normalizer::new(self.dialect, self.delimiter);
        let source = CsvSource::open(&self.file, self.encoding, self.skip)?;
        let mut source = source.normalized(normalizer);
        std::io::copy(&mut source.by_ref().take(bytes), &mut std::io::sink())?;
        source.end_row();
        Ok(FileRows {
            reader: ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(self.delimiter)
                .quote(self.dialect.quote)
                .buffer_capacity(1 << 17)
                .from_reader(source),
            record: ByteRecord::new(),
            skipped: self.skip,
            begins: 0,
        })
    }
}

/// The rows of a file, one after the other.
pub(super) struct FileRows {
    pub(super) reader: Reader<CsvSource>,
    pub(super) record: ByteRecord,
    skipped: u64,
    /// Bytes before the row.
    pub(super) begins: u64,
}

impl FileRows {
    /// Reads the next row into `record`. False at the end.
    pub(super) fn advance(&mut self) -> Result<bool, DatabaseError> {
        self.begins = self.reader.position().byte();
        let read = self.reader.read_byte_record(&mut self.record);
        self.reader.get_mut().end_row();
        read.map_err(|error| {
            let reason = match error.into_kind() {
                ::csv::ErrorKind::Io(error) => error.to_string(),
                _ => "its fields cannot be told apart".to_owned(),
            };
            let line = Some(self.line());
            DatabaseError::CsvUnreadable { line, reason }
        })
    }

    /// The line of the file where the next row begins.
    pub(super) fn line(&self) -> u64 {
        self.skipped + self.reader.position().line()
    }

    /// Returns `true` if the row may end inside quotes: its last field then holds all that follows the quote,
    /// including line ends.
    pub(super) fn may_be_open(&self) -> bool {
        let last = self.record.iter().next_back();
        last.is_some_and(|field| field.contains(&b'\n'))
    }
}

/// A file that cannot be read.
impl From<std::io::Error> for DatabaseError {
    fn from(error: std::io::Error) -> Self {
        Self::CsvUnreadable {
            line: None,
            reason: error.to_string(),
        }
    }
}
