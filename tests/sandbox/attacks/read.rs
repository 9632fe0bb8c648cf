//! Attacks that want to read what lies outside.

mod named;

use super::scene::{CANARY, play_with};
use super::{Row, Scene, play};
use named::NAMED;
use serde_json::json;

/// Ways to bring the file into the zone.
const FETCHED: &[Row] = &[
    ("cp", &["{S}", "out"]),
    ("cp", &["-l", "{S}", "out"]),
    ("cp", &["--reflink=auto", "{S}", "out"]),
    ("install", &["{S}", "out"]),
    ("mv", &["{S}", "out"]),
    ("mv", &["-t", ".", "{O}"]),
    ("ln", &["{S}", "out"]),
    ("split", &["-b", "99", "{S}", "part"]),
    ("csplit", &["{S}", "1"]),
    ("dos2unix", &["-n", "{S}", "out"]),
    ("tar", &["-cf", "out.tar", "-C", "{O}", "secret"]),
    ("tar", &["-cf", "out.tar", "-T", "list"]),
    ("tar", &["-Pcf", "out.tar", "{S}"]),
    ("zip", &["-0", "out.zip", "{S}"]),
    ("7z", &["a", "-mx0", "out.7z", "@list"]),
    ("7z", &["a", "-mx0", "out.7z", "-i@list"]),
    ("7za", &["a", "-mx0", "out.7z", "{S}"]),
    (
        "zstd",
        &["-q", "--filelist", "list", "--output-dir-flat", "."],
    ),
    ("lz4", &["-q", "{S}", "out.lz4"]),
    (
        "sqlite3",
        &[
            "out",
            "CREATE TABLE t(b); INSERT INTO t VALUES (readfile('{S}'))",
        ],
    ),
    ("curl", &["-s", "-o", "out", "file://{S}"]),
    ("dd", &["if={S}", "of=out"]),
];

/// Files of the zone that name the secret.
const BY_CONTENT: &[Row] = &[
    ("xmllint", &["--noent", "xxe.xml"]),
    ("xmllint", &["--xinclude", "xinclude.xml"]),
    ("pandoc", &["include.rst", "-t", "plain"]),
    ("pandoc", &["include.tex", "-t", "plain"]),
    (
        "pandoc",
        &["--lua-filter", "read.lua", "a.md", "-t", "plain"],
    ),
    ("pandoc", &["--extract-media", "media", "image.md"]),
    ("pandoc", &["--self-contained", "-t", "html", "image.md"]),
    ("convert", &["msl:read.msl", "null:"]),
    (
        "ffmpeg",
        &[
            "-f",
            "concat",
            "-safe",
            "0",
            "-i",
            "list.ffconcat",
            "-f",
            "data",
            "-",
        ],
    ),
    ("exiftool", &["-config", "read.config", "a"]),
    ("perl", &["read.pl"]),
    ("gawk", &["-f", "read.awk"]),
    ("mawk", &["-f", "read.awk"]),
    ("jq", &["-n", "-L", ".", "include \"linked\"; x"]),
];

/// Links that another user planted in the zone.
const LINKED: &[Row] = &[
    ("grep", &["-R", "", "."]),
    ("rg", &["--no-config", "-L", "", "."]),
    ("find", &["-L", ".", "-type", "f", "-size", "+9999"]),
    ("tar", &["-chf", "out.tar", "link"]),
    ("zip", &["-0r", "out.zip", "dir", "link"]),
    ("7z", &["a", "-mx0", "-snl-", "out.7z", "link"]),
    ("readlink", &["-f", "link"]),
    ("realpath", &["dir/secret"]),
    ("base64", &["link"]),
    ("sqlite3", &["dir/db", "SELECT * FROM t"]),
    ("sort", &["dir/secret"]),
    ("cp", &["-RL", "dir", "out"]),
];

