//! Output that is no text, and output that is too long: what is missing, and what shows it.

use file_format::{FileFormat, Kind};

use crate::hint::{Call, Hint, Repeat};
use crate::policy::CommandPlan;
use crate::text::{TextError, expect_editable};
use crate::zone::Zone;

use super::CommandLine;
use super::output::{Missing, grouped};

/// Commands that print files as they are.
const PRINTING: [&str; 3] = ["cat", "head", "tail"];

/// The format of bytes that cannot be shown as text, in words; nothing for text in any encoding.
pub(super) fn binary(bytes: &[u8]) -> Option<Binary> {
    let encoding = match expect_editable(bytes) {
        Ok(()) => return None,
        Err(TextError::WideText { encoding }) => Some(encoding),
        Err(_) if are_records(bytes) => return None,
        Err(_) => None,
    };
    let format = FileFormat::from_bytes(bytes);
    Some(Binary { format, encoding })
}

/// Texts that end with NUL bytes, as `find -print0` writes them.
fn are_records(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    let Ok(text) = text else {
        return false;
    };
    let records: Vec<&str> = text.split_terminator('\0').collect();
    let has_control = |record: &&str| record.chars().any(|c| c < '\t' || c == '\u{7f}');
    let shortest = text.len() / records.len().max(1);
    shortest > 2
        && !records.iter().any(|record| record.is_empty())
        && !records.iter().any(has_control)
}

/// What binary output is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Binary {
    format: FileFormat,
    /// Of text with more than a byte for every character.
    encoding: Option<String>,
}

impl Binary {
    fn name(&self) -> String {
        match (&self.encoding, self.format) {
            (Some(encoding), _) => format!("text in {encoding}"),
            (None, FileFormat::ArbitraryBinaryData) => "of no known format".to_owned(),
            (None, format) => format.name().to_owned(),
        }
    }
}

/// What is missing of the standard output of a command, and what shows it.
pub(super) fn note(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    plan: &CommandPlan,
    missing: &Missing,
) -> Hint {
    let file = printed(zone, line);
    match missing {
        Missing::Binary { binary, bytes } => {
            let hint = Hint::new(format!(
                "stdout is binary ({}, {} bytes) and not shown",
                binary.name(),
                grouped(*bytes)
            ));
            match file {
                Some(file) => reader(zone, hint, binary, &file),
                None => kept(zone, plan, hint),
            }
        }
        Missing::Middle { lines, left_out } => {
            let hint = Hint::new(format!(
                "{} bytes of stdout are left out",
                grouped(*left_out)
            ));
            match (line.command, line.arguments) {
                // The same number of lines again.
                ("cat", [file]) if !file.starts_with('-') && *lines > 0 => {
                    let range = format!("{},{}p", lines + 1, lines * 2);
                    let arguments = vec!["-n".to_owned(), range, file.clone()];
                    let next = Repeat::with("cmd", "sed").and("args", arguments);
                    hint.or("to see what follows ").again(next)
                }
                _ => kept(zone, plan, hint),
            }
        }
    }
}

/// How to have all of it, where the command can run again and a file can be made.
fn kept(zone: &Zone<'_>, plan: &CommandPlan, hint: Hint) -> Hint {
    let writable = zone.expect_writable().is_ok() && !plan.changes;
    match free_name(zone).filter(|_| writable) {
        Some(name) => hint
            .or("to have all of it ")
            .again(Repeat::with("stdout_file", name)),
        None => hint.or("head, tail, sed and grep show parts of a file"),
    }
}

/// A name in the zone that nothing has.
fn free_name(zone: &Zone<'_>) -> Option<String> {
    let names = (1..100).map(|number| match number {
        1 => "output.txt".to_owned(),
        number => format!("output-{number}.txt"),
    });
    names.into_iter().find(|name| {
        zone.path("stdout_file", name)
            .is_ok_and(|path| zone.entry(&path).is_err())
    })
}

/// The one file whose content a command prints.
fn printed(zone: &Zone<'_>, line: &CommandLine<'_>) -> Option<String> {
    let last = line.arguments.last()?;
    let is_file = || {
        let entry = zone.entry(&zone.path("args", last).ok()?).ok()?;
        entry.expect_file().ok()
    };
    let prints = PRINTING.contains(&line.command) && !last.starts_with('-');
    is_file().filter(|()| prints).map(|()| last.clone())
}

/// The call that reads a binary file.
fn reader(zone: &Zone<'_>, hint: Hint, binary: &Binary, file: &str) -> Hint {
    let has = |command: &str| zone.store.programs().has(command);
    let run = |command: &str, arguments: &[&str]| {
        Call::here("shed_exec")
            .with("cmd", command)
            .with("args", arguments.to_vec())
    };
    let ends = |ending: &str| file.to_ascii_lowercase().ends_with(ending);
    let command = match (binary.encoding.as_deref(), binary.format) {
        (Some(encoding), _) => {
            // The mark at the beginning says the order of bytes, and is taken away.
            let name = encoding
                .trim_end_matches(['l', 'b', 'e'])
                .to_ascii_uppercase();
            return hint
                .or("")
                .call(run("iconv", &["-f", &name, "-t", "UTF-8", file]))
                .say(" reads it");
        }
        (_, FileFormat::Sqlite3) => {
            let tables = "SELECT name, sql FROM sqlite_schema";
            let query = Call::here("shed_sqlite")
                .with("path", file)
                .with("query", tables);
            return hint.or("").call(query).say(" reads it");
        }
        (_, FileFormat::PortableDocumentFormat) => ("pdftotext", vec![file, "-"]),
        (_, FileFormat::Gzip) => ("zcat", vec![file]),
        (_, FileFormat::Bzip2) => ("bzcat", vec![file]),
        (_, FileFormat::Xz) => ("xzcat", vec![file]),
        _ if ends(".docx") => ("pandoc", vec![file, "-t", "plain"]),
        _ if ends(".xlsx") => ("xlsx2csv", vec![file]),
        (_, FileFormat::Zip) => {
            let list = Call::here("shed_zipinfo").with("path", file);
            return hint
                .or("")
                .call(list)
                .say(" lists it")
                .instead("")
                .call(run("unzip", &["-l", file]))
                .say(" lists it");
        }
        (_, format) if format.kind() == Kind::Image => {
            let link = Call::here("shed_link_create").with("path", file);
            return hint.or("").call(link).say(" shows it to the user");
        }
        _ => ("", Vec::new()),
    };
    if has(command.0) {
        return hint
            .or("")
            .call(run(command.0, &command.1))
            .say(" reads it");
    }
    hint.or("")
        .call(Call::here("shed_hexdump").with("path", file))
        .say(" shows its bytes")
        .instead("")
        .call(run("od", &["-A", "d", "-t", "x1z", "-N", "256", file]))
        .say(" shows its bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text() {
        for (bytes, name) in [
            (&b""[..], None),
            (b"plain\n", None),
            (b"gr\xf6\xdfer\n", None),
            (b"a.md\0notes/b.md\0", None),
            (b"SQLite format 3\0\x10\0\x01\x01", Some("SQLite 3")),
            (b"\xff\xfea\0b\0", Some("text in utf-16le")),
            (b"a\0b\0c\0", Some("of no known format")),
            (b"\0\0\0\0", Some("of no known format")),
        ] {
            let found = binary(bytes).map(|binary| binary.name());
            assert_eq!(found.as_deref(), name, "{bytes:?}");
        }
    }
}
