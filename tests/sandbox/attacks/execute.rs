//! Attacks that want another program to run.

mod starts;

use super::scene::play_with;
use super::{Row, Scene, loader, play};
use fileshed_test_support::skip;
use serde_json::json;
use starts::STARTS;

/// Programs in full languages.
const CALLS: &[Row] = &[
    (
        "python3",
        &["-c", "import os; os.posix_spawn('{Z}/script', ['x'], {})"],
    ),
    (
        "python3",
        &[
            "-c",
            "import os; os.execve(os.open('{Z}/upload', 0), ['x'], {})",
        ],
    ),
    ("python3", &["-c", "import pty; pty.spawn('{Z}/script')"]),
    (
        "python3",
        &[
            "-c",
            "import os; os.execv('/proc/self/exe', ['x', '-c', 'print(\"uid=\")'])",
        ],
    ),
    // execveat: by descriptor, by path, and under the number of the program itself.
    (
        "python3",
        &[
            "-c",
            "import ctypes, os\nlibc = ctypes.CDLL(None)\nnull = ctypes.c_void_p()\nfd = os.open('upload', os.O_RDONLY)\nlibc.execveat(fd, b'', null, null, 0x1000)\nlibc.execveat(-100, b'{Z}/upload', null, null, 0)",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import ctypes, os\nlibc = ctypes.CDLL(None)\nnull = ctypes.c_void_p()\nimport resource\nos.dup2(os.open('upload', os.O_RDONLY), 60)\nresource.setrlimit(7, (1024, 1024)) if resource.getrlimit(7)[1] > 900 else None\nos.dup2(60, 900)\nlibc.execveat(900, b'', null, null, 0x1000)",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import os\nfd = os.memfd_create('x')\nos.write(fd, open('upload', 'rb').read())\nos.execve(fd, ['x'], {})",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import ctypes, os\nlibc = ctypes.CDLL(None)\npid = os.fork()\nif pid == 0:\n  libc.execveat(-100, b'{Z}/upload', None, None, 0)\n  os._exit(0)\nos.waitpid(pid, 0)",
        ],
    ),
];

/// With parts of its own, a program may start others: those that it was given, and no more.
const WITH_PARTS: &[Row] = &[
    ("git", &["-c", "alias.x=!{Z}/script", "x"]),
    ("git", &["-c", "core.pager={Z}/script", "-p", "help"]),
    (
        "git",
        &["-c", "core.editor={Z}/script", "commit", "--allow-empty"],
    ),
    ("git", &["-c", "core.fsmonitor={Z}/script", "status"]),
    (
        "git",
        &[
            "-c",
            "core.hooksPath={Z}/hooks",
            "commit",
            "--allow-empty",
            "-m",
            "x",
        ],
    ),
    (
        "git",
        &[
            "-c",
            "core.sshCommand={Z}/script",
            "ls-remote",
            "ssh://host/x",
        ],
    ),
    (
        "git",
        &["-c", "credential.helper=!{Z}/script", "credential", "fill"],
    ),
    (
        "git",
        &[
            "-c",
            "gpg.program={Z}/script",
            "-c",
            "user.name=x",
            "-c",
            "user.email=x",
            "commit",
            "-S",
            "--allow-empty",
            "-m",
            "x",
        ],
    ),
    (
        "git",
        &[
            "-c",
            "diff.external={Z}/script",
            "diff",
            "--no-index",
            "a",
            "long",
        ],
    ),
    (
        "git",
        &["-c", "diff.x.textconv={Z}/script", "diff", "--textconv"],
    ),
    ("git", &["-c", "filter.x.clean={Z}/script", "add", "a"]),
    ("git", &["-c", "filter.x.process={Z}/script", "add", "a"]),
    ("git", &["-c", "include.path={Z}/evil.config", "x"]),
    (
        "git",
        &[
            "-c",
            "protocol.ext.allow=always",
            "ls-remote",
            "ext::{Z}/script",
        ],
    ),
    ("git", &["ls-remote", "--upload-pack={Z}/script", "{Z}"]),
    ("git", &["--exec-path={Z}/hooks", "x"]),
    (
        "git",
        &[
            "grep",
            "--open-files-in-pager={Z}/script",
            "--no-index",
            "one",
        ],
    ),
    (
        "git",
        &["-c", "sequence.editor={Z}/script", "rebase", "-i", "HEAD"],
    ),
    ("git", &["bisect", "run", "{Z}/script"]),
    ("git", &["submodule", "foreach", "{Z}/script"]),
    ("zip", &["x.zip", "a", "-T", "-TT", "{Z}/script"]),
    ("find", &["a", "-exec", "./script", ";"]),
    ("find", &["a", "-exec", "/bin/sh", "script", ";"]),
    ("gawk", &["BEGIN{system(\"id\"); system(\"./upload\")}"]),
    ("mawk", &["BEGIN{system(\"id\"); system(\"./upload\")}"]),
];

