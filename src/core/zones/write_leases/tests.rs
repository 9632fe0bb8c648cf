use std::sync::atomic::AtomicUsize;

use super::*;
use fileshed_test_servers::Postgres;
use fileshed_types::timings::{milliseconds, minutes};

const PATIENCE: Duration = minutes(5);

/// Counts a thread as ended, even if it fails.
struct EndOfWork<'a>(&'a AtomicUsize);

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A place is never held twice. Processes pause at times, so that a place is handed on while another one
/// wants it.
#[test]
fn no_two_have_a_place_at_once() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let data = Root::open_ambient(directory.path()).expect("a root");
    let mut settings = Settings::new(directory.path());
    settings.registry = Some(postgres.database().parse().expect("an address"));
    let processes = ["ada", "bob", "eve"].map(|name| {
        let leases = WriteLeases::start(&data, &settings, &Clock::SYSTEM, name).expect("started");
        // As the queue has it, one thread of a process asks at a time.
        (leases, Mutex::new(()))
    });
    let inside = AtomicUsize::new(0);
    let working = AtomicUsize::new(processes.len() * 2);
    std::thread::scope(|scope| {
        for (leases, _) in &processes {
            // Requests of other processes may come at any moment.
            let working = &working;
            scope.spawn(move || {
                while working.load(Ordering::SeqCst) > 0 {
                    leases.shared.hand_over("home/zone");
                    Clock::SYSTEM.sleep(milliseconds(1));
                }
            });
        }
        for thread in 0..processes.len() * 2 {
            let ((leases, asking), inside) = (&processes[thread % processes.len()], &inside);
            let working = &working;
            scope.spawn(move || {
                let _ends = EndOfWork(working);
                for number in 0..50 {
                    let asks = asking.lock();
                    let lease = leases.take("home/zone", Clock::SYSTEM.instant() + PATIENCE);
                    let lease = lease.expect("asked").expect("in time");
                    let before = inside.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(before, 0, "two have the place");
                    Clock::SYSTEM.sleep(milliseconds(3));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lease);
                    drop(asks);
                    let rest = (thread * 7 + number * 5) as u64 % 11;
                    Clock::SYSTEM.sleep(milliseconds(rest));
                }
            });
        }
    });
}
