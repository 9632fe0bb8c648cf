//! exiftool: `-Tag` shows a tag, `-Tag=value` writes it, and some options run perl.

use std::iter::Peekable;

use super::error::CommandError;
use super::judge::Judge;
use super::role::Role;
use super::rule::CommandRule;

/// Options that run code, read lists or write beside the file.
const REFUSED: &[(&str, &str)] = &[
    ("if", "it runs code: filter the output of -j with jq"),
    ("p", "it runs code: use -j or -csv and pick with jq"),
    (
        "printformat",
        "it runs code: use -j or -csv and pick with jq",
    ),
    ("execute", "one call is one run"),
    ("stay_open", "one call is one run"),
    ("common_args", "one call is one run"),
    ("api", "it can run code"),
    ("userparam", "it can run code"),
    ("config", "it runs code"),
    ("use", "it loads code"),
    (
        "@",
        "it reads arguments from a file: write them as arguments",
    ),
    (
        "argfile",
        "it reads arguments from a file: write them as arguments",
    ),
    ("o", "use cp first, then change the copy"),
    ("out", "use cp first, then change the copy"),
    ("w", "use stdout_file"),
    ("W", "use stdout_file"),
    ("textout", "use stdout_file"),
    ("tagout", "use stdout_file"),
    ("efile", "use stdout_file"),
    ("geotag", "it reads other files"),
    ("diff", "run exiftool on each file and use diff"),
    ("list_dir", "use ls"),
    ("srcfile", "name the file itself"),
    ("delete_original", "use rm"),
    ("restore_original", "use mv"),
];
/// Options with a value. One that may do without it (`-lang`, `-charset`) takes none that begins
/// with a dash.
const ONE: &str = "c coordformat d dateformat ext extension x exclude charset lang listitem \
    sep separator i ignore ext+ extension+ wm writemode password";
/// The one option with a value that two dashes turn round.
const NEGATED: &str = "ext extension";
/// Tags and options that name files where a `=` follows.
const FILES: &str = "filename directory hardlink symlink testname tagsfromfile addtagsfromfile \
    alltagsfromfile csv json j geotag geosync";
/// What exiftool takes for a dash besides the dash itself.
const MINUS: char = '\u{2212}';

/// Judges the arguments of exiftool.
pub(super) fn read(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    let writes = args.iter().any(|word| {
        word.starts_with('-') && (word.contains('=') || folded(word).starts_with("-tagsfromfile"))
    });
    let role = if writes { Role::Write } else { Role::Read };
    let mut words = args.iter().map(String::as_str).peekable();
    let mut ended = false;
    while let Some(word) = words.next() {
        if word.starts_with(MINUS) {
            return Err(judge.refuse_with(
                word,
                "it begins with U+2212, which exiftool takes for a dash",
                format!("write a dash, or `./{word}` for the file of that name"),
            ));
        }
        if ended || !word.starts_with('-') || word == "-" {
            judge.operand(role, word)?;
            continue;
        }
        if word == "--" {
            ended = true;
            judge.switch(word)?;
            continue;
        }
        option(word, &mut words, judge)?;
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

fn option<'w>(
    word: &str,
    words: &mut Peekable<impl Iterator<Item = &'w str>>,
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    let name = folded(word.trim_start_matches('-'));
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || "!+".contains(c));
    if word.contains(['<', '{']) {
        return Err(judge.refuse(
            word,
            "values come from arguments, not from files or expressions: write -Tag=value",
        ));
    }
    let tag = name
        .split_once('=')
        .map(|(tag, _)| tag.trim_end_matches(['+', '-', '^', '#']));
    if let Some(tag) = tag {
        let plain = tag.rsplit(':').next().unwrap_or(tag);
        if among(FILES, plain) {
            return Err(judge.refuse(
                word,
                "it reads or moves other files: use mv to rename, -Tag=value to write",
            ));
        }
        judge.changes(word);
        return judge.switch(word);
    }
    let exact = REFUSED
        .iter()
        .find(|(refused, _)| *refused == name || (*refused == bare && bare.len() > 1));
    if let Some((_, reason)) = exact {
        return Err(judge.refuse(word, *reason));
    }
    if word.starts_with("-W") || word.starts_with("-w+") || word.starts_with("-w!") {
        return Err(judge.refuse(word, "use stdout_file"));
    }
    judge.switch(word)?;
    let role = match name.as_str() {
        "tagsfromfile" => Role::Read,
        "overwrite_original" | "overwrite_original_in_place" => return Ok(()),
        _ if word.starts_with("--") && !among(NEGATED, &name) => return Ok(()),
        _ if among(ONE, &name) => Role::Word,
        _ => return Ok(()),
    };
    // Where exiftool takes no value after all, what begins with a dash is its next option: it is
    // judged as one.
    match words.peek().copied() {
        Some(value) if !value.starts_with(['-', MINUS]) || value == "-" => {
            words.next();
            judge.operand(role, value)
        }
        _ => Ok(()),
    }
}

fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|name| name == word)
}
