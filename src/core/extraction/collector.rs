//! The text among the elements of a part.

use std::collections::{HashMap, HashSet};
use std::mem;

use quick_xml::events::{BytesStart, Event};

use crate::numbering::{ListPlace, Numbering};
use crate::text::note_mark;
use crate::xml::{attribute, character, local_name};
use crate::{LineRole, TextBuilder};

/// The vocabulary of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Markup {
    Microsoft,
    LibreOffice,
    /// XHTML.
    Web,
}

impl Markup {
    /// Elements that hold text, by their names without prefix.
    fn holds(self, name: &str) -> bool {
        match self {
            Self::Microsoft => matches!(name, "t" | "delText"),
            Self::LibreOffice => matches!(name, "p" | "h"),
            Self::Web => name == "body",
        }
    }

    /// Elements that are left out: they stand for the same thing once more, or for nothing that is shown.
    fn passes_by(self, name: &str) -> bool {
        match self {
            Self::Microsoft => matches!(
                name,
                "Fallback"
                    | "sectPr"
                    | "tabs"
                    | "pPrChange"
                    | "rPrChange"
                    | "sectPrChange"
                    | "tblPrChange"
                    | "tcPrChange"
                    | "trPrChange"
            ),
            Self::LibreOffice => name == "note-citation",
            Self::Web => matches!(name, "head" | "script" | "style"),
        }
    }

    /// Elements that are lines of their own.
    fn is_block(self, name: &str) -> bool {
        match name {
            "p" | "h" | "tr" | "table-row" => true,
            _ if self != Self::Web => false,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "div" | "blockquote" | "pre"
            | "dt" | "dd" | "section" | "article" | "figcaption" => true,
            _ => false,
        }
    }
}

/// The element of a note, and its id.
type NoteKey = (&'static str, String);

/// Notes and comments of a document.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// In the order of their marks.
    references: Vec<NoteKey>,
    texts: HashMap<NoteKey, String>,
}

impl Notes {
    /// `true` if the text has a mark of a note of this kind.
    pub(crate) fn refer_to(&self, kind: &str) -> bool {
        self.references.iter().any(|(element, _)| *element == kind)
    }

    /// Adds the texts that another part has.
    pub(crate) fn add(&mut self, other: Self) {
        self.texts.extend(other.texts);
    }

    /// Writes what the marks in the text stand for.
    pub(crate) fn write(&self, text: &mut TextBuilder) {
        let notes = self.references.iter().map(|key| self.texts.get(key));
        text.notes(notes.map(|note| note.map_or("", String::as_str)));
    }
}

/// A text apart from the one around it, which is kept here until its element ends.
struct Frame {
    outer: TextBuilder,
    holders: usize,
    cells: usize,
    /// Elements that were open when it began.
    depth: usize,
    role: FrameRole,
}

/// The use of a text that stands apart.
enum FrameRole {
    Note(NoteKey),
    /// Name of the author of a comment.
    Creator,
    /// Deleted text, by the id of the change.
    Deletion(String),
    /// Notes of a speaker.
    Speech,
}

/// Collects the text of paragraphs.
pub(crate) struct Collector<'t> {
    text: &'t mut TextBuilder,
    markup: Markup,
    /// Numbers of list items, which Word has elsewhere.
    pub(crate) numbering: Option<Numbering>,
    place: ListPlace,
    /// Elements that hold text, and are open.
    holders: usize,
    /// Cells that are open, in which paragraphs do not end lines.
    cells: usize,
    /// Elements that are open in one that is passed by, with that one.
    passed_by: usize,
    depth: usize,
    frames: Vec<Frame>,
    notes: Notes,
    /// Tracked changes of LibreOffice: the id of the one that is described, and those that are known.
    region: String,
    insertions: HashSet<String>,
    deletions: HashMap<String, String>,
    /// Slides of LibreOffice: how many, the style that is described, and the styles that hide one.
    slides: usize,
    style: String,
    hiding: HashSet<String>,
}

impl<'t> Collector<'t> {
    pub(crate) fn new(text: &'t mut TextBuilder, markup: Markup) -> Self {
        Self {
            text,
            markup,
            numbering: None,
            place: ListPlace::default(),
            holders: 0,
            cells: 0,
            passed_by: 0,
            depth: 0,
            frames: Vec::new(),
            notes: Notes::default(),
            region: String::new(),
            insertions: HashSet::new(),
            deletions: HashMap::new(),
            slides: 0,
            style: String::new(),
            hiding: HashSet::new(),
        }
    }

    /// Ends the last line and what is open, and returns the notes.
    pub(crate) fn finish(mut self) -> Notes {
        while let Some(frame) = self.frames.pop() {
            self.close(frame);
        }
        self.text.end_line();
        self.notes
    }

