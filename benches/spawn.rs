//! Cost that confinement adds to the start of a program: `cargo bench --bench spawn`.
//!
//! The server's part is played by this process, as large as a busy server may grow: a start that
//! copied its memory would show. `true` runs bare and confined in turns, alone and sixteen at a
//! time; a missed target ends with status 1.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use fileshed_core::command::{self, CommandLine};
use fileshed_core::{Caller, Core, Settings};

/// Most that confinement may add to one start.
const TARGET: Duration = Duration::from_millis(2);

/// Measurements of each figure.
const REPETITIONS: usize = 200;

/// Starts at the same time.
const PARALLEL: usize = 16;

/// Memory of this process in bytes.
const RESIDENT: usize = 500 << 20;

fn main() -> ExitCode {
    let place = tempfile::tempdir().unwrap();
    let mut settings = Settings::new(place.path());
    settings.helper = PathBuf::from(env!("CARGO_BIN_EXE_fileshed"));
    settings.exec_max_per_user = PARALLEL as u64;
    settings.exec_max_total = PARALLEL as u64;
    let core = Core::open(settings).unwrap();
    let memory: Vec<u8> = (0..RESIDENT).map(|at| (at >> 12) as u8).collect();
    println!(
        "\n{:<46}{:>10}{:>12}{:>12}",
        "a start of `true`, median", "bare", "confined", "added"
    );
    confined(&core);
    let mut met = true;
    let alone = in_turns(1, REPETITIONS, &core);
    met &= show("alone", alone);
    let rounds = REPETITIONS.div_ceil(PARALLEL);
    let together = in_turns(PARALLEL, rounds, &core);
    // Each round's time belongs to all of its starts.
    met &= show(
        "sixteen at a time, for each",
        together.map(|time| time / PARALLEL as u32),
    );
    println!("resident memory at least {} MB", memory.len() >> 20);
    if met {
        ExitCode::SUCCESS
    } else {
        println!("a target is missed");
        ExitCode::FAILURE
    }
}

/// Medians of a round of bare starts and of confined ones, taken in turns.
fn in_turns(parallel: usize, rounds: usize, core: &Core) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        times[0].push(round(parallel, bare));
        times[1].push(round(parallel, || confined(core)));
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

fn round(parallel: usize, start: impl Fn() + Sync) -> Duration {
    if parallel == 1 {
        let begun = Instant::now();
        start();
        return begun.elapsed();
    }
    let together = Barrier::new(parallel + 1);
    std::thread::scope(|scope| {
        for _ in 0..parallel {
            scope.spawn(|| {
                together.wait();
                start();
                together.wait();
            });
        }
        together.wait();
        let begun = Instant::now();
        together.wait();
        begun.elapsed()
    })
}

fn bare() {
    let child = Command::new("/bin/true").stdin(Stdio::null()).output();
    assert!(child.unwrap().status.success());
}

/// Everything between an operation and its outcome: judgement, helper, confinement, registry.
fn confined(core: &Core) {
    let caller = Caller::default();
    let zone = core.store.zone(&caller, "storage", None).unwrap();
    let line = CommandLine {
        command: "true",
        ..CommandLine::default()
    };
    assert_eq!(command::run(&core.runs, &zone, &line).unwrap().status, 0);
}

fn show(name: &str, [bare, confined]: [Duration; 2]) -> bool {
    let added = confined.saturating_sub(bare);
    let shown = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1000.0);
    let met = added <= TARGET;
    println!(
        "{name:<46}{:>10}{:>12}{:>12}   target {}: {}",
        shown(bare),
        shown(confined),
        shown(added),
        shown(TARGET),
        if met { "met" } else { "MISSED" }
    );
    met
}
