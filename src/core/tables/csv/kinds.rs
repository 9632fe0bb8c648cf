//! Types of columns, found by looking at every value.
//!
//! A column is INTEGER or REAL only if every value of it comes back as it was written, but for
//! trailing zeros; whatever could be an identifier stays text.

use rusqlite::types::ValueRef;

use crate::work::DatabaseError;

/// Largest whole number that a REAL holds exactly.
const EXACT: u64 = 1 << 53;

/// Words for a missing value. Only in a column of numbers or dates are they NULL.
const MISSING: [&[u8]; 9] = [
    b"NA", b"N/A", b"#N/A", b"NaN", b"nan", b"NULL", b"null", b"None", b"none",
];

/// What is between the digits of a number.
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
        let Ok(text) = std::str::from_utf8(value) else {
            return ValueRef::Text(field);
        };
        let plain;
        let text = match decimal {
            Decimal::Point if !text.contains(',') => text,
            Decimal::Point => {
                plain = text.replace(',', "");
                &plain
            }
            Decimal::Comma => {
                plain = text.replace('.', "").replace(',', ".");
                &plain
            }
        };
        let number = match self {
            Self::Integer(_) => text.parse().map(ValueRef::Integer).ok(),
            _ => text.parse().map(ValueRef::Real).ok(),
        };
        number.unwrap_or(ValueRef::Text(field))
    }
}

/// What was seen of a column.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, gathered value by value"
)]
pub(crate) struct Column {
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
        if self.text {
            return;
        }
        let value = field.trim_ascii();
        if value.is_empty() || is_missing(value) {
            return;
        }
        self.seen = true;
        let is_sign = |sign| decimal.is_none_or(|it| it == sign);
        let is_certain = decimal.is_some();
        let read = |sign| {
            is_sign(sign)
                .then(|| number(value, sign, is_certain))
                .flatten()
        };
        let (point, comma) = (read(Decimal::Point), read(Decimal::Comma));
        let large = Some(Number::Whole { large: true });
        self.point |= comma.is_none();
        self.comma |= point.is_none();
        self.fraction_with_point |= point == Some(Number::Fraction);
        self.fraction_with_comma |= comma == Some(Number::Fraction);
        self.large |= point == large || comma == large;
        self.text |= self.point && self.comma;
    }

    /// The type that holds all that was seen.
    pub(crate) fn kind(self) -> ColumnType {
        let (decimal, fraction) = if self.comma {
            (Decimal::Comma, self.fraction_with_comma)
        } else {
            (Decimal::Point, self.fraction_with_point)
        };
        if self.text || !self.seen || (fraction && self.large) {
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
    let value = std::str::from_utf8(value).ok()?;
    let digits = value.strip_prefix('-').unwrap_or(value);
    match sign {
        _ if is_digits(digits) => whole(value),
        Decimal::Point if digits.contains(',') => with_thousands(value, is_certain),
        Decimal::Point => with_point(digits),
        Decimal::Comma => with_comma(digits),
    }
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
        ] {
            assert_eq!(kind(values), expected, "{values:?}");
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
            (ColumnType::Real(Comma), "7", ValueRef::Real(7.0)),
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