    /// Takes the next event; says whether more is wanted.
    pub(crate) fn take(&mut self, event: Event<'_>) -> bool {
        match event {
            Event::Start(element) => self.begin(&element),
            Event::End(element) => {
                let name = element.name().into_inner();
                self.end(name.rsplit_once(':').map_or(name, |(_, name)| name));
            }
            Event::Empty(element) => {
                self.begin(&element);
                self.end(local_name(&element));
            }
            Event::Text(text) if self.is_wanted() => self.push(&text.xml10_content()),
            Event::CData(text) if self.is_wanted() => self.push(&text.xml10_content()),
            Event::GeneralRef(reference) if self.is_wanted() => {
                if let Some(character) = character(&reference) {
                    self.text.push(character.encode_utf8(&mut [0; 4]));
                }
            }
            _ => {}
        }
        !self.text.is_full()
    }

    /// Notes that the line which begins here is a heading.
    pub(crate) fn begin_heading(&mut self, level: u8) {
        self.text.set_role(LineRole::Heading(level));
    }

    fn is_wanted(&self) -> bool {
        self.passed_by == 0 && self.holders > 0
    }

    fn push(&mut self, text: &str) {
        match self.markup {
            Markup::Microsoft => self.text.push(text),
            Markup::LibreOffice | Markup::Web => self.text.push_collapsed(text),
        }
    }

    /// Returns `true` if an element within one that is passed by has an end. In web pages many have
    /// none.
    fn is_counted(&self, name: &str) -> bool {
        self.markup != Markup::Web || self.markup.passes_by(name)
    }

    fn begin(&mut self, element: &BytesStart<'_>) {
        let name = local_name(element);
        if self.passed_by > 0 || self.markup.passes_by(name) {
            self.passed_by += usize::from(self.is_counted(name));
            return;
        }
        self.depth += 1;
        match name {
            "tc" | "table-cell" | "covered-table-cell" | "td" | "th" => self.cells += 1,
            "tab" => self.text.push("\t"),
            "br" | "cr" | "line-break" if self.cells == 0 => self.text.push("\n"),
            "br" | "cr" | "line-break" => self.text.push(" "),
            _ => match self.markup {
                Markup::Microsoft => self.begin_microsoft(name, element),
                Markup::LibreOffice => self.begin_libre_office(name, element),
                Markup::Web if self.markup.is_block(name) && self.cells == 0 => {
                    self.text.end_line();
                    if name == "li" {
                        self.text.set_role(LineRole::Item);
                        self.text.push("- ");
                    } else if let Some(level) = heading_of_web(name) {
                        self.text.set_role(LineRole::Heading(level));
                    }
                }
                Markup::Web => {}
            },
        }
        if self.cells == 0 && matches!(name, "tr" | "table-row") {
            self.text.set_role(LineRole::Row);
        }
        self.holders += usize::from(self.markup.holds(name));
    }

    fn begin_microsoft(&mut self, name: &str, element: &BytesStart<'_>) {
        match name {
            "ins" | "moveTo" => self.text.begin_change('+'),
            "del" | "moveFrom" => self.text.begin_change('-'),
            "noBreakHyphen" => self.text.push("-"),
            "sym" => {
                let font = attribute(element, "font").unwrap_or_default();
                let code = attribute(element, "char").unwrap_or_default();
                let symbol = symbol(&font, u32::from_str_radix(&code, 16).unwrap_or(0));
                self.text.push(symbol.encode_utf8(&mut [0; 4]));
            }
            "pPr" => self.place = ListPlace::default(),
            "pStyle" | "numId" | "ilvl" => self.place.take(name, attribute(element, "val")),
            "footnoteReference" => self.refer("footnote", element),
            "endnoteReference" => self.refer("endnote", element),
            "commentReference" => self.refer("comment", element),
            "footnote" => self.define("footnote", element),
            "endnote" => self.define("endnote", element),
            "comment" => self.define("comment", element),
            _ => {}
        }
    }

