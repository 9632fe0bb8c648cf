//! The terminal side by side with open-terminal, whose interface it speaks:
//! `cargo bench --bench terminal`.
//!
//! Both servers run at the same time on loopback and are asked in turns, so that a machine that is
//! busy for a while is so for both. The peer is the program that `OPEN_TERMINAL_BIN` names, or the
//! one that `tests/e2e/peer.py` installed; without it a line says so. A missed target ends with
//! status 1.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use fileshed_test_support::{Server, repository};
use serde_json::{Value, json};

/// Connections that ask at the same time.
const CONNECTIONS: usize = 8;

/// Duration of each measurement of a throughput.
const SECONDS: u64 = 2;

/// Pause of both before their memory is measured: a busy process may release some.
const REST: Duration = Duration::from_secs(15);

/// Measurements of each figure.
const ROUNDS: usize = 3;

/// Files of the trees that are listed, searched and packed.
const FILES: usize = 5000;

/// Files in one directory of them.
const IN_DIRECTORY: usize = 100;

/// The file that is read.
const SMALL: &str = "small.txt";

const KEY: &str = "terminal-key";

/// A figure: its name, and what measures it and says whether its target is met.
type Figure<'a> = (&'a str, &'a dyn Fn(&str) -> bool);

fn main() -> ExitCode {
    let Some(program) = peer_program() else {
        println!("SKIP: open-terminal: OPEN_TERMINAL_BIN names no program, and none is installed");
        return ExitCode::SUCCESS;
    };
    // Those whose name has one of the words of the command line; without any, all.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<_> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(*word));
    let place = tempfile::tempdir().unwrap();
    let peer = Peer::start(&program, place.path());
    let (server, started) = start_ours();
    let ours = Side::new(server.address(), "/terminal", "/storage");
    let theirs = Side::new(&peer.address, "", peer.home.to_str().unwrap());
    // The first call makes the home.
    ours.connect().data(&ours.get("/files/list"));
    furnish(&server.data().join("users/ada/Storage/data"));
    furnish(&peer.home);
    println!(
        "\n{:<34}{:>14}{:>14}{:>9}   target",
        "figure", "fileshed", "open-terminal", "ratio"
    );
    let sides = [&ours, &theirs];
    // A user who has nothing yet; the peer has one for all.
    let fresh = ours.of("bob");
    let few = [&fresh, &theirs];
    let numbers = || {
        let peer = i32::try_from(peer.child.id()).unwrap();
        [server.process().as_raw_nonzero().get(), peer]
    };
    let figures: [Figure<'_>; 11] = [
        ("memory at rest", &|name| smaller(name, numbers())),
        ("read of a small file", &|name| {
            throughput(name, 10.0, sides, |side, _| {
                side.get(&format!("/files/read?path={}/{SMALL}", side.home))
            })
        }),
        ("write of a small file", &|name| {
            writes(name, sides, &server.data())
        }),
        ("list of 1 000 files", &|name| {
            throughput(name, 5.0, sides, |side, _| {
                side.get(&format!("/files/list?directory={}/flat", side.home))
            })
        }),
        ("glob over 5 000 files", &|name| {
            throughput(name, 5.0, sides, |side, _| {
                side.get("/files/glob?pattern=f7*.txt&path=tree&max_results=500")
            })
        }),
        ("execute and wait", &|name| {
            throughput(name, 3.0, few, |side, _| {
                side.post("/execute?wait=20", &json!({"command": "true"}))
            })
        }),
        ("execute among 6 000 files", &|name| {
            throughput(name, 3.0, sides, |side, _| {
                side.post("/execute?wait=20", &json!({"command": "true"}))
            })
        }),
        ("grep over 5 000 files", &|name| {
            greps(name, sides, &peer.home.join("tree"))
        }),
        ("archive of 5 000 files", &|name| archives(name, sides)),
        ("memory after all of this", &|name| {
            std::thread::sleep(REST);
            smaller(name, numbers())
        }),
        ("start to the first answer", &|name| {
            starts(name, started, &program, place.path())
        }),
    ];
    let measured = figures.iter().filter(|(name, _)| wanted(name));
    let missed = measured.filter(|(name, measure)| !measure(name)).count();
    if missed == 0 {
        ExitCode::SUCCESS
    } else {
        println!("\ntargets that are missed: {missed}");
        ExitCode::FAILURE
    }
}

