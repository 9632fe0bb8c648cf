//! Which parts of a document have its text, and in which order.

use std::io::{Read, Seek};

use crate::parts::Parts;
use crate::xml::{Collector, LIBRE_OFFICE, MICROSOFT};
use crate::{TextBuilder, Unreadable};

/// Which document it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// Text of Word.
    Docx,
    /// Slides of PowerPoint.
    Pptx,
    /// Text or slides of LibreOffice.
    OpenDocument,
}

/// Reads a document, as far as there is room in `text`.
pub fn extract(
    kind: DocumentKind,
    document: impl Read + Seek,
    text: &mut TextBuilder,
) -> Result<(), Unreadable> {
    let mut parts = Parts::open(document)?;
    match kind {
        DocumentKind::Docx => docx(&mut parts, text),
        DocumentKind::Pptx => pptx(&mut parts, text),
        DocumentKind::OpenDocument => collect(&mut parts, "content.xml", LIBRE_OFFICE, text),
    }
}

/// The body, then what lies beside it.
fn docx<R: Read + Seek>(parts: &mut Parts<R>, text: &mut TextBuilder) -> Result<(), Unreadable> {
    collect(parts, "word/document.xml", MICROSOFT, text)?;
    for (part, heading) in [
        ("word/footnotes.xml", "Footnotes"),
        ("word/endnotes.xml", "Endnotes"),
        ("word/comments.xml", "Comments"),
    ] {
        append(parts, part, heading, text)?;
    }
    Ok(())
}

/// The slides with their notes.
fn pptx<R: Read + Seek>(parts: &mut Parts<R>, text: &mut TextBuilder) -> Result<(), Unreadable> {
    let slides = parts.numbered("ppt/slides/slide");
    if slides.is_empty() {
        return Err(Unreadable::Missing("ppt/slides/slide1.xml"));
    }
    for ((number, part), page) in slides.into_iter().zip(1..) {
        if text.is_full() {
            break;
        }
        text.blank_line();
        text.heading(&format!("Slide {page}"));
        collect(parts, &part, MICROSOFT, text)?;
        let relations = format!("ppt/slides/_rels/slide{number}.xml.rels");
        for target in parts.targets(&relations)? {
            if let Some(notes) = target.strip_prefix("../notesSlides/") {
                append(parts, &format!("ppt/notesSlides/{notes}"), "Notes", text)?;
            }
        }
    }
    Ok(())
}

/// A part that every document has.
fn collect<R: Read + Seek>(
    parts: &mut Parts<R>,
    part: &str,
    names: &'static [&'static str],
    text: &mut TextBuilder,
) -> Result<(), Unreadable> {
    let mut collector = Collector::new(text, names);
    let found = parts.read(part, |event| collector.take(event))?;
    text.end_line();
    if found {
        return Ok(());
    }
    Err(Unreadable::Part {
        part: part.to_owned(),
        reason: "it is not there".to_owned(),
    })
}

