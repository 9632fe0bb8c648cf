//! tar and 7z. tar has one mode that decides if the archive or the zone is written, and an old style without
//! a dash; 7z has a command letter, then switches that carry their value, an archive, and names.

use super::checker::Checker;
use super::error::CommandError;
use super::plan::Compression;
use super::syntax::{ArgumentRole, OptionRule, OptionValues, Syntax};
use super::tokenizer::{Token, TokenizedLine};

/// Options of tar that write the archive.
const WRITES_ARCHIVE: &[&str] = &["create", "append", "update", "catenate", "delete"];

/// Checks the arguments of tar.
pub(super) fn tar(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let rule = checker.rule;
    let args = dashed(&rule.syntax, args);
    let line = checker.tokenize(&rule.syntax, &args)?;
    let mut found = line.options.iter().rev();
    let compression = found.find_map(|(_, option)| compression(option));
    let args = without_compression(&rule.syntax, &line);
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

/// Options that compress, each by its first long name, and the program of each.
const COMPRESSIONS: &[(&str, Compression)] = &[
    ("gzip", Compression::By("gzip")),
    ("bzip2", Compression::By("bzip2")),
    ("xz", Compression::By("xz")),
    ("zstd", Compression::By("zstd")),
    ("auto-compress", Compression::ByName),
];

fn compression(option: &OptionRule) -> Option<Compression> {
    let mut known = COMPRESSIONS.iter();
    known.find_map(|(name, compression)| option.has(name).then_some(*compression))
}

/// Returns the words of a command line without the options that compress.
fn without_compression(syntax: &Syntax, line: &TokenizedLine<'_>) -> Vec<String> {
    let compresses = |letter: char| syntax.letter(letter).and_then(compression).is_some();
    let mut words = Vec::new();
    for (place, token) in line.tokens.iter().enumerate() {
        let (options, rest) = match *token {
            Token::Switch(word) => (word, ""),
            Token::Value { prefix, text, .. } => (prefix, text),
            Token::Operand(word) => ("", word),
        };
        let mut options = options.to_owned();
        if !options.starts_with("--") {
            options.retain(|letter| !compresses(letter));
        } else if line
            .options_at(place)
            .any(|option| compression(option).is_some())
        {
            continue;
        }
        if options != "-" || !rest.is_empty() {
            words.push(options + rest);
        }
    }
    words
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

/// The refusal of a file with names.
const LIST_FILE: &str = "list files are not allowed: name the files as arguments";

/// Checks the arguments of 7z.
pub(super) fn seven_zip(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let Some((command, rest)) = args.split_first() else {
        return Ok(());
    };
    let to_stdout = rest.iter().any(|word| word == "-so");
    let (archive, names) = match command.as_str() {
        "a" | "u" => (ArgumentRole::Write, ArgumentRole::Read),
        "d" | "rn" => (ArgumentRole::Write, ArgumentRole::Member),
        "x" | "e" | "l" | "t" => (ArgumentRole::Read, ArgumentRole::Member),
        "h" => (ArgumentRole::Read, ArgumentRole::Read),
        "i" | "b" => (ArgumentRole::Word, ArgumentRole::Word),
        _ => {
            return Err(checker.refuse(
                command,
                "the first argument is one of the commands a, u, d, rn, x, e, l, t, h, i, b",
            ));
        }
    };
    if matches!(command.as_str(), "x" | "e") && !to_stdout {
        checker.changes(command);
    }
    checker.switch(command)?;
    let (mut operands, mut ended) = (0, false);
    for word in rest {
        if word == "--" && !ended {
            ended = true;
            checker.switch(word)?;
        } else if !ended && word.starts_with('-') && word.len() > 1 {
            switch(word, checker)?;
        } else if word.starts_with('@') {
            return Err(checker.refuse(word, LIST_FILE));
        } else {
            let role = if operands == 0 { archive } else { names };
            checker.operand(role, word)?;
            operands += 1;
        }
    }
    Ok(())
}

/// Checks a switch of 7z.
fn switch(word: &str, checker: &mut Checker<'_>) -> Result<(), CommandError> {
    if let Some(folder) = word.strip_prefix("-o") {
        return if folder.is_empty() {
            Err(checker.refuse(word, "the folder must be in the same word, as in `-oout`"))
        } else {
            checker.value(ArgumentRole::Write, "-o", folder)
        };
    }
    for kind in ["-x", "-i", "-ax", "-ai"] {
        if let Some(pattern) = word.strip_prefix(kind) {
            let pattern = pattern.trim_start_matches(['r', '-', '0']);
            if let Some(pattern) = pattern.strip_prefix('!') {
                let prefix = &word[..word.len() - pattern.len()];
                return checker.value(ArgumentRole::Member, prefix, pattern);
            }
            if pattern.starts_with('@') {
                return Err(checker.refuse(word, LIST_FILE));
            }
        }
    }
    // Those that are refused stand first, since a longer name may begin like one that passes.
    let name = &word[1..];
    let begins = |option: &&OptionRule| option.names.iter().any(|known| name.starts_with(known));
    match checker.rule.syntax.options.iter().find(begins) {
        Some(option) => match option.refused() {
            Some(reason) => Err(checker.refuse(word, reason)),
            None => checker.switch(word),
        },
        None => Err(checker.refuse(word, "it is not among the switches accepted here")),
    }
}
