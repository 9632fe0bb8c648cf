//! convert, identify and magick: options with values among file names that may carry a coder.
//!
//! The name `magick` came with `ImageMagick` 7. It stands for convert, and with identify as its first
//! argument for that: these are there in every version.

use super::error::CommandError;
use super::judge::Judge;
use super::role::Role;
use super::rule::CommandRule;
use super::{Rules, commands, text};
use crate::Hint;

/// Options that write, start programs or talk to a display.
const REFUSED: &[(&str, &str)] = &[
    ("write", "name one output as the last argument"),
    ("process", "it loads code"),
    ("script", "it reads commands from a file"),
    ("display", "there is no display"),
    ("remote", "there is no display"),
    ("window", "there is no display"),
    ("debug", "it shows the server"),
    ("log", "it shows the server"),
    (
        "profile",
        "profiles are other files; use -strip to remove them",
    ),
    ("fx", "use -evaluate or -function"),
];
/// Options with one value.
const ONE: &str = "resize crop quality rotate extent gravity background fill stroke \
    strokewidth pointsize font draw geometry density colors depth type colorspace format \
    blur gaussian-blur sharpen unsharp level gamma brightness-contrast modulate threshold \
    border bordercolor frame size delay loop dispose compose compress define set units \
    sampling-factor interlace filter scale sample thumbnail chop shave splice roll opaque \
    transparent fuzz alpha channel evaluate function morphology bevel implode swirl wave \
    shear distort virtual-pixel tile layers limit sepia-tone solarize posterize edge emboss \
    charcoal paint spread noise adaptive-resize liquid-rescale page label comment caption \
    title weight family style stretch interline-spacing kerning black-threshold \
    white-threshold auto-threshold negate-channel kuwahara statistic repage-to scene \
    quantize dither ordered-dither treedepth precision interpolate orient mattecolor \
    undercolor affine linewidth tint colorize cycle region radial-blur rotational-blur \
    motion-blur selective-blur adaptive-blur adaptive-sharpen contrast-stretch \
    linear-stretch sigmoidal-contrast vignette crop-to metric subimage-search \
    highlight-color lowlight-color seed endian extract antialias-to verbose-to monitor-to \
    attenuate canny hough-lines mean-shift connected-components";
/// Options with two values.
const TWO: &str = "annotate floodfill";
/// Coders that take words or nothing.
const PAINTED: &str =
    "xc canvas gradient radial-gradient plasma pattern label caption rose logo null info";
/// Coders of files.
const CODERS: &str = "png png8 png24 png32 png48 png64 png00 jpg jpeg jpe gif gif87 webp tif \
    tiff tiff64 bmp bmp2 bmp3 ico";

fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|name| name == word)
}

/// Judges the arguments of convert.
pub(super) fn convert(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    read(args, judge, true)
}

/// Judges the arguments of identify.
pub(super) fn identify(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    read(args, judge, false)
}

/// Judges the arguments of magick, which may begin with another tool's name.
pub(super) fn magick(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    let named = |tool: &str| commands().iter().find(|rule| rule.name == tool);
    judge.rule = named("convert").unwrap_or(judge.rule);
    match args.split_first() {
        Some((tool, rest)) if tool == "convert" => read(rest, judge, true),
        Some((tool, rest)) if tool == "identify" => {
            judge.rule = named(tool).unwrap_or(judge.rule);
            read(rest, judge, false)
        }
        Some((tool, _))
            if among(
                "mogrify montage composite compare conjure display animate import stream",
                tool,
            ) =>
        {
            Err(judge.refuse(
                tool,
                "of the tools behind magick only convert and identify are offered",
            ))
        }
        _ => read(args, judge, true),
    }
}

fn read(args: &[String], judge: &mut Judge<'_>, writes: bool) -> Result<(), CommandError> {
    let mut words = args.iter().map(String::as_str).enumerate();
    let mut images = Vec::new();
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
        if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(judge.refuse(word, *reason));
        }
        judge.switch(word)?;
        // `+option` resets most options and takes no value.
        let values = match name {
            _ if among(TWO, name) => 2,
            "distort" | "evaluate" | "function" | "morphology" | "set" | "statistic"
            | "sparse-color" => 2,
            "level" | "noise" | "swap" | "clone" | "delete" if word.starts_with('+') => 1,
            "clone" | "delete" | "insert" | "duplicate" | "swap" => 1,
            _ if word.starts_with('-') && among(ONE, name) => 1,
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
    if among(PAINTED, &lower) && !rest.starts_with('@') {
        return judge.value(Role::Word, prefix, rest);
    }
    if among(CODERS, &lower) {
        return judge.value(role, prefix, rest);
    }
    Err(judge.refuse(
        word,
        format!("the coder `{coder}:` is not offered; name the file alone, such as `a.png`"),
    ))
}
