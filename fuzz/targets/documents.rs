//! Office documents, books, RTF and mails: whatever is in them, their text is no longer than
//! asked for, and with less room it is the beginning of the same text.
#![no_main]

use std::io::{Cursor, Write as _};

use fileshed_extraction::{DocumentKind, TextBuilder, extract};
use zip::write::{SimpleFileOptions, ZipWriter};

/// Parts that are looked for.
const PARTS: [&str; 14] = [
    "word/document.xml",
    "word/footnotes.xml",
    "word/endnotes.xml",
    "word/comments.xml",
    "word/numbering.xml",
    "word/styles.xml",
    "ppt/presentation.xml",
    "ppt/_rels/presentation.xml.rels",
    "ppt/slides/slide1.xml",
    "ppt/slides/_rels/slide1.xml.rels",
    "ppt/notesSlides/notesSlide1.xml",
    "content.xml",
    "META-INF/container.xml",
    "a.opf",
];

/// More room than any document here fills.
const ROOM: usize = 1 << 20;

fn archive(parts: &[(u8, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in parts {
        let name = PARTS[usize::from(*name) % PARTS.len()];
        // One of each name.
        if archive.start_file(name, stored).is_ok() {
            archive.write_all(content).expect("in memory");
        }
    }
    archive.finish().expect("in memory").into_inner()
}

fn text(kind: DocumentKind, document: &[u8], room: usize) -> Option<(String, bool)> {
    let mut text = TextBuilder::new(room);
    extract(kind, Cursor::new(document), &mut text).ok()?;
    Some(text.finish())
}

libfuzzer_sys::fuzz_target!(|input: (Vec<(u8, &[u8])>, &[u8], bool, u8)| {
    let (parts, bytes, is_raw, less) = input;
    let document = if is_raw { bytes.to_vec() } else { archive(&parts) };
    for kind in [
        DocumentKind::Docx,
        DocumentKind::Pptx,
        DocumentKind::OpenDocument,
        DocumentKind::Epub,
        DocumentKind::Rtf,
        DocumentKind::Mail,
        DocumentKind::Zip,
    ] {
        let Some((whole, truncated)) = text(kind, &document, ROOM) else {
            continue;
        };
        assert!(!truncated && whole.len() <= ROOM);
        let less = usize::from(less);
        let Some((part, truncated)) = text(kind, &document, less) else {
            panic!("with less room it cannot be read");
        };
        // A line end of its own comes behind the last one.
        assert!(part.len() <= less + 1, "{part:?}");
        if truncated {
            assert!(whole.starts_with(part.trim_end()), "{part:?} of {whole:?}");
        } else {
            assert_eq!(part, whole);
        }
    }
});