/// A part with a heading, if there is one that has text.
fn append<R: Read + Seek>(
    parts: &mut Parts<R>,
    part: &str,
    heading: &str,
    text: &mut TextBuilder,
) -> Result<(), Unreadable> {
    let mut own = TextBuilder::new(text.room());
    let mut collector = Collector::new(&mut own, MICROSOFT);
    parts.read(part, |event| collector.take(event))?;
    let (own, _) = own.finish();
    if !own.is_empty() {
        text.heading(heading);
        text.push(&own);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(parts: &[(&str, &str)]) -> Cursor<Vec<u8>> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in parts {
            writer
                .start_file(*name, SimpleFileOptions::default())
                .expect("a part");
            writer.write_all(content.as_bytes()).expect("its content");
        }
        writer.finish().expect("an archive")
    }

    fn read(kind: DocumentKind, parts: &[(&str, &str)]) -> Result<(String, bool), String> {
        let mut text = TextBuilder::new(10_000);
        extract(kind, archive(parts), &mut text).map_err(|error| error.to_string())?;
        Ok(text.finish())
    }

    #[test]
    fn paragraphs_are_lines_and_cells_are_apart() {
        let body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document><w:body>\
            <w:p><w:r><w:t>A&amp;B &#8211; </w:t></w:r><w:r><w:t xml:space=\"preserve\">c</w:t></w:r></w:p>\
            <w:p/>\
            <w:p><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>\
            <w:tbl><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc>\
            <w:tc><w:p><w:r><w:t>3</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
            <w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>\
            <w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>\
            </w:body></w:document>";
        let notes = "<w:footnotes><w:footnote><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnote></w:footnotes>";
        let found = read(
            DocumentKind::Docx,
            &[("word/document.xml", body), ("word/footnotes.xml", notes)],
        );
        let expected = "A&B – c\none\ttwo\nthree\n1 2\t3\nnew\n--- Footnotes ---\na note\n";
        assert_eq!(found, Ok((expected.to_owned(), false)));
    }

    #[test]
    fn slides_come_in_order_with_their_notes() {
        let slide = |text: &str| format!("<p:sld><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>");
        let relations = "<Relationships><Relationship Id=\"1\" Target=\"../notesSlides/notesSlide7.xml\"/></Relationships>";
        let found = read(
            DocumentKind::Pptx,
            &[
                ("ppt/slides/slide10.xml", &slide("ten")),
                ("ppt/slides/slide2.xml", &slide("two")),
                ("ppt/slides/_rels/slide2.xml.rels", relations),
                ("ppt/notesSlides/notesSlide7.xml", &slide("said")),
            ],
        );
        let expected = "--- Slide 1 ---\ntwo\n--- Notes ---\nsaid\n\n--- Slide 2 ---\nten\n";
        assert_eq!(found, Ok((expected.to_owned(), false)));
    }

    #[test]
    fn open_documents_are_read_too() {
        let content = "<office:body><text:h>Title</text:h><text:p>a<text:s text:c=\"2\"/>b<text:tab/>\
            <text:span>c</text:span><text:line-break/>d</text:p>\n  <table:table-row><table:table-cell>\
            <text:p>1</text:p></table:table-cell><table:table-cell><text:p>2</text:p></table:table-cell>\
            </table:table-row></office:body>";
        let found = read(DocumentKind::OpenDocument, &[("content.xml", content)]);
        assert_eq!(found, Ok(("Title\na b\tc\nd\n1\t2\n".to_owned(), false)));
    }

    #[test]
    fn what_is_no_document_is_refused() {
        assert!(read(DocumentKind::Docx, &[("other.xml", "")]).is_err());
        assert!(read(DocumentKind::Pptx, &[]).is_err());
        assert!(read(DocumentKind::Docx, &[("word/document.xml", "<w:p></w:t>")]).is_err());
        let mut text = TextBuilder::new(100);
        assert!(extract(DocumentKind::Docx, Cursor::new(b"no archive"), &mut text).is_err());
    }

    #[test]
    fn text_is_bounded_and_depth_is_no_matter() {
        let many = "<w:p><w:t>äöü</w:t></w:p>".repeat(100_000);
        let mut text = TextBuilder::new(1000);
        extract(
            DocumentKind::Docx,
            archive(&[("word/document.xml", &many)]),
            &mut text,
        )
        .expect("a text");
        let (found, truncated) = text.finish();
        assert!(truncated && found.len() <= 1001);
        let deep = "<w:p>".repeat(200_000);
        let _any = read(DocumentKind::Docx, &[("word/document.xml", &deep)]);
    }

    proptest! {
        #[test]
        fn any_part_is_read_or_refused(content in "[<>/wpt:a&;#x ='\"!\\[\\]-]{0,60}", bytes: Vec<u8>) {
            for kind in [DocumentKind::Docx, DocumentKind::OpenDocument] {
                let parts = [("word/document.xml", content.as_str()), ("content.xml", &content)];
                let _any = read(kind, &parts);
                let mut text = TextBuilder::new(100);
                let _any = extract(kind, Cursor::new(&bytes), &mut text);
            }
        }
    }
}
