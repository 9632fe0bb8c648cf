//! Attacks that want to change what lies outside.

use super::scene::play_with;
use super::{Row, Scene, play};
use serde_json::json;

/// Options and operands that name what is written.
const NAMED: &[Row] = &[
    ("cp", &["a", "{O}/new"]),
    ("cp", &["-b", "-S", "/../../other/new", "a", "b"]),
    ("cp", &["--parents", "-t", "{O}", "a"]),
    ("install", &["-t", "{O}", "a"]),
    ("install", &["-d", "{O}/new"]),
    ("mv", &["-t", "{O}", "a"]),
    ("mv", &["a", "{S}"]),
    ("ln", &["a", "{O}/new"]),
    ("mktemp", &["-p", "{O}"]),
    ("mktemp", &["{O}/XXXXXX"]),
    ("tee", &["-a", "{S}"]),
    ("uniq", &["a", "{S}"]),
    ("sort", &["-T", "{O}", "-S", "1k", "a", "-o", "{S}"]),
    ("split", &["-b", "1", "a", "{O}/part"]),
    ("csplit", &["-f", "{O}/part", "a", "2"]),
    ("shuf", &["-o", "{S}", "a"]),
    ("xxd", &["a", "{S}"]),
    ("iconv", &["-o", "{S}", "a"]),
    ("dos2unix", &["-n", "a", "{S}"]),
    ("dos2unix", &["{S}"]),
    ("unix2dos", &["{S}"]),
    ("recode", &["latin1..utf16", "{S}"]),
    ("gawk", &["-o{O}/new", "BEGIN{}"]),
    ("gawk", &["-p{O}/new", "BEGIN{}"]),
    ("gawk", &["-d{O}/new", "BEGIN{}"]),
    ("gawk", &["BEGIN{print 1 >> \"{S}\"}"]),
    ("mawk", &["BEGIN{print 1 >> \"{S}\"}"]),
    ("mawk", &["BEGIN{print 1 > \"{O}/new\"}"]),
    ("sed", &["-i", "s/c/x/", "{S}"]),
    ("sed", &["-i{O}/*", "s/one/x/", "a"]),
    ("sed", &["s/one/x/w {S}", "a"]),
    ("sed", &["-f", "write.sed", "a"]),
    ("find", &["a", "-fprint", "{O}/new"]),
    ("find", &["a", "-fprintf", "{S}", "x"]),
    ("find", &["a", "-fls", "{O}/new"]),
    ("find", &["{O}", "-type", "f", "-delete"]),
    ("patch", &["-o", "{S}", "a", "change.diff"]),
    ("patch", &["-r", "{O}/new", "a", "garbage.diff"]),
    ("patch", &["-d", "{O}", "secret", "{Z}/change.diff"]),
    ("patch", &["-B", "{O}/", "-b", "a", "change.diff"]),
    ("tar", &["-cf", "{O}/new.tar", "a"]),
    ("tar", &["-cvf", "x.tar", "--index-file={O}/new", "a"]),
    ("tar", &["-cf", "x.tar", "-g", "{O}/new", "a"]),
    ("tar", &["-C", "{O}", "-xf", "{Z}/plain.tar"]),
    ("tar", &["-Pxf", "absolute.tar"]),
    ("tar", &["-cf", "x.tar", "--remove-files", "{S}"]),
    ("zip", &["{O}/new.zip", "a"]),
    ("zip", &["-m", "x.zip", "{S}"]),
    ("zip", &["-b", "{O}", "x.zip", "a"]),
    ("zip", &["-lf", "{O}/new", "x.zip", "a"]),
    ("unzip", &["-d", "{O}", "plain.zip"]),
    ("7z", &["a", "{O}/new.7z", "a"]),
    ("7z", &["x", "-o{O}", "plain.zip"]),
    ("7z", &["a", "-sdel", "x.7z", "{S}"]),
    ("gzip", &["-S", "/../../other/new", "a"]),
    ("gzip", &["{S}"]),
    ("bzip2", &["{S}"]),
    ("xz", &["{S}"]),
    ("zstd", &["-q", "--output-dir-flat", "{O}", "a"]),
    ("zstd", &["-q", "a", "-o", "{O}/new"]),
    ("zstd", &["-q", "--rm", "{S}", "-o", "x"]),
    ("lz4", &["-q", "a", "{O}/new"]),
    ("uudecode", &["absolute.uu"]),
    ("uudecode", &["-o", "{S}", "absolute.uu"]),
    ("truncate", &["--reference=a", "{S}"]),
    ("shred", &["-n1", "{S}"]),
    ("rm", &["-f", "{S}"]),
    ("rmdir", &["{O}/empty"]),
    ("rename", &["s/secret/new/", "{S}"]),
    ("perl", &["-pi", "-e", "s/c/x/", "{S}"]),
    (
        "perl",
        &["-e", "unlink '{S}'; truncate '{S}', 0; rename '{S}', 'x'"],
    ),
    ("tree", &["-o", "{O}/new"]),
    ("less", &["-O{O}/new", "a"]),
    ("curl", &["-s", "-o", "{S}", "file://{Z}/a"]),
    (
        "curl",
        &[
            "-s",
            "--create-dirs",
            "--output-dir",
            "{O}/new",
            "-O",
            "file://{Z}/a",
        ],
    ),
    ("curl", &["-s", "--trace", "{O}/new", "file://{Z}/a"]),
    (
        "wget",
        &["-O", "{O}/new", "-t1", "-T1", "http://127.0.0.1:9/"],
    ),
    (
        "wget",
        &["-o", "{O}/new", "-t1", "-T1", "http://127.0.0.1:9/"],
    ),
    ("sqlite3", &["{O}/new.db", "CREATE TABLE t(a)"]),
    (
        "sqlite3",
        &[
            ":memory:",
            "ATTACH '{O}/new.db' AS o",
            "CREATE TABLE o.t(a)",
        ],
    ),
    ("sqlite3", &[":memory:", ".output {S}", "SELECT 1"]),
    (
        "sqlite3",
        &[":memory:", "CREATE TABLE t(a)", ".backup {O}/new.db"],
    ),
    (
        "sqlite3",
        &[":memory:", "CREATE TABLE t(a)", "VACUUM INTO '{O}/new.db'"],
    ),
    ("sqlite3", &[":memory:", "SELECT writefile('{S}', 'x')"]),
    ("sqlite3", &[":memory:", ".log {O}/new", "SELECT 1"]),
    ("xmllint", &["--output", "{S}", "a.xml"]),
    ("pandoc", &["a.md", "-t", "html", "-o", "{S}"]),
    ("pandoc", &["--log={O}/new", "a.md"]),
    ("convert", &["-size", "4x4", "xc:red", "{O}/new.png"]),
    (
        "convert",
        &["-size", "4x4", "xc:red", "-write", "{O}/new.png", "null:"],
    ),
    ("convert", &["msl:write.msl", "null:"]),
    ("convert", &["ephemeral:{S}", "null:"]),
    (
        "ffmpeg",
        &["-f", "s16le", "-i", "a", "-f", "data", "-y", "{S}"],
    ),
    (
        "ffmpeg",
        &[
            "-f",
            "lavfi",
            "-i",
            "sine=d=0.1",
            "-f",
            "tee",
            "-map",
            "0",
            "[f=wav]{O}/new.wav",
        ],
    ),
    (
        "ffmpeg",
        &[
            "-progress",
            "{O}/new",
            "-f",
            "lavfi",
            "-i",
            "sine=d=0.1",
            "-f",
            "null",
            "-",
        ],
    ),
    ("exiftool", &["-XMP-dc:Title=x", "-o", "{O}/new.xmp"]),
    ("exiftool", &["-XMP-dc:Title=x", "{O}/new.xmp"]),
    ("exiftool", &["-w", "{O}/%f.txt", "a.xml"]),
    ("exiftool", &["-HardLink={O}/new", "a"]),
    ("exiftool", &["-FileName={O}/new", "a"]),
];

