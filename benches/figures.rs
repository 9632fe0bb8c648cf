//! Cost of calls, and that it does not grow with the zone: `cargo bench`.
//!
//! Each ratio compares two medians of the same run, taken in turns, so that a machine that is
//! busy for a while is so for both. A missed target ends with status 1.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

/// Most times that a commit among 10 000 files may cost what one among 10 does.
const COMMIT_RATIO: f64 = 3.0;

/// Most times that a write beside 100 000 files may cost what one into an empty zone does.
const WRITE_RATIO: f64 = 1.5;

/// Most times that packing or unpacking 10 000 files may take what Info-ZIP takes.
const ARCHIVE_RATIO: f64 = 1.2;

/// Most times that a new file, or one of 1 MB over another, may cost with the bin what it costs without.
const BIN_RATIO: f64 = 1.05;

/// The same of a small file over another.
const SMALL_BIN_RATIO: f64 = 1.3;

/// Most times that an undo may take what `cp -a` of the same files takes.
const UNDO_RATIO: f64 = 3.0;

/// Measurements of each figure of archives.
const ARCHIVE_REPETITIONS: usize = 11;

/// Least share of the speed of SQLite's own shell that an import of a CSV file has.
const IMPORT_SHARE: f64 = 0.7;

/// Most MB of memory of the process that imports.
const IMPORT_MEMORY: f64 = 100.0;

/// Rows of the CSV file, of 10 columns each; `FIGURES_ROWS` sets another number.
const IMPORT_ROWS: usize = 200_000;

/// Measurements of each figure.
const REPETITIONS: usize = 201;

/// Users whose first calls are measured.
const NEW_USERS: usize = 21;

/// Duration of a measurement of a throughput.
const SECONDS: u64 = 2;

fn main() -> ExitCode {
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .start();
    println!("\n{:<58}{:>14}", "figure", "");
    let mut met = true;
    first_calls(&server);
    met &= commits(&server);
    met &= writes(&server);
    met &= binned();
    met &= undone(&server);
    met &= archives(&server);
    met &= imports(&server);
    commands(&server);
    throughput(&server);
    memory(&server, "memory after all of this");
    large_file(&server);
    memory(&server, "memory after a file of 250 MB");
    if met {
        ExitCode::SUCCESS
    } else {
        println!("\na target is missed");
        ExitCode::FAILURE
    }
}

/// Files on disk that the server has not seen yet.
fn furnish(server: &Server, user: &str, zone: &str, directories: usize, each: usize) {
    let data = server
        .data()
        .join("users")
        .join(user)
        .join(zone)
        .join("data");
    for directory in 0..directories {
        let directory = data.join(format!("d{directory}"));
        std::fs::create_dir_all(&directory).unwrap();
        for number in 0..each {
            let content = format!("file {number} of {}\n", directory.display()).repeat(8);
            std::fs::write(directory.join(format!("f{number}.txt")), content).unwrap();
        }
    }
}

/// First calls of users whom the server has not seen; the server itself has had calls before.
fn first_calls(server: &Server) {
    let stats = |user: &str| {
        let mut wire = Wire::open(server, user, "bench");
        timed(|| drop(wire.data("shed_stats", &json!({}))))
    };
    for user in ["before-1", "before-2"] {
        stats(user);
        first_commit(server, user, 1, 10);
    }
    let users = (0..NEW_USERS).map(|number| stats(&format!("new-{number}")));
    duration("first access of a new user", median(users.collect()));
    let commits = (0..NEW_USERS).map(|number| {
        let user = format!("commits-{number}");
        first_commit(server, &user, 1, 10).0
    });
    duration(
        "first commit of 10 files on disk",
        median(commits.collect()),
    );
}

/// Returns the duration of the first commit of files that were put on the disk without the server, and the
/// connection of their user.
fn first_commit(server: &Server, user: &str, directories: usize, each: usize) -> (Duration, Wire) {
    furnish(server, user, "Documents", directories, each);
    let mut wire = Wire::open(server, user, "bench");
    let call = json!({"zone": "documents", "cmd": "touch", "args": ["added"], "timeout": 300});
    let time = timed(|| drop(wire.data("shed_exec", &call)));
    (time, wire)
}

