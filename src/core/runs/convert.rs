//! Files in another format: tables by the engine of databases, documents by pandoc, pages by weasyprint,
//! each in its jail.

use crate::command::filter;
use crate::databases::{self, Export};
use crate::misnamed::{PANDOC, PRINTER};
use crate::process::StreamFile;
use crate::runs::Runs;
use fileshed_rules::package_of;
use fileshed_storage::Staged;
use fileshed_types::{Error, Hint, NextCall, ZoneName, diagnostics};
use fileshed_zones::zone::Zone;

/// The operation.
const OPERATION: &str = "shed_convert";

/// Ends of names of files that hold tables.
const TABLES: [&str; 7] = ["csv", "tsv", "xlsx", "xlsm", "xlsb", "xls", "ods"];

/// Ends of names of databases.
const DATABASES: [&str; 3] = ["db", "sqlite", "sqlite3"];

/// Formats of documents: the end of the name, what pandoc reads it as and writes it as.
const DOCUMENTS: [(&str, &str, &str); 12] = [
    ("md", MARKDOWN, "gfm"),
    ("html", "html", "html5"),
    ("docx", "docx", "docx"),
    ("odt", "odt", "odt"),
    ("pdf", "", "html5"),
    ("pptx", "", "pptx"),
    ("txt", MARKDOWN, "plain"),
    ("rtf", "rtf", "rtf"),
    ("epub", "epub", "epub"),
    ("rst", "rst", "rst"),
    ("tex", "latex", "latex"),
    ("org", "org", "org"),
];

/// Markdown as models write it: a list may follow a line of text.
const MARKDOWN: &str = "markdown+lists_without_preceding_blankline";

/// Pictures, which commands convert.
const PICTURES: [&str; 8] = ["jpg", "jpeg", "png", "webp", "gif", "bmp", "tiff", "svg"];

/// Other names of formats.
const NAMES: [(&str, &str); 9] = [
    ("markdown", "md"),
    ("htm", "html"),
    ("text", "txt"),
    ("plain", "txt"),
    ("word", "docx"),
    ("excel", "xlsx"),
    ("powerpoint", "pptx"),
    ("latex", "tex"),
    ("tab", "tsv"),
];

/// A file to convert.
#[derive(Debug)]
pub struct Conversion<'a> {
    /// Its path in the zone, or in uploads.
    pub path: &'a str,
    /// The name of the new file, or its format.
    pub to: &'a str,
    /// Cells that begin with `=` become formulas.
    pub formulas: bool,
}

/// A file that was converted.
#[derive(Debug)]
pub struct Converted {
    /// The source.
    pub path: String,
    /// Its zone, if it is another one.
    pub from: Option<ZoneName>,
    /// The new file.
    pub to: String,
    /// Its bytes.
    pub size: u64,
    /// `true` if it took the place of another one.
    pub replaced: bool,
    /// Differences from the source.
    pub notes: Vec<String>,
}

/// The end of a name in small letters, as one of the formats is called.
fn format_of(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    let end = name.rsplit_once('.').map_or(name, |(_, end)| end);
    let end = end.trim().to_ascii_lowercase();
    let known = NAMES.iter().find(|(other, _)| *other == end);
    known.map_or(end, |(_, name)| (*name).to_owned())
}

fn document(format: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    DOCUMENTS.iter().find(|(name, ..)| *name == format)
}

