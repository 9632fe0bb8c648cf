//! Packages that users install in their own files, and what they do with them.

use fileshed_test_support::{has_program, skip};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;

use fileshed_core::settings::{NetworkMode, ProgramName};
use fileshed_test_support::standin::{Answer, StandIn};

use super::programs::scenes;
use super::scene::Scene;

/// A scene in which users bring programs, with downloads.
fn scene(allowed: &str) -> Option<Scene> {
    if !has_program("python3") {
        return None;
    }
    let scene = Scene::with(|settings| {
        settings.exec_programs = vec!["*".parse::<ProgramName>().expect("a name")];
        settings.network_mode = NetworkMode::Safe;
        let allowed = allowed
            .split(',')
            .map(|place| place.parse().expect("a destination"));
        settings.network_allow = allowed.collect();
        settings.exec_cpu_limit_seconds = 300;
    });
    if scene.core.runs.confinement().holds_connections().is_err() {
        skip("connections cannot be held");
        return None;
    }
    if !scene.has_tree() {
        skip("without mount namespaces pip finds less than it needs");
        return None;
    }
    let ran = scene.line("python3 -c 'import ensurepip, venv'");
    if ran.status != 0 {
        skip("python3-venv is not installed");
        return None;
    }
    Some(scene)
}

#[track_caller]
fn succeeds(scene: &Scene, line: &str) -> String {
    let ran = scene.line(line);
    assert_eq!(ran.status, 0, "{line}: {ran:?}");
    assert!(ran.refused.is_none(), "{line}: {ran:?}");
    ran.output
}

/// Makes a wheel of one module with the host's Python; `None` if there is none.
fn wheel() -> Option<Vec<u8>> {
    let program = r#"
import io, sys, zipfile
made = io.BytesIO()
with zipfile.ZipFile(made, "w") as wheel:
    wheel.writestr("own_module.py", "ANSWER = 42\n")
    about = "own_module-1.0.dist-info/"
    wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: own-module\nVersion: 1.0\n")
    wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(about + "RECORD", "own_module.py,,\n" + about + "METADATA,,\n" + about + "WHEEL,,\n" + about + "RECORD,,\n")
sys.stdout.buffer.write(made.getvalue())
"#;
    let output = Command::new("/usr/bin/python3")
        .args(["-c", program])
        .output();
    let Ok(output) = output else {
        skip("python3 is not installed");
        return None;
    };
    Some(output.stdout)
}

#[test]
fn a_package_is_installed_into_an_environment_through_the_proxy() {
    const NAME: &str = "own_module-1.0-py3-none-any.whl";
    let Some(wheel) = wheel() else { return };
    let index = StandIn::answering(move |asked| {
        if asked.path.ends_with(NAME) {
            Answer::bytes(wheel.clone())
        } else {
            Answer {
                content_type: "text/html",
                ..Answer::bytes(format!("<a href=\"/files/{NAME}\">{NAME}</a>"))
            }
        }
    });
    let address: SocketAddr = index
        .url()
        .trim_start_matches("http://")
        .parse()
        .expect("an address");
    let Some(scene) = scene(&address.to_string()) else {
        return;
    };
    succeeds(&scene, "python3 -m venv own");
    succeeds(
        &scene,
        &format!(
            "own/bin/pip install --no-cache-dir --index-url http://{address}/simple --trusted-host {} own-module",
            address.ip()
        ),
    );
    let said = succeeds(
        &scene,
        "own/bin/python -c 'import own_module; print(own_module.ANSWER)'",
    );
    assert_eq!(said, "42\n");
    // A host that is not allowed cannot be reached.
    let closed = TcpListener::bind("127.0.0.1:0").expect("bound");
    let closed = closed.local_addr().expect("bound");
    let ran = scene.line(&format!(
        "python3 -c 'import urllib.request; urllib.request.urlopen(\"http://{closed}/\", timeout=5)'"
    ));
    assert_ne!(ran.status, 0, "{ran:?}");
    let ran = scene.line(&format!(
        "python3 -c 'import socket; socket.create_connection((\"{}\", {}), 5)'",
        closed.ip(),
        closed.port()
    ));
    assert_ne!(ran.status, 0, "{ran:?}");
}

