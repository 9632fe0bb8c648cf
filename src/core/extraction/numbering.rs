//! Numbers of list items in Word: they stand in no paragraph, but follow from its place.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};

use quick_xml::events::Event;

use crate::Unreadable;
use crate::parts::Parts;
use crate::xml::{attribute, local_name};

/// Levels of a list.
const LEVELS: usize = 9;

/// Styles on which a style may be based, one on the other.
const BASES: usize = 10;

/// The place in a list that a paragraph, or its style, names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListPlace {
    pub(crate) style: Option<String>,
    pub(crate) list: Option<String>,
    pub(crate) level: Option<usize>,
}

impl ListPlace {
    /// Takes an element of the properties of a paragraph.
    pub(crate) fn take(&mut self, name: &str, value: Option<String>) {
        match name {
            "pStyle" | "basedOn" => self.style = value,
            "numId" => self.list = value,
            "ilvl" => self.level = value.and_then(|level| level.parse().ok()),
            _ => {}
        }
    }
}

/// A level of a list: first number, format, and text with `%1` for the number of level 1.
#[derive(Clone, Debug, Default)]
struct ListLevel {
    start: Option<u32>,
    format: String,
    text: String,
}

/// The lists of a document, and the numbers that they have reached.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// By the list that others are made from, and level.
    levels: HashMap<(String, usize), ListLevel>,
    /// The list that each is made from.
    lists: HashMap<String, String>,
    /// Numbers with which a list begins anew.
    restarts: HashMap<(String, usize), u32>,
    restarted: HashSet<(String, usize)>,
    styles: HashMap<String, ListPlace>,
    /// Levels of the styles that are headings.
    headings: HashMap<String, u8>,
    counters: HashMap<String, [Option<u32>; LEVELS]>,
}

impl Numbering {
    /// Reads `numbering.xml`.
    pub(crate) fn read<R: Read + Seek>(
        &mut self,
        parts: &mut Parts<R>,
        part: &str,
    ) -> Result<(), Unreadable> {
        let (mut base, mut list, mut level) = (String::new(), String::new(), 0);
        parts.read(part, |event| {
            let (Event::Start(element) | Event::Empty(element)) = &event else {
                return true;
            };
            let value = || attribute(element, "val").unwrap_or_default();
            match local_name(element) {
                "abstractNum" => {
                    base = attribute(element, "abstractNumId").unwrap_or_default();
                    list.clear();
                }
                "num" => list = attribute(element, "numId").unwrap_or_default(),
                "abstractNumId" => drop(self.lists.insert(list.clone(), value())),
                "lvl" | "lvlOverride" => {
                    let given = attribute(element, "ilvl").unwrap_or_default();
                    level = given.parse().unwrap_or(0);
                }
                "startOverride" => {
                    let start = value().parse().unwrap_or(1);
                    self.restarts.insert((list.clone(), level), start);
                }
                name @ ("start" | "numFmt" | "lvlText") if list.is_empty() => {
                    let level = self.levels.entry((base.clone(), level)).or_default();
                    match name {
                        "start" => level.start = value().parse().ok(),
                        "numFmt" => level.format = value(),
                        _ => level.text = value(),
                    }
                }
                _ => {}
            }
            true
        })?;
        Ok(())
    }

    /// Reads the lists to which styles belong.
    pub(crate) fn read_styles<R: Read + Seek>(
        &mut self,
        parts: &mut Parts<R>,
        part: &str,
    ) -> Result<(), Unreadable> {
        let mut id = String::new();
        parts.read(part, |event| {
            if let Event::Start(element) | Event::Empty(element) = &event {
                match local_name(element) {
                    "style" => id = attribute(element, "styleId").unwrap_or_default(),
                    "name" | "outlineLvl" => {
                        let value = attribute(element, "val").unwrap_or_default();
                        let level = match local_name(element) {
                            "name" => heading_of_name(&value),
                            _ => value
                                .parse()
                                .ok()
                                .filter(|level| *level < 9)
                                .map(|level: u8| level + 1),
                        };
                        if let Some(level) = level {
                            self.headings.entry(id.clone()).or_insert(level);
                        }
                    }
                    name => {
                        let style = self.styles.entry(id.clone()).or_default();
                        style.take(name, attribute(element, "val"));
                    }
                }
            }
            true
        })?;
        Ok(())
    }

