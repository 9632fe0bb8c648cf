//! Text of Word, with what other parts say of it: numbers of lists, notes and comments.

use std::io::{Read, Seek};

use crate::collector::{Collector, Markup};
use crate::numbering::Numbering;
use crate::parts::{Parts, Relation, resolve};
use crate::{TextBuilder, Unreadable};

/// Reads the main part, then the notes that it refers to.
pub(crate) fn docx<R: Read + Seek>(
    parts: &mut Parts<R>,
    text: &mut TextBuilder,
) -> Result<(), Unreadable> {
    let main = parts.main("word/document.xml")?;
    let relations = parts.relations(&main)?;
    let related = |kind: &str| {
        let mut relations = relations.iter();
        let found = relations.find(|relation: &&Relation| relation.kind == kind);
        found.map_or_else(
            || resolve(&main, &format!("{kind}.xml")),
            |found| found.part.clone(),
        )
    };
    let mut numbering = Numbering::default();
    numbering.read(parts, &related("numbering"))?;
    numbering.read_styles(parts, &related("styles"))?;
    let mut collector = Collector::new(text, Markup::Microsoft);
    collector.numbering = Some(numbering);
    let found = parts.read(&main, |event| collector.take(event))?;
    let mut notes = collector.finish();
    if !found {
        return Err(Unreadable::Missing(main));
    }
    let mut is_cut = false;
    for (part, element) in [
        ("footnotes", "footnote"),
        ("endnotes", "endnote"),
        ("comments", "comment"),
    ] {
        if notes.refer_to(element) {
            let mut own = text.nested();
            let mut collector = Collector::new(&mut own, Markup::Microsoft);
            parts.read(&related(part), |event| collector.take(event))?;
            notes.add(collector.finish());
            is_cut |= own.is_full();
        }
    }
    notes.write(text);
    if is_cut {
        text.cut();
    }
    Ok(())
}
