//! Types of columns, found by looking at every value.
//!
//! A column is INTEGER or REAL only if every value of it comes back as it was written, but for
//! trailing zeros; whatever could be an identifier stays text.

use std::borrow::Cow;

use rusqlite::types::ValueRef;

use super::dates::is_date;
use super::dates::is_iso_date;
use crate::work::DatabaseError;

/// Largest whole number that a REAL holds exactly.
const EXACT: u64 = 1 << 53;

/// Words for a missing value. Only in a column of numbers or dates are they NULL.
const MISSING: [&[u8]; 9] = [
    b"NA", b"N/A", b"#N/A", b"NaN", b"nan", b"NULL", b"null", b"None", b"none",
];

/// The hyphen and the minus sign.
const MINUS: [char; 2] = ['-', '\u{2212}'];

/// Signs between groups of three digits with either decimal sign.
const GROUPS: [char; 4] = ['\'', '\u{2019}', '\u{a0}', '\u{202f}'];

/// Signs and words around a number that make it an amount.
const MARKS: &str = "-\u{2212}()%‰€$£¥₹₽₺₩₪₫₴₱¢ \u{a0}\u{202f}";
const CURRENCIES: [&str; 4] = ["EUR", "USD", "CHF", "GBP"];

/// Decimal sign of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decimal {
    Point,
    Comma,
}

impl Decimal {
    /// Reads the parameter.
    pub(crate) fn parse(given: &str) -> Result<Self, DatabaseError> {
        match given.trim() {
            "." => Ok(Self::Point),
            "," => Ok(Self::Comma),
            _ => Err(DatabaseError::Parameter {
                name: "decimal".to_owned(),
                received: given.to_owned(),
                expected: "\".\" or \",\"".to_owned(),
            }),
        }
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Integer(Decimal),
    Real(Decimal),
    Text,
}

impl ColumnType {
    /// The name in a table's definition.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Integer(_) => "INTEGER",
            Self::Real(_) => "REAL",
            Self::Text => "TEXT",
        }
    }

    /// A value of a column of this type.
    pub(crate) fn cell(self, field: &[u8]) -> ValueRef<'_> {
        if field.is_empty() {
            return ValueRef::Null;
        }
        let (Self::Integer(decimal) | Self::Real(decimal)) = self else {
            return ValueRef::Text(field);
        };
        let value = field.trim_ascii();
        if value.is_empty() || is_missing(value) {
            return ValueRef::Null;
        }
        let text = std::str::from_utf8(value).unwrap_or_default();
        let text = match (plain(text, decimal), decimal) {
            (text, Decimal::Point) if !text.contains(',') => text,
            (text, Decimal::Point) => text.replace(',', "").into(),
            (text, Decimal::Comma) => text.replace('.', "").replace(',', ".").into(),
        };
        let number = match number(value, decimal, true) {
            Some(Number::Whole { .. }) => text.parse().map(ValueRef::Integer).ok(),
            Some(Number::Fraction) => text.parse().map(ValueRef::Real).ok(),
            None => None,
        };
        number.unwrap_or(ValueRef::Text(field))
    }
}

/// Observations about the values of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    /// A value that is no number.
    text: bool,
    seen: bool,
    /// A number that is none with the other decimal sign.
    point: bool,
    comma: bool,
    /// A fraction, if that is the sign.
    fraction_with_point: bool,
    fraction_with_comma: bool,
    /// A whole number that a REAL does not hold exactly.
    large: bool,
    /// A whole number with blanks between its groups.
    blanks: bool,
    /// The first amount that may stay text, and whether there is other text.
    amount: Option<String>,
    no_amount: bool,
    /// Values that are dates but no ISO text, and whether there are others.
    dates: u64,
    no_date: bool,
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Whole { large: bool },
    Fraction,
}

