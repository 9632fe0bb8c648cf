//! Quotes of a CSV file that are not those of RFC 4180, and what stands above its table.

use csv::ByteRecord;

use super::{Column, ColumnType, Dates, parse_delimiter};

/// Rows that are looked at to find the table.
const SAMPLE: usize = 200;

/// Most rows above a table.
const ABOVE: usize = 30;

/// Quoting of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The character that encloses a field.
    pub(crate) quote: u8,
    /// Blanks stand between delimiters and quotes.
    blanks: bool,
    /// `\"` is a quote inside a field.
    escapes: bool,
}

/// The position of a character in its field.
#[derive(Clone, Copy, Debug)]
enum FieldState {
    Start { behind_blank: bool },
    Bare,
    Quoted { behind_blank: bool },
    Escaped,
    Closed { behind_blank: bool },
}

const START: FieldState = FieldState::Start {
    behind_blank: false,
};

impl Dialect {
    /// Fields in double quotes, which are doubled inside.
    pub(crate) const STANDARD: Self = Self {
        quote: b'"',
        blanks: false,
        escapes: false,
    };

    /// Looks for signs of another dialect at the beginning of a text.
    pub(crate) fn find(sample: &[u8], delimiter: u8) -> Self {
        let mut found = Self {
            quote: if has_single_quotes(sample, delimiter) {
                b'\''
            } else {
                b'"'
            },
            ..Self::STANDARD
        };
        let is_end = |byte: u8| ends_field(byte, delimiter);
        let mut place = START;
        let mut bytes = sample.iter().copied().enumerate();
        while let Some((at, byte)) = bytes.next() {
            let next = sample.get(at + 1).copied();
            place = match place {
                FieldState::Start { .. } if byte == b' ' && delimiter != b' ' => {
                    FieldState::Start { behind_blank: true }
                }
                FieldState::Start { behind_blank } if byte == found.quote => {
                    FieldState::Quoted { behind_blank }
                }
                FieldState::Start { .. } | FieldState::Bare => {
                    if is_end(byte) {
                        START
                    } else {
                        FieldState::Bare
                    }
                }
                FieldState::Quoted { .. } if byte == b'\\' && next == Some(found.quote) => {
                    // A quote that closes its field stands before the end of that.
                    let after = sample.get(at + 2).copied();
                    let closes = after.is_none_or(|after| is_end(after) || after == found.quote);
                    found.escapes |= !closes;
                    if found.escapes {
                        bytes.next();
                    }
                    place
                }
                FieldState::Quoted { behind_blank } if byte == found.quote => {
                    FieldState::Closed { behind_blank }
                }
                FieldState::Closed { behind_blank } if byte == found.quote => {
                    FieldState::Quoted { behind_blank }
                }
                FieldState::Closed { behind_blank } if is_end(byte) => {
                    found.blanks |= behind_blank;
                    START
                }
                FieldState::Closed { .. } if byte == b' ' && delimiter != b' ' => {
                    FieldState::Closed { behind_blank: true }
                }
                FieldState::Closed { .. } => FieldState::Bare,
                FieldState::Quoted { .. } | FieldState::Escaped => place,
            };
        }
        found
    }
}

fn ends_field(byte: u8, delimiter: u8) -> bool {
    byte == delimiter || byte == b'\n' || byte == b'\r'
}

/// `true` if every quote that opens a field is a single one that closes, and there is about one in
/// each row.
fn has_single_quotes(sample: &[u8], delimiter: u8) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| ends_field(*byte, delimiter));
    let (mut opened, mut closed, mut lines) = (0, 0, 1);
    for (at, byte) in sample.iter().enumerate() {
        let opens = is_end(at.checked_sub(1).and_then(|before| sample.get(before)));
        match byte {
            b'"' if opens => return false,
            b'\'' if opens => opened += 1,
            b'\'' if is_end(sample.get(at + 1)) => closed += 1,
            b'\n' => lines += 1,
            _ => {}
        }
    }
    opened > 1 && opened == closed && opened + 2 >= lines
}

/// Rewrites text of another dialect to the standard one, piece by piece.
pub(crate) struct Normalizer {
    dialect: Dialect,
    delimiter: u8,
    place: FieldState,
}

impl Normalizer {
    /// Returns `None` if nothing has to be rewritten.
    pub(crate) fn new(dialect: Dialect, delimiter: u8) -> Option<Self> {
        (dialect.blanks || dialect.escapes).then_some(Self {
            dialect,
            delimiter,
            place: START,
        })
    }

