//! The text among the elements of a part.

use quick_xml::events::{BytesRef, Event};

use crate::TextBuilder;

/// The elements of Microsoft's formats that hold text, by their names without prefix.
pub(crate) const MICROSOFT: &[&str] = &["t"];

/// Those of LibreOffice's formats.
pub(crate) const LIBRE_OFFICE: &[&str] = &["p", "h"];

/// Collects the text of paragraphs. Elements are known by their names without prefix, which the
/// formats have in common.
pub(crate) struct Collector<'t> {
    text: &'t mut TextBuilder,
    /// Elements that hold text, and are open.
    holders: usize,
    /// Cells that are open, in which paragraphs do not end lines.
    cells: usize,
    /// Elements that are open in one that is passed by, with that one.
    passed_by: usize,
    /// The elements that hold text.
    names: &'static [&'static str],
}

impl<'t> Collector<'t> {
    pub(crate) fn new(text: &'t mut TextBuilder, names: &'static [&'static str]) -> Self {
        Self {
            text,
            holders: 0,
            cells: 0,
            passed_by: 0,
            names,
        }
    }

    /// Takes the next event; says whether more is wanted.
    pub(crate) fn take(&mut self, event: Event<'_>) -> bool {
        match event {
            Event::Start(element) => {
                if self.passed_by > 0 || is_passed_by(element.local_name().as_ref()) {
                    self.passed_by += 1;
                } else {
                    self.begin(element.local_name().as_ref());
                }
            }
            Event::End(element) => {
                if self.passed_by > 0 {
                    self.passed_by -= 1;
                } else {
                    self.end(element.local_name().as_ref());
                }
            }
            Event::Empty(element) if self.passed_by == 0 => {
                self.begin(element.local_name().as_ref());
                self.end(element.local_name().as_ref());
            }
            Event::Text(text) if self.is_wanted() => self.text.push(&text.xml10_content()),
            Event::CData(text) if self.is_wanted() => self.text.push(&text.xml10_content()),
            Event::GeneralRef(reference) if self.is_wanted() => self.refer(&reference),
            _ => {}
        }
        !self.text.is_full()
    }

    fn is_wanted(&self) -> bool {
        self.passed_by == 0 && self.holders > 0
    }

    fn begin(&mut self, name: &str) {
        if self.names.contains(&name) {
            self.holders += 1;
        }
        match name {
            "tc" | "table-cell" => self.cells += 1,
            "tab" => self.text.push("\t"),
            "s" if self.holders > 0 => self.text.push(" "),
            "br" | "cr" | "line-break" if self.cells == 0 => self.text.push("\n"),
            "br" | "cr" | "line-break" => self.text.push(" "),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if self.names.contains(&name) {
            self.holders = self.holders.saturating_sub(1);
        }
        match name {
            "p" | "h" if self.cells > 0 => self.text.push(" "),
            "p" | "h" | "tr" | "table-row" => self.text.end_line(),
            "tc" | "table-cell" => {
                self.cells = self.cells.saturating_sub(1);
                self.text.end_cell();
            }
            _ => {}
        }
    }

    /// A character that has a name or a number.
    fn refer(&mut self, reference: &BytesRef<'_>) {
        let character = match reference.resolve_char_ref() {
            Ok(Some(character)) => Some(character),
            Ok(None) | Err(_) => match reference.as_ref() {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                "nbsp" => Some('\u{a0}'),
                _ => None,
            },
        };
        if let Some(character) = character {
            self.text.push(character.encode_utf8(&mut [0; 4]));
        }
    }
}

/// What was deleted or moved away, and what stands for the same thing once more.
fn is_passed_by(name: &str) -> bool {
    matches!(name, "del" | "moveFrom" | "Fallback" | "tracked-changes")
}
