//! Slides of PowerPoint in the order of the presentation.

use std::io::{Read, Seek};

use quick_xml::events::Event;

use crate::collector::{Collector, Markup};
use crate::parts::{Parts, values};
use crate::xml::{attribute, local_name};
use crate::{TextBuilder, Unreadable};

/// Placeholders of a page of notes that are on every page: number, date, header and footer.
const REPEATED: [&str; 4] = ["sldNum", "dt", "hdr", "ftr"];

/// Reads the slides that the presentation shows, each with its notes.
pub(crate) fn pptx<R: Read + Seek>(
    parts: &mut Parts<R>,
    text: &mut TextBuilder,
) -> Result<(), Unreadable> {
    let main = parts.main("ppt/presentation.xml")?;
    let slides = values(parts, &main, "sldId", "id")?;
    let relations = parts.relations(&main)?;
    let slides = slides.ok_or(Unreadable::Missing(main))?;
    for (id, page) in slides.iter().zip(1..) {
        let Some(slide) = relations.iter().find(|relation| relation.id == *id) else {
            continue;
        };
        if text.is_full() {
            break;
        }
        let mut own = text.nested();
        let is_hidden = collect(parts, &slide.part, &mut own)?;
        let hidden = if is_hidden { " (hidden)" } else { "" };
        text.blank_line();
        text.heading(&format!("Slide {page}{hidden}"));
        text.append(own);
        for relation in parts.relations(&slide.part)? {
            if relation.kind == "notesSlide" {
                let mut notes = text.nested();
                collect(parts, &relation.part, &mut notes)?;
                if !notes.is_empty() {
                    text.heading("Notes");
                    text.append(notes);
                }
            }
        }
    }
    Ok(())
}

/// Reads a slide. Returns `true` if it is not shown.
fn collect<R: Read + Seek>(
    parts: &mut Parts<R>,
    part: &str,
    text: &mut TextBuilder,
) -> Result<bool, Unreadable> {
    let mut collector = Collector::new(text, Markup::Microsoft);
    let (mut is_hidden, mut is_notes) = (false, false);
    let (mut is_repeated, mut skips, mut is_title) = (false, false, false);
    parts.read(part, |event| {
        if let Event::Start(element) | Event::Empty(element) = &event {
            match local_name(element) {
                "sld" => {
                    let show = attribute(element, "show");
                    is_hidden = show.is_some_and(|show| matches!(show.as_str(), "0" | "false"));
                }
                "notes" => is_notes = true,
                "ph" => {
                    let kind = attribute(element, "type").unwrap_or_default();
                    is_repeated = is_notes && REPEATED.contains(&kind.as_str());
                    is_title = matches!(kind.as_str(), "title" | "ctrTitle");
                }
                "txBody" => {
                    skips = std::mem::take(&mut is_repeated);
                    if std::mem::take(&mut is_title) {
                        collector.begin_heading(2);
                    }
                }
                _ => {}
            }
        }
        let is_end =
            matches!(&event, Event::End(element) if element.local_name().into_inner() == "txBody");
        let skipped = skips;
        skips &= !is_end;
        skipped || collector.take(event)
    })?;
    collector.finish();
    Ok(is_hidden)
}
