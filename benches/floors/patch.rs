//! A line in the middle of a large text, in turns with `sed`.

use std::io::{BufWriter, Write as _};
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

use super::{at_most, median};

/// Most times that it may take what `sed -i` takes.
const RATIO: f64 = 1.5;

/// Megabytes of the file.
const MEGABYTES: usize = 100;

/// Bytes of a line.
const LINE: usize = 64;

/// Rounds; the first one warms up.
const ROUNDS: usize = 12;

pub(super) fn patch(server: &Server) -> bool {
    let mut wire = Wire::open(server, "patcher", "bench");
    let call = json!({"zone": "storage", "path": "large.txt", "content": "a line\n"});
    wire.data("shed_create_file", &call);
    let ours_at = server.data().join("users/patcher/Storage/data/large.txt");
    let bare_at = server.data().join("large.txt");
    let lines = MEGABYTES * 1024 * 1024 / LINE;
    let mut file = BufWriter::new(std::fs::File::create(&ours_at).unwrap());
    for number in 0..lines {
        writeln!(file, "{number:062}").unwrap();
    }
    drop(file.into_inner().unwrap());
    std::fs::copy(&ours_at, &bare_at).unwrap();
    let call = json!({"zone": "storage", "cmd": "touch", "args": ["seen"], "timeout": 300});
    wire.data("shed_exec", &call);
    let middle = lines / 2;
    let (mut by_line, mut by_text, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    let timed = |times: &mut Vec<f64>, work: &mut dyn FnMut()| {
        let status = Command::new("sync")
            .arg("--file-system")
            .arg(&bare_at)
            .status();
        assert!(status.unwrap().success());
        let begun = Instant::now();
        work();
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    };
    for round in 0..ROUNDS {
        let call = json!({
            "zone": "storage", "path": "large.txt", "line": middle, "position": "replace",
            "content": format!("change {round}\n"),
        });
        timed(&mut by_line, &mut || {
            wire.data("shed_patch_text", &call);
        });
        let call = json!({
            "zone": "storage", "path": "large.txt", "find": format!("change {round}\n"),
            "content": format!("text {round}\n"),
        });
        timed(&mut by_text, &mut || {
            wire.data("shed_patch_text", &call);
        });
        let script = format!("{middle}c\\change {round}");
        timed(&mut bare, &mut || {
            let status = Command::new("sed")
                .args(["-i", &script])
                .arg(&bare_at)
                .status();
            assert!(status.unwrap().success());
        });
    }
    let (by_line, by_text, bare) = (
        median(by_line.split_off(1)),
        median(by_text.split_off(1)),
        median(bare.split_off(1)),
    );
    println!(
        "a line within {MEGABYTES} MB: by its number {by_line:.0} ms, by its text {by_text:.0} ms; sed -i {bare:.0} ms"
    );
    at_most("    by number against sed -i", by_line / bare, RATIO, "x")
        & at_most("    by text against sed -i", by_text / bare, RATIO, "x")
}
