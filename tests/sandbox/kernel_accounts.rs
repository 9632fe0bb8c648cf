//! Resources that the kernel counts for an account: where each user has an account of its own, no user can
//! take any from another, and files belong to the account of the server all the same.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fileshed_test_support::{
    Client, Server, Setup, commands, create_team, has_program, skip, wait_until,
};
use serde_json::{Value, json};

/// The first number of an account of a user.
const FIRST: u32 = 0x7800_0000;

fn setup() -> Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_EXEC_PROGRAMS", "*")
}

/// Returns a server whose users have accounts of their own; `None` if this machine has no way to that, or
/// lacks a program of the test.
fn separating(program: &str) -> Option<Server> {
    separating_of(setup(), program)
}

fn separating_of(setup: Setup, program: &str) -> Option<Server> {
    if !has_program(program) {
        return None;
    }
    let server = setup.start();
    if server.client().get("/health").body["kernel_account"] == "user" {
        return Some(server);
    }
    skip("the kernel has one account for all users here");
    None
}

fn exec(client: &Client<'_>, zone: &Value, command: &str, args: &[&str]) -> String {
    let mut line = json!({"cmd": command, "args": args});
    line.as_object_mut()
        .expect("an object")
        .extend(zone.as_object().expect("an object").clone());
    let answer = client.call("shed_exec", &line);
    let data = answer.data();
    assert_eq!(data["returncode"], 0, "{command} {args:?}: {}", answer.text);
    data["stdout"].as_str().expect("a text").to_owned()
}

fn python(client: &Client<'_>, program: &str, word: &str) -> String {
    exec(
        client,
        &json!({"zone": "storage"}),
        "python3",
        &["-c", program, word],
    )
}

/// A word that no other process of the machine has among its arguments.
fn word(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// The accounts of the processes with this argument, as the kernel counts them.
fn accounts_of(word: &str) -> BTreeSet<u32> {
    let account = |process: rustix::process::Pid| {
        let place = format!("/proc/{}/status", process.as_raw_nonzero());
        let status = std::fs::read_to_string(place).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("Uid:\t"))?;
        line.split('\t').next()?.parse().ok()
    };
    commands::running(word)
        .into_iter()
        .filter_map(account)
        .collect()
}

/// Everything below a directory.
fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![directory.to_owned()];
    let mut next = 0;
    while next < found.len() {
        if found[next].is_dir() && !found[next].is_symlink() {
            let entries = std::fs::read_dir(&found[next]).expect("listed");
            let entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
            found.extend(entries);
        }
        next += 1;
    }
    found
}

/// Stays until there is a file `end`.
const STAY: &str = "
import os, time
while not os.path.exists('end'): time.sleep(0.01)
";

fn end(client: &Client<'_>) {
    let file = json!({"zone": "storage", "path": "end", "content": ""});
    client.call("shed_create_file", &file).data();
}

#[test]
fn health_and_doctor_say_whom_the_kernel_counts_for() {
    let server = setup().start();
    let said = server.run(&["doctor"]).stdout;
    let line = |beginning: &str| {
        let mut lines = said.lines();
        lines.any(|line| line.contains(&format!("accounts: {beginning}")))
    };
    match server.client().get("/health").body["kernel_account"].as_str() {
        Some("user") => {
            assert!(rustix::process::geteuid().is_root());
            assert!(line("a kernel account for each user"), "{said}");
            assert!(server.logged("accounts: a kernel account"));
        }
        Some("server") => {
            assert!(line("the server's account for all commands"), "{said}");
            if !rustix::process::geteuid().is_root() {
                assert!(said.contains("the server is not root"), "{said}");
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn users_have_accounts_of_their_own_while_commands_run() {
    let Some(server) = separating("python3") else {
        return;
    };
    let users = [("ada", "first"), ("ada", "second"), ("bob", "third")];
    std::thread::scope(|scope| {
        let mut accounts = Vec::new();
        for (user, name) in users {
            let (client, word) = (server.as_user(user), word(name));
            let argument = word.clone();
            scope.spawn(move || python(&client, STAY, &argument));
            wait_until("it has an account", || {
                let found = accounts_of(&word);
                found.len() == 1 && found.iter().all(|account| *account >= FIRST)
            });
            accounts.extend(accounts_of(&word));
        }
        for user in ["ada", "bob"] {
            end(&server.as_user(user));
        }
        assert_eq!(accounts[0], accounts[1]);
        assert_ne!(accounts[0], accounts[2]);
    });
}

#[test]
fn files_of_commands_belong_to_the_server() {
    let Some(server) = separating("sqlite3") else {
        return;
    };
    let made = server.run(&create_team("ada,bob"));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    let storage = json!({"zone": "storage"});
    let documents = json!({"zone": "documents"});
    let group = json!({"zone": "group", "group": "Team"});
    let shared = json!({"zone": "group", "group": "Team", "path": "ours", "content": "one\n",
                        "mode": "group"});
    ada.call("shed_create_file", &shared).data();
    for client in [&ada, &bob] {
        let lines = "mkdir -p d/e && echo one > d/e/a && chmod 640 d/e/a && touch -d @1 d/e/a \
                     && ln -s a d/e/link && mv d/e d/f && cat d/f/link && stat -c '%u %g %a %Y' d/f/a \
                     && echo named > /dev/stdout && echo named > /dev/stderr";
        let said = exec(client, &storage, "sh", &["-c", lines]);
        assert_eq!(said, "one\n0 0 640 1\nnamed\n");
        let sql = "PRAGMA journal_mode=wal; CREATE TABLE t(a); INSERT INTO t VALUES (1); SELECT a FROM t;";
        assert_eq!(
            exec(client, &storage, "sqlite3", &["own.db", sql]),
            "wal\n1\n"
        );
        exec(client, &documents, "tee", &["plan.md"]);
        let log = exec(client, &documents, "git", &["log", "--format=%s"]);
        assert!(!log.is_empty());
        let lines = "git init -q own && cd own && echo one > a && git add a \
                     && git -c user.name=a -c user.email=a@b commit -qm first && git status --short";
        assert_eq!(exec(client, &storage, "sh", &["-c", lines]), "");
        exec(client, &group, "sed", &["-i", "s/one/one one/", "ours"]);
    }
    assert_eq!(exec(&bob, &group, "cat", &["ours"]), "one one one\n");
    let own = rustix::process::geteuid().as_raw();
    for place in below(&server.data()) {
        let owner = std::fs::symlink_metadata(&place).map_or(own, |metadata| metadata.uid());
        assert_eq!(owner, own, "{}", place.display());
    }
}

/// Has as many descriptors on their way as the kernel lets it, and as many pipes of the usual size.
const TAKE: &str = "
import array, errno, fcntl, os, socket, time

def send(sender):
    rights = array.array('i', [0] * 50)
    sender.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])

def is_small(end):
    return fcntl.fcntl(end, fcntl.F_GETPIPE_SZ) < 65536

held = []
try:
    while True:
        held.append(socket.socketpair())
        held[-1][0].setblocking(False)
        try:
            while True:
                send(held[-1][0])
        except BlockingIOError:
            pass
except OSError as error:
    assert error.errno == errno.ETOOMANYREFS, error
tell = os.pipe()
while not is_small(os.pipe()[0]):
    if os.fork() == 0:
        try:
            while True:
                os.pipe()
        except OSError:
            pass
        os.write(tell[1], b'x')
        time.sleep(600)
    os.read(tell[0], 1)
open('full', 'w').close()
while not os.path.exists('end'): time.sleep(0.01)
";

/// Wants one of each.
const WANT: &str = "
import array, fcntl, os, socket
sender, receiver = socket.socketpair()
sender.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0]))])
print(len(socket.recv_fds(receiver, 1, 1)[1]), fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ))
";