/// Programs in full languages, with the calls that go around names.
const ESCAPES: &[Row] = &[
    (
        "python3",
        &[
            "-c",
            "import os; os.chdir('..'); print(open('other/secret').read())",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import os\nd = os.open('{O}', os.O_PATH)\nprint(os.read(os.open('secret', 0, dir_fd=d), 99))",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import os\nf = os.open('{S}', os.O_PATH)\nprint(open(f'/proc/self/fd/{f}').read())",
        ],
    ),
    ("python3", &["-c", "import os; os.link('{S}', 'out')"]),
    ("python3", &["-c", "import os; os.rename('{S}', 'out')"]),
    (
        "python3",
        &[
            "-c",
            "import os; os.symlink('{S}', 'out'); print(open('out').read())",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import os; os.chroot('{O}'); print(open('/secret').read())",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import ctypes, os\nlibc = ctypes.CDLL(None)\nlibc.unshare(0x10020000)\nlibc.mount(b'{O}', b'{Z}', None, 4096, None)\nos.chdir('{Z}')\nprint(open('secret').read())",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import ctypes, os\nlibc = ctypes.CDLL(None)\nhandle = ctypes.create_string_buffer(128)\nhandle[0] = 64\nmount = ctypes.c_int()\nlibc.name_to_handle_at(-100, b'{S}', handle, ctypes.byref(mount), 0)\nfd = libc.open_by_handle_at(os.open('.', 0), handle, 0)\nprint(os.read(fd, 99))",
        ],
    ),
    // Descriptors that the server had open when the helper was started.
    (
        "python3",
        &[
            "-c",
            "import os\nfor fd in range(3, 2048):\n  for read in (lambda: os.pread(fd, 99, 0), lambda: os.read(fd, 99), lambda: open(f'/proc/self/fd/{fd}').read()):\n    try: print(fd, read())\n    except OSError: pass",
        ],
    ),
    (
        "perl",
        &[
            "-e",
            "for my $fd (3..2048) { open(F, \"<&=$fd\") and print <F> }",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "print(open('/proc/self/mem', 'rb').read(1))\nprint('root:')",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "print(open('/proc/%d/environ' % __import__('os').getppid()).read())",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "print(open('/dev/mem', 'rb').read(9))\nprint('root:')",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import os; os.open('/dev/kmsg', os.O_RDONLY)\nprint('root:')",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import os; os.open('/dev/tty', os.O_RDWR)\nprint('root:')",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import os; os.open('/dev/ptmx', os.O_RDWR)\nprint('root:')",
        ],
    ),
    (
        "python3",
        &["-c", "import os; print(os.listdir('{O}'))\nprint('root:')"],
    ),
    (
        "python3",
        &[
            "-c",
            "import os; print(os.listdir('/proc'))\nprint('root:')",
        ],
    ),
];

fn furnish(scene: &Scene) {
    scene.write("other/data.json", "\"canary-6f1c2a\"");
    scene.write("other/module.jq", "def x: \"canary-6f1c2a\";");
    scene.write("other/program.jq", "\"canary-6f1c2a\"");
    scene.write("other/script.sql", "SELECT 'canary-6f1c2a';");
    let database = rusqlite::Connection::open(scene.path("other/db")).expect("made");
    database
        .execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES ('canary-6f1c2a')")
        .expect("filled");
    for (name, content) in [
        ("list", "{S}\n"),
        ("read.sed", "r {S}\n"),
        (
            "read.awk",
            "BEGIN { while ((getline l < \"{S}\") > 0) print l }",
        ),
        ("read.lua", "print(io.open('{S}'):read('a'))\nreturn {}"),
        ("read.pl", "open F, '<', '{S}'; print <F>;"),
        ("read.config", "open F, '<', '{S}'; print <F>; 1;"),
        (
            "read.msl",
            "<image size=\"13x1\"><read filename=\"gray:{S}\"/><write filename=\"gray:out\"/></image>",
        ),
        ("list.ffconcat", "ffconcat version 1.0\nfile '{S}'\n"),
        ("a.md", "# Title\n"),
        ("a.xml", "<r/>"),
        (
            "xxe.xml",
            "<!DOCTYPE r [<!ENTITY x SYSTEM \"file://{S}\">]><r>&x;</r>",
        ),
        (
            "xinclude.xml",
            "<r xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include href=\"{S}\" parse=\"text\"/></r>",
        ),
        ("include.rst", ".. include:: {S}\n"),
        ("include.tex", "\\input{{S}}\n"),
        ("image.md", "![x]({S})\n"),
    ] {
        scene.write(&format!("zone/{name}"), content);
    }
    std::os::unix::fs::symlink(scene.path("other/module.jq"), scene.path("zone/linked.jq"))
        .expect("made");
}