    /// Returns the next piece, which may have one byte more.
    pub(crate) fn piece(&mut self, text: &[u8]) -> Vec<u8> {
        let mut piece = Vec::with_capacity(text.len() + 1);
        let Dialect {
            quote,
            blanks,
            escapes,
        } = self.dialect;
        for &byte in text {
            let is_end = ends_field(byte, self.delimiter);
            self.place = match self.place {
                FieldState::Start { .. } | FieldState::Closed { .. } if blanks && byte == b' ' => {
                    continue;
                }
                FieldState::Quoted { .. } if escapes && byte == b'\\' => {
                    self.place = FieldState::Escaped;
                    continue;
                }
                FieldState::Escaped => {
                    match byte {
                        b'\\' => {}
                        _ if byte == quote => piece.push(quote),
                        _ => piece.push(b'\\'),
                    }
                    FieldState::Quoted {
                        behind_blank: false,
                    }
                }
                FieldState::Start { behind_blank } | FieldState::Closed { behind_blank }
                    if byte == quote =>
                {
                    FieldState::Quoted { behind_blank }
                }
                FieldState::Quoted { behind_blank } if byte == quote => {
                    FieldState::Closed { behind_blank }
                }
                FieldState::Quoted { .. } => self.place,
                _ if is_end => START,
                _ => FieldState::Bare,
            };
            piece.push(byte);
        }
        piece
    }
}

/// Returns the delimiter that a line such as `sep=;` above the table names, with the bytes of that
/// line.
pub(crate) fn named_delimiter(sample: &[u8]) -> Option<(u8, usize)> {
    let end = sample.iter().take(16).position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&sample[..end]).ok()?;
    let line = line.trim_end_matches('\r').trim_matches('"');
    let (name, named) = line.split_at_checked(4)?;
    let delimiter = name.eq_ignore_ascii_case("sep=").then_some(named)?;
    Some((parse_delimiter(delimiter).ok()?, end + 1))
}

/// Returns the bytes of `sample` above its table: titles and comments. `complete`: the sample is the
/// whole text.
pub(crate) fn above_table(
    sample: &[u8],
    delimiter: u8,
    dialect: Dialect,
    complete: bool,
    has_header: Option<bool>,
) -> usize {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .quote(dialect.quote)
        .from_reader(sample);
    let rows = reader.byte_records().map_while(Result::ok).take(SAMPLE);
    let mut rows: Vec<ByteRecord> = rows.collect();
    // The sample may end inside a row.
    if !complete && rows.len() > 1 && rows.len() < SAMPLE {
        rows.pop();
    }
    let count = |width| rows.iter().filter(|row| row.len() == width).count();
    let widths = rows.iter().map(ByteRecord::len);
    let width = widths.max_by_key(|width| (count(*width), *width));
    let width = width.unwrap_or_default();
    let signs = rows.iter().take_while(|row| starts_with(row, b"#"));
    let is_alone = signs.count() == 1;
    let mut top = rows.as_slice();
    while let [first, below @ ..] = top
        && !below.is_empty()
        && is_comment(first, below, width, is_alone)
    {
        top = below;
    }
    if has_header != Some(false) && width > 1 {
        let titles = top
            .iter()
            .take(ABOVE)
            .take_while(|row| is_title(row, width));
        let (above, below) = top.split_at(titles.count());
        // One row with some names is the header itself where all rows below it look alike.
        let is_named = matches!(above, [row] if row.len() == width && filled(row).count() > 1)
            && below.iter().all(|row| is_header(row, width));
        if let Some(table) = below_notes(top, width) {
            top = table;
        } else if !is_named && below.first().is_some_and(|row| is_header(row, width)) {
            top = below;
        }
    }
    let place = top.first().and_then(ByteRecord::position);
    place.map_or(0, |place| place.byte() as usize)
}

/// The rows from the first that has a name for every column, where data follows and only notes stand
/// above, none of which fills a row.
fn below_notes(rows: &[ByteRecord], width: usize) -> Option<&[ByteRecord]> {
    let is_full = |row: &ByteRecord| filled(row).count() == width;
    let at = rows.iter().take(ABOVE).position(is_full)?;
    let (notes, table) = rows.split_at(at);
    let [header, first, ..] = table else {
        return None;
    };
    let is_note = |row: &ByteRecord| filled(row).all(is_name);
    let is_table = is_header(header, width)
        && filled(first).count() * 2 > width
        && !filled(first).all(is_name);
    let is_apart = filled(notes.last()?).count() * 2 <= width;
    (is_table && is_apart && notes.iter().all(is_note)).then_some(table)
}

fn filled(row: &ByteRecord) -> impl Iterator<Item = &[u8]> {
    row.iter().filter(|field| !field.trim_ascii().is_empty())
}

fn starts_with(row: &ByteRecord, sign: &[u8]) -> bool {
    row.get(0).is_some_and(|field| field.starts_with(sign))
}

