//! Cost of changes compared with the cost of the disk and of git themselves, in the same run: `cargo bench
//! --bench floors`, or with the name of a part: `writes`, `strict`, `append`, `fairness`, `copies`,
//! `patch`, `large`, `removal`, `history`, `flat`.
//!
//! Only ratios count. A missed target ends with status 1.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

#[path = "floors/append.rs"]
mod append;
#[path = "floors/copies.rs"]
mod copies;
#[path = "floors/fairness.rs"]
mod fairness;
#[path = "floors/history.rs"]
mod history;
#[path = "floors/patch.rs"]
mod patch;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::json;

use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

/// Least shares of write, fdatasync and rename without a server that writes have.
const WRITES: [(&str, usize, f64); 4] = [
    ("documents", 1, 0.6),
    ("documents", 16, 1.0),
    ("storage", 1, 0.5),
    ("storage", 8, 0.5),
];

/// The same where the answer waits for the disk.
const STRICT_WRITES: [(&str, usize, f64); 2] = [("storage", 16, 0.7), ("documents", 16, 0.7)];

/// Most times that a large file on its way into documents may take what `git add` takes.
const LARGE_RATIO: f64 = 1.2;

/// Most times that a small write may take while it is on its way, of what it takes alone.
const BESIDE_RATIO: f64 = 3.0;

/// Megabytes of that file; `FLOORS_LARGE_MB` sets another number.
const LARGE_MB: usize = 1024;

/// Most times that the answer to the removal of 10 000 files may take what that of one takes.
const REMOVAL_RATIO: f64 = 2.0;

/// Duration of a measurement of a rate, and number of measurements.
const SLICE: Duration = Duration::from_millis(700);
const SLICES: usize = 5;

/// Measures, and says whether the targets are met.
type Part = fn(&Server) -> bool;

/// The parts by their names, but for `strict`, which has a server of its own.
const PARTS: [(&str, Part); 9] = [
    ("writes", |server| writes(server, &WRITES)),
    ("append", append::append),
    ("fairness", fairness::fairness),
    ("copies", copies::copies),
    ("patch", patch::patch),
    ("large", large),
    ("removal", removal),
    ("history", history::history),
    ("flat", history::flat),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |part: &str| {
        let named = wanted.iter().filter(|name| !name.starts_with('-'));
        named.clone().count() == 0 || named.clone().any(|name| name == part)
    };
    let mut met = true;
    if is_wanted("strict") {
        println!("with durability = strict:");
        met &= writes(&server("strict"), &STRICT_WRITES);
    }
    let server = server("relaxed");
    for (name, part) in PARTS {
        if is_wanted(name) {
            met &= part(&server);
        }
    }
    if met {
        ExitCode::SUCCESS
    } else {
        println!("\na target is missed");
        ExitCode::FAILURE
    }
}

fn server(durability: &str) -> Server {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_DURABILITY", durability)
        .env("FILESHED_QUOTA_PER_USER_MB", "20000")
        .env("FILESHED_MAX_FILE_SIZE_MB", "4000")
        .start()
}

/// Small writes of some clients of one user, in turns with threads that write, flush and rename.
fn writes(server: &Server, rows: &[(&str, usize, f64)]) -> bool {
    let mut met = true;
    for &(zone, clients, least) in rows {
        let user = format!("writer-{zone}-{clients}");
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        let place = server.data().join(format!("bare-{zone}-{clients}"));
        std::fs::create_dir(&place).unwrap();
        for slice in 0..=SLICES {
            let rate = in_parallel(clients, |client| {
                let mut wire = Wire::open(server, &user, "bench");
                repeat(|number| {
                    let call = json!({
                        "zone": zone,
                        "path": format!("client-{client}/file-{}.txt", number % 20),
                        "content": format!("{slice} {number} {}\n", "x".repeat(100)),
                        "overwrite": true,
                    });
                    wire.data("shed_create_file", &call);
                })
            });
            let floor = in_parallel(clients, |client| {
                let place = place.join(client.to_string());
                std::fs::create_dir_all(&place).unwrap();
                repeat(|number| bare_write(&place, number % 20))
            });
            // The first ones warm up.
            if slice > 0 {
                ours.push(rate);
                bare.push(floor);
            }
        }
        let (ours, bare) = (median(ours), median(bare));
        println!("write into {zone}, {clients} client(s): {ours:.0} /s; bare: {bare:.0} /s");
        met &= at_least("    share of write, fdatasync, rename", ours / bare, least);
    }
    met
}