#[test]
fn no_option_reads_outside() {
    play(NAMED, furnish);
}

#[test]
fn nothing_is_fetched_from_outside() {
    play(FETCHED, furnish);
}

#[test]
fn no_content_of_the_zone_reads_outside() {
    play(BY_CONTENT, furnish);
}

#[test]
fn no_link_reads_outside() {
    play(LINKED, |scene| {
        furnish(scene);
        scene.link();
    });
}

#[test]
fn no_call_goes_around_the_names() {
    play(ESCAPES, furnish);
}

#[test]
fn no_file_outside_is_read() {
    let scene = Scene::new();
    let secret = scene.text("other/secret");
    let parent = std::process::id().to_string();
    scene.holds("cat", &[&secret]);
    scene.holds("cat", &["../other/secret"]);
    scene.holds("cat", &["/etc/passwd"]);
    scene.holds("cat", &["/proc/self/root/etc/passwd"]);
    scene.holds("cat", &["/proc/self/environ"]);
    scene.holds("cat", &[&format!("/proc/{parent}/environ")]);
    scene.holds("cat", &[&format!("/proc/{parent}/cmdline")]);
    scene.holds(
        "cat",
        &["/root/.bashrc", "/home", "/etc/hostname", "/etc/shadow"],
    );
    for awk in ["gawk", "mawk"] {
        scene.holds(
            awk,
            &["BEGIN{while((getline l < \"/etc/passwd\")==1) print l}"],
        );
    }
    scene.holds("sed", &[&format!("r {secret}"), "a"]);
    scene.holds("tar", &["-cf", "-", &secret]);
    scene.holds(
        "find",
        &[
            "..", "-type", "f", "-name", "secret", "-size", "-1k", "-fprintf", "x", "%p",
        ],
    );
    scene.holds("sort", &[&format!("--files0-from={secret}")]);
    scene.holds("file", &["-f", &secret]);
    scene.holds("git", &["diff", "--no-index", "a", &secret]);
    scene.holds("jq", &["-n", "--rawfile", "x", &secret, "$x"]);
    scene.holds(
        "sqlite3",
        &[":memory:", &format!("SELECT readfile('{secret}')")],
    );
    scene.holds("curl", &[&format!("file://{secret}")]);
    scene.holds("ffmpeg", &["-f", "data", "-i", &secret, "-f", "data", "-"]);
    scene.holds("identify", &[&format!("text:{secret}")]);
    scene.holds("pandoc", &[&secret]);
    scene.holds("xxd", &[&secret]);
}

#[test]
fn a_link_planted_in_the_zone_leads_nowhere() {
    let scene = Scene::new();
    std::os::unix::fs::symlink(scene.path("other/secret"), scene.path("zone/link")).expect("made");
    std::os::unix::fs::symlink(scene.path("other"), scene.path("zone/dir")).expect("made");
    scene.holds("cat", &["link"]);
    scene.holds("cat", &["dir/secret"]);
    scene.holds("cp", &["-L", "link", "copy"]);
    scene.holds("cp", &["a", "link"]);
    scene.holds("rm", &["-rf", "dir/"]);
    scene.holds("truncate", &["-s", "0", "link"]);
    scene.holds("shred", &["link"]);
    assert!(!std::fs::read_to_string(scene.path("zone/copy")).is_ok_and(|text| text == CANARY));
}

#[test]
fn no_list_on_standard_input_reads_outside() {
    const ROWS: &[Row] = &[
        ("zip", &["-0", "out.zip", "-@"]),
        ("tar", &["-cf", "out.tar", "-T", "-"]),
        ("wc", &["--files0-from=-"]),
        ("file", &["-f", "-"]),
        ("exiftool", &["-@", "-"]),
    ];
    play_with(
        ROWS,
        furnish,
        |scene| json!({"input": scene.path("zone/list")}),
    );
}
