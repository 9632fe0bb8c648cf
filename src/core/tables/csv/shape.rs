//! Separator of the fields of a CSV file, and names of its columns.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::work::DatabaseError;

/// Possible delimiters, the likeliest first.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// Rows that are looked at to find the delimiter.
const SAMPLE: usize = 200;

/// Reads the parameter: one character, or its name.
pub(crate) fn parse_delimiter(given: &str) -> Result<u8, DatabaseError> {
    let byte = match given.trim_matches(' ').to_ascii_lowercase().as_str() {
        "\\t" | "tab" => b'\t',
        "comma" => b',',
        "semicolon" => b';',
        "pipe" => b'|',
        "" if given == " " => b' ',
        other => match other.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r' | 0) => *byte,
            _ => {
                return Err(DatabaseError::Parameter {
                    name: "delimiter".to_owned(),
                    received: given.to_owned(),
                    expected: "one character: , ; | or tab".to_owned(),
                });
            }
        },
    };
    Ok(byte)
}

/// The delimiter that makes the rows of the sample most alike; the comma where none does.
/// `complete`: the sample is the whole text.
pub(crate) fn find_delimiter(sample: &[u8], complete: bool) -> u8 {
    let mut best = (0, b',');
    for delimiter in DELIMITERS {
        let score = score(sample, complete, delimiter);
        if score > best.0 {
            best = (score, delimiter);
        }
    }
    best.1
}

/// Returns how well a delimiter fits: first by the share of rows that have as many fields as the most usual
/// row, then by the number of fields. 0 if it separates no fields.
fn score(sample: &[u8], complete: bool, delimiter: u8) -> u64 {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(sample);
    let mut widths: Vec<usize> = reader
        .byte_records()
        .map_while(Result::ok)
        .take(SAMPLE)
        .map(|record| record.len())
        .collect();
    // The sample may end inside a row.
    if !complete && widths.len() > 1 && widths.len() < SAMPLE {
        widths.pop();
    }
    let count = |width: usize| widths.iter().filter(|other| **other == width).count();
    let Some(usual) = widths
        .iter()
        .copied()
        .max_by_key(|width| (count(*width), *width))
    else {
        return 0;
    };
    if usual < 2 {
        return 0;
    }
    let alike = (count(usual) * 1000 / widths.len()) as u64;
    alike * 10_000 + usual.min(9999) as u64
}

/// Names for columns: letters and digits of any script and `_`, each once, none beginning with a
/// digit. Everything else becomes `_`.
pub(crate) fn column_names<'a>(header: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let names = (1..).zip(header).map(|(number, field)| {
        let name = column_name(&String::from_utf8_lossy(field));
        match name.chars().next() {
            None => format!("col_{number}"),
            Some(first) if first.is_numeric() => format!("col_{name}"),
            Some(_) => name,
        }
    });
    unique_names(names.collect())
}

/// The letters and digits of a text in NFC, with `_` for what is between them.
pub(crate) fn column_name(text: &str) -> String {
    let text = text.trim();
    let mut name = String::new();
    for character in text.nfc() {
        // Vowels of many scripts are marks on a letter.
        if character.is_alphanumeric()
            || character == '_'
            || (is_combining_mark(character) && !name.is_empty())
        {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    if !text.ends_with('_') {
        name.truncate(name.trim_end_matches('_').len());
    }
    name
}

/// Gives names that were there before a number: `a`, `a_2`. They are compared as SQLite does,
/// without case.
pub(crate) fn unique_names(names: Vec<String>) -> Vec<String> {
    let mut known: HashSet<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    // The last number given to a name that is there more than once.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    names
        .into_iter()
        .map(|name| {
            let number = numbers.entry(name.to_ascii_lowercase()).or_insert(0);
            *number += 1;
            if *number == 1 {
                return name;
            }
            loop {
                let free = format!("{name}_{number}");
                if known.insert(free.to_ascii_lowercase()) {
                    return free;
                }
                *number += 1;
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_found() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n3,5;4,5\n", b';'),
            ("a\tb c\n1\t2, 3\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("name\nAda\n", b','),
            ("a;b\n\"x;y\nz\";2\n", b';'),
            ("a,b\n\"1;2;3\",2\n\"1;2;3\",3\n", b','),
            ("", b','),
        ] {
            assert_eq!(find_delimiter(text.as_bytes(), true), delimiter, "{text}");
        }
    }

    #[test]
    fn delimiters_are_read() {
        for (given, delimiter) in [
            (";", b';'),
            ("\t", b'\t'),
            ("\\t", b'\t'),
            ("Tab", b'\t'),
            (" ", b' '),
        ] {
            assert_eq!(parse_delimiter(given).ok(), Some(delimiter), "{given:?}");
        }
        for given in ["", "ab", "\"", "é", "\n"] {
            assert!(parse_delimiter(given).is_err(), "{given:?}");
        }
    }

    #[test]
    fn columns_get_names() {
        let header = [
            "First Name",
            "Größe",
            "Prénom",
            "Amount (€)",
            "2020",
            "",
            "a",
            "A",
            "a-b",
            "_x_",
            "日本",
            "  b  ",
            "Имя (полное)",
            "हिन्दी",
            "الاسم",
            "٣",
        ];
        let names = column_names(header.iter().map(|name| name.as_bytes()));
        let expected = [
            "First_Name",
            "Größe",
            "Prénom",
            "Amount",
            "col_2020",
            "col_6",
            "a",
            "A_2",
            "a_b",
            "_x_",
            "日本",
            "b",
            "Имя_полное",
            "हिन्दी",
            "الاسم",
            "col_٣",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn names_become_unique() {
        let names = ["a", "A", "a_2", "b", "a"].map(str::to_owned).to_vec();
        assert_eq!(unique_names(names), ["a", "A_3", "a_2", "b", "a_4"]);
    }
}
