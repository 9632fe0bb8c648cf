//! tar: one mode decides whether the archive or the zone is written; the old style has no dash.

use super::Compression;
use super::error::CommandError;
use super::judge::Judge;
use super::role::{Effect, Opt, Role, Syntax, flag, glued, refused, value};
use super::rule::CommandRule;
use super::scan::Piece;

const PROGRAM: &str = "it starts a program; compress with -z, -j or -J";

/// The options that are accepted or refused for a reason of their own.
pub(super) const OPTIONS: &[Opt] = &[
    flag("c", "create", Effect::Ordinary),
    flag("r", "append", Effect::Ordinary),
    flag("u", "update", Effect::Ordinary),
    flag("A", "catenate concatenate", Effect::Ordinary),
    flag("", "delete", Effect::Ordinary),
    flag("x", "extract get", Effect::Ordinary),
    flag("t", "list", Effect::Ordinary),
    flag("d", "diff compare", Effect::Ordinary),
    flag("O", "to-stdout", Effect::Ordinary),
    flag("", "remove-files", Effect::InPlace),
    value("f", "file", Role::Archive),
    value("C", "directory cd", Role::Folder),
    value("T", "files-from", Role::Read),
    value("X", "exclude-from", Role::Read),
    value("b", "blocking-factor", Role::Word),
    value("H", "format", Role::Word),
    value("N", "newer after-date", Role::Word),
    value("", "exclude", Role::Word),
    value("", "strip-components", Role::Word),
    value("", "transform xform", Role::Word),
    value("", "owner", Role::Word),
    value("", "group", Role::Word),
    value("", "mtime", Role::Word),
    value("", "mode", Role::Mode),
    value("", "sort", Role::Word),
    value("", "level", Role::Word),
    value("", "newer-mtime", Role::Word),
    glued("", "one-top-level", Role::Write),
    glued("", "totals", Role::Word),
    glued("", "checkpoint", Role::Word),
    refused("I", "use-compress-program", PROGRAM),
    refused("F", "info-script new-volume-script", PROGRAM),
    refused("", "to-command", PROGRAM),
    refused("", "checkpoint-action", PROGRAM),
    refused("", "rsh-command", PROGRAM),
    refused("", "rmt-command", PROGRAM),
    refused("P", "absolute-names", "members stay below the zone"),
    refused(
        "g",
        "listed-incremental",
        "incremental backups keep a file of state",
    ),
    refused(
        "",
        "index-file",
        "output goes to standard output; use stdout_file",
    ),
    refused("", "volno-file", "archives have one volume"),
];

/// Switches that pass.
pub(super) const SHORT: &str = "zjJZavkpmwSUWlhno";
/// Long switches that pass.
pub(super) const LONG: &str = "gzip gunzip bzip2 xz lzma lzip lzop zstd uncompress compress \
    auto-compress no-auto-compress verbose keep-old-files skip-old-files keep-newer-files \
    overwrite touch dereference hard-dereference numeric-owner no-recursion recursion \
    wildcards no-wildcards anchored no-anchored ignore-case exclude-vcs exclude-backups \
    exclude-caches sparse show-transformed-names full-time utc verify block-number \
    ignore-failed-read ignore-zeros preserve-permissions unlink-first null quoting-style \
    xattrs no-xattrs acls no-acls selinux no-selinux help version wildcards-match-slash \
    check-links no-same-owner no-same-permissions force-local delay-directory-restore";

const WRITES_ARCHIVE: &[&str] = &["create", "append", "update", "catenate", "delete"];

/// Judges the arguments of tar.
pub(super) fn read(
    rule: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    let (args, compression) = without_compression(&rule.syntax, dashed(&rule.syntax, args));
    let mut scan = judge.scan(&rule.syntax, &args)?;
    let extracts = scan.saw("extract") && !scan.saw("to-stdout");
    let archives = WRITES_ARCHIVE.iter().any(|mode| scan.saw(mode));
    let elsewhere = scan.saw("directory");
    for piece in &mut scan.pieces {
        if let Piece::Value { role: meaning, .. } = piece {
            *meaning = match *meaning {
                Role::Archive if archives => Role::NewArchive,
                Role::Folder if extracts => Role::Write,
                Role::Folder => Role::Read,
                other => other,
            };
        }
    }
    if archives || extracts {
        judge.changes(if archives { "an archive" } else { "-x" });
    }
    let mut syntax = rule.syntax;
    let files = archives && !scan.saw("delete") && !elsewhere;
    syntax.rest = if files { Role::Read } else { Role::Member };
    judge.scanned(&syntax, &scan)?;
    if let Some(archive) = &mut judge.archive {
        archive.compression = compression;
    }
    Ok(())
}

/// Options that compress, and the program of each.
const COMPRESSIONS: &[(char, &str, Compression)] = &[
    ('z', "--gzip", Compression::By("gzip")),
    ('z', "--gunzip", Compression::By("gzip")),
    ('z', "--ungzip", Compression::By("gzip")),
    ('j', "--bzip2", Compression::By("bzip2")),
    ('J', "--xz", Compression::By("xz")),
    ('a', "--auto-compress", Compression::ByName),
    ('\0', "--zstd", Compression::By("zstd")),
];

/// Takes the options that compress out of a command line.
fn without_compression(syntax: &Syntax, args: Vec<String>) -> (Vec<String>, Option<Compression>) {
    let mut compression = None;
    let takes_value = |letter: char| {
        syntax.options.iter().any(|option| {
            option.short.contains(letter) && matches!(option.takes, super::role::Takes::One(_))
        })
    };
    let mut kept = Vec::new();
    let mut words = args.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word);
            break;
        }
        if let Some((.., found)) = COMPRESSIONS.iter().find(|(_, long, _)| *long == word) {
            compression = Some(*found);
            continue;
        }
        let bundle = word
            .strip_prefix('-')
            .filter(|letters| !letters.is_empty() && !letters.starts_with('-'));
        let Some(letters) = bundle else {
            kept.push(word);
            continue;
        };
        let mut rest = String::from("-");
        for (place, letter) in letters.char_indices() {
            let known = COMPRESSIONS.iter().find(|(short, ..)| *short == letter);
            if let Some((.., found)) = known {
                compression = Some(*found);
            } else if takes_value(letter) {
                rest.push_str(&letters[place..]);
                break;
            } else {
                rest.push(letter);
            }
        }
        let value_follows = rest.chars().next_back().is_some_and(takes_value);
        if rest.len() > 1 {
            kept.push(rest);
        }
        if value_follows {
            kept.extend(words.next());
        }
    }
    kept.extend(words);
    (kept, compression)
}

/// Turns the old style (`czf a.tgz dir`) into options with dashes.
fn dashed(syntax: &Syntax, args: &[String]) -> Vec<String> {
    let Some((first, rest)) = args.split_first() else {
        return Vec::new();
    };
    if first.starts_with('-') || first.is_empty() || !first.chars().all(char::is_alphanumeric) {
        return args.to_vec();
    }
    let mut rest = rest.iter().cloned();
    let mut dashed = Vec::new();
    for letter in first.chars() {
        dashed.push(format!("-{letter}"));
        let takes = syntax.options.iter().any(|option| {
            option.short.contains(letter) && matches!(option.takes, super::role::Takes::One(_))
        });
        if takes {
            dashed.extend(rest.next());
        }
    }
    dashed.extend(rest);
    dashed
}
