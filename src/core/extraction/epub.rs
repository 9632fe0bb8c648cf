//! Books: their chapters in the order of reading.

use std::collections::HashMap;
use std::io::{Read, Seek};

use quick_xml::events::Event;

use crate::collector::{Collector, Markup};
use crate::parts::{Parts, resolve, values};
use crate::xml::{attribute, local_name};
use crate::{TextBuilder, Unreadable};

const CONTAINER: &str = "META-INF/container.xml";

/// Reads the chapters of the spine.
pub(crate) fn epub<R: Read + Seek>(
    parts: &mut Parts<R>,
    text: &mut TextBuilder,
) -> Result<(), Unreadable> {
    let packages = values(parts, CONTAINER, "rootfile", "full-path")?;
    let package = packages.and_then(|found| found.into_iter().next());
    let package = package.ok_or_else(|| Unreadable::Missing(CONTAINER.to_owned()))?;
    let (mut files, mut spine) = (HashMap::new(), Vec::new());
    let found = parts.read(&package, |event| {
        if let Event::Start(element) | Event::Empty(element) = event {
            match local_name(&element) {
                "item" => {
                    let file = attribute(&element, "href").unwrap_or_default();
                    files.insert(attribute(&element, "id").unwrap_or_default(), file);
                }
                "itemref" => spine.extend(attribute(&element, "idref")),
                _ => {}
            }
        }
        true
    })?;
    if !found {
        return Err(Unreadable::Missing(package));
    }
    let chapters = spine.iter().filter_map(|id| files.get(id));
    for (file, number) in chapters.zip(1..) {
        if text.is_full() {
            break;
        }
        text.blank_line();
        text.heading(&format!("Section {number}"));
        let mut collector = Collector::new(text, Markup::Web);
        let chapter = resolve(&package, file);
        parts.events(&chapter, true, |event| collector.take(event))?;
        collector.finish();
    }
    Ok(())
}