/// `true` for a row that begins with `#`, unless it may be the header: it has as many fields as the
/// table, and it `is_alone` or the row below is none.
fn is_comment(row: &ByteRecord, below: &[ByteRecord], width: usize, is_alone: bool) -> bool {
    let next = below.iter().find(|row| !starts_with(row, b"#"));
    if starts_with(row, b"##") {
        next.is_some()
    } else if starts_with(row, b"# ") {
        let is_above = |next| width < 2 || (!is_alone && is_header(next, width));
        row.len() != width || next.is_some_and(is_above)
    } else {
        starts_with(row, b"#") && row.len() != width
    }
}

/// `true` if few fields are filled, the first among them.
fn is_title(row: &ByteRecord, width: usize) -> bool {
    let has_first = row
        .get(0)
        .is_some_and(|field| !field.trim_ascii().is_empty());
    let count = filled(row).count();
    count == 0 || (has_first && count * 2 <= width)
}

/// `true` if most fields are filled and none is a number, but for years beside other names.
fn is_header(row: &ByteRecord, width: usize) -> bool {
    let is_fit = |field: &[u8]| is_name(field) || (is_year(field) && width > 2);
    row.len() == width && filled(row).count() * 2 > width && filled(row).all(is_fit)
}

/// `true` for what is no number.
fn is_name(field: &[u8]) -> bool {
    let mut column = Column::default();
    column.see(field, None);
    column.kind() == ColumnType::Text
}

/// `true` for a year that may be a name.
fn is_year(field: &[u8]) -> bool {
    field.len() == 4 && (field.starts_with(b"19") || field.starts_with(b"20"))
}

