//! Hints: what to do next, as data.
//!
//! A hint is a few clauses, each a sentence that may hold calls. A call is data until it is written out.
//! So the zone of the failure can be added to it, each surface writes it in its own words, and a clause
//! is left out if the caller was not offered its operation. The rule for each: made as it stands, in the
//! situation that it answers, a call does what was meant and has no other effect.

use std::borrow::Cow;
use std::fmt::{Display, Formatter};

use serde_json::{Map, Value};

/// Most bytes of a clause. A longer one costs more than it helps.
const CLAUSE_MAX_BYTES: usize = 2_000;

/// Text of a hint if the caller was offered none of the operations that would help.
const NOTHING_OFFERED: &str =
    "tell the user that no tool here can do this, and continue with something else";

/// The next steps after a failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hint {
    clauses: Vec<Clause>,
}

/// A part of a hint that is shown or left out as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
struct Clause {
    parts: Vec<HintPart>,
    /// `true` if it is shown only if the clause before it is not.
    instead: bool,
    /// `true` if it needs a command that is not installed; then it is not shown.
    lost: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum HintPart {
    Text(Cow<'static, str>),
    /// Commands, any of which will do.
    Commands(Vec<&'static str>),
    Call(NextCall),
    Repeat(Repeat),
}

/// A call to be made as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct NextCall {
    /// The operation that is called.
    pub operation: &'static str,
    /// The arguments, by the names of their parameters.
    pub arguments: Vec<(&'static str, Argument)>,
    /// `true` if the call is about the zone of the failure, which is added once it is known.
    here: bool,
    /// Commands that the operation runs.
    needs: &'static [&'static str],
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A value that is known when the failure occurs.
    Value(Value),
    /// The failed call's own value of this parameter.
    Given(&'static str),
    /// A list of such values.
    List(Vec<Argument>),
}

/// The failed call again, with changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeat {
    set: Vec<(String, Value)>,
    without: Vec<String>,
}

impl Hint {
    /// Creates a hint with one sentence. It may name operations; a call of one is added with [`Hint::call`].
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self::default().or(text)
    }

    /// Adds another clause: a further step, or an alternative.
    #[must_use]
    pub fn or(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.clauses.push(Clause::default());
        self.say(text)
    }

    /// Adds a clause that is shown only if an operation of the clause before is not offered.
    #[must_use]
    pub fn instead(self, text: impl Into<Cow<'static, str>>) -> Self {
        let mut hint = self.or(text);
        if let Some(last) = hint.clauses.last_mut() {
            last.instead = true;
        }
        hint
    }

    /// Goes on with words.
    #[must_use]
    pub fn say(self, text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        if text.is_empty() {
            return self;
        }
        self.part(HintPart::Text(text))
    }

    /// Goes on with the names of commands, any of which will do.
    #[must_use]
    pub fn commands(self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.part(HintPart::Commands(names.into_iter().collect()))
    }

    /// Goes on with a call.
    #[must_use]
    pub fn call(self, call: NextCall) -> Self {
        self.part(HintPart::Call(call))
    }

    /// Goes on with the failed call, changed.
    #[must_use]
    pub fn again(self, repeat: Repeat) -> Self {
        self.part(HintPart::Repeat(repeat))
    }

    fn part(mut self, part: HintPart) -> Self {
        if self.clauses.is_empty() {
            self.clauses.push(Clause::default());
        }
        if let Some(last) = self.clauses.last_mut() {
            last.parts.push(part);
        }
        self
    }

    fn calls(&mut self) -> impl Iterator<Item = &mut NextCall> {
        let parts = self.clauses.iter_mut().flat_map(|clause| &mut clause.parts);
        parts.filter_map(|part| match part {
            HintPart::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Adds the zone of the failure to the calls that are about it.
    pub fn in_zone(&mut self, zone: &str) {
        for call in self.calls().filter(|call| call.here) {
            if call.argument("zone").is_none() {
                call.arguments.insert(0, ("zone", zone.into()));
            }
        }
    }

    /// Adds the group of the failure to the calls that are about it.
    pub fn in_group(&mut self, group: &str) {
        for call in self.calls().filter(|call| call.here) {
            let zone = call.argument("zone");
            if zone == Some(&Argument::from("group")) && call.argument("group").is_none() {
                call.arguments.insert(1, ("group", group.into()));
            }
        }
    }

    /// Completes the calls from the arguments of the call that failed.
    pub fn complete(&mut self, given: &Map<String, Value>) {
        if let Some(zone) = given.get("zone").and_then(Value::as_str) {
            self.in_zone(zone);
        }
        if let Some(group) = given.get("group").and_then(Value::as_str) {
            self.in_group(group);
        }
        for call in self.calls() {
            for (_, argument) in &mut call.arguments {
                argument.complete(given);
            }
        }
    }

    /// Takes out the clauses that need a command of which `is_missing` is true. `given` are the
    /// arguments of the call that failed, which a repetition keeps. If no clause is left, the hint
    /// leads to the list of commands.
    pub fn without_commands(
        &mut self,
        given: &Map<String, Value>,
        is_missing: impl Fn(&str) -> bool,
    ) {
        for clause in &mut self.clauses {
            clause.lost |= clause.parts.iter_mut().any(|part| match part {
                HintPart::Text(_) => false,
                HintPart::Commands(names) => {
                    names.retain(|name| !is_missing(name));
                    names.is_empty()
                }
                HintPart::Call(call) => call.commands().any(&is_missing),
                HintPart::Repeat(repeat) => repeat.command(given).is_some_and(&is_missing),
            });
        }
        if self.clauses.iter().any(|clause| clause.lost)
            && self.clauses.iter().all(|clause| clause.lost)
        {
            *self = Self::from(NextCall::new("shed_allowed_commands"))
                .say(" lists the commands that are installed");
        }
    }

    /// Returns the words for a caller of this surface.
    pub fn told(&self, surface: &dyn HintSurface) -> String {
        self.offered(surface)
            .unwrap_or_else(|| NOTHING_OFFERED.to_owned())
    }

    /// Returns the words for a caller of this surface; `None` if all of them are about what it does not
    /// have.
    pub fn offered(&self, surface: &dyn HintSurface) -> Option<String> {
        Some(self.words(|clause| clause.offered(surface))).filter(|words| !words.is_empty())
    }

    fn words(&self, words: impl Fn(&Clause) -> Option<String>) -> String {
        let mut told: Vec<String> = Vec::new();
        let mut is_told = false;
        for clause in &self.clauses {
            if clause.instead && is_told {
                continue;
            }
            let words = Some(clause).filter(|clause| !clause.lost).and_then(&words);
            is_told = words.is_some();
            told.extend(words.filter(|words| !words.is_empty()));
        }
        told.join("; ")
    }
}

/// The words for a caller that was offered everything.
impl Display for Hint {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.words(|clause| Some(clause.words(&Tools(|_| true)))))
    }
}

/// Sentences that hold no call: a clause each.
impl From<&'static str> for Hint {
    fn from(text: &'static str) -> Self {
        text.split("; ").fold(Self::default(), Self::or)
    }
}

/// A sentence that holds no call.
impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<NextCall> for Hint {
    fn from(call: NextCall) -> Self {
        Self::new("").call(call)
    }
}

impl From<Repeat> for Hint {
    fn from(repeat: Repeat) -> Self {
        Self::new("").again(repeat)
    }
}

/// The surface on which a hint is read: its operations, and its notation of calls.
pub trait HintSurface {
    /// Returns `true` if callers can call this operation.
    fn is_offered(&self, operation: &str) -> bool;

