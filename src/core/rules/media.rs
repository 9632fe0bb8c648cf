//! Tools for pictures, sound and video. Each names files in a way of its own, and some of what they read names
//! further files or addresses.
//!
//! - convert, identify and magick: options with values among file names that may carry a coder. The name
//!   `magick` came with `ImageMagick` 7. It stands for convert, and with identify as its first argument for
//!   that: these are there in every version.
//! - ffmpeg and ffprobe: options with one value, inputs behind `-i`, outputs as operands. An input is a file
//!   of the zone, or with network an address: every other protocol is off, and so are the formats that name
//!   further inputs of their own. What an address gives may name further addresses, but no files.
//! - exiftool: `-Tag` shows a tag, `-Tag=value` writes it, and some options run perl.

use std::iter::Peekable;

use super::checker::Checker;
use super::error::CommandError;
use super::plan::CommandContext;
use super::syntax::{ArgumentRole, OptionRule, OptionValues};
use super::table::rule_of;
use super::text;
use fileshed_types::Hint;
use fileshed_types::settings::NetworkMode;

/// Checks the arguments of magick, which may begin with another tool's name.
pub(super) fn magick(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let other_tools = checker.rule.list("other-tools");
    checker.rule = rule_of("convert").unwrap_or(checker.rule);
    match args.split_first() {
        Some((tool, rest)) if tool == "convert" || tool == "identify" => {
            checker.rule = rule_of(tool).unwrap_or(checker.rule);
            convert(checker, rest)
        }
        Some((tool, _)) if other_tools.contains(&tool.as_str()) => {
            Err(checker.refuse(tool, "magick offers only convert and identify here"))
        }
        _ => convert(checker, args),
    }
}

