//! Documents part by part, and what becomes of them.

use std::io::{Cursor, Write as _};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn archive(parts: &[(&str, &[u8])]) -> Cursor<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .expect("a part");
        writer.write_all(content).expect("its content");
    }
    writer.finish().expect("an archive")
}

fn text_of(kind: DocumentKind, document: Cursor<Vec<u8>>) -> Result<String, String> {
    let mut text = TextBuilder::new(10_000);
    extract(kind, document, &mut text).map_err(|error| error.to_string())?;
    Ok(text.finish().0)
}

fn read(kind: DocumentKind, parts: &[(&str, &str)]) -> Result<String, String> {
    let parts: Vec<_> = parts
        .iter()
        .map(|(name, content)| (*name, content.as_bytes()))
        .collect();
    text_of(kind, archive(&parts))
}

/// The text of a body of Word, beside other parts.
fn word(body: &str, others: &[(&str, &str)]) -> String {
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let main = [("word/document.xml", document.as_str())];
    read(DocumentKind::Docx, &[&main, others].concat()).expect("a text")
}

#[test]
fn paragraphs_are_lines_and_cells_are_apart() {
    let body = "<w:p><w:pPr><w:tabs><w:tab w:val=\"left\"/></w:tabs></w:pPr><w:r><w:t>A&amp;B &#8211; </w:t></w:r>\
        <w:r><w:t xml:space=\"preserve\">c</w:t></w:r></w:p><w:p/>\
        <w:p><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc>\
        <w:tc><w:p><w:r><w:t>3</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
        <w:p><w:r><w:t>2</w:t><w:noBreakHyphen/><w:t>6, </w:t><w:t>co</w:t><w:softHyphen/><w:t>operate </w:t>\
        <w:sym w:font=\"Symbol\" w:char=\"F0A3\"/><w:sym w:font=\"Wingdings\" w:char=\"F0FC\"/>\
        <w:sym w:font=\"Any\" w:char=\"20AC\"/></w:r></w:p>";
    let expected = "A&B – c\none\ttwo\nthree\n1 2\t3\n2-6, cooperate ≤✓€\n";
    assert_eq!(word(body, &[]), expected);
}

#[test]
fn tracked_changes_are_marked_where_they_are() {
    let body = "<w:p><w:pPr><w:rPr><w:ins w:id=\"1\"/></w:rPr></w:pPr><w:r><w:t>It </w:t></w:r>\
        <w:del><w:r><w:delText>was</w:delText></w:r></w:del>\
        <w:ins><w:r><w:t>i</w:t></w:r></w:ins><w:ins><w:r><w:t>s</w:t></w:r></w:ins><w:r><w:t> so</w:t></w:r>\
        <w:moveFrom><w:r><w:t> far</w:t></w:r></w:moveFrom></w:p>";
    assert_eq!(word(body, &[]), "It [-was-][+is+] so[- far-]\n");
}

#[test]
fn notes_and_comments_have_marks_and_stand_behind_the_text() {
    let body = "<w:p><w:r><w:t>Rent</w:t><w:footnoteReference w:id=\"2\"/><w:t> rises</w:t>\
        <w:commentReference w:id=\"0\"/><w:t>.</w:t><w:endnoteReference w:id=\"1\"/></w:r></w:p>";
    let note = |id: u8, kind: &str, text: &str| {
        format!(
            "<w:{kind} w:id=\"{id}\" w:author=\"Ann\"><w:p><w:r><w:t> {text}</w:t></w:r></w:p></w:{kind}>"
        )
    };
    let footnotes = note(0, "footnote", "a line") + &note(2, "footnote", "the lease");
    let footnotes = format!("<w:footnotes>{footnotes}</w:footnotes>");
    let comments = format!("<w:comments>{}</w:comments>", note(0, "comment", "when?"));
    let endnotes = format!("<w:endnotes>{}</w:endnotes>", note(1, "endnote", "the end"));
    let found = word(
        body,
        &[
            ("word/footnotes.xml", &footnotes),
            ("word/comments.xml", &comments),
            ("word/endnotes.xml", &endnotes),
        ],
    );
    let expected =
        "Rent[^1] rises[^2].[^3]\n\n[^1]: the lease\n[^2]: Comment by Ann: when?\n[^3]: the end\n";
    assert_eq!(found, expected);
}

