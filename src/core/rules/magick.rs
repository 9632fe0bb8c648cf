//! convert, identify and magick: options with values among file names that may carry a coder.
//!
//! The name `magick` came with `ImageMagick` 7. It stands for convert, and with identify as its first
//! argument for that: these are there in every version.

use super::checker::Checker;
use super::error::CommandError;
use super::plan::CommandContext;
use super::syntax::{ArgumentRole, OptionRule, OptionValues};
use super::table::rule_of;
use super::text;
use fileshed_types::Hint;

/// Checks the arguments of magick, which may begin with another tool's name.
pub(super) fn magick(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let other_tools = checker.rule.list("other-tools");
    checker.rule = rule_of("convert").unwrap_or(checker.rule);
    match args.split_first() {
        Some((tool, rest)) if tool == "convert" || tool == "identify" => {
            checker.rule = rule_of(tool).unwrap_or(checker.rule);
            read(checker, rest)
        }
        Some((tool, _)) if other_tools.contains(&tool.as_str()) => Err(checker.refuse(
            tool,
            "of the tools behind magick only convert and identify are offered",
        )),
        _ => read(checker, args),
    }
}

/// Checks the arguments of convert, whose last operand is written, or of identify.
pub(super) fn read(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let writes = checker.rule.name != "identify";
    let mut words = args.iter().map(String::as_str).enumerate();
    let mut images = Vec::new();
    // Most options are reset by `+option`, which takes no value.
    let also_with_plus = checker.rule.list("also-with-plus");
    while let Some((index, word)) = words.next() {
        let option = word
            .strip_prefix(['-', '+'])
            .filter(|name| !name.is_empty());
        let Some(name) = option else {
            let last = writes && index + 1 == args.len() && index > 0;
            if word.to_ascii_lowercase().ends_with(".pdf") {
                return Err(checker.refuse_with(
                    word,
                    "pictures and PDFs are not turned into each other here",
                    pdf_instead(checker.context, &images, word, last),
                ));
            }
            let role = if last {
                ArgumentRole::Write
            } else {
                ArgumentRole::Read
            };
            image(role, word, checker)?;
            images.push(word);
            continue;
        };
        let known = checker.rule.syntax.option(name);
        if let Some(reason) = known.and_then(OptionRule::refused) {
            return Err(checker.refuse(word, reason));
        }
        checker.switch(word)?;
        let values = match known.map(|option| option.takes) {
            Some(OptionValues::Two(..)) => 2,
            Some(OptionValues::One(_))
                if word.starts_with('-') || also_with_plus.contains(&name) =>
            {
                1
            }
            _ => 0,
        };
        for (_, value) in words.by_ref().take(values) {
            if value.starts_with('@') {
                return Err(
                    checker.refuse(value, "`@` reads a file: write the text as an argument")
                );
            }
            checker.operand(ArgumentRole::Word, value)?;
        }
    }
    Ok(())
}

/// What turns pictures into a PDF, or a PDF into pictures.
fn pdf_instead(
    context: &CommandContext<'_>,
    images: &[&str],
    document: &str,
    is_output: bool,
) -> Hint {
    let (program, args) = if is_output {
        ("img2pdf", [images, &["-o", document]].concat())
    } else {
        let name = document.split('.').next().unwrap_or("page");
        ("pdftoppm", vec!["-png", document, name])
    };
    let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
    Hint::new("use ").call(text::call(context, program, &args))
}

fn image(role: ArgumentRole, word: &str, checker: &mut Checker<'_>) -> Result<(), CommandError> {
    if matches!(word, "(" | ")" | "\\(" | "\\)") {
        checker.fixed(word.trim_start_matches('\\'));
        return Ok(());
    }
    if word.starts_with('@') {
        return Err(checker.refuse(
            word,
            "`@` reads a list of names: name the files as arguments",
        ));
    }
    let coder = word
        .split_once(':')
        .filter(|(coder, _)| text::scheme(word).is_none() && !coder.contains(['/', ' ']));
    let Some((coder, rest)) = coder else {
        return checker.operand(role, word);
    };
    let lower = coder.to_ascii_lowercase();
    let prefix = &word[..=coder.len()];
    if checker.rule.list("painted").contains(&&*lower) && !rest.starts_with('@') {
        return checker.value(ArgumentRole::Word, prefix, rest);
    }
    if checker.rule.list("coders").contains(&&*lower) {
        return checker.value(role, prefix, rest);
    }
    Err(checker.refuse(
        word,
        format!("the coder `{coder}:` is not offered; name the file alone, such as `a.png`"),
    ))
}
