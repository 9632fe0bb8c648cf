use super::*;
use crate::processes::OutputSpan;
use fileshed_changes::repair::Repairs;
use fileshed_types::{Clock, Settings};
use fileshed_zones::store::Store;

const FIVE_MINUTES: i64 = 300;
const DAY: i64 = 86_400;

struct World {
    place: tempfile::TempDir,
    clock: Clock,
    store: Arc<Store>,
    runs: Runs,
    caller: Caller,
}

impl World {
    fn new() -> Self {
        Self::with(|_| ())
    }

    fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let clock = Clock::movable();
        let mut settings = Settings::new(place.path());
        change(&mut settings);
        let store = Arc::new(Repairs::open(settings, clock.clone()).expect("open"));
        let user = UserId::parse("ada").expect("an id");
        Self {
            place,
            clock,
            runs: Runs::new(Arc::clone(&store)),
            store,
            caller: Caller::known(user, Chat::new("one")),
        }
    }

    /// Another server on the same data, after this one is gone.
    fn again(self) -> Self {
        let Self {
            place,
            clock,
            store,
            runs,
            caller,
        } = self;
        drop((store, runs));
        let settings = Settings::new(place.path());
        let store = Arc::new(Repairs::open(settings, clock.clone()).expect("open"));
        Self {
            place,
            clock,
            runs: Runs::new(Arc::clone(&store)),
            store,
            caller,
        }
    }

    fn begun(&self, command: &str) -> Arc<Process> {
        let request = CommandRequest {
            command: command.to_owned(),
            cwd: ViewPath::home(),
            environment: Vec::new(),
        };
        let tenant = self.store.tenant(&self.caller).expect("a tenant");
        let entered = self.runs.enter_line(&self.caller, &tenant, &request);
        entered.expect("entered").0
    }

    fn ended(&self, command: &str, output: &str) -> Arc<Process> {
        let process = self.begun(command);
        process.wrote(OutputStream::Stdout, output.to_owned());
        process.end(Some(0), false);
        let tenant = self.store.tenant(&self.caller).expect("a tenant");
        self.runs.keep_log(&tenant, &process).expect("kept");
        process
    }

    fn listed(&self) -> Vec<String> {
        let processes = self.runs.lines(&self.caller).expect("a list");
        let commands = processes
            .iter()
            .map(|process| process.identity.command.clone());
        commands.collect()
    }

    fn logs(&self) -> u64 {
        let tenant = self.store.tenant(&self.caller).expect("a tenant");
        self.runs.known_logs(&tenant).expect("known");
        let logs = self.store.logs_zone(&self.caller).expect("logs");
        logs.data.measure().expect("measured").files
    }

    fn counted(&self) -> (u64, u64) {
        let (usage, _) = self.store.usage(&self.caller).expect("usage");
        let logs = usage.iter().find(|usage| usage.zone == "logs");
        logs.map_or((0, 0), |logs| (logs.totals.bytes, logs.totals.files))
    }
}

#[test]
fn what_ended_leaves_the_list_after_five_minutes_and_its_log_stays() {
    let world = World::new();
    let running = world.begun("runs");
    let ended = world.ended("ended", "hi\n");
    assert_eq!(world.listed(), ["runs", "ended"]);
    // The clock goes on by itself, too.
    world.clock.advance(FIVE_MINUTES - 60);
    assert_eq!(world.listed(), ["runs", "ended"]);
    world.clock.advance(60);
    assert_eq!(world.listed(), ["runs"]);
    let gone = world.runs.line(&world.caller, ended.id());
    assert!(gone.is_err());
    assert!(running.is_running());
    assert_eq!(world.logs(), 2);
}

#[test]
fn logs_are_kept_for_days_and_count_until_then() {
    let world = World::with(|settings| settings.terminal_log_days = 2);
    let first = world.ended("first", &"x".repeat(10_000));
    let (bytes, files) = world.counted();
    assert_eq!((bytes, files), (first.log_size(), 1));
    let used = || {
        let tenant = world.store.tenant(&world.caller).expect("a tenant");
        world.store.used(&tenant).expect("counted")
    };
    assert!(used() >= 10_000);
    world.clock.advance(2 * DAY - 60);
    world.ended("second", "y");
    assert_eq!(world.logs(), 2);
    world.clock.advance(120);
    let third = world.ended("third", "z");
    assert_eq!(world.logs(), 2, "the first is gone");
    assert!(used() < 10_000);
    assert!(world.counted().0 > third.log_size());
}