/// The same request over and over, on several connections: more requests a second than the peer.
fn throughput(
    name: &str,
    target: f64,
    sides: [&Side; 2],
    request: impl Fn(&Side, usize) -> Vec<u8> + Sync,
) -> bool {
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (side, rates) in sides.into_iter().zip(&mut rates) {
            rates.push(asked(side, &request));
        }
    }
    compared(name, target, rates.map(median))
}

/// Compares writes of a small file by both servers, and by the file system alone: flush, then rename. The
/// peer does not wait for the disk.
fn writes(name: &str, sides: [&Side; 2], place: &Path) -> bool {
    let content = "a line\n".repeat(16);
    let request = |side: &Side, connection: usize| {
        let path = format!("{}/written/{connection}.txt", side.home);
        side.post("/files/write", &json!({"path": path, "content": content}))
    };
    let place = place.join("floor");
    std::fs::create_dir(&place).unwrap();
    let write = |number: usize| {
        let (new, path) = (
            place.join(format!("{number}.new")),
            place.join(number.to_string()),
        );
        let mut file = std::fs::File::create_new(&new).unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.sync_data().unwrap();
        std::fs::rename(new, path).unwrap();
    };
    let mut rates = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (side, rates) in sides.into_iter().zip(&mut rates) {
            rates.push(asked(side, &request));
        }
        rates[2].push(at_once(|number| move || write(number)));
    }
    let [ours, theirs, floor] = rates.map(median);
    let met = compared(name, 10.0, [ours, theirs]);
    compared("    against the disk itself", 0.5, [ours, floor]) && met
}

/// Requests that a side answers in a second, on several connections.
fn asked(side: &Side, request: &(impl Fn(&Side, usize) -> Vec<u8> + Sync)) -> f64 {
    at_once(|number| {
        let mut connection = side.connect();
        let request = request(side, number);
        move || {
            connection.data(&request);
        }
    })
}

/// Returns how often a second several threads together do the work that `of` gives each of them.
fn at_once<A: FnMut()>(of: impl Fn(usize) -> A + Sync) -> f64 {
    let begun = Instant::now();
    let end = begun + Duration::from_secs(SECONDS);
    let done: usize = std::thread::scope(|scope| {
        let of = &of;
        let work = move |number| {
            let mut act = of(number);
            let mut done = 0;
            while Instant::now() < end {
                act();
                done += 1;
            }
            done
        };
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|number| scope.spawn(move || work(number)))
            .collect();
        let done = threads.into_iter().map(|thread| thread.join().unwrap());
        done.sum()
    });
    done as f64 / begun.elapsed().as_secs_f64()
}

fn compared(name: &str, target: f64, [ours, theirs]: [f64; 2]) -> bool {
    let shown = [ours, theirs].map(|rate| format!("{rate:.0} /s"));
    verdict(name, shown, ours / theirs, target, ours / theirs >= target)
}

/// Both, and ripgrep on the same tree.
fn greps(name: &str, sides: [&Side; 2], tree: &Path) -> bool {
    let query = "/files/grep?query=needle%5B0-9%5D%2B&path=tree&max_results=500";
    let [ours, theirs] = in_turns(sides, |side, connection| {
        let data = connection.data(&side.get(query));
        assert_eq!(
            data["matches"].as_array().map(Vec::len),
            Some(FILES / 100),
            "{data}"
        );
    });
    let mut met = faster(name, 3.0, ours, theirs);
    let ripgrep = || {
        let mut command = Command::new("rg");
        command.args(["--line-number", "needle[0-9]+", "."]);
        let output = command.current_dir(tree).output();
        output.is_ok_and(|output| output.status.success())
    };
    if ripgrep() {
        let times = (0..ROUNDS * 3).map(|_| timed(|| assert!(ripgrep(), "rg")));
        let ripgrep = median(times.map(|time| time.as_secs_f64()).collect());
        let ours = ours.as_secs_f64();
        let shown = [ours, ripgrep].map(|time| format!("{:.1} ms", time * 1e3));
        met &= verdict(
            "    against ripgrep itself",
            shown,
            ours / ripgrep,
            1.5,
            ours <= 1.5 * ripgrep,
        );
    } else {
        println!("SKIP: ripgrep is not installed");
    }
    met
}