    /// The level of the heading that a paragraph is, by its style or one that this is based on.
    pub(crate) fn heading(&self, paragraph: &ListPlace) -> Option<u8> {
        let mut style = paragraph.style.as_ref()?;
        for _ in 0..BASES {
            let level = self.headings.get(style).copied();
            if let Some(level) = level.or_else(|| heading_of_name(style)) {
                return Some(level);
            }
            style = self.styles.get(style)?.style.as_ref()?;
        }
        None
    }

    /// Counts a paragraph, and returns its number or bullet. `None` if it is in no list.
    pub(crate) fn label(&mut self, paragraph: &ListPlace) -> Option<String> {
        let mut place = paragraph.clone();
        for _ in 0..BASES {
            let Some(style) = place.style.take().and_then(|style| self.styles.get(&style)) else {
                break;
            };
            place.list = place.list.or_else(|| style.list.clone());
            place.level = place.level.or(style.level);
            place.style.clone_from(&style.style);
        }
        let list = place.list?;
        let level = place.level.unwrap_or(0).min(LEVELS - 1);
        let base = self.lists.get(&list)?.clone();
        let counters = self.counters.entry(base.clone()).or_default();
        let start = |level: usize| {
            let level = self.levels.get(&(base.clone(), level));
            level.and_then(|level| level.start).unwrap_or(1)
        };
        let key = (list, level);
        let restart = self.restarts.get(&key);
        counters[level] = Some(match (counters[level], restart) {
            (_, Some(first)) if self.restarted.insert(key.clone()) => *first,
            (Some(number), _) => number.saturating_add(1),
            (None, _) => start(level),
        });
        counters[level + 1..].fill(None);
        let own = self.levels.get(&(base.clone(), level))?;
        if own.format == "bullet" {
            return Some(format!("{}- ", "  ".repeat(level)));
        }
        let mut text = own.text.clone();
        for (above, counter) in counters.iter_mut().enumerate().take(level + 1) {
            let number = *counter.get_or_insert_with(|| start(above));
            let format = self.levels.get(&(base.clone(), above));
            let format = format.map_or("decimal", |level| &level.format);
            text = text.replace(&format!("%{}", above + 1), &written(number, format));
        }
        let is_whole = level > 0 && own.text.contains("%1");
        let indent = "  ".repeat(if is_whole { 0 } else { level });
        (!text.trim().is_empty()).then(|| format!("{indent}{} ", text.trim()))
    }
}

/// The level of a style that Word calls a heading: its names are the same in every language.
fn heading_of_name(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(1);
    }
    let level = name.strip_prefix("heading")?.trim().parse().ok()?;
    (1..=9).contains(&level).then_some(level)
}

/// A number as lists show it.
fn written(number: u32, format: &str) -> String {
    let plain = number.to_string();
    let text = match format {
        "lowerLetter" | "upperLetter" if (1..=780).contains(&number) => {
            let letter = char::from(b'a' + ((number - 1) % 26) as u8);
            letter.to_string().repeat(((number - 1) / 26 + 1) as usize)
        }
        "lowerRoman" | "upperRoman" if (1..4000).contains(&number) => roman(number),
        "decimalZero" => format!("{number:02}"),
        "none" => String::new(),
        _ => plain,
    };
    if format.starts_with("upper") {
        text.to_uppercase()
    } else {
        text
    }
}

fn roman(mut number: u32) -> String {
    const NUMERALS: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut text = String::new();
    for (value, numeral) in NUMERALS {
        while number >= value {
            text.push_str(numeral);
            number -= value;
        }
    }
    text
}