    /// Returns the name by which callers know an offered operation, for use in a sentence.
    fn name<'n>(&self, operation: &'n str) -> &'n str {
        operation
    }

    /// Returns the text of a call to be made as it stands.
    fn call(&self, call: &NextCall) -> String {
        call.to_string()
    }

    /// Returns the text of the failed call, with changes.
    fn repeat(&self, repeat: &Repeat) -> String {
        repeat.to_string()
    }

    /// Returns `true` if callers can repeat the failed call with other arguments.
    fn repeats(&self) -> bool {
        true
    }
}

/// A person at a page, a drive or a command line, who makes no calls.
pub struct Person;

impl HintSurface for Person {
    fn is_offered(&self, _operation: &str) -> bool {
        false
    }

    fn repeats(&self) -> bool {
        false
    }
}

/// The tools of a language model, those that the function offers: `shed_tree(zone="storage")`.
pub struct Tools<Offers: Fn(&str) -> bool>(pub Offers);

impl<Offers: Fn(&str) -> bool> HintSurface for Tools<Offers> {
    fn is_offered(&self, operation: &str) -> bool {
        self.0(operation)
    }
}

/// Returns a hint on freeing space in a zone that is full.
pub fn space() -> Hint {
    Hint::new("make room with shed_delete")
        .or("")
        .call(NextCall::new("shed_stats"))
        .say(" shows the space of each zone")
}

impl Clause {
    /// Returns the words for a caller of a surface, unless it lacks an operation or they are too many.
    fn offered(&self, surface: &dyn HintSurface) -> Option<String> {
        let is_offered = |operation: &str| surface.is_offered(operation);
        let is_whole = self.parts.iter().all(|part| match part {
            HintPart::Text(text) => operations_in(text).all(is_offered),
            HintPart::Call(call) => is_offered(call.operation) && call.is_complete(),
            HintPart::Repeat(_) => surface.repeats(),
            HintPart::Commands(_) => true,
        });
        let words = is_whole.then(|| self.words(surface));
        words.filter(|words| words.len() <= CLAUSE_MAX_BYTES)
    }

    fn words(&self, surface: &dyn HintSurface) -> String {
        let words = self.parts.iter().map(|part| match part {
            HintPart::Text(text) => named(text, surface),
            HintPart::Commands(names) => any_of(names).into(),
            HintPart::Call(call) => surface.call(call).into(),
            HintPart::Repeat(repeat) => surface.repeat(repeat).into(),
        });
        words.collect()
    }
}

/// Joins names, with an `or` before the last.
fn any_of(names: &[&str]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        names => names.concat(),
    }
}