/// Programs in full languages.
const CALLS: &[Row] = &[
    ("python3", &["-c", "open('{S}', 'a').write('x')"]),
    ("python3", &["-c", "import os; os.link('a', '{O}/new')"]),
    ("python3", &["-c", "import os; os.rename('a', '{O}/new')"]),
    ("python3", &["-c", "import os; os.rename('{S}', '{O}/new')"]),
    (
        "python3",
        &["-c", "import os; os.symlink('{Z}', '{O}/new')"],
    ),
    ("python3", &["-c", "import os; os.mkfifo('{O}/new')"]),
    ("python3", &["-c", "import os; os.mknod('{O}/new')"]),
    ("python3", &["-c", "import os; os.rmdir('{O}/empty')"]),
    ("python3", &["-c", "import os; os.truncate('{S}', 0)"]),
    (
        "python3",
        &["-c", "import os; os.open('{O}', os.O_TMPFILE | os.O_RDWR)"],
    ),
    (
        "python3",
        &[
            "-c",
            "import os\nfor fd in range(3, 2048):\n  try: os.open(f'/proc/self/fd/{fd}', os.O_RDWR | os.O_TRUNC)\n  except OSError: pass",
        ],
    ),
    // renameat2 with RENAME_EXCHANGE
    (
        "python3",
        &[
            "-c",
            "import ctypes; ctypes.CDLL(None).renameat2(-100, b'a', -100, b'{S}', 2)",
        ],
    ),
];

