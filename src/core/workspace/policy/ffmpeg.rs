//! ffmpeg and ffprobe: options with one value, inputs behind `-i`, outputs as operands.
//!
//! An input is a file of the zone, or with network an address: every other protocol is off, and so
//! are the formats that name further inputs of their own. What an address gives may name further
//! addresses, but no files.

use super::NetworkMode;
use super::error::CommandError;
use super::judge::Judge;
use super::role::{Opt, Role, Takes};
use super::text;

/// Protocols of an input that is a file.
const OF_FILES: &str = "file,pipe,crypto,data";

/// Protocols of an input that is an address.
const OF_ADDRESSES: &str = "http,https,tcp,tls,httpproxy,crypto,data";

/// Judges the arguments of ffmpeg.
pub(super) fn ffmpeg(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    read(judge, args, Role::Write)
}

/// Judges the arguments of ffprobe, whose operand is an input.
pub(super) fn ffprobe(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    read(judge, args, Role::Read)
}

fn read(judge: &mut Judge<'_>, args: &[String], operand: Role) -> Result<(), CommandError> {
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-').filter(|name| !name.is_empty()) else {
            match operand {
                Role::Read => input(word, None, judge)?,
                _ => file(operand, word, judge)?,
            }
            continue;
        };
        let option = option.trim_start_matches('-');
        let name = option.split(':').next().unwrap_or(option);
        let syntax = &judge.rule.syntax;
        let from_file = option
            .strip_prefix('/')
            .and_then(|name| syntax.option(name));
        let known = syntax.option(name);
        if let Some(reason) = known.or(from_file).and_then(Opt::refused) {
            return Err(judge.refuse(word, reason));
        }
        if name.starts_with('/') {
            return Err(judge.refuse(word, "an option is not read from a file"));
        }
        if name == "i" {
            match words.next() {
                Some(named) => input(named, Some(word), judge)?,
                None => judge.switch(word)?,
            }
            continue;
        }
        judge.switch(word)?;
        if known.is_some_and(|option| matches!(option.takes, Takes::Nothing)) {
            continue;
        }
        let Some(value) = words.next() else { continue };
        if name == "f" && judge.rule.list("formats").contains(&value) {
            return Err(judge.refuse_with(
                value,
                "this format names inputs or outputs of its own",
                "give the inputs with -i; to join files use -filter_complex \
                    \"concat=n=2:v=1:a=1\" with one -i for each"
                    .to_owned(),
            ));
        }
        judge.operand(Role::Word, value)?;
    }
    Ok(())
}

/// An input behind `option`, with the protocols that it may use.
fn input(word: &str, option: Option<&str>, judge: &mut Judge<'_>) -> Result<(), CommandError> {
    let scheme = text::scheme(word).map(str::to_ascii_lowercase);
    let online = matches!(scheme.as_deref(), Some("http" | "https"))
        && judge.rules.network != NetworkMode::Disabled;
    judge.fixed("-protocol_whitelist");
    judge.fixed(if online { OF_ADDRESSES } else { OF_FILES });
    option.map_or(Ok(()), |option| judge.switch(option))?;
    if !online {
        return file(Role::Read, word, judge);
    }
    judge.network = true;
    judge.operand(Role::Url, word)
}

fn file(role: Role, word: &str, judge: &mut Judge<'_>) -> Result<(), CommandError> {
    if word == "pipe:1" || word == "pipe:" {
        return judge.switch(word);
    }
    if text::scheme(word).is_none()
        && text::prefix(word).is_some_and(|prefix| prefix.len() > 1 && !prefix.contains('.'))
    {
        return Err(judge.refuse(
            word,
            "a prefix in front of a name is a protocol of ffmpeg: \
            name the file alone, `./` in front if its name has a colon or comma",
        ));
    }
    judge.operand(role, word)
}