#[test]
fn a_million_rows_become_a_picture() {
    // Hosts of the package index, such as `pypi.org:443,files.pythonhosted.org:443`, to be allowed though
    // their addresses need not be public.
    let Ok(index) = std::env::var("FILESHED_TEST_PACKAGES") else {
        skip("packages are not downloaded: set FILESHED_TEST_PACKAGES");
        return;
    };
    let Some(scene) = scene(&index) else {
        return;
    };
    succeeds(&scene, "python3 -m venv own");
    succeeds(
        &scene,
        "PIP_CERT=/etc/ssl/certs/ca-certificates.crt own/bin/pip install --no-cache-dir --quiet pandas matplotlib",
    );
    succeeds(
        &scene,
        "awk 'BEGIN { print \"a,b\"; for (i = 0; i < 1000000; i++) print i \",\" i % 7 }' > rows.csv",
    );
    let program = r#"
import pandas
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as pyplot
rows = pandas.read_csv("rows.csv")
print(len(rows), int(rows["a"].sum()))
rows.groupby("b")["a"].mean().plot(kind="bar")
pyplot.savefig("picture.png")
"#;
    let said = succeeds(
        &scene,
        &format!("cat > p.py <<'X'\n{program}X\nown/bin/python p.py"),
    );
    assert_eq!(said, "1000000 499999500000\n");
    let kind = succeeds(&scene, "head -c 4 picture.png | tail -c 3");
    assert_eq!(kind, "PNG");
}

#[test]
fn an_environment_is_made_in_both_ways_of_confinement() {
    if !has_program("python3") {
        return;
    }
    for scene in scenes(&["*"]) {
        if scene.line("python3 -c 'import ensurepip, venv'").status != 0 {
            skip("python3-venv is not installed");
            return;
        }
        succeeds(&scene, "python3 -m venv own");
        let said = succeeds(&scene, "own/bin/pip list --disable-pip-version-check 2>&1");
        assert!(said.contains("pip"), "{said}");
        let said = succeeds(
            &scene,
            "own/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'",
        );
        assert_eq!(said, "True\n");
    }
}

#[test]
fn a_package_of_node_is_installed() {
    if !(has_program("node") && has_program("npm")) {
        return;
    }
    for scene in scenes(&["*"]) {
        succeeds(
            &scene,
            "mkdir own app && echo 'module.exports = 6 * 7' > own/index.js",
        );
        succeeds(
            &scene,
            r#"echo '{"name": "own", "version": "1.0.0"}' > own/package.json"#,
        );
        succeeds(&scene, "cd own && npm pack --silent --offline");
        succeeds(
            &scene,
            "cd app && npm install --offline --no-audit --no-fund ../own/own-1.0.0.tgz 2>&1",
        );
        let said = succeeds(&scene, "cd app && node -e 'console.log(require(\"own\"))'");
        assert_eq!(said, "42\n");
    }
}

/// A toolchain in a user's own files, as an installer leaves it there; gone where the machine's is in
/// a place that every command has.
fn bring_rust(scene: &Scene) -> Option<String> {
    if std::path::Path::new("/usr/bin/cargo").exists() {
        return Some(String::new());
    }
    let root = Command::new("rustc").args(["--print", "sysroot"]).output();
    let root = String::from_utf8(root.ok()?.stdout).ok()?;
    let alice = super::scene::caller("alice");
    let zone = scene
        .core
        .store
        .zone_as_it_is(&alice, fileshed_core::ZoneName::Storage)
        .expect("a zone");
    let rust = zone.data.location().join("rust");
    std::fs::create_dir(&rust).expect("made");
    let linked = Command::new("cp")
        .args(["--archive", "--link"])
        .args(["bin", "lib"].map(|part| std::path::Path::new(root.trim()).join(part)))
        .arg(&rust)
        .output();
    let linked = linked.is_ok_and(|output| output.status.success());
    linked.then(|| "PATH=$HOME/rust/bin:$PATH ".to_owned())
}

#[test]
fn a_crate_is_built_and_run() {
    if !has_program("gcc") {
        return;
    }
    let scene = Scene::with(|settings| {
        settings.exec_programs = vec!["*".parse::<ProgramName>().expect("a name")];
        settings.quota_per_user_mb = 16_000;
        settings.exec_memory_limit_mb = 2048;
        settings.exec_cpu_limit_seconds = 300;
    });
    if !scene.has_tree() {
        skip("without mount namespaces a toolchain is not found at home");
        return;
    }
    let Some(path) = bring_rust(&scene) else {
        skip("there is no cargo, or it is on another disk");
        return;
    };
    succeeds(&scene, &format!("{path}cargo new --vcs none own 2>&1"));
    succeeds(
        &scene,
        &format!("cd own && {path}cargo build --offline 2>&1"),
    );
    assert_eq!(succeeds(&scene, "own/target/debug/own"), "Hello, world!\n");
}