/// Links that another user planted in the zone.
const LINKED: &[Row] = &[
    ("tee", &["link"]),
    ("sed", &["-i", "--follow-symlinks", "s/c/x/", "link"]),
    ("touch", &["dir/new"]),
    ("mkdir", &["-p", "dir/new/x"]),
    ("tar", &["-xf", "plain.tar", "-C", "dir"]),
    ("unzip", &["-o", "plain.zip", "-d", "dir"]),
    ("dos2unix", &["-F", "link"]),
    ("gzip", &["-f", "dir/secret"]),
    ("find", &["dir/", "-mindepth", "1", "-delete"]),
    ("sort", &["-o", "link", "a"]),
];

fn furnish(scene: &Scene) {
    std::fs::create_dir(scene.path("other/empty")).expect("made");
    for (name, content) in [
        ("write.sed", "w {S}\n"),
        ("a.md", "# Title\n"),
        ("a.xml", "<r/>"),
        ("absolute.uu", "begin 644 {S}\n\":&D`\n`\nend\n"),
        (
            "change.diff",
            "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-one\n+two\n two\n",
        ),
        (
            "garbage.diff",
            "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-x\n+y\n z\n",
        ),
        (
            "write.msl",
            "<image size=\"4x4\"><read filename=\"xc:red\"/><write filename=\"{O}/new.png\"/></image>",
        ),
    ] {
        scene.write(&format!("zone/{name}"), content);
    }
    // Archives with a harmless member and one with an absolute name.
    for (program, arguments) in [
        ("tar", ["-cf", "plain.tar", "a", "a.md"].as_slice()),
        (
            "tar",
            &["-Pcf", "absolute.tar", "--transform", "s|^a$|{O}/new|", "a"],
        ),
        ("zip", &["-q", "plain.zip", "a"]),
    ] {
        scene.prepare(program, arguments);
    }
}

#[test]
fn no_option_writes_outside() {
    play(NAMED, furnish);
}

#[test]
fn no_call_writes_outside() {
    play(CALLS, furnish);
}

#[test]
fn no_link_writes_outside() {
    play(LINKED, |scene| {
        furnish(scene);
        scene.link();
    });
}

#[test]
fn what_is_only_read_stays_as_it_is() {
    const ROWS: &[Row] = &[
        ("tee", &["a"]),
        ("sed", &["-i", "s/one/x/", "a"]),
        ("rm", &["-f", "a"]),
        ("mv", &["a", "b"]),
        ("cp", &["list", "a"]),
        ("truncate", &["-s0", "a"]),
        ("sqlite3", &["new.db", "CREATE TABLE t(a)"]),
        ("find", &[".", "-delete"]),
        ("python3", &["-c", "open('a', 'r+').truncate(0)"]),
    ];
    // Here the zone is what lies outside.
    play_with(
        ROWS,
        |_| (),
        |scene| json!({"access": {"read": [scene.path("zone")], "write": [scene.path("private")]}}),
    );
    let scene = Scene::new();
    let read_only =
        json!({"access": {"read": [scene.path("zone")], "write": [scene.path("private")]}});
    for (program, arguments) in ROWS {
        drop(scene.attack_with(program, arguments, &read_only));
    }
    let left = super::scene::contents(&scene.path("zone"));
    assert_eq!(left.len(), 1);
    assert_eq!(left[&scene.path("zone/a")], b"one\ntwo\n");
}

