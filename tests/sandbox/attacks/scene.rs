//! The place of the attacks, and how one is played and judged.

use fileshed_test_support::skip;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use serde_json::{Value, json};

use super::helper::{self, Helper};

/// A text that no command may ever show.
pub(super) const CANARY: &str = "canary-6f1c2a";

/// Paths of the zone and of the private directory for a command in namespaces.
const ZONE: &str = "/.fileshed/zone";
const PRIVATE: &str = "/tmp";

/// A program and its arguments, in which `{S}` is the secret file, `{O}` the directory around it,
/// `{Z}` the zone and `{H}` the private directory.
pub(super) type Row = (&'static str, &'static [&'static str]);

/// A zone, a private directory, and everything around them that is forbidden.
pub(crate) struct Scene {
    directory: tempfile::TempDir,
    /// `true` if attacks meet a jail that waited for them.
    in_spare: bool,
}

/// The end of an attack.
pub(crate) struct Ended {
    pub(crate) output: String,
    pub(crate) status: Option<i32>,
    /// A text in the environment of its processes.
    pub(super) marker: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let scene = Self {
            directory,
            in_spare: false,
        };
        for name in ["zone", "private", "other"] {
            std::fs::create_dir(scene.path(name)).expect("made");
        }
        scene.write("other/secret", CANARY);
        scene.write("zone/a", "one\ntwo\n");
        scene
    }

    /// One whose attacks meet a jail that waited for them.
    pub(super) fn in_spare(self) -> Self {
        Self {
            in_spare: true,
            ..self
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    /// Writes a file; its placeholders are those of a [`Row`].
    pub(crate) fn write(&self, name: &str, content: &str) {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().expect("below the scene")).expect("made");
        std::fs::write(file, self.fill(content)).expect("written");
    }

    /// Writes a file that may be executed.
    pub(super) fn write_program(&self, name: &str, content: &str) {
        self.write(name, content);
        let rights = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(name), rights).expect("set");
    }

    /// Runs a program in the zone without a sandbox, to make files that an attack uses. Does nothing if the
    /// program is not installed.
    pub(super) fn prepare(&self, program: &str, arguments: &[&str]) {
        if let Some(program) = installed(program) {
            let arguments = arguments.iter().map(|text| self.fill(text));
            let mut command = std::process::Command::new(program);
            command.args(arguments).current_dir(self.path("zone"));
            let output = command.output().expect("it starts");
            assert!(output.status.success(), "{output:?}");
        }
    }

    /// Puts a real program into the zone, executable.
    pub(super) fn plant(&self, program: &str, name: &str) {
        std::fs::copy(program, self.path("zone").join(name)).expect("copied");
    }

    /// Links from the zone to the secret and to the directory around it.
    pub(super) fn link(&self) {
        use std::os::unix::fs::symlink;
        symlink(self.path("other/secret"), self.path("zone/link")).expect("made");
        symlink(self.path("other"), self.path("zone/dir")).expect("made");
    }

    pub(super) fn fill(&self, text: &str) -> String {
        text.replace("{S}", &self.text("other/secret"))
            .replace("{O}", &self.text("other"))
            .replace("{Z}", &self.text("zone"))
            .replace("{H}", &self.text("private"))
    }

    pub(super) fn attack(&self, program: &str, arguments: &[&str]) -> Option<Ended> {
        self.attack_with(program, arguments, &json!({}))
    }

    /// Runs a program as the server would on this machine, with no rules about arguments. `None`, and noted
    /// as skipped, if it is not installed. The other processes of its session are killed at its end.
    pub(crate) fn attack_with(
        &self,
        program: &str,
        arguments: &[&str],
        changes: &Value,
    ) -> Option<Ended> {
        self.attack_in(helper::has_namespaces(), program, arguments, changes)
    }

    /// The same, with files and processes of its own or among those of the host.
    pub(crate) fn attack_in(
        &self,
        separate: bool,
        program: &str,
        arguments: &[&str],
        changes: &Value,
    ) -> Option<Ended> {
        let Some(file) = installed(program) else {
            skip(format_args!("{program} is not installed"));
            return None;
        };
        let (file, scripts) = interpreted(file);
        let what = (file, scripts, program);
        Some(self.start(separate, None, what, arguments, changes))
    }

    /// Runs machine code that is no command of any machine, under another account where one is
    /// named: the scene becomes its own.
    pub(super) fn run_foreign(
        &self,
        separate: bool,
        account: Option<u32>,
        program: &Path,
        arguments: &[&str],
        changes: &Value,
    ) -> Ended {
        let what = (program.to_owned(), Vec::new(), "foreign");
        self.start(separate, account, what, arguments, changes)
    }

    /// Makes everything here an account's.
    pub(super) fn give(&self, account: u32) {
        let mut pending = vec![self.directory.path().to_owned()];
        while let Some(place) = pending.pop() {
            std::os::unix::fs::lchown(&place, Some(account), Some(account)).expect("given");
            let entries = std::fs::read_dir(&place).into_iter().flatten().flatten();
            pending.extend(entries.map(|entry| entry.path()));
        }
    }

    fn start(
        &self,
        separate: bool,
        account: Option<u32>,
        (file, scripts, program): (PathBuf, Vec<PathBuf>, &str),
        arguments: &[&str],
        changes: &Value,
    ) -> Ended {
        let own = |text: &str| {
            if separate {
                self.as_seen(text)
            } else {
                self.fill(text)
            }
        };
        let arguments: Vec<String> = scripts
            .iter()
            .map(|script| script.to_string_lossy().into_owned())
            .chain(arguments.iter().map(|text| own(text)))
            .collect();
        let marker = self.text("");
        let mut order = json!({
            "file": file,
            "name": program,
            "arguments": arguments,
            "environment": [["PATH", "/usr/bin"], ["HOME", own("{H}")],
                            ["GAWK_SOCK_RETRIES", "1"]],
            "input": null,
            "limits": {"memory": 1_u64 << 31, "cpu_seconds": 5, "file_size": 1_u64 << 24,
                       "open_files": 64, "processes": 4096},
            "mounts": null,
            "access": {
                "execute": [file, loader()],
                "read": scripts,
                "write": [self.path("zone"), self.path("private")],
                "network": "none",
            },
            "supervised": true,
            "starts_others": false,
            "changes": true,
            "probe": false,
            "best_effort": false,
        });
        // An older kernel can be tried on a newer one.
        if let Ok(version) = std::env::var("JAIL_LANDLOCK_ABI") {
            order["access"]["version"] = version.parse::<i32>().expect("a number").into();
        }
        merge(&mut order, changes);
        if let Some(environment) = order["environment"].as_array_mut() {
            environment.push(json!(["SCENE", marker]));
        }
        if separate {
            self.separate(&mut order);
        }
        // An open file of another user, which every child inherits.
        let inherited = std::fs::File::open(self.path("other/secret")).expect("opened");
        rustix::io::fcntl_setfd(inherited.as_fd(), rustix::io::FdFlags::empty()).expect("set");
        let helper = Helper::start_as(CANARY, account);
        drop(inherited);
        // The jail that is attacked can have been made before.
        if separate && (self.in_spare || std::env::var_os("JAIL_SPARE").is_some()) {
            helper.warm(&order, &self.path("zone"));
        }
        let (status, output) = helper.run(&order, &self.path("zone"));
        Ended {
            status,
            output: String::from_utf8_lossy(&output).into_owned(),
            marker,
        }
    }

    /// Placeholders as a command in namespaces meets them.
    fn as_seen(&self, text: &str) -> String {
        self.fill(&text.replace("{Z}", ZONE).replace("{H}", PRIVATE))
    }

    /// Gives an order a mount namespace of its own, with the places that it may touch.
    pub(super) fn separate(&self, order: &mut Value) {
        let places = [("zone", ZONE), ("private", PRIVATE)]
            .map(|(name, seen)| (self.text(name), seen.to_owned()));
        let mut mounts = Vec::new();
        for right in ["read", "write"] {
            for place in order["access"][right].as_array_mut().into_iter().flatten() {
                let source = place.as_str().expect("a path").to_owned();
                if !source.starts_with(&self.text("")) {
                    continue;
                }
                let known = places.iter().find(|(outside, _)| *outside == source);
                let target = known.map_or_else(|| source.clone(), |(_, seen)| seen.clone());
                *place = target.clone().into();
                mounts.push(json!({"source": source, "target": target,
                                   "writable": right == "write"}));
            }
        }
        order["mounts"] = json!({"bind_mounts": mounts, "directory": ZONE});
    }

    /// The attack runs and gets nothing of the canary.
    pub(super) fn holds(&self, program: &str, arguments: &[&str]) {
        let before = contents(&self.path("other"));
        for separate in helper::ways() {
            let fault = self.fault(separate, program, arguments, &json!({}), &before);
            assert_eq!(fault, None, "{program} {arguments:?}, separate: {separate}");
        }
    }

    /// Plays an attack, and returns what it achieved.
    pub(super) fn fault(
        &self,
        separate: bool,
        program: &str,
        arguments: &[&str],
        changes: &Value,
        outside: &Contents,
    ) -> Option<String> {
        let ended = self.attack_in(separate, program, arguments, changes)?;
        if ended.output.contains("fileshed jail") {
            return Some(format!("it did not start: {}", ended.output));
        }
        if shows(ended.output.as_bytes()) || ended.output.contains("root:") {
            return Some(format!("it shows the canary: {}", ended.output));
        }
        if ended.output.contains("uid=") || self.path("zone/ran").exists() {
            return Some(format!("it started another program: {}", ended.output));
        }
        if contents(&self.path("other")) != *outside {
            return Some(format!("it changed what lies outside: {}", ended.output));
        }
        let mut around: Vec<_> = std::fs::read_dir(self.directory.path())
            .expect("listed")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        around.sort();
        if around != ["other", "private", "zone"] {
            return Some(format!("it left something outside: {around:?}"));
        }
        let inside = [
            contents(&self.path("zone")),
            contents(&self.path("private")),
        ];
        inside
            .iter()
            .flatten()
            .find(|(_, content)| shows(content))
            .map(|(path, _)| format!("it brought the canary to {}", path.display()))
    }
}

/// Plays each row in a scene of its own; none may achieve anything.
pub(super) fn play(rows: &[Row], prepare: fn(&Scene)) {
    play_with(rows, prepare, |_| json!({}));
}

/// The same with another order.
pub(super) fn play_with(rows: &[Row], prepare: fn(&Scene), changes: fn(&Scene) -> Value) {
    let mut faults = Vec::new();
    for (program, arguments) in rows {
        for separate in helper::ways() {
            let scene = Scene::new();
            prepare(&scene);
            let outside = contents(&scene.path("other"));
            let changes = changes(&scene);
            if let Some(fault) = scene.fault(separate, program, arguments, &changes, &outside) {
                faults.push(format!(
                    "{program} {arguments:?}, separate: {separate}: {fault}"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Path to content of all regular files.
pub(super) type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Every regular file below a directory; links are not followed.
pub(super) fn contents(directory: &Path) -> Contents {
    let mut found = Contents::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = std::fs::read_dir(&directory).into_iter().flatten();
        for entry in entries.flatten() {
            match entry.file_type().expect("there") {
                kind if kind.is_dir() => {
                    found.insert(entry.path(), Vec::new());
                    pending.push(entry.path());
                }
                kind if kind.is_file() => {
                    // A giant that an attack made is all holes.
                    let small = entry.metadata().is_ok_and(|file| file.len() < 1 << 25);
                    let content = small.then(|| std::fs::read(entry.path()).unwrap_or_default());
                    found.insert(entry.path(), content.unwrap_or_default());
                }
                _ => {
                    found.insert(entry.path(), Vec::new());
                }
            }
        }
    }
    found
}

/// Returns `true` if the bytes contain the canary, as it is or in a usual encoding.
pub(super) fn shows(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let dense: String = text.split_whitespace().collect();
    let encoded = base64::engine::general_purpose::STANDARD.encode(CANARY);
    let hexadecimal = hex::encode(CANARY);
    [
        CANARY.to_owned(),
        CANARY.chars().rev().collect(),
        encoded[..16].to_owned(),
        hexadecimal.to_uppercase(),
        hexadecimal,
    ]
    .iter()
    .any(|disguise| text.contains(disguise.as_str()) || dense.contains(disguise.as_str()))
}

fn merge(order: &mut Value, changes: &Value) {
    for (name, value) in changes.as_object().into_iter().flatten() {
        match (&mut order[name], value) {
            (inner @ Value::Object(_), Value::Object(_)) => merge(inner, value),
            (slot, value) => *slot = value.clone(),
        }
    }
}

pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    // Directories of programs whose command is a shell script.
    let behind = ["/usr/lib/7zip", "/usr/lib/p7zip"];
    behind
        .iter()
        .chain(&["/usr/bin"])
        .find_map(|place| std::fs::canonicalize(Path::new(place).join(program)).ok())
}

/// The program that a file starts, and the file as its first argument where it is a script.
fn interpreted(file: PathBuf) -> (PathBuf, Vec<PathBuf>) {
    let head = std::fs::read(&file).unwrap_or_default();
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let interpreter = line
        .strip_prefix(b"#!")
        .and_then(|line| {
            String::from_utf8_lossy(line)
                .split_whitespace()
                .next()
                .map(PathBuf::from)
        })
        .and_then(|place| std::fs::canonicalize(place).ok());
    match interpreter {
        Some(interpreter) => (interpreter, vec![file]),
        None => (file, Vec::new()),
    }
}

pub(crate) fn loader() -> PathBuf {
    let places = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    places
        .iter()
        .find_map(|place| std::fs::canonicalize(place).ok())
        .expect("a dynamic loader")
}