fn commits(server: &Server) -> bool {
    let (_, few) = first_commit(server, "few", 1, 10);
    let (time, many) = first_commit(server, "many", 100, 100);
    duration(
        "first commit of 10 000 files on disk (one measurement)",
        time,
    );
    let mut desks = [few, many];
    let [few, many] = in_turns(&mut desks, |wire, number| {
        let content = format!("version {number}\n");
        let call = json!({"zone": "documents", "path": "d0/f7.txt", "content": content,
            "overwrite": true});
        wire.data("shed_patch_text", &call);
    });
    duration("commit of one changed file among 10", few);
    duration("commit of one changed file among 10 000", many);
    let met = ratio("    10 000 against 10", many, few, COMMIT_RATIO);
    let status = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
    let [few, many] = in_turns_of(11, &mut desks, |wire, _| {
        let data = wire.data("shed_exec", &status);
        assert_eq!(data["stdout"], "");
    });
    duration("shed_exec git status among 10", few);
    duration("shed_exec git status among 10 000", many);
    met
}

fn writes(server: &Server) -> bool {
    furnish(server, "crowded", "Storage", 1000, 100);
    let mut desks = ["empty", "crowded"].map(|user| Wire::open(server, user, "bench"));
    let [_, crowded] = &mut desks;
    let time = timed(|| drop(crowded.data("shed_stats", &json!({}))));
    duration("first access to 100 000 files (one measurement)", time);
    let bare = server.data().join("bare");
    std::fs::create_dir(&bare).unwrap();
    let [empty, crowded] = in_turns(&mut desks, |wire, number| {
        let path = format!("d1/new-{}.txt", number % 50);
        let call = json!({"zone": "storage", "path": path, "content": "x".repeat(100)});
        wire.data("shed_create_file", &call);
    });
    let bare = (0..REPETITIONS).map(|_| timed(|| bare_write(&bare)));
    let bare = median(bare.collect());
    duration("write of 100 bytes into an empty zone", empty);
    duration("write of 100 bytes beside 100 000 files", crowded);
    let met = ratio("    100 000 against none", crowded, empty, WRITE_RATIO);
    duration(
        "    the same write, flush and rename without a server",
        bare,
    );
    met
}

/// The cost of writes with the bin and without it, each by a new server.
fn binned() -> bool {
    let servers = ["0", "30"].map(|days| {
        Server::with()
            .env("FILESHED_API_KEYS", "service-key")
            .env("FILESHED_NAMESPACE", "plain")
            .env("FILESHED_BIN_DAYS", days)
            .start()
    });
    let mut desks = servers
        .each_ref()
        .map(|server| Wire::open(server, "binned", "bench"));
    let mut met = true;
    for (name, size, is_new, most) in [
        ("new file of 100 bytes", 100, true, BIN_RATIO),
        ("100 bytes over a file", 100, false, SMALL_BIN_RATIO),
        ("new file of 1 MB", 1_000_000, true, BIN_RATIO),
        ("1 MB over a file", 1_000_000, false, BIN_RATIO),
    ] {
        let content = "x".repeat(size);
        let [without, with] = in_turns(&mut desks, |wire, number| {
            let name = if is_new { number } else { 0 };
            let call = json!({"zone": "storage", "path": format!("{size}/{is_new}-{name}"),
                "content": content, "overwrite": true});
            wire.data("shed_create_file", &call);
        });
        duration(&format!("{name}, no bin"), without);
        duration(&format!("{name}, with the bin"), with);
        met &= ratio("    with the bin against none", with, without, most);
    }
    met
}

