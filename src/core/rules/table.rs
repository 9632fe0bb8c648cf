//! The whitelist, read from text: one block a command.
//!
//! ```text
//! name[=program][,name…] package [uploads] [network] [words] [plain] [changes]: read... write
//!     word -w --width | --tabsize         two options with a value of that role
//!     word? --color                       the value, if any, stands in the same word
//!     word,read --slurpfile               two values
//!     word* -x                            all words up to the next option
//!
//!     read takes-first -f                 an option that also has an effect on the operands
//!     in-place -i                         an effect, and no value
//!     refuse -l because it links          never accepted
//!     only -abc --quiet                   with these and no other options
//! ```
//!
//! `substitute` names a program that runs if that of the block is not installed, and `own` the options that
//! only the latter takes. After the colon comes the role of each operand, with `...` if it may occur any
//! number of times. Options that are not listed are accepted as switches if the command can do no harm with
//! them; commands with more reach list the accepted ones in `only`. The package `-` is the server itself. The
//! package `set` makes no command but options that others take by `with`; `like` takes the whole syntax of
//! another command, `{name}` in a reason the line `reason name …`. Options of `words` have one dash. A `part`
//! has a syntax, a `list` words that the code of a tool asks for.

use std::sync::LazyLock;

use super::syntax::{
    ArgumentRole, CommandRule, OptionEffect, OptionRule, OptionValues, Syntax, SyntaxPart, named,
};

/// The text, with lines that a backslash cuts made whole.
static TEXT: LazyLock<String> = LazyLock::new(|| {
    concat!(
        include_str!("table/files.txt"),
        include_str!("table/text.txt"),
        include_str!("table/compare.txt"),
        include_str!("table/search.txt"),
        include_str!("table/data.txt"),
        include_str!("table/archives.txt"),
        include_str!("table/media.txt"),
        include_str!("table/documents.txt"),
        include_str!("table/misc.txt"),
        include_str!("table/network.txt"),
    )
    .replace("\\\n", " ")
});

static TABLE: LazyLock<Vec<CommandRule>> = LazyLock::new(|| read().unwrap_or_default());

/// Every command that any zone offers.
pub fn commands() -> &'static [CommandRule] {
    &TABLE
}

/// The rule of a command.
pub(super) fn rule_of(command: &str) -> Option<&'static CommandRule> {
    commands().iter().find(|rule| rule.name == command)
}

/// The Debian package that has the program of a command; empty for a command without a program.
pub fn package_of(command: &str) -> &'static str {
    rule_of(command).map_or("", |rule| rule.package)
}

/// Reads the table, or gives the line that is none.
pub(super) fn read() -> Result<Vec<CommandRule>, &'static str> {
    let (mut blocks, mut reasons) = (Vec::new(), Vec::new());
    for line in TEXT.lines() {
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (keyword, rest) = text.split_once(' ').unwrap_or((text, ""));
        let is_header = text.len() == line.len();
        let read = match keyword {
            "reason" if is_header => rest.split_once(' ').map(|reason| reasons.push(reason)),
            name if is_header => block(name, rest).map(|rule| blocks.push(rule)),
            keyword => entry(&mut blocks, &reasons, keyword, rest),
        };
        read.ok_or(line)?;
    }
    let listed = blocks.into_iter().filter(|rule| rule.package != SET);
    Ok(listed.flat_map(each_name).collect())
}

/// The package of a block that is no command.
const SET: &str = "set";

/// Reads a line of the last block.
fn entry(
    blocks: &mut [CommandRule],
    reasons: &[(&'static str, &'static str)],
    keyword: &'static str,
    rest: &'static str,
) -> Option<()> {
    let (rule, before) = blocks.split_last_mut()?;
    let other = || before.iter().find(|other| other.name == rest);
    let words = || rest.split_whitespace();
    let (syntax, fixed) = match rule.parts.last_mut() {
        Some(part) => (&mut part.syntax, &mut part.fixed),
        None => (&mut rule.syntax, &mut rule.fixed),
    };
    match keyword {
        "substitute" => rule.substitute = Some(rest),
        "own" => rule.own_options.extend(words()),
        "helpers" => rule.helpers.extend(words()),
        "fixed" => fixed.extend(words().map(|word| word.trim_matches('\''))),
        "environment" => rule
            .environment
            .extend(words().filter_map(|word| word.split_once('='))),
        "list" => {
            let (name, words) = rest.split_once(' ')?;
            rule.lists.push((name, words.split_whitespace().collect()));
        }
        "part" => {
            let (name, rest) = rest.split_once(' ')?;
            let (kind, roles) = rest.split_once(": ")?;
            rule.parts.push(SyntaxPart {
                name,
                kind,
                fixed: Vec::new(),
                syntax: operands(Syntax::default(), roles)?,
            });
        }
        "like" => syntax.clone_from(&other()?.syntax),
        "with" => {
            let set = other()?;
            syntax.options.extend_from_slice(&set.syntax.options);
            rule.lists.extend_from_slice(&set.lists);
        }
        "only" => {
            let (takes, effect) = (OptionValues::Nothing, OptionEffect::Ordinary);
            syntax.only = Some(option(rest, syntax.words, takes, effect));
        }
        kind => options(syntax, kind, rest, reasons)?,
    }
    Some(())
}

