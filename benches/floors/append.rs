//! A line at the end of a large file: in storage beside a shell that adds one, in documents, whose
//! history takes in the whole file, beside git that names it.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;

use fileshed_test_support::Server;
use fileshed_test_support::processes::{forget_peak, peak, resident};
use fileshed_test_support::wire::Wire;

use super::{at_most, median};

/// Megabytes of the file.
const MEGABYTES: usize = 100;

/// Bytes of a line.
const LINE: usize = 64;

/// Most megabytes that the server may hold more than at rest.
const MEMORY_MB: f64 = 40.0;

/// A zone, what it is measured beside, and most times that a line may take what that takes.
struct Row {
    zone: &'static str,
    directory: &'static str,
    beside: &'static str,
    script: &'static str,
    most: f64,
    times: usize,
}

const ROWS: [Row; 2] = [
    Row {
        zone: "storage",
        directory: "Storage",
        beside: "a shell's >>",
        script: "echo one line >> \"$0\"",
        most: 2.0,
        times: 40,
    },
    Row {
        zone: "documents",
        directory: "Documents",
        beside: "git hash-object",
        script: "git hash-object --no-filters -- \"$0\"",
        most: 1.0,
        times: 9,
    },
];

pub(super) fn append(server: &Server) -> bool {
    ROWS.iter()
        .fold(true, |met, row| met & measure(server, row))
}

fn measure(server: &Server, row: &Row) -> bool {
    let user = format!("appender-{}", row.zone);
    let mut wire = Wire::open(server, &user, "bench");
    let call = json!({"zone": row.zone, "path": "large.log", "content": "a line\n"});
    wire.data("shed_create_file", &call);
    let data = server.data().join("users").join(&user).join(row.directory);
    let file = data.join("data/large.log");
    fill(&file);
    let call = json!({"zone": row.zone, "cmd": "touch", "args": ["seen"], "timeout": 300});
    wire.data("shed_exec", &call);
    let process = server.process().as_raw_nonzero().get();
    let rest = resident(process);
    forget_peak(process);
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..row.times {
        let call = json!({
            "zone": row.zone, "path": "large.log", "content": "one line", "position": "end",
        });
        let begun = Instant::now();
        wire.data("shed_patch_text", &call);
        ours.push(begun.elapsed().as_secs_f64() * 1000.0);
        let begun = Instant::now();
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", row.script]).arg(&file);
        let status = shell.stdout(Stdio::null()).status().unwrap();
        bare.push(begun.elapsed().as_secs_f64() * 1000.0);
        assert!(status.success(), "{}", row.script);
    }
    let more = peak(process).saturating_sub(rest) as f64 / 1024.0 / 1024.0;
    let (ours, bare) = (median(ours), median(bare));
    println!(
        "a line at the end of {MEGABYTES} MB in {}: {ours:.2} ms; {}: {bare:.2} ms",
        row.zone, row.beside
    );
    let against = format!("    against {}", row.beside);
    at_most(&against, ours / bare, row.most, "x")
        & at_most("    memory above rest", more, MEMORY_MB, "MB")
}

/// Lines of which no two are the same.
fn fill(file: &Path) {
    let mut file = BufWriter::new(std::fs::File::create(file).unwrap());
    for number in 0..MEGABYTES * 1024 * 1024 / LINE {
        writeln!(file, "{number:063}").unwrap();
    }
    file.into_inner().unwrap();
}