/// The undo of an answer that wrote over a thousand files, against a copy of them.
fn undone(server: &Server) -> bool {
    const FILES: usize = 1_000;
    let mut met = true;
    for zone in ["storage", "documents"] {
        let mut ratios = Vec::new();
        for round in 0..3 {
            let mut wire = Wire::open(server, &format!("undone-{zone}-{round}"), "bench");
            let content = "as it was\n".repeat(40);
            for number in 0..FILES {
                let call =
                    json!({"zone": zone, "path": format!("many/{number}"), "content": content});
                wire.data("shed_create_file", &call);
            }
            let mut wire = wire.answering("bench-answer");
            for number in 0..FILES {
                let call =
                    json!({"zone": zone, "path": format!("many/{number}"), "content": "other\n"});
                wire.data("shed_create_file", &call);
            }
            let user = server
                .data()
                .join("users")
                .join(format!("undone-{zone}-{round}"));
            let directory = if zone == "storage" {
                "Storage"
            } else {
                "Documents"
            };
            let many = user.join(directory).join("data/many");
            let copied = timed(|| {
                let copy = Command::new("cp")
                    .arg("-a")
                    .arg(&many)
                    .arg(server.data().join(format!("copy-{zone}-{round}")))
                    .status();
                assert!(copy.unwrap().success());
            });
            let call = json!({"answer": "bench-answer"});
            let undone = timed(|| drop(wire.data("shed_undo", &call)));
            assert_eq!(std::fs::read_to_string(many.join("7")).unwrap(), content);
            ratios.push((undone, copied));
        }
        let undo = median(ratios.iter().map(|(undone, _)| *undone).collect());
        let copy = median(ratios.iter().map(|(_, copied)| *copied).collect());
        duration(&format!("undo of 1,000 files over others in {zone}"), undo);
        met &= ratio("    against cp -a", undo, copy, UNDO_RATIO);
    }
    met
}

/// A CSV file of several types to a table, against SQLite's own shell.
fn imports(server: &Server) -> bool {
    let rows = std::env::var("FIGURES_ROWS").ok();
    let rows = rows
        .and_then(|rows| rows.parse().ok())
        .unwrap_or(IMPORT_ROWS);
    let mut wire = Wire::open(server, "tables", "bench");
    wire.data("shed_tree", &json!({"zone": "storage"}));
    let zone = server.data().join("users/tables/Storage/data");
    let csv = zone.join("rows.csv");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&csv).unwrap());
    writeln!(out, "id,name,city,amount,share,day,code,flag,note,last").unwrap();
    for row in 0..rows {
        let (cents, part) = (row * 7919 % 1_000_000, row * 31 % 1000);
        writeln!(
            out,
            "{row},person {row},town {part},{}.{:02},0.{part:03},2026-{:02}-{:02},A{part:05},{},\"a note, {row}\",{}",
            cents / 100,
            cents % 100,
            row % 12 + 1,
            row % 28 + 1,
            row % 2,
            row * 3
        )
        .unwrap();
    }
    out.flush().unwrap();
    drop(out);
    // Measured anew, now that a file is there which the server did not write.
    let call = json!({"zone": "storage", "cmd": "touch", "args": ["rows.csv"], "timeout": 300});
    wire.data("shed_exec", &call);
    let import = json!({"zone": "storage", "path": "rows.db", "import_csv": "rows.csv", "table": "t",
        "if_exists": "replace"});
    let (mut ours, mut theirs, mut peak) = (Vec::new(), Vec::new(), 0.0_f64);
    for round in 0..3 {
        if zone.join("rows.db").exists() {
            wire.data(
                "shed_delete",
                &json!({"zone": "storage", "path": "rows.db"}),
            );
        }
        let done = AtomicBool::new(false);
        let watched = std::thread::scope(|scope| {
            let watch = scope.spawn(|| peak_of_children(server, &done));
            ours.push(timed(|| {
                let data = wire.data("shed_sqlite", &import);
                assert_eq!(data["rows_imported"], rows);
            }));
            done.store(true, Ordering::Relaxed);
            watch.join().unwrap()
        });
        peak = peak.max(watched);
        let database = server.data().join(format!("theirs-{round}.db"));
        let command = format!(".import --csv {} t", csv.display());
        let mut shell = Command::new("sqlite3");
        shell.arg(&database).arg(command);
        theirs.push(timed(|| {
            assert!(
                shell.status().is_ok_and(|status| status.success()),
                "sqlite3"
            );
        }));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    duration(&format!("shed_sqlite import of {rows} rows, typed"), ours);
    duration("    sqlite3 .import of the same file, all text", theirs);
    let share = share(theirs, ours);
    let name = "    speed against sqlite3";
    let fast = share >= IMPORT_SHARE;
    let verdict = if fast { "met" } else { "MISSED" };
    println!("{name:<58}{share:>11.2} x   target {IMPORT_SHARE} x: {verdict}");
    let small = peak <= IMPORT_MEMORY;
    let verdict = if small { "met" } else { "MISSED" };
    let name = "    memory of the importing process, at most";
    println!("{name:<58}{peak:>11.1} MB  target {IMPORT_MEMORY} MB: {verdict}");
    fast && small
}