/// Replaces the operations in a text by the names by which callers know them.
fn named<'t>(text: &'t str, surface: &dyn HintSurface) -> Cow<'t, str> {
    let mut words = Cow::Borrowed(text);
    for operation in operations_in(text) {
        let name = surface.name(operation);
        if name != operation {
            words = Cow::Owned(words.replacen(operation, name, 1));
        }
    }
    words
}

/// Returns the operations that a text names.
fn operations_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("shed_").map(|(at, _)| {
        let name = &text[at..];
        let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        &name[..end.unwrap_or(name.len())]
    })
}

impl NextCall {
    /// Creates a call whose own arguments give its zone, if it needs one.
    pub const fn new(operation: &'static str) -> Self {
        Self {
            operation,
            arguments: Vec::new(),
            here: false,
            needs: &[],
        }
    }

    /// Creates a call in the zone, and the group, of the failure.
    pub const fn here(operation: &'static str) -> Self {
        let mut call = Self::new(operation);
        call.here = true;
        call
    }

    /// Adds the commands that the operation runs with these arguments.
    #[must_use]
    pub const fn needing(mut self, commands: &'static [&'static str]) -> Self {
        self.needs = commands;
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, parameter: &'static str, value: impl Into<Argument>) -> Self {
        self.arguments.push((parameter, value.into()));
        self
    }

    /// Adds an argument that has the value of the failed call.
    #[must_use]
    pub fn given(self, parameter: &'static str) -> Self {
        self.with(parameter, Argument::Given(parameter))
    }

    /// Returns the argument for a parameter.
    pub fn argument(&self, parameter: &str) -> Option<&Argument> {
        let found = self.arguments.iter().find(|(name, _)| *name == parameter);
        found.map(|(_, argument)| argument)
    }

    /// Returns the argument for a parameter, if it is a text that is known.
    pub fn text(&self, parameter: &str) -> Option<&str> {
        match self.argument(parameter)? {
            Argument::Value(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the commands that it runs.
    fn commands(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().copied().chain(self.text("cmd"))
    }

    /// Returns `true` if every value of the call is known.
    fn is_complete(&self) -> bool {
        let has_zone = !self.here || self.argument("zone").is_some();
        has_zone && self.arguments.iter().all(|(_, value)| value.is_complete())
    }
}

impl Display for NextCall {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|(parameter, value)| format!("{parameter}={value}"));
        write!(formatter, "{}({})", self.operation, listed(arguments))
    }
}

impl Argument {
    fn complete(&mut self, given: &Map<String, Value>) {
        match self {
            Self::Value(_) => {}
            Self::Given(parameter) => {
                if let Some(value) = given.get(*parameter) {
                    *self = Self::Value(value.clone());
                }
            }
            Self::List(items) => items.iter_mut().for_each(|item| item.complete(given)),
        }
    }

    fn is_complete(&self) -> bool {
        match self {
            Self::Value(_) => true,
            Self::Given(_) => false,
            Self::List(items) => items.iter().all(Self::is_complete),
        }
    }
}

impl<T: Into<Value>> From<T> for Argument {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl Display for Argument {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(value) => formatter.write_str(&shown(value)),
            Self::Given(_) => formatter.write_str("…"),
            Self::List(items) => {
                write!(formatter, "[{}]", listed(items.iter().map(Self::to_string)))
            }
        }
    }
}

/// Returns a value as a call has it.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", listed(items.iter().map(shown))),
        value => value.to_string(),
    }
}

fn listed(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

impl Repeat {
    /// Returns the command that it runs, if it runs one: its own, or that of the failed call.
    fn command<'r>(&'r self, given: &'r Map<String, Value>) -> Option<&'r str> {
        let own = self.set.iter().find(|(name, _)| name == "cmd");
        let command = own.map(|(_, value)| value).or_else(|| given.get("cmd"));
        command.and_then(Value::as_str)
    }

    /// Repeats the call with another value for a parameter.
    #[must_use]
    pub fn with(parameter: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::default().and(parameter, value)
    }

    /// Repeats the call without a parameter.
    pub fn without(parameter: impl Into<String>) -> Self {
        Self::default().and_without(parameter)
    }

    /// Changes one more parameter to another value.
    #[must_use]
    pub fn and(mut self, parameter: impl Into<String>, value: impl Into<Value>) -> Self {
        self.set.push((parameter.into(), value.into()));
        self
    }

    /// Leaves out one more parameter.
    #[must_use]
    pub fn and_without(mut self, parameter: impl Into<String>) -> Self {
        self.without.push(parameter.into());
        self
    }
}

impl Display for Repeat {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("repeat the call")?;
        for (index, (parameter, value)) in self.set.iter().enumerate() {
            let word = if index == 0 { " with" } else { "," };
            write!(formatter, "{word} {parameter}={}", shown(value))?;
        }
        for (index, parameter) in self.without.iter().enumerate() {
            let word = match (index, self.set.is_empty()) {
                (0, true) => " without",
                (0, false) => ", without",
                _ => " and",
            };
            write!(formatter, "{word} {parameter}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