/// Checks the arguments of convert, whose last operand is written, or of identify.
pub(super) fn convert(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let writes = checker.rule.name != "identify";
    let drawing = args.first().filter(|word| has_ending(word, ".svg"));
    if writes && let Some(drawing) = drawing {
        return draw(checker, drawing, args);
    }
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
            if has_ending(word, ".pdf") {
                return Err(checker.refuse_with(
                    word,
                    "pictures and PDFs cannot be converted into each other here",
                    pdf_instead(checker.context, &images, word, last),
                ));
            }
            image(ArgumentRole::of_file(last), word, checker)?;
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

fn has_ending(word: &str, ending: &str) -> bool {
    word.to_ascii_lowercase().ends_with(ending)
}

/// Has the program that draws SVG do what convert would leave to it: one drawing becomes one picture.
fn draw(checker: &mut Checker<'_>, drawing: &str, args: &[String]) -> Result<(), CommandError> {
    if let [first, picture] = args
        && first == drawing
        && has_ending(picture, ".png")
    {
        checker.rule = rule_of("rsvg-convert").unwrap_or(checker.rule);
        checker.operand(ArgumentRole::Read, drawing)?;
        checker.fixed("-o");
        return checker.operand(ArgumentRole::Write, picture);
    }
    let name = drawing.rsplit_once('.').map_or(drawing, |(name, _)| name);
    let args = [drawing.to_owned(), "-o".to_owned(), format!("{name}.png")];
    let call = text::call(checker.context, "rsvg-convert", &args);
    Err(checker.refuse_with(
        drawing,
        "an SVG must be converted to PNG first, without other options",
        Hint::new("use ").call(call),
    ))
}

/// Returns a hint with the program that turns images into a PDF, or a PDF into images.
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

/// Protocols of an input that is a file.
const OF_FILES: &str = "file,pipe,crypto,data";

/// Protocols of an input that is an address.
const OF_ADDRESSES: &str = "http,https,tcp,tls,httpproxy,crypto,data";

/// Checks the arguments of ffmpeg, whose operands are outputs, or of ffprobe, where they are inputs.
pub(super) fn ffmpeg(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let writes = checker.rule.name == "ffmpeg";
    let syntax = &checker.rule.syntax;
    let few = writes && !args.iter().any(|word| word.starts_with("-threads"));
    let threads: &[&str] = if few { &["-threads", FEW] } else { &[] };
    let has = |names: &[&str]| args.iter().any(|word| names.contains(&&**word));
    let codecs = ["-c", "-c:v", "-codec", "-codec:v", "-vcodec"];
    let begins = |names: &[&str]| {
        let begins = |word: &String| names.iter().any(|name| word.starts_with(name));
        args.iter().any(begins)
    };
    let is_shaped = begins(&["-pix_fmt", "-vn", "-vf", "-filter", "-lavfi"]);
    let is_free = !is_shaped && (has(&["libx264"]) || !has(&codecs));
    if writes {
        add(checker, messages(checker.rule.list("measures"), args));
    }
    // The next input is a graph of filters.
    let mut is_graph = false;
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-').filter(|name| !name.is_empty()) else {
            if writes {
                add(checker, threads);
                if is_free && FILMS.iter().any(|ending| has_ending(word, ending)) {
                    add(checker, &["-vf", EVEN, "-pix_fmt", "yuv420p"]);
                }
                is_graph = false;
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
            return Err(checker.refuse(word, "options cannot be read from a file"));
        }
        if name == "i" {
            add(checker, threads);
            match words.next() {
                Some(graph) if is_graph => {
                    if graph.contains("movie=") {
                        return Err(checker
                            .refuse(graph, "a filter graph cannot read files: give them with -i"));
                    }
                    checker.switch(word)?;
                    checker.operand(ArgumentRole::Word, graph)?;
                }
                Some(named) => input(named, Some(word), checker)?,
                None => checker.switch(word)?,
            }
            is_graph = false;
            continue;
        }
        checker.switch(word)?;
        if known.is_some_and(|option| matches!(option.takes, OptionValues::Nothing)) {
            continue;
        }
        let Some(value) = words.next() else { continue };
        if name == "f" {
            is_graph = writes && value == "lavfi";
        }
        if name == "f" && !is_graph && checker.rule.list("formats").contains(&value) {
            return Err(checker.refuse_with(
                value,
                "this format can name other inputs or outputs",
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

fn add(checker: &mut Checker<'_>, words: &[&str]) {
    for word in words {
        checker.fixed(word);
    }
}

/// Returns the options that leave out of the messages of ffmpeg what nobody asked for. A filter that
/// measures says what it found there, and without an output the messages are the answer.
fn messages(measures: &[&str], args: &[String]) -> &'static [&'static str] {
    let has = |names: &[&str]| args.iter().any(|word| names.contains(&&**word));
    let says = |word: &String| measures.iter().any(|name| word.contains(name));
    let is_output = match args {
        [.., option, last] => option != "-i" && !last.starts_with('-'),
        _ => false,
    };
    if has(&["-loglevel", "-v", "-stats"]) {
        &[]
    } else if is_output && !has(&["null"]) && !args.iter().any(says) {
        &["-loglevel", "warning"]
    } else {
        &["-nostats"]
    }
}

/// Threads for each input and output: by default they are more than the processors, and each has a stack
/// and pictures of its own.
const FEW: &str = "2";

/// Gives a picture an even width and height, which [`FILMS`] need.
const EVEN: &str = "pad=ceil(iw/2)*2:ceil(ih/2)*2";

/// Video formats that browsers play only with halved colour resolution. Generated images have full
/// resolution, which ffmpeg would keep, in twice the memory.
const FILMS: [&str; 3] = [".mp4", ".m4v", ".mov"];

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

/// The one option with a value that two dashes turn round.
const NEGATED: [&str; 2] = ["ext", "extension"];
/// Character that exiftool takes for a dash, besides the dash itself.
const MINUS: char = '\u{2212}';

/// Checks the arguments of exiftool.
pub(super) fn exiftool(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let role = ArgumentRole::of_file(args.iter().any(|word| {
        word.starts_with('-') && (word.contains('=') || folded(word).starts_with("-tagsfromfile"))
    }));
    let mut words = args.iter().map(String::as_str).peekable();
    let mut ended = false;
    while let Some(word) = words.next() {
        if word.starts_with(MINUS) {
            return Err(checker.refuse_with(
                word,
                "it begins with U+2212, which exiftool takes for a dash",
                format!("write a dash, or `./{word}` for the file of that name"),
            ));
        }
        if ended || !word.starts_with('-') || word == "-" {
            checker.operand(role, word)?;
            continue;
        }
        if word == "--" {
            ended = true;
            checker.switch(word)?;
            continue;
        }
        tag(word, &mut words, checker)?;
    }
    Ok(())
}

/// Names of one letter differ by case, others do not.
fn folded(name: &str) -> String {
    if name.len() == 1 {
        return name.to_owned();
    }
    name.to_ascii_lowercase()
}

/// Checks an option of exiftool, with its value.
fn tag<'w>(
    word: &str,
    words: &mut Peekable<impl Iterator<Item = &'w str>>,
    checker: &mut Checker<'_>,
) -> Result<(), CommandError> {
    let name = folded(word.trim_start_matches('-'));
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || "!+".contains(c));
    if word.contains(['<', '{']) {
        return Err(checker.refuse(
            word,
            "values come from arguments, not from files or expressions: write -Tag=value",
        ));
    }
    let tag = name
        .split_once('=')
        .map(|(tag, _)| tag.trim_end_matches(['+', '-', '^', '#']));
    if let Some(tag) = tag {
        let plain = tag.rsplit(':').next().unwrap_or(tag);
        if checker.rule.list("files").contains(&plain) {
            return Err(checker.refuse(
                word,
                "it reads or moves other files: use mv to rename, -Tag=value to write",
            ));
        }
        checker.changes(word);
        return checker.switch(word);
    }
    let syntax = &checker.rule.syntax;
    let known = syntax.option(&name);
    let numbered = Some(bare).filter(|bare| bare.len() > 1);
    let refused = known.filter(|option| option.refused().is_some());
    let refused = refused.or_else(|| syntax.option(numbered?));
    if let Some(reason) = refused.and_then(OptionRule::refused) {
        return Err(checker.refuse(word, reason));
    }
    if word.starts_with("-W") || word.starts_with("-w+") || word.starts_with("-w!") {
        return Err(checker.refuse(word, "use stdout_file"));
    }
    checker.switch(word)?;
    let is_tag = word.starts_with("--") && !NEGATED.contains(&name.as_str());
    let role = match known.map(|option| option.takes) {
        Some(OptionValues::One(role)) if role == ArgumentRole::Read || !is_tag => role,
        _ => return Ok(()),
    };
    // If exiftool takes no value after all, a word that begins with a dash is its next option and is checked
    // as one.
    match words.peek().copied() {
        Some(value) if !value.starts_with(['-', MINUS]) || value == "-" => {
            words.next();
            checker.operand(role, value)
        }
        _ => Ok(()),
    }
}