/// The most memory in MB that a child of the server had until `done`.
fn peak_of_children(server: &Server, done: &AtomicBool) -> f64 {
    let me = server.process().as_raw_nonzero();
    let children = format!("/proc/{me}/task");
    let mut peak = 0.0_f64;
    while !done.load(Ordering::Relaxed) {
        for task in std::fs::read_dir(&children).unwrap().map_while(Result::ok) {
            let listed = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for child in listed.split_whitespace() {
                let status = Path::new("/proc").join(child).join("status");
                let status = std::fs::read_to_string(status).unwrap_or_default();
                let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let kilobytes =
                    most.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
                peak = peak.max(kilobytes.unwrap_or(0.0) / 1024.0);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    peak
}

/// Writes a file without a server: content, flush, name.
fn bare_write(place: &Path) {
    let beside = place.join("beside");
    let mut file = std::fs::File::create(&beside).unwrap();
    file.write_all(&[b'x'; 100]).unwrap();
    file.sync_data().unwrap();
    std::fs::rename(&beside, place.join("file")).unwrap();
}

/// Packing and unpacking 10 000 files, in turns with Info-ZIP on the same disk.
fn archives(server: &Server) -> bool {
    let bare = server.data().join("bare-archives");
    std::fs::create_dir(&bare).unwrap();
    if !(info_zip("zip", &["-h"], &bare) && info_zip("unzip", &["-h"], &bare)) {
        println!("skipped: zip and unzip are not installed");
        return true;
    }
    furnish(server, "packer", "Storage", 100, 100);
    let mut wire = Wire::open(server, "packer", "bench");
    let data = server.data().join("users/packer/Storage/data");
    let [mut zip, mut their_zip, mut unzip, mut their_unzip] = [const { Vec::new() }; 4];
    for _ in 0..ARCHIVE_REPETITIONS {
        their_zip.push(timed(|| {
            assert!(info_zip(
                "zip",
                &["-qr", "../../../../bare-archives/a.zip", "."],
                &data
            ));
        }));
        their_unzip.push(timed(|| {
            assert!(info_zip("unzip", &["-q", "a.zip"], &bare));
        }));
        std::fs::remove_dir_all(&bare).unwrap();
        std::fs::create_dir(&bare).unwrap();
        let pack = json!({"zone": "storage", "src": ".", "dest": "made/a.zip"});
        zip.push(timed(|| {
            wire.data("shed_zip", &pack);
        }));
        let unpack = json!({"zone": "storage", "src": "made/a.zip"});
        unzip.push(timed(|| {
            wire.data("shed_unzip", &unpack);
        }));
        wire.data("shed_delete", &json!({"zone": "storage", "path": "made"}));
    }
    let mut met = true;
    for (name, ours, theirs) in [
        ("shed_zip", zip, their_zip),
        ("shed_unzip", unzip, their_unzip),
    ] {
        let (ours, theirs) = (median(ours), median(theirs));
        duration(&format!("{name} of 10 000 files"), ours);
        duration("    Info-ZIP without a server", theirs);
        met &= ratio("    against Info-ZIP", ours, theirs, ARCHIVE_RATIO);
    }
    met
}

/// Returns `true` if a program of Info-ZIP succeeds.
fn info_zip(program: &str, arguments: &[&str], directory: &Path) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    let output = command.output();
    output.is_ok_and(|output| output.status.success())
}

fn large_file(server: &Server) {
    let mut wire = Wire::open(server, "large", "bench");
    let call = json!({"zone": "storage", "cmd": "seq", "args": ["30000000"], "stdout_file": "n"});
    let time = timed(|| {
        wire.data("shed_exec", &call);
    });
    duration("file of 250 MB from a command's output", time);
    let call = json!({"zone": "storage", "path": "n", "content": "a line\n"});
    let time = timed(|| {
        wire.data("shed_patch_text", &call);
    });
    duration("line appended to a file of 250 MB", time);
}

fn commands(server: &Server) {
    let mut wire = Wire::open(server, "empty", "bench");
    let call = json!({"zone": "storage", "cmd": "true"});
    wire.data("shed_exec", &call);
    let (mut confined, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        confined.push(timed(|| {
            wire.data("shed_exec", &call);
        }));
        bare.push(timed(|| {
            assert!(Command::new("/bin/true").status().unwrap().success());
        }));
    }
    let (confined, bare) = (median(confined), median(bare));
    duration("shed_exec true", confined);
    duration("    /bin/true without a server", bare);
    println!(
        "{:<58}{:>11.2} x",
        "    confined against bare",
        share(confined, bare)
    );
}

fn throughput(server: &Server) {
    let calls: [(&str, Value); 3] = [
        ("shed_stats", json!({})),
        ("shed_tree", json!({"zone": "storage"})),
        (
            "shed_create_file",
            json!({"zone": "storage", "path": "", "content": "x".repeat(100)}),
        ),
    ];
    for (operation, call) in calls {
        for connections in [1, 4] {
            let count: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..connections)
                    .map(|number| {
                        let mut call = call.clone();
                        if operation == "shed_create_file" {
                            call["path"] = format!("file-{number}").into();
                        }
                        scope.spawn(move || calls_in_time(server, number, operation, &call))
                    })
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap())
                    .sum()
            });
            let rate = count as f64 / SECONDS as f64;
            let name = format!("{operation}, {connections} connection(s), a user each");
            println!("{name:<58}{rate:>11.0} /s");
        }
    }
}

