//! A kernel that cannot confine: no command runs, everything else works.

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit};
use serde_json::json;

use fileshed_test_support::processes::helper;
use fileshed_test_support::{Server, Setup, has_program, skip};

/// Makes one system call fail with an error in whatever it starts (seccomp, classic BPF), then starts
/// it.
const FAILING_CALL: &str = r"
import ctypes, os, struct, sys
number, error, program = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
step = lambda code, yes, no, value: struct.pack('HBBI', code, yes, no, value)
text = (step(0x20, 0, 0, 0) + step(0x15, 0, 1, number)
        + step(0x06, 0, 0, 0x50000 | error) + step(0x06, 0, 0, 0x7fff0000))
buffer = ctypes.create_string_buffer(text)
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
filter = Program(len(text) // 8, ctypes.addressof(buffer))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(filter)) == 0
os.execv(program[0], program)
";

/// The number of `landlock_create_ruleset` on every machine.
const LANDLOCK: &str = "444";

/// The number of `mount_setattr` on every machine.
const NAMESPACES: &str = "442";

/// A server on a kernel without a system call; None without the means to make it look so.
fn without(call: &str) -> Option<Setup> {
    failing(call, UNKNOWN)
}

/// Error of a kernel that lacks a call.
const UNKNOWN: Errno = Errno::NOSYS;

/// A server on a kernel that answers a system call with an error.
fn failing(call: &str, error: Errno) -> Option<Setup> {
    if !has_program("python3") {
        return None;
    }
    let python = "/usr/bin/python3";
    let error = error.raw_os_error().to_string();
    Some(Server::with().through(&[python, "-c", FAILING_CALL, call, &error]))
}

#[test]
fn commands_are_refused_and_files_work() {
    let Some(setup) = without(LANDLOCK) else {
        return;
    };
    let server = setup.start();
    let file = json!({"zone": "storage", "path": "a.md", "content": "text\n"});
    server.call("shed_create_file", &file).data();
    let listing = json!({"zone": "storage", "cmd": "ls"});
    let refused = server.call("shed_exec", &listing);
    refused.refused(503, "SANDBOX_UNAVAILABLE");
    assert!(
        refused.body.to_string().contains("Landlock"),
        "{}",
        refused.body
    );
    server.call("shed_tree", &json!({"zone": "storage"})).data();
    assert!(
        server
            .client()
            .get("/health")
            .text
            .contains("\"isolation\":\"no_commands\",\"sandbox\":\"off\"")
    );
    assert!(server.logged("commands are off"), "{}", server.log());
}

#[test]
fn best_effort_is_a_written_choice_and_shown() {
    let Some(setup) = without(LANDLOCK) else {
        return;
    };
    let server = setup.env("FILESHED_EXEC_SANDBOX", "best_effort").start();
    let run = |args: &[&str]| {
        server.call(
            "shed_exec",
            &json!({"zone": "storage", "cmd": "echo", "args": args}),
        )
    };
    assert_eq!(run(&["hello"]).data()["stdout"], "hello\n");
    // Without the kernel the strict rule for shell characters holds everywhere.
    let expression = json!({"zone": "storage", "cmd": "awk", "args": ["BEGIN {a = 1; print a}"]});
    server
        .call("shed_exec", &expression)
        .refused(403, "ARGUMENT_FORBIDDEN");
    assert!(
        server
            .client()
            .get("/health")
            .text
            .contains("\"isolation\":\"none\",\"sandbox\":\"best_effort\"")
    );
    assert!(
        server.logged("commands are not confined"),
        "{}",
        server.log()
    );
}

#[test]
fn a_kernel_that_confines_says_so() {
    let server = Server::start();
    assert!(
        server
            .client()
            .get("/health")
            .text
            .contains("\"sandbox\":\"enforced\"")
    );
}

/// The profile for containers changes nothing for commands: their isolation is that of this machine.
#[test]
fn the_profile_for_containers_leaves_namespaces() {
    let python = "/usr/bin/python3";
    let repository = fileshed_test_support::repository();
    let launcher = repository.join("tests/ways/profile.py");
    let profile = repository.join(".docker/seccomp.json");
    let (launcher, profile) = (
        launcher.display().to_string(),
        profile.display().to_string(),
    );
    let tried = std::process::Command::new(python)
        .args(["-B", &launcher, &profile, "/bin/true"])
        .output();
    if !tried.is_ok_and(|output| output.status.success()) {
        skip("the profile is tried with python3 and the headers of the kernel");
        return;
    }
    let isolation = |setup: Setup| {
        let server = setup.start();
        let listing = json!({"zone": "storage", "cmd": "ls"});
        server.call("shed_exec", &listing).data();
        server.client().get("/health").body["isolation"].clone()
    };
    let here = isolation(Server::with());
    let held = isolation(Server::with().through(&[python, "-B", &launcher, &profile]));
    assert_eq!(held, here);
}

#[test]
fn without_namespaces_the_other_layers_hold() {
    let Some(setup) = without(NAMESPACES) else {
        return;
    };
    let server = setup.start();
    let health = server.client().get("/health").text;
    assert!(health.contains("\"sandbox\":\"enforced\""), "{health}");
    assert!(health.contains("\"namespaces\":false"), "{health}");
    assert!(health.contains("\"isolation\":\"reduced\""), "{health}");
    // `doctor` says what reduced isolation leaves open, and how to get namespaces.
    let said = server.run(&["doctor"]).stdout;
    assert!(said.contains("there are no namespaces"), "{said}");
    assert!(said.contains("unprivileged user namespaces"), "{said}");
    let place = json!({"zone": "storage", "cmd": "pwd"});
    assert_eq!(server.call("shed_exec", &place).data()["stdout"], "/\n");
    let secret = server.data().join("access_auth.sqlite");
    let read = json!({"zone": "storage", "cmd": "awk",
        "args": [format!("BEGIN {{ while ((getline line < \"{}\") > 0) print \"got\" }}", secret.display())]});
    assert_eq!(server.call("shed_exec", &read).data()["stdout"], "");
}

#[test]
fn namespaces_can_be_required_and_left_out() {
    let Some(setup) = without(NAMESPACES) else {
        return;
    };
    let server = setup.env("FILESHED_EXEC_NAMESPACES", "required").start();
    let listing = json!({"zone": "storage", "cmd": "ls"});
    let refused = server.call("shed_exec", &listing);
    refused.refused(503, "SANDBOX_UNAVAILABLE");
    let text = refused.body.to_string();
    assert!(text.contains("namespaces"), "{text}");
    assert!(server.logged("commands are off"), "{}", server.log());
    let server = Server::with()
        .env("FILESHED_EXEC_NAMESPACES", "off")
        .start();
    let health = server.client().get("/health").text;
    assert!(health.contains("\"namespaces\":false"), "{health}");
    assert_eq!(server.call("shed_exec", &listing).data()["returncode"], 0);
}

/// The number of `seccomp` on this machine.
#[cfg(target_arch = "x86_64")]
const SECCOMP: &str = "317";
#[cfg(not(target_arch = "x86_64"))]
const SECCOMP: &str = "277";

#[test]
fn without_a_supervisor_modes_stay_as_they_are() {
    // A filter with a listener already: there can be only one.
    if !has_program("python3") {
        return;
    }
    let python = "/usr/bin/python3";
    let server = Server::with()
        .through(&[python, "-c", WITH_LISTENER, SECCOMP])
        .env("FILESHED_EXEC_NAMESPACES", "off")
        .start();
    let exec = |cmd: &str, args: &[&str]| {
        let body = json!({"zone": "storage", "cmd": cmd, "args": args});
        server.call("shed_exec", &body).data().clone()
    };
    assert_eq!(exec("touch", &["a"])["returncode"], 0);
    assert_eq!(exec("ls", &[])["stdout"], "a\n");
    let refused = exec("chmod", &["600", "a"]);
    assert_ne!(refused["returncode"], 0, "{refused}");
    assert!(server.logged("no supervisor"), "{}", server.log());
}

/// Starts a program under a filter that has a listener, which the program inherits.
const WITH_LISTENER: &str = r"
import ctypes, os, struct, sys
number, program = int(sys.argv[1]), sys.argv[2:]
# Allow all.
text = struct.pack('HBBI', 0x06, 0, 0, 0x7fff0000)
buffer = ctypes.create_string_buffer(text)
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
filter = Program(len(text) // 8, ctypes.addressof(buffer))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
listener = libc.syscall(number, 1, 8, ctypes.byref(filter))
assert listener >= 0
os.set_inheritable(listener, True)
os.execv(program[0], program)
";

#[test]
fn few_descriptors_are_enough() {
    // The hard limit, too, so that the server cannot raise it again.
    for most in ["900", "512", "300", "100", "64"] {
        let script = format!("ulimit -n {most} && exec \"$@\"");
        let setup = || Server::with().through(&["/bin/bash", "-c", &script, "bash"]);
        let said = setup().run(&["doctor"]).stdout;
        let line = said.lines().find(|line| line.contains("descriptors: "));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(
            line.starts_with("warning") && line.contains(&format!("{most} open files")),
            "{line}"
        );
        let server = setup().start();
        assert!(
            server.logged(&format!("{most} open files")),
            "{}",
            server.log()
        );
        let health = server.client().get("/health").text;
        assert!(health.contains("\"sandbox\":\"enforced\""), "{health}");
        let listing = json!({"zone": "storage", "cmd": "ls"});
        assert_eq!(server.call("shed_exec", &listing).data()["returncode"], 0);
    }
}

/// The number of `execveat` on this machine.
#[cfg(target_arch = "x86_64")]
const EXECUTION: &str = "322";
#[cfg(not(target_arch = "x86_64"))]
const EXECUTION: &str = "281";

#[test]
fn a_command_that_the_kernel_has_no_place_for_is_busy() {
    let listing = json!({"zone": "storage", "cmd": "ls"});
    for (error, status, code) in [
        // More processes than the account may have.
        (Errno::AGAIN, 503, "BUSY"),
        (Errno::NFILE, 503, "BUSY"),
        (Errno::TOOBIG, 400, "EXEC_ERROR"),
    ] {
        let Some(setup) = failing(EXECUTION, error) else {
            return;
        };
        let refused = setup.start().call("shed_exec", &listing);
        refused.refused(status, code);
        let is_temporary = refused.header("retry-after") == "1";
        assert_eq!(is_temporary, code == "BUSY", "{}", refused.text);
    }
}

#[test]
fn a_process_without_descriptors_starts_no_command_and_goes_on() {
    let setup = Server::with().env("FILESHED_EXEC_NAMESPACES", "off");
    let server = setup.start();
    let listing = json!({"zone": "storage", "cmd": "ls"});
    server.call("shed_exec", &listing).data();
    let zygote = helper(server.process().as_raw_pid());
    let usual = rustix::process::getrlimit(Resource::Nofile);
    let limit = |most: Option<u64>| {
        let current = most.or(usual.current);
        let limit = Rlimit { current, ..usual };
        rustix::process::prlimit(Pid::from_raw(zygote), Resource::Nofile, limit).expect("set");
    };
    // With few descriptors, those that come with a job are cut off, or its process cannot be followed.
    for most in [6, 10] {
        limit(Some(most));
        server.call("shed_exec", &listing).refused(503, "BUSY");
    }
    limit(None);
    server.call("shed_exec", &listing).data();
    assert_eq!(helper(server.process().as_raw_pid()), zygote);
}

#[test]
fn limits_that_the_server_was_started_with_are_enough() {
    // Lower than those of a command, and nothing raises them again.
    let script = "ulimit -H -i 100; ulimit -H -f 1000000; ulimit -H -t 600; exec \"$@\"";
    let server = Server::with()
        .env("FILESHED_EXEC_CPU_LIMIT_SECONDS", "3600")
        .env("FILESHED_MAX_FILE_SIZE_MB", "4000")
        .through(&["/bin/bash", "-c", script, "bash"])
        .start();
    let said = server.call("shed_exec", &json!({"zone": "storage", "cmd": "ls"}));
    assert_eq!(said.data()["returncode"], 0, "{}", said.text);
}