fn furnish(scene: &Scene) {
    scene.plant("/usr/bin/id", "upload");
    scene.write_program("zone/script", "#!/bin/sh\nid > {Z}/ran\nid\n");
    for hook in ["pre-commit", "post-commit", "git-x"] {
        scene.write_program(
            &format!("zone/hooks/{hook}"),
            "#!/bin/sh\nid > {Z}/ran\nid\n",
        );
    }
    let long = "a line of some length\n".repeat(20_000);
    for (name, content) in [
        ("long", long.as_str()),
        ("run.sed", "1e {Z}/script\n"),
        ("run.ed", "1!{Z}/script\n1d\nw\n"),
        ("run.dc", "!{Z}/script\n"),
        ("run.sql", ".shell {Z}/script\n"),
        (
            "run.lua",
            "os.execute('{Z}/script')\nio.popen('{Z}/script'):read('a')\nreturn {}",
        ),
        ("run.pl", "system('{Z}/script'); exec '{Z}/script'; 1;"),
        (
            "run.curl",
            "url = \"file://{Z}/a\"\noutput = \"|{Z}/script\"\n",
        ),
        (
            "run.svg",
            "<svg xmlns:xlink=\"http://www.w3.org/1999/xlink\"><image xlink:href=\"https://127.0.0.1:9/`{Z}/script`\"/></svg>",
        ),
        ("evil.config", "[alias]\n x = !{Z}/script\n"),
    ] {
        scene.write(&format!("zone/{name}"), content);
    }
    scene.prepare("tar", &["-cf", "plain.tar", "a"]);
}

/// A repository whose configuration asks for programs.
fn repository(scene: &Scene) {
    furnish(scene);
    let repository = git2::Repository::init(scene.path("zone")).expect("made");
    let mut config = repository.config().expect("there");
    for name in [
        "filter.x.clean",
        "filter.x.smudge",
        "diff.x.textconv",
        "alias.x",
        "merge.x.driver",
    ] {
        let value = if name == "alias.x" {
            "!{Z}/script"
        } else {
            "{Z}/script"
        };
        config.set_str(name, &scene.fill(value)).expect("set");
    }
    scene.write("zone/.gitattributes", "a filter=x diff=x merge=x\n");
    scene.write_program("zone/.git/hooks/pre-commit", "#!/bin/sh\nid > {Z}/ran\n");
}

#[test]
fn no_option_starts_a_program() {
    play(STARTS, furnish);
}

#[test]
fn no_call_starts_a_program() {
    play(CALLS, furnish);
}

#[test]
fn only_a_programs_own_parts_start() {
    play_with(WITH_PARTS, repository, |_| json!({"starts_others": true}));
}

#[test]
fn planted_machine_code_is_held_as_well() {
    // Loading code is no start of a program, and gains nothing: it runs in the same confinement.
    const SOURCE: &str = "#include <stdio.h>\n#include <unistd.h>\n#include <fcntl.h>\n\
        __attribute__((constructor)) static void run(void) {\n\
        char text[99] = {0};\n int fd = open(\"{S}\", O_RDONLY);\n\
        if (read(fd, text, 98) > 0) { puts(text); fflush(stdout); }\n\
        execl(\"/usr/bin/id\", \"id\", (char *)0);\n execl(\"{Z}/script\", \"x\", (char *)0); }\n";
    const ROWS: &[Row] = &[
        ("sqlite3", &[":memory:", ".load ./evil.so"]),
        (
            "sqlite3",
            &[":memory:", "SELECT load_extension('./evil.so')"],
        ),
        ("gawk", &["-l", "./evil.so", "BEGIN{}"]),
        (
            "python3",
            &["-c", "import ctypes; ctypes.CDLL('./evil.so')"],
        ),
        (
            "perl",
            &[
                "-MDynaLoader",
                "-e",
                "DynaLoader::dl_load_file('{Z}/evil.so')",
            ],
        ),
    ];
    if super::installed("cc").is_none() {
        skip("cc is not installed");
        return;
    }
    play(ROWS, |scene| {
        furnish(scene);
        scene.write("zone/evil.c", SOURCE);
        let status = std::process::Command::new("/usr/bin/cc")
            .args(["-shared", "-fPIC", "-w", "-o", "evil.so", "evil.c"])
            .current_dir(scene.path("zone"))
            .status()
            .expect("cc starts");
        assert!(status.success());
    });
}