    fn begin_libre_office(&mut self, name: &str, element: &BytesStart<'_>) {
        let value = |name| attribute(element, name).unwrap_or_default();
        match name {
            "s" if self.holders > 0 => self.text.push(" "),
            "h" if self.cells == 0 => {
                let level = value("outline-level").parse().unwrap_or(1);
                self.text.set_role(LineRole::Heading(level));
            }
            "list-item" if self.cells == 0 => self.text.set_role(LineRole::Item),
            "note" | "annotation" => {
                let key = ("note", self.notes.references.len().to_string());
                self.notes.references.push(key.clone());
                self.text.push(&note_mark(self.notes.references.len()));
                self.open(FrameRole::Note(key));
                if name == "annotation" {
                    self.text.push("Comment: ");
                }
            }
            "creator"
                if matches!(
                    self.frames.last(),
                    Some(Frame {
                        role: FrameRole::Note(_),
                        ..
                    })
                ) =>
            {
                self.open(FrameRole::Creator);
                self.holders = 1;
            }
            "changed-region" => self.region = value("id"),
            "insertion" => {
                self.insertions.insert(self.region.clone());
            }
            "deletion" => self.open(FrameRole::Deletion(self.region.clone())),
            "change-start" if self.insertions.contains(&value("change-id")) => {
                self.text.begin_change('+');
            }
            "change-end" if self.insertions.contains(&value("change-id")) => {
                self.text.end_change('+');
            }
            "change" => {
                if let Some(deleted) = self.deletions.get(&value("change-id")) {
                    self.text.begin_change('-');
                    self.text.push(deleted);
                    self.text.end_change('-');
                }
            }
            "style" => self.style = value("name"),
            "drawing-page-properties" if value("visibility") == "hidden" => {
                self.hiding.insert(self.style.clone());
            }
            "page" => {
                self.slides += 1;
                let is_hidden = self.hiding.contains(&value("style-name"));
                let hidden = if is_hidden { " (hidden)" } else { "" };
                self.text.blank_line();
                self.text.heading(&format!("Slide {}{hidden}", self.slides));
            }
            "notes" => self.open(FrameRole::Speech),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if self.passed_by > 0 {
            self.passed_by -= usize::from(self.is_counted(name));
            return;
        }
        if self.markup.holds(name) {
            self.holders = self.holders.saturating_sub(1);
        }
        match name {
            name if self.markup.is_block(name) && self.cells == 0 => self.text.end_line(),
            "tr" | "table-row" => self.text.end_line(),
            name if self.markup.is_block(name) => self.text.push(" "),
            "tc" | "table-cell" | "covered-table-cell" | "td" | "th" => {
                self.cells = self.cells.saturating_sub(1);
                self.text.end_cell();
            }
            "ins" | "moveTo" if self.markup == Markup::Microsoft => self.text.end_change('+'),
            "del" | "moveFrom" if self.markup == Markup::Microsoft => self.text.end_change('-'),
            "pPr" => {
                let place = mem::take(&mut self.place);
                let numbering = self.numbering.as_mut();
                let level = numbering.as_ref().and_then(|known| known.heading(&place));
                let label = numbering.and_then(|numbering| numbering.label(&place));
                if self.cells == 0
                    && let Some(role) = level
                        .map(LineRole::Heading)
                        .or(label.as_ref().map(|_| LineRole::Item))
                {
                    self.text.set_role(role);
                }
                if let Some(label) = label {
                    self.text.push(&label);
                }
            }
            _ => {}
        }
        if let Some(frame) = self.frames.pop_if(|frame| frame.depth == self.depth) {
            self.close(frame);
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Sets the mark of a note that stands in another part.
    fn refer(&mut self, kind: &'static str, element: &BytesStart<'_>) {
        let id = attribute(element, "id").unwrap_or_default();
        self.notes.references.push((kind, id));
        self.text.push(&note_mark(self.notes.references.len()));
    }

    /// Begins a note for which there are marks in another part.
    fn define(&mut self, kind: &'static str, element: &BytesStart<'_>) {
        let id = attribute(element, "id").unwrap_or_default();
        self.open(FrameRole::Note((kind, id)));
        if kind == "comment" {
            let author = attribute(element, "author").unwrap_or_default();
            self.text.push(&format!("Comment by {author}: "));
        }
    }

    fn open(&mut self, role: FrameRole) {
        let inner = self.text.nested();
        self.frames.push(Frame {
            outer: mem::replace(self.text, inner),
            holders: mem::take(&mut self.holders),
            cells: mem::take(&mut self.cells),
            depth: self.depth,
            role,
        });
    }

    fn close(&mut self, frame: Frame) {
        (self.holders, self.cells) = (frame.holders, frame.cells);
        let (inner, is_cut) = mem::replace(self.text, frame.outer).finish();
        if is_cut {
            self.text.cut();
        }
        match frame.role {
            FrameRole::Note(key) => drop(self.notes.texts.insert(key, inner)),
            // It stands before what the person says.
            FrameRole::Creator => {
                let name = inner.trim_end().to_owned();
                *self.text = self.text.nested();
                self.text.push(&format!("Comment by {name}: "));
            }
            FrameRole::Deletion(id) => drop(self.deletions.insert(id, inner.trim_end().to_owned())),
            FrameRole::Speech if inner.is_empty() => {}
            FrameRole::Speech => {
                self.text.heading("Notes");
                self.text.push(&inner);
            }
        }
    }
}

/// The level of a heading of XHTML.
fn heading_of_web(name: &str) -> Option<u8> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

/// Fonts of symbols: the first code, and the characters from there on.
const SYMBOLS: &[(&str, u32, &str)] = &[
    ("Symbol", 0x41, "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"),
    ("Symbol", 0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"),
    ("Symbol", 0xa3, "≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…"),
    ("Wingdings", 0xa8, "☐"),
    ("Wingdings", 0xe0, "→"),
    ("Wingdings", 0xfb, "✗✓☒☑"),
];

/// The character that stands for one of a font of symbols.
fn symbol(font: &str, code: u32) -> char {
    let known = SYMBOLS.iter().filter(|(name, ..)| *name == font);
    let mut known = known.filter_map(|(_, first, characters)| {
        let place = (code & 0xff).checked_sub(*first)?;
        characters.chars().nth(place as usize)
    });
    match code {
        0xf000..=0xf0ff => known.next_back(),
        _ => char::from_u32(code).filter(|character| *character != '\0'),
    }
    .unwrap_or('□')
}