/// The rates of all clients together, a second.
fn in_parallel(clients: usize, work: impl Fn(usize) -> usize + Sync) -> f64 {
    let begun = Instant::now();
    let count: usize = std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..clients)
            .map(|client| scope.spawn(move || work(client)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    count as f64 / begun.elapsed().as_secs_f64()
}

fn repeat(mut work: impl FnMut(usize)) -> usize {
    let until = Instant::now() + SLICE;
    let mut count = 0;
    while Instant::now() < until {
        work(count);
        count += 1;
    }
    count
}

/// Writes a file without a server: content, flush, name.
fn bare_write(place: &Path, number: usize) {
    let beside = place.join("beside");
    let mut file = std::fs::File::create(&beside).unwrap();
    file.write_all(&[b'x'; 110]).unwrap();
    file.sync_data().unwrap();
    std::fs::rename(&beside, place.join(format!("file-{number}"))).unwrap();
}

/// A large file copied into documents, once of text and once of what nothing makes smaller, in turns
/// with `git add`; and small writes beside it.
fn large(server: &Server) -> bool {
    let megabytes = std::env::var("FLOORS_LARGE_MB").ok();
    let megabytes = megabytes.and_then(|number| number.parse().ok());
    let pieces = megabytes.unwrap_or(LARGE_MB);
    let mut met = true;
    for (name, seed) in [("text", None), ("noise", Some(1_u64))] {
        let user = format!("large-{name}");
        let mut wire = Wire::open(server, &user, "bench");
        let call = json!({"zone": "storage", "path": "first", "content": "x"});
        wire.data("shed_create_file", &call);
        let file = server
            .data()
            .join(format!("users/{user}/Storage/data/large"));
        fill(&file, pieces, seed);
        let call = json!({"zone": "storage", "cmd": "touch", "args": ["seen"], "timeout": 300});
        wire.data("shed_exec", &call);

        let alone = small_writes(server, &user, |writes| writes == 50);
        let done = std::sync::atomic::AtomicBool::new(false);
        let (ours, beside) = std::thread::scope(|scope| {
            let beside = scope.spawn(|| {
                let is_done = || done.load(std::sync::atomic::Ordering::Relaxed);
                small_writes(server, &user, |_| is_done())
            });
            let call = json!({"src": "large", "dest": "large"});
            let begun = Instant::now();
            wire.data("shed_copy_storage_to_documents", &call);
            let ours = begun.elapsed().as_secs_f64();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            (ours, beside.join().unwrap())
        });
        let longest = beside.iter().copied().fold(0.0, f64::max);
        let (alone, beside) = (median(alone), median(beside));

        let place = server.data().join(format!("bare-large-{name}"));
        std::fs::create_dir(&place).unwrap();
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            let status = command.args(arguments).current_dir(&place).status();
            assert!(status.unwrap().success());
        };
        git(&["init", "--quiet"]);
        let begun = Instant::now();
        std::fs::copy(&file, place.join("large")).unwrap();
        git(&["add", "large"]);
        let bare = begun.elapsed().as_secs_f64();
        println!("{pieces} MB of {name} into documents: {ours:.1} s; cp and git add: {bare:.1} s");
        met &= at_most("    against cp and git add", ours / bare, LARGE_RATIO, "x");
        println!(
            "    small writes alone {alone:.1} ms, beside it {beside:.1} ms, the longest {longest:.0} ms"
        );
        met &= at_most(
            "    beside it against alone",
            beside / alone,
            BESIDE_RATIO,
            "x",
        );
        std::fs::remove_dir_all(&place).unwrap();
    }
    met
}

/// Writes a file of so many megabytes: lines of text, or numbers in no order.
fn fill(file: &Path, pieces: usize, mut seed: Option<u64>) {
    let mut file = std::fs::File::create(file).unwrap();
    let mut next = |number: u64| match &mut seed {
        Some(state) => {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            state.to_le_bytes().to_vec()
        }
        None => format!("{number:08x} line {}\n", number % 1000).into_bytes(),
    };
    let mut number = 0;
    for _ in 0..pieces {
        let mut piece = Vec::with_capacity((1 << 20) + 32);
        while piece.len() < 1 << 20 {
            piece.extend(next(number));
            number += 1;
        }
        file.write_all(&piece[..1 << 20]).unwrap();
    }
}

/// Milliseconds of small writes into documents, one after the other, until `is_enough` of their
/// number.
fn small_writes(server: &Server, user: &str, is_enough: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut wire = Wire::open(server, user, "beside");
    let mut times = Vec::new();
    while !is_enough(times.len()) {
        let call = json!({
            "zone": "documents", "path": format!("small/{}.txt", times.len() % 20),
            "content": format!("{}\n", times.len()), "overwrite": true,
        });
        let begun = Instant::now();
        wire.data("shed_create_file", &call);
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
        std::thread::sleep(Duration::from_millis(20));
    }
    times
}

/// Removing a directory of 10 000 files, in turns with one of a single file.
fn removal(server: &Server) -> bool {
    let mut wire = Wire::open(server, "remover", "bench");
    wire.data("shed_stats", &json!({}));
    let data = server.data().join("users/remover/Storage/data");
    let (mut many, mut one) = (Vec::new(), Vec::new());
    for round in 0..7 {
        for (files, times) in [(10_000, &mut many), (1, &mut one)] {
            let directory = data.join("going");
            std::fs::create_dir_all(&directory).unwrap();
            for number in 0..files {
                std::fs::write(directory.join(format!("{number}.txt")), "one line\n").unwrap();
            }
            let call = json!({"zone": "storage", "cmd": "touch", "args": ["seen"], "timeout": 300});
            wire.data("shed_exec", &call);
            // The new files are flushed, so that their removal does not wait for that.
            let status = Command::new("sync")
                .arg("--file-system")
                .arg(&data)
                .status();
            assert!(status.unwrap().success());
            let call = json!({"zone": "storage", "path": "going"});
            let begun = Instant::now();
            wire.data("shed_delete", &call);
            if round > 0 {
                times.push(begun.elapsed().as_secs_f64() * 1000.0);
            }
        }
    }
    let (many, one) = (median(many), median(one));
    println!("removing 10 000 files: {many:.2} ms; one file: {one:.2} ms");
    at_most("    10 000 against one", many / one, REMOVAL_RATIO, "x")
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn at_most(name: &str, figure: f64, most: f64, unit: &str) -> bool {
    verdict(name, figure, most, unit, figure <= most)
}

fn at_least(name: &str, figure: f64, least: f64) -> bool {
    verdict(name, figure, least, "x", figure >= least)
}

fn verdict(name: &str, figure: f64, target: f64, unit: &str, met: bool) -> bool {
    let said = if met { "met" } else { "MISSED" };
    println!("{name:<58}{figure:>11.2} {unit}   target {target} {unit}: {said}");
    met
}