/// The same tree, packed and received.
fn archives(name: &str, sides: [&Side; 2]) -> bool {
    let [ours, theirs] = in_turns(sides, |side, connection| {
        let tree = format!("{}/tree", side.home);
        let archive = connection.bytes(&side.post("/files/archive", &json!({"paths": [tree]})));
        assert!(archive.starts_with(b"PK"), "no archive");
    });
    faster(name, 2.0, ours, theirs)
}

/// From the start of the program to its first answer.
fn starts(name: &str, first: Duration, program: &Path, place: &Path) -> bool {
    let (mut ours, mut theirs) = (vec![first], Vec::new());
    for round in 0..ROUNDS {
        ours.push(start_ours().1);
        let place = place.join(format!("start-{round}"));
        std::fs::create_dir(&place).unwrap();
        theirs.push(timed(|| drop(Peer::start(program, &place))));
    }
    let seconds = |times: Vec<Duration>| times.iter().map(Duration::as_secs_f64).collect();
    let [ours, theirs] =
        [ours, theirs].map(|times| Duration::from_secs_f64(median(seconds(times))));
    faster(name, 10.0, ours, theirs)
}

fn start_ours() -> (Server, Duration) {
    let begun = Instant::now();
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", KEY)
        .env("FILESHED_NAMESPACE", "plain")
        .start();
    let health = Side::new(server.address(), "", "/storage");
    health.connect().bytes(&health.get("/health"));
    (server, begun.elapsed())
}

fn in_turns(sides: [&Side; 2], mut act: impl FnMut(&Side, &mut Connection)) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS * 3 {
        for (side, times) in sides.into_iter().zip(&mut times) {
            let mut connection = side.connect();
            times.push(timed(|| act(side, &mut connection)).as_secs_f64());
        }
    }
    times.map(|times| Duration::from_secs_f64(median(times)))
}

fn faster(name: &str, target: f64, ours: Duration, theirs: Duration) -> bool {
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    let shown = [ours, theirs].map(|time| format!("{:.1} ms", time.as_secs_f64() * 1e3));
    verdict(name, shown, ratio, target, ratio >= target)
}

fn smaller(name: &str, processes: [i32; 2]) -> bool {
    let target = 1.0 / 3.0;
    let [ours, theirs] = processes.map(resident);
    let shown = [ours, theirs].map(|bytes| format!("{bytes:.1} MB"));
    verdict(name, shown, ours / theirs, target, ours / theirs <= target)
}

fn verdict(name: &str, [ours, theirs]: [String; 2], ratio: f64, target: f64, met: bool) -> bool {
    let verdict = if met { "met" } else { "MISSED" };
    println!("{name:<34}{ours:>14}{theirs:>14}{ratio:>9.2}   {target:.2}: {verdict}");
    met
}

fn timed(act: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    act();
    begun.elapsed()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The memory in MB that a process and its children have for themselves, and their share of what
/// they have together.
fn resident(process: i32) -> f64 {
    let own = share_of_memory(process).expect("its memory can be read");
    own + children(process).into_iter().map(tree).sum::<f64>()
}

/// The same of a child, which may have ended meanwhile.
fn tree(process: i32) -> f64 {
    let below = children(process).into_iter().map(tree).sum::<f64>();
    share_of_memory(process).unwrap_or(0.0) + below
}

fn share_of_memory(process: i32) -> Option<f64> {
    let rollup = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let share = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: f64 = share.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes / 1024.0)
}