#[test]
fn no_second_program_starts() {
    let scene = Scene::new();
    scene.plant("/usr/bin/id", "upload");
    let loader = loader().to_string_lossy().into_owned();
    std::fs::write(scene.path("zone/script"), "#!/bin/sh\nid\n").expect("written");
    for (program, arguments) in [
        ("gawk", vec!["BEGIN{system(\"id\")}"]),
        ("gawk", vec!["BEGIN{\"id\" | getline l; print l}"]),
        ("gawk", vec!["BEGIN{print 1 | \"id\"}"]),
        ("mawk", vec!["BEGIN{system(\"id\")}"]),
        ("mawk", vec!["BEGIN{\"id\" | getline l; print l}"]),
        ("mawk", vec!["BEGIN{print 1 | \"id\"}"]),
        ("sed", vec!["1e id", "a"]),
        ("sed", vec!["s/one/id/e", "a"]),
        ("find", vec!["a", "-exec", "/usr/bin/id", ";"]),
        ("find", vec!["a", "-exec", "./upload", ";"]),
        ("find", vec!["a", "-exec", loader.as_str(), "./upload", ";"]),
        ("find", vec!["a", "-exec", "./script", ";"]),
        (
            "tar",
            vec![
                "-cf",
                "x.tar",
                "--checkpoint=1",
                "--checkpoint-action=exec=id",
                "a",
            ],
        ),
        ("tar", vec!["-cf", "x.tar", "-I", "id", "a"]),
        ("split", vec!["--filter=id", "a"]),
        ("sort", vec!["--compress-program=id", "-S1b", "a"]),
        ("rg", vec!["--pre", "./script", "one"]),
        ("sqlite3", vec![":memory:", ".shell id"]),
        ("git", vec!["-c", "alias.x=!id", "x"]),
        ("git", vec!["-c", "core.fsmonitor=./script", "status"]),
        ("zip", vec!["x.zip", "a", "-T", "-TT", "id #"]),
        ("perl", vec!["-e", "print `id`; exec './upload'"]),
        (
            "python3",
            vec!["-c", "import os; os.execv('./upload', ['x'])"],
        ),
        (
            "python3",
            vec![
                "-c",
                "import subprocess; print(subprocess.run(['/usr/bin/id']))",
            ],
        ),
    ] {
        if let Some(ended) = scene.attack(program, &arguments) {
            assert!(
                !ended.output.contains("uid="),
                "{program} {arguments:?}: {}",
                ended.output
            );
        }
    }
}

#[test]
fn programs_with_parts_of_their_own_start_nothing_else() {
    let scene = Scene::new();
    scene.plant("/usr/bin/id", "upload");
    let others = json!({"starts_others": true});
    for (program, arguments) in [
        ("git", vec!["-c", "alias.x=!id", "x"]),
        ("git", vec!["-c", "alias.x=!./upload", "x"]),
        ("git", vec!["-c", "core.pager=./upload", "-p", "help"]),
        ("find", vec!["a", "-exec", "/usr/bin/id", ";"]),
        ("find", vec!["a", "-exec", "./upload", ";"]),
        ("gawk", vec!["BEGIN{system(\"./upload\")}"]),
        ("mawk", vec!["BEGIN{system(\"./upload\")}"]),
    ] {
        if let Some(ended) = scene.attack_with(program, &arguments, &others) {
            assert!(
                !ended.output.contains("uid="),
                "{program}: {}",
                ended.output
            );
        }
    }
}