impl Column {
    /// Looks at a value.
    pub(crate) fn see(&mut self, field: &[u8], decimal: Option<Decimal>) {
        let value = field.trim_ascii();
        // Numbers between texts tell the decimal sign.
        let is_word = !matches!(value.first(), Some(b'0'..=b'9' | b'-' | b'.' | b',' | 0xe2));
        if value.is_empty() || is_missing(value) || (is_word && self.no_amount && self.no_date) {
            return;
        }
        self.seen = true;
        let read = |sign| match decimal {
            Some(given) if given != sign => None,
            given => number(value, sign, given.is_some()),
        };
        let (point, comma) = (read(Decimal::Point), read(Decimal::Comma));
        let large = Some(Number::Whole { large: true });
        let is_text = point.is_none() && comma.is_none();
        self.text |= is_text;
        self.point |= !is_text && comma.is_none();
        self.comma |= !is_text && point.is_none();
        self.fraction_with_point |= point == Some(Number::Fraction);
        self.fraction_with_comma |= comma == Some(Number::Fraction);
        self.large |= point == large || comma == large;
        let has_blanks = !is_text && value.contains(&b' ');
        self.blanks |= has_blanks && comma != Some(Number::Fraction);
        if is_text || has_blanks || (self.point && self.comma) {
            self.no_amount = self.no_amount || !is_amount(value);
            self.amount.get_or_insert_with(|| shown(value));
        }
        if !self.no_date {
            let text = std::str::from_utf8(value).unwrap_or_default();
            let is_iso = text.get(..10).is_some_and(is_iso_date);
            self.no_date = !is_date(text);
            self.dates += u64::from(!self.no_date && !is_iso);
        }
    }

    /// The decimal sign, where a value tells it.
    pub(crate) fn decimal(&self) -> Option<Decimal> {
        let sign = [Decimal::Point, Decimal::Comma][usize::from(self.comma)];
        (self.point != self.comma).then_some(sign)
    }

    /// An amount, if all that was seen are numbers and amounts.
    pub(crate) fn amount(&self) -> Option<&str> {
        self.amount.as_deref().filter(|_| !self.no_amount)
    }

    /// Returns whether the first values are dates that are no ISO text, and whether all are, at least two.
    pub(crate) fn dates(&self) -> (bool, bool) {
        (self.dates > 0, self.dates > 1 && !self.no_date)
    }

    /// The type that holds all that was seen.
    pub(crate) fn kind(&self) -> ColumnType {
        let (decimal, fraction) = if self.comma {
            (Decimal::Comma, self.fraction_with_comma)
        } else {
            (Decimal::Point, self.fraction_with_point)
        };
        let is_text = self.text || (self.point && self.comma) || (self.blanks && !fraction);
        if is_text || !self.seen || (fraction && self.large) {
            ColumnType::Text
        } else if fraction {
            ColumnType::Real(decimal)
        } else {
            ColumnType::Integer(decimal)
        }
    }
}

fn is_missing(value: &[u8]) -> bool {
    // Numbers are the rule.
    !value[0].is_ascii_digit() && MISSING.contains(&value)
}

/// Reads a value as a number with this decimal sign, which `is_certain` if it need not be told by
/// the value.
fn number(value: &[u8], sign: Decimal, is_certain: bool) -> Option<Number> {
    let value = &*plain(std::str::from_utf8(value).ok()?, sign);
    let digits = value.strip_prefix('-').unwrap_or(value);
    match sign {
        _ if is_digits(digits) => whole(value),
        Decimal::Point if digits.contains(',') => with_thousands(value, is_certain),
        Decimal::Point => with_point(digits),
        Decimal::Comma => with_comma(digits),
    }
}

/// A number with a hyphen in front for its minus, and with no other signs between its groups than
/// points and commas. A minus behind `5` may be a hyphen.
fn plain(text: &str, sign: Decimal) -> Cow<'_, str> {
    let behind = text.strip_suffix(MINUS).filter(|rest| !is_digits(rest));
    let unsigned = text.strip_prefix(MINUS).or(behind);
    let minus = if unsigned.is_some() { "-" } else { "" };
    let digits = unsigned.unwrap_or(text);
    let is_comma = sign == Decimal::Comma;
    let (whole, _) = parts(digits, &[if is_comma { ',' } else { '.' }]);
    let is_group = |sign: &char| GROUPS.contains(sign) || (is_comma && *sign == ' ');
    match whole.chars().find(is_group) {
        Some(sign) if is_grouped(whole, sign) => format!(
            "{minus}{}{}",
            whole.replace(sign, ""),
            &digits[whole.len()..]
        )
        .into(),
        None if unsigned.is_some() => format!("{minus}{digits}").into(),
        _ => text.into(),
    }
}

