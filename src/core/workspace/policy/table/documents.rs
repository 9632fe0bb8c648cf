//! Documents: PDF, spreadsheets, and what pandoc knows.

use crate::policy::role::{Opt, Role, Syntax, glued, list, refused, value};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads, required};
use crate::policy::{pandoc, pdf};

const CODE: &str = "it runs code";

const PANDOC: &[Opt] = &[
    value("o", "output", Role::Write),
    value("frtw", "from read to write", Role::Format),
    value(
        "VMDTc",
        "variable metadata id-prefix title-prefix css toc-depth wrap columns tab-stop dpi \
            eol top-level-division number-offset slide-level shift-heading-level-by \
            base-header-level default-image-extension indented-code-classes \
            email-obfuscation reference-location markdown-headings highlight-style \
            track-changes ipynb-output figure-caption-position",
        Role::Word,
    ),
    value(
        "HBA",
        "include-in-header include-before-body include-after-body",
        Role::Read,
    ),
    value(
        "",
        "template bibliography csl citation-abbreviations reference-doc metadata-file \
            epub-cover-image epub-metadata epub-embed-font resource-path",
        Role::Read,
    ),
    glued(
        "",
        "mathjax katex mathml webtex gladtex print-highlight-style list-extensions \
            file-scope sandbox toc table-of-contents standalone number-sections \
            reference-links link-images",
        Role::Word,
    ),
    value("", "print-default-template", Role::Format),
    refused("F", "filter", CODE),
    refused("L", "lua-filter", CODE),
    refused("d", "defaults data-dir", "settings are written as options"),
    value("", "pdf-engine", Role::Word),
    refused(
        "",
        "pdf-engine-opt",
        "a PDF is made by weasyprint, without options",
    ),
    refused(
        "",
        "extract-media",
        "it writes other files: use unzip on the document",
    ),
    refused(
        "",
        "log print-default-data-file syntax-definition abbreviations",
        "it reads or writes other files",
    ),
    refused(
        "",
        "self-contained embed-resources request-header no-check-certificate",
        "documents bring in no other files",
    ),
];

/// Which pages, and the password.
const PAGES: Opt = value("", "f l opw upw", Role::Word);

const POPPLER: &str = "poppler-utils";

const PDFTOTEXT: Syntax = Syntax::new(Role::Write)
    .first(&[Role::Read, Role::Write])
    .words()
    .options(&[
        PAGES,
        value("", "r x y W H fixed colspacing enc eol", Role::Word),
    ])
    .only(
        "",
        "layout raw nodiag nopgbrk bbox bbox-layout tsv cropbox htmlmeta listenc q v h help",
    );

const PDFTOPPM: Syntax = Syntax::new(Role::Write)
    .first(&[Role::Read, Role::Write])
    .words()
    .options(&[
        PAGES,
        value(
            "",
            "r rx ry scale-to scale-to-x scale-to-y x y W H sz jpegopt tiffcompression freetype \
                thinlinemode aa aaVector sep",
            Role::Word,
        ),
    ])
    .only(
        "",
        "o e singlefile cropbox hide-annotations mono gray png jpeg jpegcmyk tiff overprint \
            forcenum progress q v h help",
    );

const PDFIMAGES: Syntax = Syntax::new(Role::Write)
    .first(&[Role::Read, Role::Write])
    .words()
    .options(&[PAGES])
    .only("", "png tiff j jp2 jbig2 ccitt all list p q v h help");