fn block(name: &'static str, rest: &'static str) -> Option<CommandRule> {
    let (attributes, roles) = rest.split_once(':').unwrap_or((rest, ""));
    let mut words = attributes.split_whitespace();
    let package = words.next()?;
    let has = |attribute| words.clone().any(|word| word == attribute);
    let (name, program) = name.split_once('=').unwrap_or((name, name));
    let syntax = Syntax {
        words: has("words"),
        changes: has("changes"),
        ..Syntax::default()
    };
    Some(CommandRule {
        name,
        program,
        package: if package == "-" { "" } else { package },
        uploads: has("uploads"),
        network: has("network"),
        plain: has("plain"),
        syntax: operands(syntax, roles)?,
        ..CommandRule::default()
    })
}

/// Returns the rules of a block for several commands.
fn each_name(rule: CommandRule) -> impl Iterator<Item = CommandRule> {
    let is_program = rule.program == rule.name;
    rule.name.split(',').map(move |name| CommandRule {
        name,
        program: if is_program { name } else { rule.program },
        ..rule.clone()
    })
}

/// Returns the syntax with these roles of operands.
fn operands(mut syntax: Syntax, roles: &'static str) -> Option<Syntax> {
    let (roles, behind) = roles.split_once(" -- ").unwrap_or((roles, ""));
    let mut roles = roles.split_whitespace();
    while let Some(role) = roles.next() {
        if let Some(repeated) = role.strip_suffix("...") {
            syntax.rest = named(repeated)?;
            if let Some(last) = roles.next() {
                syntax.last = Some(named(last)?);
            }
            break;
        }
        syntax.first.push(named(role)?);
    }
    syntax.behind = if behind.is_empty() {
        syntax.rest
    } else {
        named(behind)?
    };
    Some(syntax)
}

fn options(
    syntax: &mut Syntax,
    kind: &'static str,
    rest: &'static str,
    reasons: &[(&'static str, &'static str)],
) -> Option<()> {
    let (takes, effect, names) = match kind {
        "flag" => (OptionValues::Nothing, OptionEffect::Ordinary, rest),
        "refuse" => {
            let (names, reason) = rest.split_once(" because ")?;
            let reason = match reason.strip_prefix('{') {
                Some(key) => {
                    let key = key.strip_suffix('}')?;
                    reasons.iter().find(|(name, _)| *name == key)?.1
                }
                None => reason,
            };
            (OptionValues::Nothing, OptionEffect::Refused(reason), names)
        }
        kind => match (named(kind), rest.split_once(' ')) {
            (Some(effect), _) => (OptionValues::Nothing, effect, rest),
            (None, Some((effect, names))) if !effect.starts_with('-') => {
                (takes(kind)?, named(effect)?, names)
            }
            (None, _) => (takes(kind)?, OptionEffect::Ordinary, rest),
        },
    };
    for names in names.split(" | ") {
        let option = option(names, syntax.words, takes, effect);
        syntax.options.push(option);
    }
    Some(())
}

/// An option of all these names.
fn option(
    names: &'static str,
    is_words: bool,
    takes: OptionValues,
    effect: OptionEffect,
) -> OptionRule {
    let mut option = OptionRule {
        letters: String::new(),
        names: Vec::new(),
        takes,
        effect,
    };
    for name in names.split_whitespace() {
        match (name.strip_prefix("--"), name.strip_prefix('-')) {
            (Some(long), _) => option.names.push(long),
            (None, Some(long)) if is_words => option.names.push(long),
            (None, letters) => option.letters.push_str(letters.unwrap_or(name)),
        }
    }
    option
}

fn takes(kind: &'static str) -> Option<OptionValues> {
    let role = named::<ArgumentRole>;
    Some(if let Some((one, two)) = kind.split_once(',') {
        OptionValues::Two(role(one)?, role(two)?)
    } else if let Some(kind) = kind.strip_suffix('?') {
        OptionValues::Glued(role(kind)?)
    } else if let Some(kind) = kind.strip_suffix('*') {
        OptionValues::List(role(kind)?)
    } else {
        OptionValues::One(role(kind)?)
    })
}
