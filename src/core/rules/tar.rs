//! tar: one mode decides whether the archive or the zone is written; the old style has no dash.

use super::checker::Checker;
use super::error::CommandError;
use super::plan::Compression;
use super::syntax::{ArgumentRole, OptionValues, Syntax};
use super::tokenizer::Token;

const WRITES_ARCHIVE: &[&str] = &["create", "append", "update", "catenate", "delete"];

/// Checks the arguments of tar.
pub(super) fn read(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = checker.rule;
    let (args, compression) = without_compression(&rule.syntax, dashed(&rule.syntax, args));
    let mut line = checker.tokenize(&rule.syntax, &args)?;
    let extracts = line.saw(&["extract"]) && !line.saw(&["to-stdout"]);
    let archives = line.saw(WRITES_ARCHIVE);
    for token in &mut line.tokens {
        if let Token::Value { role, .. } = token {
            *role = match *role {
                ArgumentRole::Archive if archives => ArgumentRole::NewArchive,
                ArgumentRole::Folder if extracts => ArgumentRole::Write,
                ArgumentRole::Folder => ArgumentRole::Read,
                other => other,
            };
        }
    }
    if archives || extracts {
        checker.changes(if archives { "an archive" } else { "-x" });
    }
    let mut syntax = rule.syntax.clone();
    let files = archives && !line.saw(&["delete", "directory"]);
    syntax.rest = if files {
        ArgumentRole::Read
    } else {
        ArgumentRole::Member
    };
    checker.check_line(&syntax, &line)?;
    if let Some(archive) = &mut checker.archive {
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
        if !word.starts_with('-') || word.starts_with("--") || word == "-" {
            kept.push(word);
            continue;
        }
        let mut rest = String::new();
        for (place, letter) in word.char_indices() {
            let known = COMPRESSIONS.iter().find(|(short, ..)| *short == letter);
            if let Some((.., found)) = known {
                compression = Some(*found);
            } else if takes_value(syntax, letter) {
                rest.push_str(&word[place..]);
                break;
            } else {
                rest.push(letter);
            }
        }
        let last = rest.chars().next_back();
        let value_follows = last.is_some_and(|letter| takes_value(syntax, letter));
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

fn takes_value(syntax: &Syntax, letter: char) -> bool {
    let option = syntax.letter(letter);
    option.is_some_and(|option| matches!(option.takes, OptionValues::One(_)))
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
        if takes_value(syntax, letter) {
            dashed.extend(rest.next());
        }
    }
    dashed.extend(rest);
    dashed
}