#[test]
fn list_items_have_their_numbers() {
    let level = |level: u8, format: &str, text: &str| {
        format!(
            "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{text}\"/></w:lvl>"
        )
    };
    let outline = level(0, "decimal", "%1.")
        + &level(1, "lowerLetter", "%2)")
        + &level(2, "decimal", "%1.%2.%3");
    let points = level(0, "bullet", "\u{f0b7}") + &level(1, "upperRoman", "%2.");
    let numbering = format!(
        "<w:numbering><w:abstractNum w:abstractNumId=\"5\">{outline}</w:abstractNum>\
        <w:abstractNum w:abstractNumId=\"6\">{points}</w:abstractNum>\
        <w:num w:numId=\"1\"><w:abstractNumId w:val=\"5\"/></w:num>\
        <w:num w:numId=\"2\"><w:abstractNumId w:val=\"6\"/></w:num>\
        <w:num w:numId=\"3\"><w:abstractNumId w:val=\"5\"/><w:lvlOverride w:ilvl=\"0\">\
        <w:startOverride w:val=\"7\"/></w:lvlOverride></w:num></w:numbering>"
    );
    let styles = "<w:styles><w:style w:styleId=\"Base\"><w:pPr><w:numPr><w:numId w:val=\"2\"/></w:numPr></w:pPr></w:style>\
        <w:style w:styleId=\"Point\"><w:basedOn w:val=\"Base\"/></w:style></w:styles>";
    let item = |list: u8, level: u8, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let point = "<w:p><w:pPr><w:pStyle w:val=\"Point\"/></w:pPr><w:r><w:t>p</w:t></w:r></w:p>";
    let body = [
        item(1, 0, "a"),
        item(1, 1, "b"),
        item(1, 1, "c"),
        item(1, 2, "d"),
        item(1, 0, "e"),
        item(1, 1, "f"),
        point.to_owned(),
        item(2, 1, "q"),
        item(3, 0, "g"),
        item(3, 0, "h"),
        item(0, 0, "none"),
    ];
    let found = word(
        &body.concat(),
        &[
            ("word/numbering.xml", &numbering),
            ("word/styles.xml", styles),
        ],
    );
    let expected = "1. a\n  a) b\n  b) c\n1.b.1 d\n2. e\n  a) f\n- p\n  I. q\n7. g\n8. h\nnone\n";
    assert_eq!(found, expected);
}

#[test]
fn the_main_part_is_where_the_package_says_in_any_encoding() {
    let main = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><w:document><w:body><w:p><w:r><w:t>Größe</w:t>\
        <w:footnoteReference w:id=\"1\"/></w:r></w:p></w:body></w:document>";
    let notes =
        "<w:footnotes><w:footnote w:id=\"1\"><w:p><w:t>here</w:t></w:p></w:footnote></w:footnotes>";
    let package = "<Relationships><Relationship Id=\"r\" Type=\"http://x/officeDocument\" Target=\"/doc/document2.xml\"/></Relationships>";
    let relations = "<Relationships><Relationship Id=\"a\" Type=\"http://x/footnotes\" Target=\"../notes/n.xml\"/></Relationships>";
    let (little, big): (Vec<u8>, Vec<u8>) = (
        main.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        std::iter::once(0xfeff)
            .chain(main.encode_utf16())
            .flat_map(u16::to_be_bytes)
            .collect(),
    );
    let old = main.replace("UTF-16", "ISO-8859-1");
    let old: Vec<u8> = old.chars().map(|c| c as u8).collect();
    for main in [little, big, old] {
        let document = archive(&[
            ("_rels/.rels", package.as_bytes()),
            ("doc/document2.xml", &main),
            ("doc/_rels/document2.xml.rels", relations.as_bytes()),
            ("notes/n.xml", notes.as_bytes()),
        ]);
        let found = text_of(DocumentKind::Docx, document);
        assert_eq!(found, Ok("Größe[^1]\n\n[^1]: here\n".to_owned()));
    }
}