fn children(process: i32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let tasks = tasks.into_iter().flatten().map_while(Result::ok);
    let listed = tasks.map(|task| std::fs::read_to_string(task.path().join("children")));
    let listed: String = listed.map_while(Result::ok).collect();
    listed
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

/// The same files for both.
fn furnish(home: &Path) {
    std::fs::write(home.join(SMALL), "a line of a small file\n".repeat(40)).unwrap();
    let flat = home.join("flat");
    std::fs::create_dir(&flat).unwrap();
    for number in 0..1000 {
        std::fs::write(flat.join(format!("file-{number}.txt")), "x\n").unwrap();
    }
    for number in 0..FILES {
        let directory = home.join(format!("tree/d{}", number / IN_DIRECTORY));
        std::fs::create_dir_all(&directory).unwrap();
        let mut content = format!("line of file {number}, with some words in it\n").repeat(40);
        if number % 100 == 0 {
            content += "a needle";
            content += &number.to_string();
            content += " in it\n";
        }
        std::fs::write(directory.join(format!("f{number}.txt")), content).unwrap();
    }
}

fn peer_program() -> Option<PathBuf> {
    let installed = repository().join("target/e2e/open-terminal-0.14.5/bin/open-terminal");
    let named = std::env::var_os("OPEN_TERMINAL_BIN").map(PathBuf::from);
    named
        .or(Some(installed))
        .filter(|program| program.is_file())
}

/// open-terminal, with a home of its own.
struct Peer {
    child: Child,
    address: String,
    home: PathBuf,
}

impl Peer {
    /// Starts it, and waits for its first answer.
    fn start(program: &Path, place: &Path) -> Self {
        let home = place.join("home");
        std::fs::create_dir(&home).unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new(program);
        command.args([
            "run",
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--cwd",
        ]);
        command
            .arg(&home)
            .env("HOME", place)
            .env("OPEN_TERMINAL_API_KEY", KEY);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let peer = Self {
            child: command.spawn().unwrap(),
            address,
            home,
        };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_mins(1) {
            if TcpStream::connect(&peer.address).is_ok() {
                let side = Side::new(&peer.address, "", "");
                side.connect().bytes(&side.get("/health"));
                return peer;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("open-terminal does not answer")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One of the two servers.
struct Side {
    address: String,
    base: &'static str,
    home: String,
    user: &'static str,
}

impl Side {
    fn new(address: &str, base: &'static str, home: &str) -> Self {
        Self {
            address: address.to_owned(),
            base,
            home: home.to_owned(),
            user: "ada",
        }
    }

    /// The same as another user sees it.
    fn of(&self, user: &'static str) -> Self {
        Self {
            user,
            ..Self::new(&self.address, self.base, &self.home)
        }
    }

    fn connect(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection {
            stream: BufReader::new(stream),
        }
    }

    fn get(&self, path: &str) -> Vec<u8> {
        self.request("GET", path, "")
    }

    fn post(&self, path: &str, body: &Value) -> Vec<u8> {
        self.request("POST", path, &body.to_string())
    }

    fn request(&self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let Self {
            address,
            base,
            user,
            ..
        } = self;
        let length = body.len();
        format!(
            "{method} {base}{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {KEY}\r\n\
             X-User-Id: {user}\r\nX-Session-Id: bench\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

/// A connection that stays open.
struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// The document of an answer that must be a success.
    fn data(&mut self, request: &[u8]) -> Value {
        serde_json::from_slice(&self.bytes(request)).unwrap()
    }

    /// The body of an answer that must be a success.
    fn bytes(&mut self, request: &[u8]) -> Vec<u8> {
        self.stream.get_mut().write_all(request).unwrap();
        let status = self.line();
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            chunked |= line == "transfer-encoding: chunked";
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let size = usize::from_str_radix(&self.line(), 16).unwrap();
                self.read(size, &mut body);
                self.line();
                if size == 0 {
                    break;
                }
            }
        } else {
            self.read(length, &mut body);
        }
        let shown = || String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
        assert!(
            status.starts_with("HTTP/1.1 200"),
            "{status}: {}\n{}",
            shown(),
            String::from_utf8_lossy(request)
        );
        body
    }

    fn read(&mut self, length: usize, body: &mut Vec<u8>) {
        let begin = body.len();
        body.resize(begin + length, 0);
        self.stream.read_exact(&mut body[begin..]).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.truncate(line.trim_end().len());
        line
    }
}