/// `true` if a first row is no header: nothing but numbers, or a number or date that is one in the
/// rows below too and no name of numbers. Numbers that count up are names.
pub(crate) fn is_data(first: &ByteRecord, below: &[ByteRecord]) -> bool {
    let is_date = |field: &[u8]| {
        let dates = Dates::new(None).ok();
        let text = String::from_utf8_lossy(field);
        dates.is_some_and(|dates| dates.read(&text).is_some())
    };
    let is_number = |field: &[u8]| !is_name(field);
    if filled(first).all(is_number) {
        return filled(first).next().is_some();
    }
    let numbers = filled(first).filter_map(|field| str::from_utf8(field).ok()?.parse().ok());
    let numbers: Vec<i64> = numbers.collect();
    if numbers.len() > 1
        && numbers
            .windows(2)
            .all(|pair| pair[0].checked_add(1) == Some(pair[1]))
    {
        return false;
    }
    let mut has_value = false;
    for (index, field) in first.iter().enumerate() {
        let values = below.iter().filter_map(|row| row.get(index));
        let values = values.filter(|value| !value.trim_ascii().is_empty());
        let values: Vec<&[u8]> = values.collect();
        let are = |is: &dyn Fn(&[u8]) -> bool| {
            values.iter().all(|value| is(value)) && (below.is_empty() || !values.is_empty())
        };
        if is_number(field) && !is_year(field) {
            has_value |= are(&is_number);
        } else if is_date(field) {
            has_value |= are(&is_date);
        } else if !below.is_empty() && (are(&is_number) || are(&is_date)) {
            return false;
        }
    }
    has_value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard(text: &str) -> String {
        let dialect = Dialect::find(text.as_bytes(), b',');
        let Some(mut normalizer) = Normalizer::new(dialect, b',') else {
            return text.to_owned();
        };
        // A piece may end anywhere.
        let pieces = text.as_bytes().chunks(1);
        let bytes = pieces.flat_map(|piece| normalizer.piece(piece)).collect();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn other_quotes_become_standard_ones() {
        for (text, expected) in [
            ("\"a\", \"b, c\"\n", "\"a\",\"b, c\"\n"),
            ("a, \"b\" , c\n", "a,\"b\",c\n"),
            ("a, \"b\" c\n", "a, \"b\" c\n"),
            ("a, b\n", "a, b\n"),
            ("\"say \\\"hi\\\"\",2\n", "\"say \"\"hi\"\"\",2\n"),
            (
                "\"x \\\"y\\\" z\",\"C:\\\\d\"\n",
                "\"x \"\"y\"\" z\",\"C:\\d\"\n",
            ),
            ("\"C:\\\",2\n", "\"C:\\\",2\n"),
            ("\"a\"\"b\",\"c\\d\"\n", "\"a\"\"b\",\"c\\d\"\n"),
            ("5\" pipe,3\"\n", "5\" pipe,3\"\n"),
        ] {
            assert_eq!(standard(text), expected, "{text}");
        }
    }

    #[test]
    fn single_quotes_are_found() {
        for (text, quote) in [
            ("'a','b'\n'x, y','z'\n", b'\''),
            ("id,name\n1,'Smith, J'\n2,'it''s'\n", b'\''),
            ("a,b\n'tis,1\n'twas,2\n", b'"'),
            ("a,b\nrock 'n' roll,1\n", b'"'),
            ("\"a\",'b'\n", b'"'),
        ] {
            assert_eq!(Dialect::find(text.as_bytes(), b',').quote, quote, "{text}");
        }
    }

    #[test]
    fn tables_begin_below_titles_and_comments() {
        for (text, above) in [
            ("Report\na,b,c\n1,2,3\n4,5,6\n", "Report\n"),
            ("Report,,\n,,\na,b,c\n1,2,3\n", "Report,,\n,,\n"),
            (
                "Account:,DE12,,\nFrom:,2026-01-01,,\n\nday,who,what,sum\n1.1.,a,b,3\n2.1.,c,d,4\n3.1.,c,d,4\n",
                "Account:,DE12,,\nFrom:,2026-01-01,,\n",
            ),
            ("Sales\nplace,2024,2025\nUlm,1,2\nAue,3,4\n", "Sales\n"),
            (
                "# made by x\n# on Monday, late\na,b\n1,2\n",
                "# made by x\n# on Monday, late\n",
            ),
            ("# x,y\n1,2\n3,4\n", ""),
            ("# name,city\nAda,Ulm\nBob,Aue\n", ""),
            ("# name,city\nAda,Ulm\n", ""),
            ("# made by x\na,b\nc,d\n", "# made by x\n"),
            ("# made by x\na\nb\n", "# made by x\n"),
            ("id,name,,\nx,Ada,a,b\ny,Bob,c,\n", ""),
            ("id,,city,\nx,Ada,Ulm,b\ny,Bob,Aue,d\n", ""),
            (
                "By:,Ada,,\nwho,what,place,sum\nBob,pen,Ulm,2\n",
                "By:,Ada,,\n",
            ),
            (
                "By:,Ada,,\n\nAt:,Ulm,,\nwho,what,a,b\nBob,pen,c,d\n",
                "By:,Ada,,\n\nAt:,Ulm,,\n",
            ),
            ("People,,\nname,mail,city\nAda,a@b,Ulm\n", "People,,\n"),
            (
                "Many,,\nat,,top\nor,,\nname,job,age\nAda,poet,36\n",
                "Many,,\nat,,top\nor,,\n",
            ),
            (
                "So,,,\n,as,,to\nit,,,\nname,job,age,city\nAda,poet,36,Ulm\n",
                "So,,,\n,as,,to\nit,,,\n",
            ),
            ("id,,age\nx,,\ny,Bob,3\n", ""),
            (",name,age\n1,,\na,b,c\n2,Ada,3\n", ""),
            ("##f=1\n#c,d\n1,2\n3,4\n", "##f=1\n"),
            ("#,name\n1,Ada\n", ""),
            ("1\n2,3,4\n", ""),
            ("name\n1,2\n3,4\n", ""),
            (",name\nx,Ada\ny,Bob\n", ""),
            ("a,b\n1\n1,2\n", ""),
            ("only\none\n", ""),
            ("", ""),
        ] {
            let bytes = above_table(text.as_bytes(), b',', Dialect::STANDARD, true, None);
            assert_eq!(&text[..bytes].trim_end(), &above.trim_end(), "{text}");
        }
        let text = b"Report\na,b\n";
        assert_eq!(
            above_table(text, b',', Dialect::STANDARD, true, Some(false)),
            0
        );
    }

    #[test]
    fn first_rows_of_data_are_no_headers() {
        let record = |line: &str| line.split(',').collect::<ByteRecord>();
        for (first, below, expected) in [
            ("world,1,!", &["hello,2,?", "hello,3,."][..], true),
            ("world,1,!", &["hello,2,?", "hello,x,."], false),
            ("x,2024-01-02", &["y,2024-01-03"], true),
            ("pen,2.5", &[], true),
            ("pen,2024-01-02", &[], true),
            ("1,2", &["a,b"], true),
            ("pen,2024", &[], false),
            ("pen,ink", &[], false),
            ("name,5", &["Ada,"], false),
            ("name,2024,2025", &["Ada,1,2"], false),
            ("name,2024-01-01", &["Ada,5"], false),
            ("name,1,2,3", &["Ada,7,8,9"], false),
            ("id,7", &["1,8"], false),
            ("day,x,7", &["2024-01-02,y,8"], false),
            (",", &[], false),
        ] {
            let below: Vec<ByteRecord> = below.iter().copied().map(record).collect();
            assert_eq!(is_data(&record(first), &below), expected, "{first}");
        }
    }

    #[test]
    fn delimiters_may_be_named() {
        assert_eq!(named_delimiter(b"sep=;\r\na;b\n"), Some((b';', 7)));
        assert_eq!(named_delimiter(b"\"Sep=\t\"\na\tb\n"), Some((b'\t', 8)));
        assert_eq!(named_delimiter(b"separator\n"), None);
    }
}