#[test]
fn the_oldest_logs_go_where_they_are_too_much() {
    let world = World::with(|settings| settings.quota_per_user_mb = 8);
    let big = "x".repeat(200_000);
    for number in 0..12 {
        world.ended(&number.to_string(), &big);
        assert!(world.counted().0 <= 1024 * 1024, "{:?}", world.counted());
    }
    assert!((4..=6).contains(&world.logs()), "{}", world.logs());
    // An entry that alone is more than a log may have does not come into it.
    let all = "x".repeat(300_000);
    let process = world.ended("all", &all);
    assert!(process.log_size() <= 512 * 1024);
}

#[test]
fn the_next_server_lists_what_was_cut_off_for_five_minutes() {
    let world = World::new();
    let cut = world.begun("cut");
    cut.wrote(OutputStream::Stdout, "half".to_owned());
    let id = cut.id().to_owned();
    world.ended("whole", "all");
    drop(cut);
    let world = world.again();
    assert_eq!(world.listed(), ["cut"]);
    let process = world.runs.line(&world.caller, &id).expect("listed");
    assert_eq!(process.status(), (ProcessStatus::Killed, None));
    let output = process.output(OutputSpan {
        offset: 0,
        tail: None,
        most_bytes: 1000,
    });
    let output = output.expect("read");
    let texts: Vec<&str> = output.entries.iter().map(|entry| &*entry.data).collect();
    assert_eq!(texts, ["half", "cut off by a restart of the server\n"]);
    world.clock.advance(FIVE_MINUTES);
    assert_eq!(world.listed(), [""; 0]);
    assert_eq!(world.logs(), 2);
    assert_eq!(world.counted().1, 2);

    // After a restart the process is no longer listed, but its log still has its end.
    let late = World::new();
    let id = late.begun("late").id().to_owned();
    let late = late.again();
    late.clock.advance(FIVE_MINUTES);
    assert_eq!(late.listed(), [""; 0]);
    late.logs();
    let logs = late.store.logs_zone(&late.caller).expect("logs");
    let path = logs.path("path", &format!("{id}.jsonl")).expect("a path");
    let text = logs.entry(&path).expect("there").content().expect("read");
    let text = String::from_utf8(text).expect("text");
    assert!(
        text.contains("cut off") && text.contains("\"killed\""),
        "{text}"
    );
}

#[test]
fn what_another_server_runs_is_not_cut_off() {
    let world = World::new();
    let process = world.begun("runs");
    let settings = Settings::new(world.place.path());
    let other = Arc::new(Repairs::open(settings, world.clock.clone()).expect("open"));
    let its = Runs::new(Arc::clone(&other));
    assert!(its.lines(&world.caller).expect("a list").is_empty());
    process.wrote(OutputStream::Stdout, "on\n".to_owned());
    let logs = other.logs_zone(&world.caller).expect("logs");
    let path = logs.path("path", &format!("{}.jsonl", process.id()));
    let text = logs.entry(&path.expect("a path")).expect("there").content();
    let text = String::from_utf8(text.expect("read")).expect("text");
    assert!(
        !text.contains("cut off") && text.contains("on\\n"),
        "{text}"
    );
}

#[test]
fn who_waits_is_woken_by_output_or_the_end() {
    let world = World::new();
    let process = world.begun("runs");
    let woken = |seen| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let wake = Box::new(move || {
            let _nobody = sender.send(());
        });
        (process.listen_beyond(seen, wake), receiver)
    };
    let (first, output) = woken(0);
    let (second, more) = woken(1);
    let (third, end) = woken(u64::MAX);
    let (gone, nobody) = woken(0);
    drop(gone);
    process.wrote(OutputStream::Stdout, "x".to_owned());
    assert!(output.try_recv().is_ok());
    assert!(nobody.try_recv().is_err());
    assert!(more.try_recv().is_err() && end.try_recv().is_err());
    assert!(woken(0).0.is_none(), "there is output by now");
    process.end(Some(0), false);
    assert!(more.try_recv().is_ok() && end.try_recv().is_ok());
    assert!(woken(u64::MAX).0.is_none(), "it has ended by now");
    drop((first, second, third));
}

#[test]
fn a_user_has_so_many_at_once() {
    let world = World::with(|settings| settings.terminal_max_processes = 3);
    for _ in 0..3 {
        world.begun("runs");
    }
    let request = CommandRequest {
        command: "more".to_owned(),
        cwd: ViewPath::home(),
        environment: Vec::new(),
    };
    let tenant = world.store.tenant(&world.caller).expect("a tenant");
    let refused = world.runs.enter_line(&world.caller, &tenant, &request);
    let refused = refused.map(drop).expect_err("three run");
    assert_eq!(refused.code(), fileshed_types::Code::Busy);
    assert_eq!(refused.details()["scope"], "user");
}
