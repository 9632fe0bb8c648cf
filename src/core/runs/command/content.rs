//! Output that is no text, and output that is too long: what is missing, and what shows it.

use file_format::{FileFormat, Kind};

use crate::runs::Runs;
use fileshed_rules::CommandPlan;
use fileshed_types::hint::{Hint, NextCall, Repeat};
use fileshed_zones::zone::Zone;

use super::CommandLine;
use super::output::{Binary, MissingOutput, grouped};

/// Commands that print files as they are.
const PRINTING: [&str; 3] = ["cat", "head", "tail"];

/// Returns a hint that says which part of standard output is missing, and which call shows it.
pub(super) fn note(
    runs: &Runs,
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    plan: &CommandPlan,
    missing: &MissingOutput,
) -> Hint {
    let file = printed(zone, line);
    match missing {
        MissingOutput::Binary { binary, bytes } => {
            let hint = Hint::new(format!(
                "stdout is binary ({}, {} bytes) and not shown",
                binary.name(),
                grouped(*bytes)
            ));
            match file {
                Some(file) => reader(runs, hint, binary, &file),
                None => kept(zone, plan, hint),
            }
        }
        MissingOutput::Middle { lines, left_out } => {
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

/// Adds to a hint a call that keeps the whole output in a file, if the command can run again and a file can
/// be made; otherwise the commands that show parts of a file.
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
fn reader(runs: &Runs, hint: Hint, binary: &Binary, file: &str) -> Hint {
    let run = |command: &str, arguments: &[&str]| {
        NextCall::here("shed_exec")
            .with("cmd", command)
            .with("args", arguments.to_vec())
    };
    let of_file = |operation| NextCall::here(operation).with("path", file);
    let ends = |ending: &str| file.to_ascii_lowercase().ends_with(ending);
    let hint = hint.or("");
    let (command, arguments) = match (binary.encoding.as_deref(), binary.format) {
        (Some(encoding), _) => {
            // The mark at the beginning says the order of bytes, and is taken away.
            let name = encoding.trim_end_matches(['l', 'b', 'e']);
            let name = name.to_ascii_uppercase();
            let convert = run("iconv", &["-f", &name, "-t", "UTF-8", file]);
            return hint.call(convert).say(" reads it");
        }
        (_, FileFormat::Sqlite3) => {
            let tables = "SELECT name, sql FROM sqlite_schema";
            let query = of_file("shed_sqlite").with("query", tables);
            return hint.call(query).say(" reads it");
        }
        (_, FileFormat::PortableDocumentFormat) => ("pdftotext", vec![file, "-"]),
        (_, FileFormat::Gzip) => ("zcat", vec![file]),
        (_, FileFormat::Bzip2) => ("bzcat", vec![file]),
        (_, FileFormat::Xz) => ("xzcat", vec![file]),
        _ if ends(".docx") => ("pandoc", vec![file, "-t", "plain"]),
        _ if ends(".xlsx") => ("xlsx2csv", vec![file]),
        (_, FileFormat::Zip) => {
            let list = hint.call(of_file("shed_zipinfo")).say(" lists it");
            let unzip = run("unzip", &["-l", file]);
            return list.instead("").call(unzip).say(" lists it");
        }
        (_, format) if format.kind() == Kind::Image => {
            let link = of_file("shed_link_create");
            return hint.call(link).say(" shows it to the user");
        }
        _ => ("", Vec::new()),
    };
    if runs.programs.has(command) {
        return hint.call(run(command, &arguments)).say(" reads it");
    }
    let dump = hint.call(of_file("shed_hexdump")).say(" shows its bytes");
    let od = run("od", &["-A", "d", "-t", "x1z", "-N", "256", file]);
    dump.instead("").call(od).say(" shows its bytes")
}
