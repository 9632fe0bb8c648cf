//! find: starting points, then an expression of predicates. Only known predicates pass.

use super::error::CommandError;
use super::judge::Judge;
use super::role::Role;
use super::rule::CommandRule;

const TESTS: &str = "-print -print0 -ls -prune -quit -depth -d -empty -true -false -o -a -or \
    -and -not -daystart -mount -xdev -nouser -nogroup -readable -writable -executable \
    -noleaf -ignore_readdir_race -noignore_readdir_race -warn -nowarn -follow -help --help \
    -version --version ( ) ! ,";
const WORDS: &str = "-type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -maxdepth \
    -mindepth -perm -links -inum -user -group -uid -gid -used -fstype -regextype";
const PATTERNS: &str =
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -printf";
const FILES: &str = "-newer -anewer -cnewer -neweraa -neweram -newerac -newerma -newermm \
    -newermc -newerca -newercm -newercc -samefile";
const TIMES: &str = "-newerat -newermt -newerct";
const PROGRAMS: &str = "-exec -execdir -ok -okdir";
const OUTPUTS: &str = "-fprint -fprint0 -fprintf -fls";

fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|name| name == word)
}

/// Judges the arguments of find.
pub(super) fn read(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    let deletes = args.iter().any(|word| word == "-delete");
    let start = if deletes { Role::Write } else { Role::Read };
    let mut words = args.iter().map(String::as_str);
    let mut expression = false;
    while let Some(word) = words.next() {
        // A caller used to a shell escapes what a shell would take.
        let word = match word {
            "\\(" => "(",
            "\\)" => ")",
            "\\!" => "!",
            other => other,
        };
        let global = matches!(word, "-H" | "-L" | "-P") || word.starts_with("-O");
        if !expression && global {
            judge.switch(word)?;
            continue;
        }
        if !expression && !word.starts_with('-') && !matches!(word, "(" | ")" | "!" | ",") {
            judge.operand(start, word)?;
            continue;
        }
        expression = true;
        predicate(word, &mut words, judge)?;
    }
    Ok(())
}

fn predicate<'w>(
    word: &str,
    words: &mut impl Iterator<Item = &'w str>,
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    if word == "-delete" {
        judge.changes(word);
        return judge.switch(word);
    }
    if among(PROGRAMS, word) {
        return Err(judge.refuse_with(
            word,
            "commands start no other programs",
            "give -delete in `args` to remove what is found; otherwise print the names and name them \
                in the next call"
                .to_owned(),
        ));
    }
    if among(OUTPUTS, word) {
        return Err(judge.refuse_with(
            word,
            "output goes to standard output alone",
            "use -print, -printf or -ls in `args`, with `stdout_file`".to_owned(),
        ));
    }
    if among(TESTS, word) {
        return judge.switch(word);
    }
    let role = if among(WORDS, word) || among(TIMES, word) {
        Role::Word
    } else if among(PATTERNS, word) {
        Role::Expression
    } else if among(FILES, word) {
        Role::Read
    } else {
        return Err(judge.refuse(word, "it is not among the predicates accepted here"));
    };
    judge.switch(word)?;
    match words.next() {
        Some(value) => judge.operand(role, value),
        None => Ok(()),
    }
}