fn calls_in_time(server: &Server, number: usize, operation: &str, call: &Value) -> usize {
    let mut wire = Wire::open(server, &format!("user-{number}"), "bench");
    let until = Instant::now() + Duration::from_secs(SECONDS);
    let mut count = 0;
    while Instant::now() < until {
        wire.data(operation, call);
        count += 1;
    }
    count
}

fn memory(server: &Server, name: &str) {
    let process = server.process().as_raw_nonzero();
    let status = Path::new("/proc").join(process.to_string()).join("status");
    let status = std::fs::read_to_string(status).unwrap();
    for (line, label) in [("VmRSS:", name), ("VmHWM:", "    at most")] {
        let found = status
            .lines()
            .find_map(|text| text.strip_prefix(line))
            .unwrap();
        let kilobytes: f64 = found.trim().trim_end_matches(" kB").parse().unwrap();
        println!("{label:<58}{:>11.1} MB", kilobytes / 1024.0);
    }
}

/// Medians of a call at two desks, taken in turns.
fn in_turns(desks: &mut [Wire; 2], call: impl FnMut(&mut Wire, usize)) -> [Duration; 2] {
    in_turns_of(REPETITIONS, desks, call)
}

fn in_turns_of(
    repetitions: usize,
    desks: &mut [Wire; 2],
    mut call: impl FnMut(&mut Wire, usize),
) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..repetitions + 5 {
        // The second one finds the disk still busy with the first, so both take turns at that, too.
        let order = if number % 2 == 0 { [0, 1] } else { [1, 0] };
        for at in order {
            let (wire, times) = (&mut desks[at], &mut times[at]);
            let time = timed(|| call(wire, number));
            // The first ones warm up.
            if number >= 5 {
                times.push(time);
            }
        }
    }
    times.map(median)
}

fn timed(call: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    call();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn share(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

fn duration(name: &str, time: Duration) {
    println!("{name:<58}{:>11.3} ms", time.as_secs_f64() * 1000.0);
}

fn ratio(name: &str, a: Duration, b: Duration, most: f64) -> bool {
    let ratio = share(a, b);
    let verdict = if ratio <= most { "met" } else { "MISSED" };
    println!("{name:<58}{ratio:>11.2} x   target {most} x: {verdict}");
    ratio <= most
}
