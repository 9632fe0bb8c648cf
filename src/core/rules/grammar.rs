//! How the words of each command are read: by options and operands, or by a grammar of its own.

use super::checker::Checker;
use super::error::CommandError;
use super::{curl, exiftool, ffmpeg, find, git, magick, pandoc, pdf, sevenzip, tar};

/// Checks the arguments of the command.
pub(super) fn check(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let read = match checker.rule.name {
        "7z" | "7za" => sevenzip::read,
        "convert" => magick::convert,
        "curl" => curl::curl,
        "exiftool" => exiftool::read,
        "ffmpeg" => ffmpeg::ffmpeg,
        "ffprobe" => ffmpeg::ffprobe,
        "find" => find::read,
        "git" => git::arguments,
        "identify" => magick::identify,
        "magick" => magick::magick,
        "pandoc" => pandoc::read,
        "pdfimages" | "pdftoppm" => pdf::pictures,
        "pdftotext" => pdf::text,
        "tar" => tar::read,
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