#[test]
fn what_the_kernel_counts_is_taken_from_nobody_else() {
    let Some(server) = separating("python3") else {
        return;
    };
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    let full = server.data().join("users/bob/Storage/data/full");
    std::thread::scope(|scope| {
        scope.spawn(|| python(&bob, TAKE, &word("take")));
        wait_until("bob has taken all", || full.exists());
        let got = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            python(&ada, WANT, &word("want"))
        }));
        end(&bob);
        assert_eq!(got.expect("it ran"), "1 65536\n");
    });
}

#[test]
fn what_commands_mount_is_seen_by_nobody_else() {
    if !rustix::process::geteuid().is_root() {
        skip("only root shares mounts");
        return;
    }
    // As under systemd: a mount in one namespace appears in all that share it.
    let shared = ["unshare", "--mount", "--propagation", "shared"];
    let Some(server) = separating_of(setup().through(&shared), "python3") else {
        return;
    };
    let ada = server.as_user("ada");
    let mounts = || {
        let place = format!("/proc/{}/mountinfo", server.process().as_raw_nonzero());
        std::fs::read_to_string(place).expect("read")
    };
    let before = mounts();
    assert!(before.contains(" shared:"), "{before}");
    let word = word("mounts");
    std::thread::scope(|scope| {
        scope.spawn(|| python(&ada, STAY, &word));
        wait_until("it runs", || {
            accounts_of(&word).iter().any(|account| *account >= FIRST)
        });
        let during = mounts();
        end(&ada);
        assert_eq!(before, during);
    });
}

#[test]
fn files_whose_owners_are_not_translated_leave_commands_the_account_of_the_server() {
    if !rustix::process::geteuid().is_root() {
        skip("only root mounts");
        return;
    }
    // Overlayfs translates no owners.
    let setup = setup();
    let [zone, lower, upper, work] = ["data/users/bob/Storage/data", "lower", "upper", "work"]
        .map(|name| setup.path(name).display().to_string());
    for directory in [&zone, &lower, &upper, &work] {
        std::fs::create_dir_all(directory).expect("made");
    }
    let mount = format!(
        "mount -t overlay overlay -o lowerdir={lower},upperdir={upper},workdir={work} {zone} \
         && exec \"$@\""
    );
    let through = ["unshare", "--mount", "/bin/sh", "-c", &mount, "sh"];
    let Some(server) = separating_of(setup.through(&through), "python3") else {
        return;
    };
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    let storage = json!({"zone": "storage"});
    let said = exec(
        &bob,
        &storage,
        "sh",
        &["-c", "echo one > a && stat -c '%u %g' a && id -u"],
    );
    assert_eq!(said, "0 0\n0\n");
    // Processes, which the kernel does not bound for root.
    let forks = "import os, time\nfor number in range(1000):\n  if os.fork() == 0: time.sleep(600)";
    let line = json!({"zone": "storage", "cmd": "python3", "args": ["-c", forks]});
    let refused = bob.call("shed_exec", &line);
    assert_eq!(refused.data()["returncode"], 1, "{}", refused.text);
    let argument = word("whose");
    std::thread::scope(|scope| {
        scope.spawn(|| python(&ada, STAY, &argument));
        wait_until("ada has an account of her own", || {
            accounts_of(&argument)
                .iter()
                .any(|account| *account >= FIRST)
        });
        end(&ada);
    });
}
