//! convert, identify and magick: options with values among file names that may carry a coder.
//!
//! The name `magick` came with `ImageMagick` 7. It stands for convert, and with identify as its first
//! argument for that: these are there in every version.

use super::error::CommandError;
use super::judge::Judge;
use super::role::{Opt, Role, Takes};
use super::{Rules, commands, text};
use crate::Hint;

/// Judges the arguments of convert.
pub(super) fn convert(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    read(judge, args, true)
}

/// Judges the arguments of identify.
pub(super) fn identify(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    read(judge, args, false)
}

/// Judges the arguments of magick, which may begin with another tool's name.
pub(super) fn magick(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    let named = |tool: &str| commands().iter().find(|rule| rule.name == tool);
    let other_tools = judge.rule.list("other-tools");
    judge.rule = named("convert").unwrap_or(judge.rule);
    match args.split_first() {
        Some((tool, rest)) if tool == "convert" => read(judge, rest, true),
        Some((tool, rest)) if tool == "identify" => {
            judge.rule = named(tool).unwrap_or(judge.rule);
            read(judge, rest, false)
        }
        Some((tool, _)) if other_tools.contains(&tool.as_str()) => Err(judge.refuse(
            tool,
            "of the tools behind magick only convert and identify are offered",
        )),
        _ => read(judge, args, true),
    }
}

fn read(judge: &mut Judge<'_>, args: &[String], writes: bool) -> Result<(), CommandError> {
    let mut words = args.iter().map(String::as_str).enumerate();
    let mut images = Vec::new();
    // Most options are reset by `+option`, which takes no value.
    let also_with_plus = judge.rule.list("also-with-plus");
    while let Some((index, word)) = words.next() {
        let option = word
            .strip_prefix(['-', '+'])
            .filter(|name| !name.is_empty());
        let Some(name) = option else {
            let last = writes && index + 1 == args.len() && index > 0;
            if word.to_ascii_lowercase().ends_with(".pdf") {
                return Err(judge.refuse_with(
                    word,
                    "pictures and PDFs are not turned into each other here",
                    pdf_instead(judge.rules, &images, word, last),
                ));
            }
            image(if last { Role::Write } else { Role::Read }, word, judge)?;
            images.push(word);
            continue;
        };
        let known = judge.rule.syntax.option(name);
        if let Some(reason) = known.and_then(Opt::refused) {
            return Err(judge.refuse(word, reason));
        }
        judge.switch(word)?;
        let values = match known.map(|option| option.takes) {
            Some(Takes::Two(..)) => 2,
            Some(Takes::One(_)) if word.starts_with('-') || also_with_plus.contains(&name) => 1,
            _ => 0,
        };
        for (_, value) in words.by_ref().take(values) {
            if value.starts_with('@') {
                return Err(judge.refuse(value, "`@` reads a file: write the text as an argument"));
            }
            judge.operand(Role::Word, value)?;
        }
    }
    Ok(())
}

/// What turns pictures into a PDF, or a PDF into pictures.
fn pdf_instead(rules: &Rules<'_>, images: &[&str], document: &str, is_output: bool) -> Hint {
    let (program, args) = if is_output {
        ("img2pdf", [images, &["-o", document]].concat())
    } else {
        let name = document.split('.').next().unwrap_or("page");
        ("pdftoppm", vec!["-png", document, name])
    };
    let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
    Hint::new("use ").call(text::call(rules, program, &args))
}

fn image(role: Role, word: &str, judge: &mut Judge<'_>) -> Result<(), CommandError> {
    if matches!(word, "(" | ")" | "\\(" | "\\)") {
        judge.fixed(word.trim_start_matches('\\'));
        return Ok(());
    }
    if word.starts_with('@') {
        return Err(judge.refuse(
            word,
            "`@` reads a list of names: name the files as arguments",
        ));
    }
    let coder = word
        .split_once(':')
        .filter(|(coder, _)| text::scheme(word).is_none() && !coder.contains(['/', ' ']));
    let Some((coder, rest)) = coder else {
        return judge.operand(role, word);
    };
    let lower = coder.to_ascii_lowercase();
    let prefix = &word[..=coder.len()];
    if judge.rule.list("painted").contains(&&*lower) && !rest.starts_with('@') {
        return judge.value(Role::Word, prefix, rest);
    }
    if judge.rule.list("coders").contains(&&*lower) {
        return judge.value(role, prefix, rest);
    }
    Err(judge.refuse(
        word,
        format!("the coder `{coder}:` is not offered; name the file alone, such as `a.png`"),
    ))
}