#[test]
fn nothing_outside_is_written_or_removed() {
    let scene = Scene::new();
    let outside = scene.text("other");
    for (program, arguments) in [
        ("cp", vec!["a".to_owned(), outside.clone()]),
        ("cp", vec!["-t".to_owned(), outside.clone(), "a".to_owned()]),
        ("mv", vec!["a".to_owned(), outside.clone()]),
        ("tee", vec![format!("{outside}/tee")]),
        ("touch", vec![format!("{outside}/touch")]),
        ("mkdir", vec![format!("{outside}/dir")]),
        ("rm", vec!["-rf".to_owned(), outside.clone()]),
        (
            "sort",
            vec!["a".to_owned(), "-o".to_owned(), format!("{outside}/sort")],
        ),
        (
            "gawk",
            vec![format!("BEGIN{{print 1 > \"{outside}/awk\"}}")],
        ),
        (
            "mawk",
            vec![format!("BEGIN{{print 1 > \"{outside}/awk\"}}")],
        ),
        ("sed", vec![format!("w {outside}/sed"), "a".to_owned()]),
        ("find", vec![outside.clone(), "-delete".to_owned()]),
        (
            "truncate",
            vec!["-s0".to_owned(), format!("{outside}/secret")],
        ),
        ("split", vec!["a".to_owned(), format!("{outside}/split")]),
        ("git", vec!["init".to_owned(), format!("{outside}/git")]),
        (
            "sqlite3",
            vec![format!("{outside}/db"), "CREATE TABLE t(a)".to_owned()],
        ),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        scene.holds(program, &arguments);
        let left: Vec<String> = std::fs::read_dir(scene.path("other"))
            .expect("still there")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(left, ["secret"], "{program} {arguments:?}");
    }
}

#[test]
fn what_is_left_behind_is_plain_data() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    let scene = Scene::new();
    for (program, arguments) in [
        ("ln", vec!["-s", "/etc/passwd", "link"]),
        ("cp", vec!["-s", "a", "link"]),
        ("mkfifo", vec!["fifo"]),
        ("mknod", vec!["device", "c", "1", "3"]),
        ("chmod", vec!["4755", "a"]),
        ("chmod", vec!["2755", "a"]),
        ("install", vec!["-m", "4755", "a", "b"]),
        (
            "python3",
            vec!["-c", "import socket; socket.socket(1).bind('s')"],
        ),
    ] {
        scene.holds(program, &arguments);
    }
    for entry in std::fs::read_dir(scene.path("zone"))
        .expect("listed")
        .flatten()
    {
        let metadata = entry.path().symlink_metadata().expect("there");
        let kind = metadata.file_type();
        let odd = kind.is_symlink() || kind.is_fifo() || kind.is_socket() || kind.is_char_device();
        assert!(!odd, "{:?}", entry.path());
        assert_eq!(
            metadata.permissions().mode() & 0o6000,
            0,
            "{:?}",
            entry.path()
        );
    }
}

#[test]
fn a_command_that_only_reads_changes_no_mode_and_no_time() {
    use std::os::unix::fs::MetadataExt;

    let scene = Scene::new();
    let secret = scene.path("other/secret");
    let about = || {
        let stat = std::fs::metadata(&secret).expect("still there");
        (stat.mode(), stat.mtime(), stat.mtime_nsec(), stat.uid())
    };
    let before = about();
    let reads = json!({"changes": false});
    for (program, arguments) in [
        ("chmod", vec!["666", "{S}"]),
        ("touch", vec!["-d", "@0", "{S}"]),
        ("touch", vec!["-a", "{S}"]),
        ("chown", vec!["1", "{S}"]),
        ("setfattr", vec!["-n", "user.x", "-v", "y", "{S}"]),
        ("python3", vec!["-c", "import os; os.chmod('{S}', 0o666)"]),
        ("python3", vec!["-c", "import os; os.utime('{S}', (0, 0))"]),
        ("perl", vec!["-e", "chmod 0666, '{S}'; utime 0, 0, '{S}'"]),
    ] {
        scene.attack_with(program, &arguments, &reads);
        assert_eq!(about(), before, "{program} {arguments:?}");
    }
}