#[test]
fn slides_come_in_the_order_of_the_presentation() {
    let slide = |text: &str, show: &str| {
        format!("<p:sld {show}><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>")
    };
    let presentation = "<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"r3\"/><p:sldId id=\"257\" r:id=\"r1\"/>\
        </p:sldIdLst><p14:sldIdLst><p14:sldId id=\"256\"/></p14:sldIdLst></p:presentation>";
    let target = |id: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"x/slide\" Target=\"{target}\"/>")
    };
    let relations = format!(
        "<Relationships>{}{}{}</Relationships>",
        target("r1", "slides/slide1.xml"),
        target("r2", "slides/slide2.xml"),
        target("r3", "/ppt/other%20name.xml"),
    );
    let notes = "<Relationships><Relationship Id=\"1\" Type=\"x/notesSlide\" Target=\"../notesSlides/n7.xml\"/></Relationships>";
    let parts = [
        ("ppt/presentation.xml", presentation),
        ("ppt/_rels/presentation.xml.rels", &relations),
        ("ppt/slides/slide1.xml", &slide("one", "show=\"0\"")),
        ("ppt/slides/slide2.xml", &slide("two", "")),
        ("ppt/other name.xml", &slide("three", "")),
        ("ppt/slides/_rels/slide1.xml.rels", notes),
        ("ppt/notesSlides/n7.xml", &slide("said", "")),
    ];
    let found = read(DocumentKind::Pptx, &parts);
    let expected = "--- Slide 1 ---\nthree\n\n--- Slide 2 (hidden) ---\none\n--- Notes ---\nsaid\n";
    assert_eq!(found, Ok(expected.to_owned()));
    let empty = read(
        DocumentKind::Pptx,
        &[("ppt/presentation.xml", "<p:presentation/>")],
    );
    assert_eq!(empty, Ok(String::new()));
}

#[test]
fn notes_of_slides_are_without_what_every_page_has() {
    let shape = |kind: &str, text: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:nvPr><p:ph type=\"{kind}\"/></p:nvPr></p:nvSpPr><p:txBody>\
             <a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        )
    };
    let kinds = ["hdr", "dt", "body", "ftr", "sldNum"];
    let shapes = kinds.map(|kind| shape(kind, kind)).concat();
    let free = "<p:sp><p:txBody><a:p><a:r><a:t>free</a:t></a:r></a:p></p:txBody></p:sp>";
    let found = read(
        DocumentKind::Pptx,
        &[
            (
                "ppt/presentation.xml",
                "<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"r1\"/></p:sldIdLst></p:presentation>",
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                "<Relationships><Relationship Id=\"r1\" Type=\"x/slide\" Target=\"s.xml\"/></Relationships>",
            ),
            (
                "ppt/s.xml",
                &format!("<p:sld>{}</p:sld>", shape("ftr", "kept")),
            ),
            (
                "ppt/_rels/s.xml.rels",
                "<Relationships><Relationship Id=\"1\" Type=\"x/notesSlide\" Target=\"n.xml\"/></Relationships>",
            ),
            ("ppt/n.xml", &format!("<p:notes>{shapes}{free}</p:notes>")),
        ],
    );
    let expected = "--- Slide 1 ---\nkept\n--- Notes ---\nbody\nfree\n";
    assert_eq!(found, Ok(expected.to_owned()));
}

#[test]
fn open_documents_are_read_too() {
    let content = "<office:body><text:h>Title</text:h><text:p>a<text:s text:c=\"2\"/>b<text:tab/>\
        <text:span>c</text:span><text:line-break/>d</text:p>\n  <table:table-row><table:table-cell>\
        <text:p>1</text:p></table:table-cell><table:covered-table-cell/><table:table-cell><text:p>2</text:p>\
        </table:table-cell></table:table-row></office:body>";
    let found = read(DocumentKind::OpenDocument, &[("content.xml", content)]);
    assert_eq!(found, Ok("Title\na b\tc\nd\n1\t\t2\n".to_owned()));
}

#[test]
fn notes_and_changes_of_libre_office_are_marked() {
    let content = "<office:text><text:tracked-changes><text:changed-region text:id=\"c1\"><text:deletion>\
        <office:change-info><dc:creator>Ann</dc:creator></office:change-info><text:p>old</text:p></text:deletion>\
        </text:changed-region><text:changed-region text:id=\"c2\"><text:insertion/></text:changed-region>\
        </text:tracked-changes>\
        <text:p>The rent<text:note text:note-class=\"footnote\"><text:note-citation>1</text:note-citation>\
        <text:note-body><text:p>Source: lease</text:p></text:note-body></text:note> is <text:change text:change-id=\"c1\"/>\
        <text:change-start text:change-id=\"c2\"/>new<text:change-end text:change-id=\"c2\"/>\
        <office:annotation><dc:creator>Ann</dc:creator><dc:date>2026-01-02</dc:date><text:p>why?</text:p></office:annotation>.\
        </text:p></office:text>";
    let found = read(DocumentKind::OpenDocument, &[("content.xml", content)]);
    let expected =
        "The rent[^1] is [-old-][+new+][^2].\n\n[^1]: Source: lease\n[^2]: Comment by Ann: why?\n";
    assert_eq!(found, Ok(expected.to_owned()));
    let slides = "<style:style style:name=\"d2\"><style:drawing-page-properties presentation:visibility=\"hidden\"/></style:style>\
        <draw:page draw:style-name=\"d1\"><text:p>one</text:p><presentation:notes><text:p>said</text:p></presentation:notes></draw:page>\
        <draw:page draw:style-name=\"d2\"><text:p>two</text:p><presentation:notes/></draw:page>";
    let slides = format!("<office:presentation>{slides}</office:presentation>");
    let found = read(DocumentKind::OpenDocument, &[("content.xml", &slides)]);
    let expected = "--- Slide 1 ---\none\n--- Notes ---\nsaid\n\n--- Slide 2 (hidden) ---\ntwo\n";
    assert_eq!(found, Ok(expected.to_owned()));
}

