//! A command line from its name to its plan, or to the refusal of one word. Its words are read by options
//! and operands, or by a grammar of the command's own.

use super::alternatives;
use super::checker::Checker;
use super::error::{CommandError, CommandRefusal};
use super::plan::{CommandContext, CommandPlan};
use super::{archives, curl, documents, find, git, media};

/// Checks a command line as it is.
pub(super) fn check(
    cmd: &str,
    args: &[String],
    context: &CommandContext<'_>,
) -> Result<CommandPlan, CommandError> {
    let mut words = std::iter::once(cmd).chain(args.iter().map(String::as_str));
    if let Some(word) = words.find(|word| word.contains('\0')) {
        let reason = "it contains a NUL character";
        let hint = "remove the NUL character (\\u0000) from `cmd` and `args`";
        let kind = CommandError::Nul;
        return Err(CommandRefusal::error(
            kind,
            cmd,
            Some(word),
            reason,
            hint,
            context,
        ));
    }
    let rule = alternatives::command(cmd, args, context)?;
    let mut checker = Checker::new(rule, context);
    arguments(&mut checker, args)?;
    checker.finish()
}

/// Checks the arguments of the command.
fn arguments(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let read = match checker.rule.name {
        "7z" | "7za" => archives::seven_zip,
        "convert" | "identify" => media::convert,
        "curl" => curl::curl,
        "exiftool" => media::exiftool,
        "ffmpeg" | "ffprobe" => media::ffmpeg,
        "find" => find::read,
        "git" => git::arguments,
        "magick" => media::magick,
        "pandoc" => documents::pandoc,
        "pdfimages" | "pdftoppm" => documents::pdf_pictures,
        "pdftotext" => documents::pdftotext,
        "tar" => archives::tar,
        "wget" => curl::wget,
        _ if checker.rule.plain => plain_words,
        _ => options_and_operands,
    };
    read(checker, args)
}

/// No options: every word has the role of the operands.
fn plain_words(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let role = checker.rule.syntax.rest;
    args.iter().try_for_each(|word| checker.operand(role, word))
}

/// Options and operands in any order, as GNU's getopt reads them.
fn options_and_operands(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let syntax = &checker.rule.syntax;
    let line = checker.tokenize(syntax, args)?;
    checker.check_line(syntax, &line)
}