/// Converts a file of a zone into a new file there.
pub fn convert(
    runs: &Runs,
    zone: &Zone<'_>,
    conversion: &Conversion<'_>,
) -> Result<Converted, Error> {
    zone.expect_writable()?;
    let (entry, from) = databases::source(zone, "path", conversion.path)?;
    let path = entry.path().as_str().to_owned();
    let (source, target) = (format_of(&path), format_of(conversion.to));
    let is_name = conversion.to.trim_start_matches('.').contains(['.', '/']);
    let to = if is_name {
        conversion.to.to_owned()
    } else {
        let stem = path.strip_suffix(&format!(".{source}"));
        let stem = stem.or_else(|| path.rsplit_once('.').map(|(stem, _)| stem));
        format!("{}.{target}", stem.unwrap_or(&path))
    };
    let mut file = StreamFile::new(zone, OPERATION, "to", &to)?;
    let to = file.path.as_str().to_owned();
    if from.is_none() && to == path {
        return Err(ConvertError::SameFile { path }.into());
    }
    let replaced = zone.target("to", &file.path)?.entry().is_some();
    let unknown = || {
        let (from, to) = (source.clone(), target.clone());
        zone.explain(
            ConvertError::NoConversion {
                path: path.clone(),
                from,
                to,
            }
            .into(),
        )
    };
    let mut export = Export {
        formulas: conversion.formulas,
        ..Export::default()
    };
    export.fit(&to);
    let is_table = TABLES.contains(&&*source);
    let writes_table = ["csv", "tsv", "xlsx", "ods"].contains(&&*target);
    let mut notes = Vec::new();
    if is_table && writes_table {
        notes = databases::convert(runs, zone, (entry, from), export, &mut file.staged)?.notes;
    } else if DATABASES.contains(&&*source) && writes_table {
        let elsewhere = from.map(|name| zone.store.personal_zone(zone.caller, name));
        let elsewhere = elsewhere.transpose()?;
        let source = elsewhere.as_ref().unwrap_or(zone);
        notes = databases::tables(runs, source, &path, export, (zone, &mut file))?.notes;
    } else if let Some((_, _, writer)) = document(&target) {
        let staging = zone.store.staging(&zone.tenant)?;
        let (input, reader) = if is_table {
            let mut rows = staging.create()?;
            let export = Export::default();
            notes = databases::convert(runs, zone, (entry, from), export, &mut rows)?.notes;
            (rows, "csv")
        } else {
            let reader = document(&source).map_or("", |(_, reader, _)| *reader);
            if reader.is_empty() {
                return Err(unknown());
            }
            let content = entry.open().map_err(|error| zone.explain_disk(error))?;
            (staging.copy(content)?, reader)
        };
        let convert = Pandoc {
            runs,
            zone,
            path: &path,
            to: &target,
        };
        file.staged = convert.run(input, reader, writer)?;
    } else {
        return Err(unknown());
    }
    Ok(Converted {
        size: file.install(zone)?,
        path,
        from,
        to,
        replaced,
        notes,
    })
}

/// A conversion by pandoc, and by the program that prints its pages.
struct Pandoc<'a> {
    runs: &'a Runs,
    zone: &'a Zone<'a>,
    path: &'a str,
    to: &'a str,
}

impl Pandoc<'_> {
    fn run(&self, input: Staged, reader: &str, writer: &str) -> Result<Staged, Error> {
        let directory = self.path.rsplit_once('/').map_or(".", |(above, _)| above);
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let is_printed = self.to == "pdf";
        // A page is printed as it is.
        let page = if is_printed && reader == "html" {
            input
        } else {
            let title = format!("--metadata=pagetitle:{}", name.replace(['\n', '\r'], " "));
            let places = format!("--resource-path=.:{directory}");
            let mut arguments = vec!["-f", reader, "-t", writer, &places, "-o", "-"];
            if !["gfm", "plain"].contains(&writer) {
                arguments.push("-s");
            }
            if writer == "html5" {
                arguments.push(&title);
            }
            let judged = ["document.md", "-t", "html5"];
            self.filter(PANDOC, &judged, &arguments, &input)?
        };
        if !is_printed {
            return Ok(page);
        }
        let base = format!("--base-url=./{directory}/");
        self.filter(
            PRINTER,
            &["page.html", "-"],
            &["-q", &base, "-", "-"],
            &page,
        )
    }

    fn filter(
        &self,
        program: &'static str,
        judged: &[&str],
        arguments: &[&str],
        input: &Staged,
    ) -> Result<Staged, Error> {
        let (path, to) = (self.path.to_owned(), self.to.to_owned());
        if !self.runs.programs.has(program) {
            return Err(ConvertError::NoProgram { path, to, program }.into());
        }
        filter(
            self.runs,
            self.zone,
            program,
            (program, judged),
            arguments,
            input,
        )?
        .map_err(|reason| {
            let error = ConvertError::Failed {
                path,
                program,
                reason,
            };
            self.zone.explain(error.into())
        })
    }
}

