//! Every whitelisted command that is installed, in its ordinary use, inside its confinement. A
//! row here is what keeps the sandbox from breaking a command unnoticed.

use std::collections::BTreeSet;

use fileshed_core::rules;
use serde_json::json;

use fileshed_test_support::{Server, Setup, skip};

/// The result that a command must have.
enum Sees {
    /// In standard output.
    Out(&'static str),
    /// In this file of the zone, afterwards.
    File(&'static str, &'static str),
    /// This file of the zone exists and is not empty.
    Made(&'static str),
    /// No output, only success.
    Success,
    /// A failure of the command itself, as it has without any sandbox.
    Status(i64),
}

use Sees::{File, Made, Out, Status, Success};

/// Rows run in this order in one zone: later ones use what earlier ones made.
const ROWS: &[(&str, &[&str], Sees)] = &[
    ("cat", &["a.txt"], Out("three\n")),
    ("tac", &["a.txt"], Out("three\ntwo\none\n")),
    ("head", &["-n", "1", "a.txt"], Out("one\n")),
    ("tail", &["-n", "1", "a.txt"], Out("three\n")),
    ("less", &["a.txt"], Out("two")),
    ("more", &["a.txt"], Out("two")),
    ("nl", &["a.txt"], Out("2\ttwo")),
    ("wc", &["-l", "a.txt"], Out("3 a.txt")),
    ("stat", &["-c", "%s", "a.txt"], Out("14")),
    ("file", &["a.txt"], Out("ASCII text")),
    ("du", &["-b", "a.txt"], Out("14\ta.txt")),
    ("ls", &["-la"], Out("a.txt")),
    ("tree", &["-a"], Out("a.txt")),
    (
        "find",
        &[".", "-name", "*.txt", "-type", "f"],
        Out("./a.txt"),
    ),
    ("grep", &["-rn", "tw|two", "-E", "."], Out("a.txt:2:two")),
    ("egrep", &["one|three", "a.txt"], Out("one\nthree\n")),
    ("fgrep", &["wo", "a.txt"], Out("two\n")),
    (
        "rg",
        &["--no-heading", "t(wo|hree)", "a.txt"],
        Out("two\nthree\n"),
    ),
    (
        "awk",
        &[
            "-F;",
            "$2 > 1 {s += $2; n++} END {print s; print n}",
            "a.csv",
        ],
        Out("5\n2\n"),
    ),
    ("sed", &["-n", "2,3p", "a.txt"], Out("two\nthree\n")),
    ("sort", &["-t;", "-k2,2nr", "a.csv"], Out("c;3")),
    ("uniq", &["-c", "a.txt"], Out("1 one")),
    ("cut", &["-d;", "-f1", "a.csv"], Out("a\nb\nc\n")),
    ("paste", &["-d|", "a.txt", "a.csv"], Out("one|a;1")),
    ("tr", &["a-z", "A-Z"], Success),
    ("fold", &["-w", "2", "a.txt"], Out("on\ne\n")),
    ("fmt", &["a.txt"], Out("one two three")),
    ("column", &["-t", "-s;", "a.csv"], Out("a  1")),
    ("rev", &["a.txt"], Out("eno\n")),
    ("shuf", &["a.txt"], Out("two\n")),
    ("expand", &["a.txt"], Out("one\n")),
    ("unexpand", &["a.txt"], Out("one\n")),
    ("pr", &["-t", "a.txt"], Out("one\n")),
    ("join", &["-t;", "a.csv", "a.csv"], Out("a;1;1")),
    ("diff", &["a.txt", "b.txt"], Status(1)),
    ("diff3", &["a.txt", "a.txt", "b.txt"], Out("====3")),
    ("cmp", &["a.txt", "a.txt"], Success),
    ("comm", &["-12", "a.txt", "a.txt"], Out("one\n")),
    ("sdiff", &["a.txt", "b.txt"], Status(1)),
    ("colordiff", &["a.txt", "b.txt"], Status(1)),
    ("md5sum", &["a.txt"], Out("  a.txt")),
    ("sha1sum", &["a.txt"], Out("  a.txt")),
    ("sha256sum", &["a.txt"], Out("  a.txt")),
    ("sha512sum", &["a.txt"], Out("  a.txt")),
    ("b2sum", &["a.txt"], Out("  a.txt")),
    ("cksum", &["a.txt"], Out("14 a.txt")),
    ("sum", &["a.txt"], Out("1")),
    ("base32", &["a.txt"], Out("N5XGK")),
    ("base64", &["a.txt"], Out("b25l")),
    ("basenc", &["--base16", "a.txt"], Out("6F6E65")),
    ("strings", &["a.txt"], Out("three")),
    ("od", &["-c", "a.txt"], Out("o   n   e")),
    ("hexdump", &["-C", "a.txt"], Out("6f 6e 65")),
    ("xxd", &["a.txt"], Out("6f6e 65")),
    ("jq", &[".a | .b", "a.json"], Out("1")),
    ("yq", &[".a.b", "a.json"], Out("1")),
    ("xmllint", &["--xpath", "string(/r/x)", "a.xml"], Out("yes")),
    (
        "iconv",
        &["-f", "latin1", "-t", "utf-8", "latin.txt"],
        Out("é"),
    ),
    ("bc", &["sum.bc"], Out("42")),
    ("dc", &["-e", "2 3 + p"], Out("5")),
    ("expr", &["2", "+", "3"], Out("5")),
    ("factor", &["12"], Out("12: 2 2 3")),
    ("numfmt", &["--to=iec", "2048"], Out("2.0K")),
    ("basename", &["dir/x.txt"], Out("x.txt")),
    ("dirname", &["dir/x.txt"], Out("dir")),
    ("realpath", &["a.txt"], Out("/a.txt\n")),
    ("readlink", &["-f", "a.txt"], Out("/a.txt\n")),
    ("echo", &["hello"], Out("hello\n")),
    ("printf", &["%s\\n", "x"], Out("x\n")),
    ("seq", &["3"], Out("1\n2\n3\n")),
    ("date", &["-u", "-d", "@0", "+%Y"], Out("1970")),
    ("cal", &["1", "2026"], Out("January 2026")),
    ("pathchk", &["a.txt"], Success),
    ("pwd", &[], Out("/\n")),
    ("uname", &["-s"], Out("Linux")),
    ("uname", &["-n"], Out("fileshed\n")),
    ("nproc", &[], Success),
    ("sleep", &["0"], Success),
    ("true", &[], Success),
    ("false", &[], Status(1)),
    ("gettext", &["hello"], Out("hello")),
    ("tsort", &["pairs.txt"], Out("x\ny\n")),
    ("which", &["cat"], Out("/usr/bin/cat")),
    ("whereis", &["cat"], Out("cat:")),
    ("touch", &["touched"], Success),
    ("mkdir", &["-p", "dir/sub"], Success),
    ("cp", &["a.txt", "dir/c.txt"], File("dir/c.txt", "two")),
    (
        "mv",
        &["dir/c.txt", "dir/sub/d.txt"],
        File("dir/sub/d.txt", "two"),
    ),
    (
        "install",
        &["-m", "644", "a.txt", "dir/i.txt"],
        File("dir/i.txt", "two"),
    ),
    ("chmod", &["600", "dir/i.txt"], Success),
    (
        "truncate",
        &["-s", "3", "dir/i.txt"],
        File("dir/i.txt", "one"),
    ),
    ("mktemp", &["-p", "dir", "t.XXXXXX"], Out("dir/t.")),
    ("tee", &["empty.txt"], Success),
    (
        "rename",
        &["s/d\\.txt/e.txt/", "dir/sub/d.txt"],
        File("dir/sub/e.txt", "two"),
    ),
    (
        "split",
        &["-l", "1", "a.txt", "part-"],
        File("part-ab", "two"),
    ),
    (
        "csplit",
        &["-f", "cut-", "a.txt", "2"],
        File("cut-01", "two"),
    ),
    ("patch", &["b.txt", "change.diff"], File("b.txt", "two")),
    ("dos2unix", &["dos.txt"], File("dos.txt", "x\ny\n")),
    ("unix2dos", &["dos.txt"], File("dos.txt", "x\r\ny\r\n")),
    (
        "recode",
        &["latin1..utf8", "latin.txt"],
        File("latin.txt", "é"),
    ),
    (
        "sed",
        &["-i", "s/two/TWO/", "dir/sub/e.txt"],
        File("dir/sub/e.txt", "TWO"),
    ),
    ("tar", &["-cf", "x.tar", "dir"], Made("x.tar")),
    ("tar", &["-tvf", "x.tar"], Out("dir/sub/e.txt")),
    ("tar", &["czf", "x.tgz", "dir"], Made("x.tgz")),
    ("tar", &["cjf", "x.tbz", "dir"], Made("x.tbz")),
    ("tar", &["cJf", "x.txz", "dir"], Made("x.txz")),
    ("tar", &["--zstd", "-cf", "x.tzst", "dir"], Made("x.tzst")),
    ("tar", &["-tzf", "x.tgz"], Out("dir/sub/e.txt")),
    (
        "tar",
        &["-xf", "x.txz", "--strip-components=1", "-C", "out"],
        File("out/sub/e.txt", "TWO"),
    ),
    ("tar", &["-xOf", "x.tzst", "dir/sub/e.txt"], Out("TWO")),
    ("zip", &["-r", "x.zip", "dir"], Made("x.zip")),
    ("unzip", &["-l", "x.zip"], Out("dir/sub/e.txt")),
    (
        "unzip",
        &["-o", "x.zip", "-d", "unzipped"],
        File("unzipped/dir/sub/e.txt", "TWO"),
    ),
    ("zipinfo", &["x.zip"], Out("dir/sub/e.txt")),
    ("7z", &["a", "x.7z", "dir"], Made("x.7z")),
    ("7z", &["l", "x.7z"], Out("e.txt")),
    ("7za", &["l", "x.zip"], Out("e.txt")),
    ("gzip", &["-k", "a.txt"], Made("a.txt.gz")),
    ("zcat", &["a.txt.gz"], Out("three")),
    ("gunzip", &["-kf", "a.txt.gz"], Made("a.txt")),
    ("bzip2", &["-k", "a.txt"], Made("a.txt.bz2")),
    ("bzcat", &["a.txt.bz2"], Out("three")),
    ("bunzip2", &["-kf", "a.txt.bz2"], Made("a.txt")),
    ("xz", &["-k", "a.txt"], Made("a.txt.xz")),
    ("xzcat", &["a.txt.xz"], Out("three")),
    ("unxz", &["-kf", "a.txt.xz"], Made("a.txt")),
    ("lz4", &["-q", "a.txt", "a.txt.lz4"], Made("a.txt.lz4")),
    ("zstd", &["-q", "a.txt"], Made("a.txt.zst")),
    ("uuencode", &["a.txt", "a.txt"], Out("begin 644 a.txt")),
    (
        "uudecode",
        &["-o", "decoded.txt", "a.uu"],
        File("decoded.txt", "hi"),
    ),
    (
        "sqlite3",
        &[
            "x.db",
            "CREATE TABLE t(a); INSERT INTO t VALUES (7); SELECT a FROM t;",
        ],
        Out("7"),
    ),
    ("pandoc", &["a.md", "-o", "a.docx"], Made("a.docx")),
    ("pandoc", &["a.docx", "-t", "plain"], Out("Title")),
    ("pandoc", &["a.md", "-o", "a.pdf"], File("a.pdf", "%PDF")),
    (
        "weasyprint",
        &["-s", "a.css", "page.html", "page.pdf"],
        File("page.pdf", "%PDF"),
    ),
    ("pdftotext", &["a.pdf", "-"], Out("Title")),
    ("pdftotext", &["page.pdf"], File("page.txt", "Überschrift")),
    ("pdfinfo", &["page.pdf"], Out("Pages:           1")),
    (
        "pdfunite",
        &["a.pdf", "page.pdf", "both.pdf"],
        File("both.pdf", "%PDF"),
    ),
    (
        "pdfseparate",
        &["both.pdf", "part-%d.pdf"],
        File("part-2.pdf", "%PDF"),
    ),
    (
        "pdftoppm",
        &["-png", "-r", "50", "page.pdf", "shot"],
        Made("shot-1.png"),
    ),
    ("xlsx2csv", &["book.xlsx"], Out("item,amount\npen,3\n")),
    (
        "xlsx2csv",
        &["-d", ";", "book.xlsx", "book.csv"],
        File("book.csv", "pen;3"),
    ),
    (
        "convert",
        &["-size", "8x8", "xc:red", "r.png"],
        Made("r.png"),
    ),
    ("img2pdf", &["r.png", "-o", "r.pdf"], File("r.pdf", "%PDF")),
    (
        "pdfimages",
        &["-png", "r.pdf", "picture"],
        Made("picture-000.png"),
    ),
    (
        "convert",
        &["r.png", "-resize", "50%", "s.jpg"],
        Made("s.jpg"),
    ),
    ("magick", &["r.png", "m.jpg"], Made("m.jpg")),
    ("identify", &["r.png"], Out("PNG 8x8")),
    ("exiftool", &["r.png"], Out("image/png")),
    (
        "ffmpeg",
        &[
            "-f",
            "s16le",
            "-ar",
            "8000",
            "-ac",
            "1",
            "-i",
            "sound.raw",
            "sound.wav",
        ],
        Made("sound.wav"),
    ),
    ("ffprobe", &["sound.wav"], Success),
    (
        "rsvg-convert",
        &["chart.svg", "-o", "chart.png"],
        Made("chart.png"),
    ),
    ("convert", &["chart.svg", "drawn.png"], Made("drawn.png")),
    ("git", &["init", "project"], Made("project/.git/HEAD")),
    ("git", &["-C", "project", "status", "--short"], Success),
    // Modes and times stay what they are told to be.
    ("chmod", &["+x", "m.txt"], Success),
    ("stat", &["-c", "%a", "m.txt"], Out("755")),
    ("touch", &["-d", "2020-01-02T03:04:05Z", "m.txt"], Success),
    ("stat", &["-c", "%Y", "m.txt"], Out("1577934245")),
    ("mkdir", &["-m", "700", "own"], Success),
    ("stat", &["-c", "%a", "own"], Out("700")),
    ("touch", &["-d", "2020-01-02T03:04:05Z", "own"], Success),
    ("cp", &["-p", "m.txt", "m2.txt"], Success),
    ("stat", &["-c", "%a %Y", "m2.txt"], Out("755 1577934245")),
    ("cp", &["-r", "-p", "own", "own2"], Success),
    ("stat", &["-c", "%a %Y", "own2"], Out("700 1577934245")),
    ("install", &["-m", "751", "m.txt", "m3.txt"], Success),
    ("stat", &["-c", "%a", "m3.txt"], Out("751")),
    ("chmod", &["-R", "u=rwX,go=", "own2"], Success),
    ("tar", &["-cf", "m.tar", "m.txt", "own"], Success),
    ("tar", &["-xf", "m.tar", "-C", "out"], Success),
    (
        "stat",
        &["-c", "%a %Y", "out/m.txt", "out/own"],
        Out("755 1577934245\n700 1577934245"),
    ),
    ("zip", &["-r", "m.zip", "m.txt", "own"], Success),
    ("unzip", &["-o", "m.zip", "-d", "unzipped"], Success),
    ("stat", &["-c", "%a", "unzipped/m.txt"], Out("755")),
    ("7z", &["x", "-y", "x.7z", "-ounpacked"], Success),
    ("sed", &["-i", "s/text/TEXT/", "m.txt"], Success),
    ("stat", &["-c", "%a", "m.txt"], Out("755")),
    ("gzip", &["-k", "m2.txt"], Success),
    ("stat", &["-c", "%a %Y", "m2.txt.gz"], Out("755 1577934245")),
    ("cp", &["m.txt", "project/run"], Success),
    ("chmod", &["755", "project/run"], Success),
    ("git", &["-C", "project", "add", "run"], Success),
    ("git", &["-C", "project", "commit", "-m", "one"], Success),
    ("rm", &["project/run"], Success),
    ("git", &["-C", "project", "checkout", "--", "run"], Success),
    ("stat", &["-c", "%a", "project/run"], Out("755")),
    ("shred", &["-u", "touched"], Success),
    ("rm", &["-r", "unzipped"], Success),
    ("rmdir", &["empty"], Success),
    ("yes", &["--version"], Out("yes")),
];

/// Not run: they need a network.
const NOT_RUN: [&str; 2] = ["curl", "wget"];

fn furnish(zone: &std::path::Path) {
    let write = |name: &str, content: &[u8]| {
        std::fs::write(zone.join(name), content).expect("written");
    };
    write("a.txt", b"one\ntwo\nthree\n");
    write("b.txt", b"one\n2\nthree\n");
    write("a.csv", b"a;1\nb;2\nc;3\n");
    write("a.json", br#"{"a": {"b": 1}}"#);
    write("a.xml", b"<r><x>yes</x></r>");
    write(
        "chart.svg",
        b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><text y='9'>a</text></svg>",
    );
    write("m.txt", b"text\n");
    write("a.md", b"# Title\n\ntext\n");
    write(
        "page.html",
        "<meta charset=utf-8><h1>Überschrift</h1><img src=a.xml>".as_bytes(),
    );
    write("a.css", b"h1 { color: red }");
    write("book.xlsx", include_bytes!("book.xlsx"));
    write("latin.txt", b"caf\xe9\n");
    write("dos.txt", b"x\r\ny\r\n");
    write("sum.bc", b"40 + 2\nquit\n");
    write("pairs.txt", b"x y\n");
    write(
        "change.diff",
        b"--- b.txt\n+++ b.txt\n@@ -1,3 +1,3 @@\n one\n-2\n+two\n three\n",
    );
    write("a.uu", b"begin 644 x\n\":&D`\n`\nend\n");
    write("sound.raw", &[0; 8000]);
    for directory in ["out", "empty"] {
        std::fs::create_dir(zone.join(directory)).expect("made");
    }
}

#[test]
fn every_command_works_inside_its_confinement() {
    all_rows(Server::with(), None);
}

#[test]
fn every_command_works_without_namespaces() {
    all_rows(Server::with().env("FILESHED_EXEC_NAMESPACES", "off"), None);
}

#[test]
fn every_command_works_under_an_account_without_rights() {
    let Some((setup, account)) = without_rights(Server::with()) else {
        return;
    };
    all_rows(setup.env("FILESHED_EXEC_NAMESPACES", "off"), Some(account));
}

#[test]
fn every_command_works_with_the_oldest_landlock() {
    // This interface refuses moves from one directory to another, which only links would need.
    let oldest = Server::with().env("FILESHED_EXEC_LANDLOCK_ABI", "2");
    all_rows(oldest.env("FILESHED_EXEC_NAMESPACES", "off"), None);
}

/// Returns a server under an account that nothing else on the machine has, without any capability, as the
/// image runs it; `None` if the tests cannot change their account.
pub(crate) fn without_rights(setup: Setup) -> Option<(Setup, u32)> {
    if !rustix::process::geteuid().is_root() {
        skip("these tests run under an account without rights themselves");
        return None;
    }
    let account = 200_000 + std::process::id() % 100_000;
    let name = account.to_string();
    std::os::unix::fs::chown(setup.path(""), Some(account), Some(account)).expect("given");
    let launcher = [
        "/usr/bin/setpriv",
        "--reuid",
        &name,
        "--regid",
        &name,
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
    ];
    Some((setup.through(&launcher), account))
}

/// Plays every row in the storage of a new server, whose files are an account's.
fn all_rows(setup: Setup, account: Option<u32>) {
    let server = setup.start();
    server.call("shed_tree", &json!({"zone": "storage"})).data();
    let zone = server.data().join("shared/Storage/data");
    furnish(&zone);
    for entry in std::fs::read_dir(&zone).expect("listed").flatten() {
        std::os::unix::fs::chown(entry.path(), account, account).expect("given");
    }
    let offered = server
        .call("shed_allowed_commands", &json!({}))
        .data()
        .clone();
    let missing = &offered["storage"]["missing"];
    let is_missing = |command: &str| {
        missing
            .as_array()
            .is_some_and(|names| names.iter().any(|name| name == command))
    };
    let mut faults = Vec::new();
    // Names in rows that are skipped: files that later rows do not find.
    let mut unmade = BTreeSet::new();
    let name = |argument: &&'static str| {
        let is_option = argument.starts_with('-');
        let first = argument.split('/').next();
        first.filter(|name| !is_option && *name != "dir")
    };
    for (command, args, sees) in ROWS {
        if is_missing(command) {
            skip(format_args!("{command} is not installed"));
            unmade.extend(args.iter().filter_map(name));
            continue;
        }
        let needs = args
            .iter()
            .filter_map(name)
            .find(|name| unmade.contains(name));
        if let Some(needed) = needs.filter(|name| !zone.join(name).exists()) {
            skip(format_args!(
                "{command}: {needed} is made by a command that is not installed"
            ));
            continue;
        }
        let answer = server.call(
            "shed_exec",
            &json!({"zone": "storage", "cmd": command, "args": args}),
        );
        // tar starts programs of its own.
        let helper = answer.body["error"]["details"]["command"].as_str();
        if answer.code() == "COMMAND_NOT_FOUND"
            && let Some(helper) = helper
        {
            skip(format_args!("{command}: {helper} is not installed"));
            unmade.extend(args.iter().filter_map(name));
            continue;
        }
        let data = &answer.body["data"];
        let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
        let holds = |file: &str, part: &str| {
            std::fs::read(zone.join(file))
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(part))
        };
        let fine = match sees {
            Out(part) => text("stdout").contains(part),
            File(file, part) => holds(file, part),
            Made(file) => std::fs::metadata(zone.join(file)).is_ok_and(|made| made.len() > 0),
            Success => data["returncode"] == 0,
            Status(status) => data["returncode"] == *status,
        };
        let place = zone.to_string_lossy().into_owned();
        let stumbles = text("stderr").contains("ot permitted");
        if !fine || stumbles || answer.body.to_string().contains(&place) {
            faults.push(format!("{command} {args:?}: {}", answer.body));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_command_has_a_row() {
    for rule in rules::commands() {
        assert!(
            NOT_RUN.contains(&rule.name) || ROWS.iter().any(|(command, ..)| *command == rule.name),
            "{} has no row: show its ordinary use",
            rule.name
        );
    }
}