/// Returns `true` for a number with a currency, a percent sign, brackets or a minus behind.
fn is_amount(value: &[u8]) -> bool {
    let is_mark = |sign| MARKS.contains(sign);
    let mut text = std::str::from_utf8(value).unwrap_or_default();
    for name in CURRENCIES {
        text = text.trim_start_matches(name).trim_end_matches(name);
    }
    let text = text.trim_matches(is_mark).as_bytes();
    number(text, Decimal::Point, true).is_some() || number(text, Decimal::Comma, true).is_some()
}

/// The beginning of a value as a note shows it.
pub(crate) fn shown(value: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(value).chars().take(40).collect();
    serde_json::Value::from(text).to_string()
}

/// A whole number that comes back as it was: not `-0` nor `007`.
fn whole(value: &str) -> Option<Number> {
    if value.trim_start_matches('-').starts_with('0') && value.len() > 1 {
        return None;
    }
    // Fifteen digits always fit.
    let is_large = |number: i64| number.unsigned_abs() > EXACT;
    let large = value.len() > 15 && is_large(value.parse().ok()?);
    Some(Number::Whole { large })
}

/// `1,234.5`, `1,234,567`; a lone `1,234` may be a fraction unless the sign is certain.
fn with_thousands(value: &str, is_certain: bool) -> Option<Number> {
    let (whole_part, fraction) = parts(value, &['.']);
    let digits = whole_part.strip_prefix('-').unwrap_or(whole_part);
    let tells = is_certain || fraction.is_some() || digits.matches(',').count() > 1;
    if !tells || !is_grouped(digits, ',') || !fraction.is_none_or(is_digits) {
        return None;
    }
    match fraction {
        Some(_) => Some(Number::Fraction),
        None => whole(&whole_part.replace(',', "")),
    }
}

/// `true` for one to three digits and groups of three, the first not `0`.
fn is_grouped(digits: &str, sign: char) -> bool {
    let mut groups = digits.split(sign);
    let first = groups.next().unwrap_or_default();
    let is_group = |group: &str| group.len() == 3 && is_digits(group);
    is_whole(first) && first.len() <= 3 && first != "0" && groups.all(is_group)
}

/// `1.5`, `.5`, `1.5e-3`, `2e+10`. A plain `1e5` may be an identifier.
fn with_point(digits: &str) -> Option<Number> {
    let (mantissa, exponent) = parts(digits, &['e', 'E']);
    let (whole, fraction) = parts(mantissa, &['.']);
    let is_signed = exponent.is_some_and(|exponent| exponent.starts_with(['+', '-']));
    let is_exponent = |text: &str| is_digits(text.strip_prefix(['+', '-']).unwrap_or(text));
    let fits = exponent.is_none_or(is_exponent)
        && (is_whole(whole) || (whole.is_empty() && fraction.is_some()))
        && fraction.map_or(is_signed, is_digits);
    fits.then_some(Number::Fraction)
}

/// `1,5`, `1.234,5`, `1.234` as a thousand and more.
fn with_comma(digits: &str) -> Option<Number> {
    let (whole, fraction) = parts(digits, &[',']);
    if !(is_whole(whole) || is_grouped(whole, '.')) || !fraction.is_none_or(is_digits) {
        return None;
    }
    if fraction.is_some() {
        return Some(Number::Fraction);
    }
    // Up to fifteen digits are exact as anything.
    (whole.len() <= 19).then_some(Number::Whole { large: false })
}