diagnostics! {
    /// A file that was not converted.
    #[derive(Debug, thiserror::Error)]
    pub enum ConvertError {
        /// No conversion leads from the one format to the other.
        #[error("`{path}` cannot be converted from {from} to {to}")]
        NoConversion {
            /// The file.
            path: String => ["a.docx".to_owned(), "a.csv".to_owned(), "a.png".to_owned()],
            /// Its format.
            from: String => ["docx".to_owned(), "csv".to_owned(), "png".to_owned()],
            /// The format that was asked for.
            to: String => ["xlsx".to_owned(), "foo".to_owned(), "pdf".to_owned()],
        } => {
            code: InvalidFormat,
            hint: no_conversion(path, from, to),
            details: { "path": path, "from": from, "to": to },
        },
        /// This server has no program that does it.
        #[error(
            "converting `{path}` to {to} needs `{program}`, which is not installed on this server; the \
                Debian package `{}` has it",
            package_of(program)
        )]
        NoProgram {
            /// The file.
            path: String = "a.md".to_owned(),
            /// The format that was asked for.
            to: String = "docx".to_owned(),
            /// The program.
            program: &'static str = "pandoc",
        } => {
            code: CommandNotFound,
            hint: "an administrator installs the package; CSV, XLSX and ODS need no program",
            details: { "path": path, "program": program, "package": package_of(program) },
        },
        /// The program cannot do it.
        #[error("`{path}` was not converted: {program} reports: {reason}")]
        Failed {
            /// The file.
            path: String = "a.docx".to_owned(),
            /// The program.
            program: &'static str = "pandoc",
            /// Its message.
            reason: String = "couldn't unpack docx container".to_owned(),
        } => {
            code: ExecError,
            hint: Hint::from(NextCall::here("shed_file_type").with("path", path.as_str()))
                .say(" shows the format of the file"),
            details: { "path": path, "program": program, "reason": reason },
        },
        /// The new file is the old one.
        #[error("parameter `to` names the file itself: `{path}`")]
        SameFile {
            /// The file.
            path: String = "a.csv".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "name another file or format in `to`",
            details: { "parameter": "to", "received": path },
        },
    }
}

fn no_conversion(path: &str, from: &str, to: &str) -> Hint {
    let is_target = to == "pdf" || to != "svg" && PICTURES.contains(&to);
    if PICTURES.contains(&from) && is_target {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let target = format!("{stem}.{to}");
        let (command, arguments) = match to {
            "pdf" if from == "svg" => ("rsvg-convert", vec!["-f", "pdf", path, "-o", &target]),
            "pdf" => ("img2pdf", vec![path, "-o", &target]),
            _ => ("convert", vec![path, target.as_str()]),
        };
        let call = NextCall::here("shed_exec").with("cmd", command);
        return Hint::new("a command converts pictures: ").call(call.with("args", arguments));
    }
    if from == "pdf" || from == "pptx" {
        let read = NextCall::here("shed_read").with("path", path);
        return Hint::from(read).say(" shows its text");
    }
    let targets = if TABLES.contains(&from) {
        "csv, tsv, xlsx, ods, docx, odt, pptx, pdf, html, md"
    } else if DATABASES.contains(&from) {
        "xlsx, ods, csv"
    } else if document(from).is_some_and(|(_, reader, _)| !reader.is_empty()) {
        "docx, odt, pptx, pdf, html, md, txt, rtf, epub, rst, tex, org"
    } else {
        return Hint::new(
            "formats that can be converted: tables (csv, tsv, xlsx, xls, ods), databases (db) and \
             documents (md, html, docx, odt, rtf, epub, rst, tex, org, txt)",
        );
    };
    Hint::from(format!("`to` may be {targets}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        for (name, format) in [
            ("a/b.DOCX", "docx"),
            ("excel", "xlsx"),
            (".md", "md"),
            ("Markdown", "md"),
            ("a.tar.htm", "html"),
        ] {
            assert_eq!(format_of(name), format, "{name}");
        }
    }
}
