//! ffmpeg and ffprobe: options with one value, inputs behind `-i`, outputs as operands.
//!
//! An input is a file of the zone, or with network an address: every other protocol is off, and so
//! are the formats that name further inputs of their own. What an address gives may name further
//! addresses, but no files.

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::{ArgumentRole, OptionRule, OptionValues};
use super::text;
use fileshed_types::Hint;
use fileshed_types::settings::NetworkMode;

/// Protocols of an input that is a file.
const OF_FILES: &str = "file,pipe,crypto,data";

/// Protocols of an input that is an address.
const OF_ADDRESSES: &str = "http,https,tcp,tls,httpproxy,crypto,data";

/// Checks the arguments of ffmpeg, whose operands are outputs, or of ffprobe, where they are inputs.
pub(super) fn read(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let writes = checker.rule.name == "ffmpeg";
    let syntax = &checker.rule.syntax;
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-').filter(|name| !name.is_empty()) else {
            if writes {
                file(ArgumentRole::Write, word, checker)?;
            } else {
                input(word, None, checker)?;
            }
            continue;
        };
        let option = option.trim_start_matches('-');
        let name = option.split(':').next().unwrap_or(option);
        let known = syntax.option(name);
        let from_file = || syntax.option(option.strip_prefix('/')?);
        if let Some(reason) = known.or_else(from_file).and_then(OptionRule::refused) {
            return Err(checker.refuse(word, reason));
        }
        if name.starts_with('/') {
            return Err(checker.refuse(word, "an option is not read from a file"));
        }
        if name == "i" {
            match words.next() {
                Some(named) => input(named, Some(word), checker)?,
                None => checker.switch(word)?,
            }
            continue;
        }
        checker.switch(word)?;
        if known.is_some_and(|option| matches!(option.takes, OptionValues::Nothing)) {
            continue;
        }
        let Some(value) = words.next() else { continue };
        if name == "f" && checker.rule.list("formats").contains(&value) {
            return Err(checker.refuse_with(
                value,
                "this format names inputs or outputs of its own",
                Hint::new(
                    "give the inputs with -i; to join files use -filter_complex \
                     \"concat=n=2:v=1:a=1\" with one -i for each",
                ),
            ));
        }
        checker.operand(ArgumentRole::Word, value)?;
    }
    Ok(())
}

/// An input behind `option`, with the protocols that it may use.
fn input(word: &str, option: Option<&str>, checker: &mut Checker<'_>) -> Result<(), CommandError> {
    let scheme = text::scheme(word).map(str::to_ascii_lowercase);
    let online = matches!(scheme.as_deref(), Some("http" | "https"))
        && checker.context.network != NetworkMode::Disabled;
    checker.fixed("-protocol_whitelist");
    checker.fixed(if online { OF_ADDRESSES } else { OF_FILES });
    option.map_or(Ok(()), |option| checker.switch(option))?;
    if !online {
        return file(ArgumentRole::Read, word, checker);
    }
    checker.network = true;
    checker.operand(ArgumentRole::Url, word)
}

fn file(role: ArgumentRole, word: &str, checker: &mut Checker<'_>) -> Result<(), CommandError> {
    if word == "pipe:1" || word == "pipe:" {
        return checker.switch(word);
    }
    if text::scheme(word).is_none()
        && text::prefix(word).is_some_and(|prefix| prefix.len() > 1 && !prefix.contains('.'))
    {
        return Err(checker.refuse(
            word,
            "a prefix in front of a name is a protocol of ffmpeg: \
            name the file alone, `./` in front if its name has a colon or comma",
        ));
    }
    checker.operand(role, word)
}