#[test]
fn books_are_read_by_their_spine() {
    let container =
        "<container><rootfiles><rootfile full-path=\"OEBPS/c.opf\"/></rootfiles></container>";
    let package = "<package><manifest><item id=\"a\" href=\"a%20b.xhtml\"/><item id=\"b\" href=\"../b.xhtml\"/>\
        <item id=\"n\" href=\"nav.xhtml\"/></manifest><spine><itemref idref=\"b\"/><itemref idref=\"a\"/></spine></package>";
    let first = "<html><head><title>T</title></head><body><h1>Once</h1>\n<p>upon a\n  time&nbsp;&hellip;</p><ul><li>x</li></ul>";
    let second =
        "<html><body><p>The <i>end</i><br/>of<script>x()</script> it & more</p></body></html>";
    let found = read(
        DocumentKind::Epub,
        &[
            ("META-INF/container.xml", container),
            ("OEBPS/c.opf", package),
            ("b.xhtml", first),
            ("OEBPS/a b.xhtml", second),
        ],
    );
    let expected = "--- Section 1 ---\nOnce\nupon a time\u{a0}…\n- x\n\n--- Section 2 ---\nThe end\nof it & more\n";
    assert_eq!(found, Ok(expected.to_owned()));
}

#[test]
fn rich_text_is_read() {
    let source = r"{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}{\colortbl;\red0;}
{\*\generator X;}\headery720\pard Gr\'fc\'dfe \u8364? 2\_6\par{\f1 \u1082\'3f\u1072 ?}\tab{\b fett}\line
a\{b\}{\footnote {\chftn } the lease} end\par {\header no}\u-10179?\u-8704?}";
    let found = text_of(DocumentKind::Rtf, Cursor::new(source.into()));
    let expected = "Grüße € 2-6\nка\tfett\na{b}[^1] end\n😀\n\n[^1]: the lease\n";
    assert_eq!(found, Ok(expected.to_owned()));
}

#[test]
fn mails_are_read() {
    let source = "From: =?utf-8?Q?J=C3=BCrgen?= <j@example.org>\r\nTo: a@example.org, B <b@example.org>\r\n\
        Subject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\nDate: Fri, 2 Jan 2026 03:04:05 +0000\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html; charset=utf-8\r\n\
        Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>Sch=C3=B6n</p>\r\n--x\r\n\
        Content-Type: application/pdf; name=\"a.pdf\"\r\nContent-Disposition: attachment; filename=\"a.pdf\"\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--x--\r\n";
    let found = text_of(DocumentKind::Mail, Cursor::new(source.into()));
    let expected = "From: Jürgen <j@example.org>\nTo: a@example.org, B <b@example.org>\nDate: 2026-01-02T03:04:05Z\n\
        Subject: Grüße\n\nSchön\n[attached: a.pdf, 4 bytes]\n";
    assert_eq!(found, Ok(expected.to_owned()));
}

#[test]
fn encrypted_documents_are_recognised() {
    let stream: Vec<u8> = "EncryptedPackage"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let mut compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    compound.resize(1024, 0);
    compound.extend(&stream);
    compound.resize(1024 + 64, 0);
    compound.extend([34, 0, 2]);
    compound.resize(2048, 0);
    let manifest = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>";
    let open = archive(&[("META-INF/manifest.xml", b"<manifest:file-entry/>")]);
    let closed = archive(&[("META-INF/manifest.xml", manifest.as_bytes())]);
    for (document, expected) in [
        (Cursor::new(compound.clone()), true),
        (Cursor::new(compound[..1024].to_vec()), false),
        (closed, true),
        (open, false),
        (Cursor::new(b"PK and no more".to_vec()), false),
        (Cursor::new(Vec::new()), false),
    ] {
        let mut document = document;
        assert_eq!(crate::is_encrypted(&mut document).ok(), Some(expected));
        assert_eq!(document.position(), 0);
    }
}

