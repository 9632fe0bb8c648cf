//! Real files, against what Python and SQLite's own shell make of them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{at, replacing};
use crate::ops::stage::done;
use fileshed_test_support::{Server, TestApp, skip};

/// Compares every cell of a table with the file that it was made from.
const COMPARE: &str = r##"
import csv, sqlite3, sys
file, database, encoding, delimiter, header = sys.argv[1:]
csv.field_size_limit(1 << 30)
with open(file, encoding=encoding, newline="") as text:
    rows = [row for row in csv.reader(text, delimiter=delimiter) if row]
if header == "yes":
    rows = rows[1:]
cursor = sqlite3.connect(database).execute("SELECT * FROM t")
kinds = [kind for (kind,) in sqlite3.connect(database).execute("SELECT type FROM pragma_table_info('t')")]
stored = cursor.fetchall()
assert len(rows) == len(stored), (len(rows), len(stored))
missing = {"NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "none"}
for number, (row, found) in enumerate(zip(rows, stored)):
    row = (row + [""] * len(found))[:len(found)]
    for kind, cell, value in zip(kinds, row, found):
        if kind == "TEXT":
            expected = cell or None
        elif not cell.strip() or cell.strip() in missing:
            expected = None
        elif kind == "INTEGER":
            expected = int(cell)
        else:
            expected = float(cell.strip().replace(",", ".") if "," in cell else cell)
        assert expected == value, (number, kind, cell, value)
for index, kind in enumerate(kinds):
    cells = [row[index] for row in rows if index < len(row) and row[index].strip()]
    try:
        plain = bool(cells) and all(str(int(cell)) == cell and abs(int(cell)) < 2**63 for cell in cells)
    except ValueError:
        plain = False
    assert not plain or kind == "INTEGER", (index, kind)
print(len(rows))
"##;

fn python() -> bool {
    let there = Command::new("python3").arg("--version").output().is_ok();
    if !there {
        skip("python3 is not installed");
    }
    there
}

/// Imports a file of the machine and compares. Says how many rows there were.
#[track_caller]
fn compare(
    server: &TestApp,
    bytes: &[u8],
    more: &Value,
    (encoding, delimiter): (&str, &str),
) -> usize {
    let client = server.client();
    done(&client, "shed_tree", &json!({"zone": "storage"}));
    let zone = server.data().join("shared/Storage/data");
    std::fs::write(zone.join("real.csv"), bytes).unwrap();
    let call = replacing("storage", "real.csv", more);
    let data = done(&client, "shed_sqlite", &call);
    let header = if data["import_info"]["has_header"] == true {
        "yes"
    } else {
        "no"
    };
    let compared = Command::new("python3")
        .args(["-c", COMPARE])
        .args([zone.join("real.csv"), zone.join("data.db")])
        .args([encoding, delimiter, header])
        .output()
        .unwrap();
    assert!(
        compared.status.success(),
        "{}",
        String::from_utf8_lossy(&compared.stderr)
    );
    let count: usize = String::from_utf8_lossy(&compared.stdout)
        .trim()
        .parse()
        .unwrap();
    assert_eq!(data["rows_imported"], count);
    count
}

#[test]
fn files_of_packages_are_read_as_python_reads_them() {
    if !python() {
        return;
    }
    let server = TestApp::start();
    for (file, package, more, delimiter) in [
        ("/usr/share/ieee-data/oui.csv", "ieee-data", json!({}), ","),
        ("/usr/share/ieee-data/iab.csv", "ieee-data", json!({}), ","),
        (
            "/usr/share/ieee-data/oui36.csv",
            "ieee-data",
            json!({}),
            ",",
        ),
        (
            "/usr/share/distro-info/debian.csv",
            "distro-info-data",
            json!({}),
            ",",
        ),
        (
            "/usr/share/distro-info/ubuntu.csv",
            "distro-info-data",
            json!({"date_columns": ["created"]}),
            ",",
        ),
        (
            "/usr/share/unicode/UnicodeData.txt",
            "unicode-data",
            json!({"has_header": false}),
            ";",
        ),
    ] {
        let Ok(bytes) = std::fs::read(file) else {
            skip(format_args!("{file} (package {package}) is not installed"));
            continue;
        };
        let rows = compare(&server, &bytes, &more, ("utf-8", delimiter));
        println!("{file}: {rows} rows");
        assert!(rows > 10);
    }
}

#[test]
fn files_in_other_encodings_are_read_as_python_reads_them() {
    if !python() {
        return;
    }
    let server = TestApp::start();
    // An export of a European office: semicolons, decimal commas, accents, quotes, empty cells.
    let script = r#"
import random, sys
random.seed(7)
encoding, mark = sys.argv[1], sys.argv[2]
towns = ["Besançon", "Köln", "Málaga", "Orléans", "São Paulo", "Łódź" if encoding.startswith("utf") else "Lyon", "Århus"]
lines = ["Nº;Ville;Montant;Prénom;Libellé;Vide"]
for number in range(400):
    amount = f"{random.randint(-99999, 99999) / 100:.2f}".replace(".", ",")
    text = random.choice(["", "simple", "deux; mots", 'des "guillemets"', "deux\r\nlignes", " espaces "])
    if any(c in text for c in ';"\r'):
        text = '"' + text.replace('"', '""') + '"'
    lines.append(f"{number};{random.choice(towns)};{amount};{random.choice(['José', 'Zoë', ''])};{text};")
sys.stdout.buffer.write((mark + "\r\n".join(lines) + "\r\n").encode(encoding))
"#;
    for (encoding, mark) in [
        ("utf-8", ""),
        ("utf-8", "\u{feff}"),
        ("latin-1", ""),
        ("cp1252", ""),
        ("utf-16-le", "\u{feff}"),
        ("utf-16-be", "\u{feff}"),
        ("utf-16-le", ""),
    ] {
        let made = Command::new("python3")
            .args(["-c", script, encoding, mark])
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let read = match (encoding, mark) {
            ("utf-8", "\u{feff}") => "utf-8-sig",
            ("utf-16-le" | "utf-16-be", "\u{feff}") => "utf-16",
            (other, _) => other,
        };
        assert_eq!(
            compare(&server, &made.stdout, &json!({}), (read, ";")),
            400,
            "{encoding}"
        );
    }
}

/// Standard output of SQLite's shell.
fn shell(database: &Path, commands: &[&str]) -> Option<String> {
    let output = Command::new("sqlite3")
        .arg(database)
        .args(commands)
        .output()
        .ok()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_shell_of_sqlite_agrees() {
    let server = Server::start();
    let file = Path::new("/usr/share/ieee-data/oui.csv");
    let Ok(bytes) = std::fs::read(file) else {
        skip(format_args!(
            "{} (package ieee-data) is not installed",
            file.display()
        ));
        return;
    };
    let client = server.client();
    done(&client, "shed_tree", &json!({"zone": "storage"}));
    let zone = server.data().join("shared/Storage/data");
    std::fs::write(zone.join("oui.csv"), bytes).unwrap();
    let import = at(
        "storage",
        "ours.db",
        &json!({"import_csv": "oui.csv", "table": "t"}),
    );
    done(&client, "shed_sqlite", &import);
    let theirs = server.data().join("theirs.db");
    let import = format!(".import --csv {} t", file.display());
    if shell(&theirs, &[&import]).is_none() {
        skip("sqlite3 is not installed");
        return;
    }
    // The shell stores empty cells as empty text.
    let query = "SELECT * FROM t ORDER BY rowid";
    let dump = |database: &Path| shell(database, &["-csv", "-nullvalue", "", query]).unwrap();
    let (ours, theirs_rows) = (dump(&zone.join("ours.db")), dump(&theirs));
    assert!(ours.lines().count() > 1000);
    assert!(ours.replace("\"\"", "") == theirs_rows.replace("\"\"", ""));
    assert_eq!(
        shell(&zone.join("ours.db"), &["PRAGMA integrity_check"]).unwrap(),
        "ok\n"
    );
    // A database of the shell can be read, and its export is the same as the shell's.
    std::fs::copy(&theirs, zone.join("theirs.db")).unwrap();
    let export = at(
        "storage",
        "theirs.db",
        &json!({"query": "SELECT Assignment, Registry FROM t", "output_csv": "out.csv"}),
    );
    done(&client, "shed_sqlite", &export);
    let expected = shell(
        &theirs,
        &["-csv", "-header", "SELECT Assignment, Registry FROM t"],
    )
    .unwrap();
    let exported = std::fs::read_to_string(zone.join("out.csv")).unwrap();
    assert!(exported == expected.replace("\r\n", "\n"));
}