pub(super) const RULES: &[CommandRule] = &[
    CommandRule::everywhere(
        "pandoc",
        "pandoc",
        Syntax::new(Role::Read).options(PANDOC).only(
            "sNiphvS",
            "standalone toc table-of-contents number-sections incremental \
            preserve-tabs help version no-highlight ascii strip-comments reference-links \
            listings section-divs html-q-tags citeproc natbib biblatex trace quiet verbose \
            fail-if-warnings list-input-formats list-output-formats list-highlight-languages \
            list-highlight-styles bash-completion ignore-args dump-args sandbox atx-headers \
            file-scope mathml mathjax katex epub-title-page",
        ),
    )
    .special(pandoc::read)
    .examples(&[
        changes("a.md -o b.docx"),
        reads("-f markdown -t html a.md"),
        changes("-s --toc a.md --output=b.html"),
        forbidden("--lua-filter=x.lua a.md"),
        forbidden("--lua=x.lua a.md"),
        forbidden("-F x a.md"),
        forbidden("-f x.lua a.md"),
        forbidden("-t /tmp/x a.md"),
        changes("a.md -o b.pdf"),
        changes("a.md --to=html --pdf-engine=weasyprint --output b.pdf"),
        forbidden("--pdf-engine=x a.md -o b.pdf"),
        forbidden("--pdf-engine xelatex a.md -o b.pdf"),
        forbidden("a.md -t latex -o b.pdf"),
        forbidden("a.md -t pdf"),
        escapes("a.md -o ../b.pdf"),
        forbidden("https://example.org/a"),
        escapes("-o/tmp/x a.md"),
        escapes("--template=/etc/passwd a.md"),
    ]),
    CommandRule::writable(
        "weasyprint",
        "weasyprint",
        Syntax::new(Role::Write)
            .first(&[Role::Read, Role::Write])
            .options(&[
                value("sa", "stylesheet attachment", Role::Read),
                value("u", "base-url", Role::Folder),
                value(
                    "emO",
                    "encoding media-type pdf-identifier pdf-variant pdf-version optimize-size",
                    Role::Word,
                ),
            ])
            .only(
                "hipvdq",
                "help version info custom-metadata presentational-hints verbose debug quiet",
            ),
    )
    .examples(&[
        changes("page.html page.pdf"),
        changes("-s style.css page.html out/page.pdf"),
        reads("page.html -"),
        forbidden("https://example.org/ a.pdf"),
        forbidden("-u https://example.org/ a.html a.pdf"),
        escapes("/etc/passwd a.pdf"),
        escapes("-s /etc/passwd a.html a.pdf"),
        escapes("a.html /tmp/a.pdf"),
    ]),
    CommandRule::writable(
        "img2pdf",
        "img2pdf",
        Syntax::new(Role::Read)
            .options(&[
                value("o", "output", Role::Write),
                value(
                    "CSsbfr",
                    "colorspace engine pagesize imgsize border fit rotation orientation \
                        crop-border bleed-border trim-border art-border title author creator \
                        producer creationdate moddate subject",
                    Role::Word,
                ),
                list("", "keywords", Role::Word),
                refused("", "from-file", "name the pictures as arguments"),
                refused("", "pdfa", "it reads another file"),
                refused("", "gui", "there is no display"),
            ])
            .only("hvVDa", "help verbose version nodate first-frame-only auto-orient"),
    )
    .examples(&[
        changes("a.png b.jpg -o pictures.pdf"),
        changes("--pagesize A4 --output=a.pdf a.png"),
        reads("a.png"),
        forbidden("--from-file list.txt"),
        escapes("/etc/passwd -o a.pdf"),
        escapes("a.png -o ../a.pdf"),
    ]),
    CommandRule::everywhere("pdftotext", POPPLER, PDFTOTEXT)
        .special(pdf::text)
        .examples(&[
            reads("-layout a.pdf -"),
            changes("a.pdf text.txt"),
            escapes("/etc/passwd -"),
            escapes("a.pdf ../a.txt"),
        ]),
    CommandRule::everywhere(
        "pdfinfo",
        POPPLER,
        Syntax::new(Role::Read)
            .words()
            .options(&[PAGES, value("", "enc", Role::Word)])
            .only(
                "",
                "box meta custom js struct struct-text url isodates rawdates dests listenc v h help",
            ),
    )
    .examples(&[reads("a.pdf"), escapes("/etc/passwd")]),
    CommandRule::writable("pdftoppm", POPPLER, PDFTOPPM)
        .special(pdf::pictures)
        .examples(&[
            changes("-png -r 100 a.pdf page"),
            required("-png a.pdf"),
            escapes("a.pdf /tmp/page"),
        ]),
    CommandRule::writable("pdfimages", POPPLER, PDFIMAGES)
        .special(pdf::pictures)
        .examples(&[
            changes("-all a.pdf picture"),
            reads("-list a.pdf"),
            required("a.pdf"),
            escapes("a.pdf /tmp/picture"),
        ]),
    CommandRule::writable(
        "pdfunite",
        POPPLER,
        Syntax::new(Role::Read)
            .last(Role::Write)
            .words()
            .only("", "v h help"),
    )
    .examples(&[
        changes("a.pdf b.pdf both.pdf"),
        escapes("a.pdf /etc/b.pdf both.pdf"),
    ]),
    CommandRule::writable(
        "pdfseparate",
        POPPLER,
        Syntax::new(Role::Write)
            .first(&[Role::Read, Role::Write])
            .words()
            .options(&[value("", "f l", Role::Word)])
            .only("", "v h help"),
    )
    .examples(&[
        changes("-f 1 -l 3 a.pdf page-%d.pdf"),
        escapes("a.pdf ../page-%d.pdf"),
    ]),
    CommandRule::everywhere(
        "xlsx2csv",
        "xlsx2csv",
        Syntax::new(Role::Write)
            .first(&[Role::Read, Role::Write])
            .options(&[
                value("d", "delimiter", Role::Delimiter),
                value("p", "sheetdelimiter", Role::Delimiter),
                value(
                    "cftlnqs",
                    "outputencoding dateformat timeformat floatformat lineterminator sheetname \
                        quoting sheet",
                    Role::Word,
                ),
                list(
                    "EI",
                    "exclude_sheet_pattern include_sheet_pattern ignore-formats",
                    Role::Expression,
                ),
            ])
            .only(
                "hvaemi",
                "help version all hyperlinks escape no-line-breaks sci-float \
                    exclude_hidden_sheets merge-cells ignoreempty skipemptycolumns",
            ),
    )
    .examples(&[
        reads("book.xlsx"),
        reads("-n 'Sheet 2' -d ';' book.xlsx"),
        changes("-s 2 book.xlsx sheet.csv"),
        escapes("/etc/passwd"),
        escapes("book.xlsx ../a.csv"),
    ]),
];