/// Splits a text at the first of some signs.
fn parts<'t>(text: &'t str, signs: &[char]) -> (&'t str, Option<&'t str>) {
    match text.split_once(signs) {
        Some((before, behind)) => (before, Some(behind)),
        None => (text, None),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `true` for digits without a zero in front.
fn is_whole(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(values: &[&str]) -> ColumnType {
        let mut column = Column::default();
        for value in values {
            column.see(value.as_bytes(), None);
        }
        column.kind()
    }

    #[test]
    fn types_hold_every_value() {
        use Decimal::{Comma, Point};
        for (values, expected) in [
            (&["1", "-2", "0", ""][..], ColumnType::Integer(Point)),
            (&["9223372036854775807"], ColumnType::Integer(Point)),
            (&["9223372036854775808"], ColumnType::Text),
            (&["9007199254740993", "1.5"], ColumnType::Text),
            (&["1", "2.5"], ColumnType::Real(Point)),
            (&["1e-5", "2E+10", ".5", "-0.5"], ColumnType::Real(Point)),
            (&["1e5"], ColumnType::Text),
            (&["12E4"], ColumnType::Text),
            (&["007"], ColumnType::Text),
            (&["-0"], ColumnType::Text),
            (&["+5"], ColumnType::Text),
            (&["1,5", "2"], ColumnType::Real(Comma)),
            (&["1.234,5", "1.234"], ColumnType::Real(Comma)),
            (&["1.234", "5,5"], ColumnType::Real(Comma)),
            (&["1.234", "5.678"], ColumnType::Real(Point)),
            (&["1.234.567"], ColumnType::Integer(Comma)),
            (&["1,5", "1.5"], ColumnType::Text),
            (&["1,234,567"], ColumnType::Integer(Point)),
            (&["1,234.50", "7"], ColumnType::Real(Point)),
            (&["1,234"], ColumnType::Real(Comma)),
            (&["1,23,456"], ColumnType::Text),
            (&["0,123.5"], ColumnType::Text),
            (&["9,223,372,036,854,775,808"], ColumnType::Text),
            (&["00,5"], ColumnType::Text),
            (&["0,5"], ColumnType::Real(Comma)),
            (&["1", "NA", "null"], ColumnType::Integer(Point)),
            (&["NA"], ColumnType::Text),
            (&["", " "], ColumnType::Text),
            (&[" 5", "6 "], ColumnType::Integer(Point)),
            (&["1", "x"], ColumnType::Text),
            (&["1."], ColumnType::Text),
            (&["-"], ColumnType::Text),
            (&["1-2"], ColumnType::Text),
            (&["12:30"], ColumnType::Text),
            (&["1\u{a0}234,50", "7"], ColumnType::Real(Comma)),
            (&["1\u{202f}234\u{202f}567"], ColumnType::Integer(Point)),
            (&["1 234,50", "1 234", "-7"], ColumnType::Real(Comma)),
            (&["1 234", "5 678"], ColumnType::Text),
            (&["1 234.50"], ColumnType::Text),
            (&["1'234.50", "7"], ColumnType::Real(Point)),
            (&["1\u{2019}234"], ColumnType::Integer(Point)),
            (&["12'34"], ColumnType::Text),
            (&["0'234"], ColumnType::Text),
            (&["\u{2212}5", "3"], ColumnType::Integer(Point)),
            (&["1.234,50-", "2,5"], ColumnType::Real(Comma)),
            (&["1,234.50-"], ColumnType::Real(Point)),
            (&["2-", "1"], ColumnType::Text),
            (&["-5,0-"], ColumnType::Text),
            (&["12.-"], ColumnType::Text),
            (&["12.04.-"], ColumnType::Text),
            (&["030 123 456"], ColumnType::Text),
            (&["1.2.3"], ColumnType::Text),
        ] {
            assert_eq!(kind(values), expected, "{values:?}");
        }
    }

    #[test]
    fn text_that_may_be_meant_as_amounts_is_told() {
        for (values, told) in [
            (
                &["1.234,50 \u{20ac}", "7"][..],
                Some("\"1.234,50 \u{20ac}\""),
            ),
            (&["12,5%", "NA", ""], Some("\"12,5%\"")),
            (&["5", "(1,234.00)"], Some("\"(1,234.00)\"")),
            (&["-$5.00"], Some("\"-$5.00\"")),
            (&["100-", "7"], Some("\"100-\"")),
            (&["CHF 1'234.50"], Some("\"CHF 1'234.50\"")),
            (&["1,5", "1.5"], Some("\"1.5\"")),
            (&["1 234"], Some("\"1 234\"")),
            (&["5 \u{20ac}", "free"], None),
            (&["+33123", "007"], None),
            (&["12a"], None),
            (&["1.2.3"], None),
            (&["()"], None),
            (&["1", "2"], None),
        ] {
            let mut column = Column::default();
            for value in values {
                column.see(value.as_bytes(), None);
            }
            assert_eq!(column.amount(), told, "{values:?}");
        }
    }

    #[test]
    fn dates_are_known_unasked() {
        for (values, expected) in [
            (&["05.01.2026", "06.01.2026"][..], (true, true)),
            (&["12/31/2026", "", "NA", "31/12/26"], (true, true)),
            (&["5-Jan-2026", "Jan 6, 2026 7:30 PM"], (true, true)),
            (&["2026-01-05", "05.01.2026", "06.01.2026"], (true, true)),
            (&["05.01.2026"], (true, false)),
            (&["05.01.2026", "06.01.2026", "soon"], (true, false)),
            (&["05.01.2026", "7"], (true, false)),
            (&["2026-01-05", "2026-01-06T07:08:09Z"], (false, false)),
            (&["1.2.10", "1.3.11"], (false, false)),
            (&["192.168.1.10", "10.0.0.1"], (false, false)),
        ] {
            let mut column = Column::default();
            for value in values {
                column.see(value.as_bytes(), None);
            }
            assert_eq!(column.dates(), expected, "{values:?}");
        }
    }

    #[test]
    fn quoted_thousands_are_numbers_where_the_sign_is_certain() {
        for (values, expected) in [
            (
                &["1,234", "-12,345", "7"][..],
                ColumnType::Integer(Decimal::Point),
            ),
            (&["1,234.50", "2.25"], ColumnType::Real(Decimal::Point)),
            (&["1,5"], ColumnType::Text),
            (&["1234,567"], ColumnType::Text),
        ] {
            let mut column = Column::default();
            for value in values {
                column.see(value.as_bytes(), Some(Decimal::Point));
            }
            assert_eq!(column.kind(), expected, "{values:?}");
        }
    }

    #[test]
    fn values_become_cells() {
        use Decimal::{Comma, Point};
        for (kind, field, cell) in [
            (ColumnType::Integer(Point), "-5", ValueRef::Integer(-5)),
            (ColumnType::Integer(Point), " 5 ", ValueRef::Integer(5)),
            (
                ColumnType::Integer(Comma),
                "1.234.567",
                ValueRef::Integer(1_234_567),
            ),
            (
                ColumnType::Integer(Point),
                "-1,234",
                ValueRef::Integer(-1234),
            ),
            (ColumnType::Real(Point), "1,234.5", ValueRef::Real(1234.5)),
            (ColumnType::Integer(Point), "NA", ValueRef::Null),
            (ColumnType::Real(Point), "1e-5", ValueRef::Real(1e-5)),
            (ColumnType::Real(Comma), "1.234,5", ValueRef::Real(1234.5)),
            (ColumnType::Real(Comma), "7", ValueRef::Integer(7)),
            (
                ColumnType::Real(Comma),
                "1.234,50-",
                ValueRef::Real(-1234.5),
            ),
            (ColumnType::Real(Comma), "1 234,5", ValueRef::Real(1234.5)),
            (
                ColumnType::Real(Point),
                "\u{2212}1'234.5",
                ValueRef::Real(-1234.5),
            ),
            (
                ColumnType::Integer(Point),
                "1\u{a0}234",
                ValueRef::Integer(1234),
            ),
            (ColumnType::Real(Comma), "2,5", ValueRef::Real(2.5)),
            (ColumnType::Real(Comma), "1.234", ValueRef::Integer(1234)),
            (ColumnType::Real(Comma), "k.A.", ValueRef::Text(b"k.A.")),
            (ColumnType::Real(Point), "inf", ValueRef::Text(b"inf")),
            (ColumnType::Real(Point), "NA", ValueRef::Null),
            (
                ColumnType::Real(Point),
                "9007199254740993",
                ValueRef::Integer(9_007_199_254_740_993),
            ),
            (ColumnType::Text, "", ValueRef::Null),
            (ColumnType::Text, "NA", ValueRef::Text(b"NA")),
            (ColumnType::Text, " ", ValueRef::Text(b" ")),
            (
                ColumnType::Integer(Point),
                "changed since",
                ValueRef::Text(b"changed since"),
            ),
        ] {
            assert_eq!(kind.cell(field.as_bytes()), cell, "{field}");
        }
    }
}