#[test]
fn what_is_no_document_is_refused() {
    assert!(read(DocumentKind::Docx, &[("other.xml", "")]).is_err());
    assert!(read(DocumentKind::Pptx, &[("other.xml", "")]).is_err());
    assert!(read(DocumentKind::Epub, &[("other.xml", "")]).is_err());
    assert!(read(DocumentKind::Docx, &[("word/document.xml", "<w:p></w:t>")]).is_err());
    assert!(text_of(DocumentKind::Docx, Cursor::new(b"no archive".to_vec())).is_err());
}

#[test]
fn a_part_that_is_too_large_is_refused() {
    let paragraph = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    for (blanks, expected) in [(1 << 20, Ok("a\nb\n")), (64 << 20, Err("more than 64 MB"))] {
        let document = [paragraph("a"), " ".repeat(blanks), paragraph("b")].concat();
        let found = read(DocumentKind::Docx, &[("word/document.xml", &document)]);
        match expected {
            Ok(text) => assert_eq!(found.as_deref(), Ok(text)),
            Err(reason) => assert!(found.is_err_and(|error| error.contains(reason))),
        }
    }
}

#[test]
fn text_is_bounded_and_depth_is_no_matter() {
    let many = "<w:p><w:t>äöü</w:t></w:p>".repeat(100_000);
    let mut text = TextBuilder::new(1000);
    extract(
        DocumentKind::Docx,
        archive(&[("word/document.xml", many.as_bytes())]),
        &mut text,
    )
    .expect("a text");
    let (found, truncated) = text.finish();
    assert!(truncated && found.len() <= 1001);
    let deep = "<w:p>".repeat(200_000);
    let _any = read(DocumentKind::Docx, &[("word/document.xml", &deep)]);
    let _any = text_of(DocumentKind::Rtf, Cursor::new(b"{".repeat(200_000)));
}

proptest! {
    #[test]
    fn any_part_is_read_or_refused(
        content in "[<>/wptdelns:a&;#x ='\"!\\[\\]-]{0,60}",
        rich in "[{}\\\\'a-u0-9 *-]{0,60}",
        bytes: Vec<u8>,
    ) {
        for kind in [
            DocumentKind::Docx, DocumentKind::Pptx, DocumentKind::OpenDocument,
            DocumentKind::Epub, DocumentKind::Rtf, DocumentKind::Mail,
        ] {
            let parts = [
                ("word/document.xml", content.as_str()), ("content.xml", &content),
                ("ppt/presentation.xml", &content), ("word/numbering.xml", &content),
            ];
            let _any = read(kind, &parts);
            let _any = text_of(kind, Cursor::new(bytes.clone()));
            let _any = text_of(kind, Cursor::new(rich.clone().into_bytes()));
        }
    }
}

#[test]
fn an_archive_is_its_list() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default();
    writer.add_directory("d", plain).expect("a directory");
    for (name, content) in [("d/Übersicht März.csv", "a;b\n"), ("AAAAAAAAAAAA.txt", "")] {
        writer.start_file(name, plain).expect("an entry");
        writer.write_all(content.as_bytes()).expect("its content");
    }
    let mut bytes = writer.finish().expect("an archive").into_inner();
    // 報告書ガイド, as Windows in Japan packs it.
    let shift_jis = b"\x95\xf1\x8d\x90\x8f\x91\x83K\x83C\x83h";
    while let Some(at) = bytes.windows(12).position(|name| name == b"AAAAAAAAAAAA") {
        bytes[at..at + 12].copy_from_slice(shift_jis);
    }
    let list = text_of(DocumentKind::Zip, Cursor::new(bytes)).expect("a list");
    let lines = [
        "ZIP archive: 2 files, 4 bytes unpacked",
        "            d/",
        "         4  d/Übersicht März.csv",
        "         0  報告書ガイド.txt",
    ];
    assert_eq!(list, lines.join("\n") + "\n");
    assert!(read(DocumentKind::Zip, &[]).is_ok());
    assert!(text_of(DocumentKind::Zip, Cursor::new(b"PK\x03\x04".to_vec())).is_err());
}
