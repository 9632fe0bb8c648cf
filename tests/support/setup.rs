//! Configuration of a server that is to be started.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use fileshed_core::Timings;
use fileshed_test_servers::Postgres;

use crate::{PATIENCE, Server, TestApp, processes, program};

/// The program, not yet started.
#[derive(Clone)]
pub struct Setup {
    /// Gone with the last value that names it.
    directory: Arc<tempfile::TempDir>,
    pub(crate) environment: Vec<(String, String)>,
    flags: Vec<String>,
    launcher: Vec<String>,
    /// Durations of the application in this process.
    pub(crate) timings: Timings,
}

impl Setup {
    pub(crate) fn new() -> Self {
        let registry = registry().map(|url| ("FILESHED_REGISTRY".to_owned(), url));
        Self {
            directory: Arc::new(tempfile::tempdir().unwrap()),
            environment: registry.into_iter().collect(),
            flags: Vec::new(),
            launcher: Vec::new(),
            timings: Timings::STANDARD,
        }
    }

    /// Other durations than those that hold outside of tests, for an application in this process.
    #[must_use]
    pub fn timings(mut self, change: impl FnOnce(&mut Timings)) -> Self {
        change(&mut self.timings);
        self
    }

    /// Returns `true` if a process is needed, because there are flags for its command line or another
    /// program starts it.
    pub(crate) fn needs_process(&self) -> bool {
        !self.flags.is_empty() || !self.launcher.is_empty()
    }

    /// Another program starts the server: it gets the server's command line as its arguments.
    #[must_use]
    pub fn through(mut self, launcher: &[&str]) -> Self {
        self.launcher = launcher.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// The command line of that program.
    pub fn launcher(&self) -> &[String] {
        &self.launcher
    }

    /// A variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A flag of its command line, with its value.
    #[must_use]
    pub fn flag(mut self, name: &str, value: &str) -> Self {
        self.flags.push(format!("--{name}"));
        self.flags.push(value.to_owned());
        self
    }

    /// Writes a file beside the data, for configurations and secrets.
    #[must_use]
    pub fn file(self, name: &str, content: &str) -> Self {
        std::fs::write(self.directory.path().join(name), content).unwrap();
        self
    }

    /// Returns the path of a file beside the data.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs the program with these arguments to its end. One that does not end, such as a server
    /// that should not have started, is killed.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.finish(arguments, Stdio::piped())
    }

    /// Runs the program with these arguments to its end; nobody reads its standard output.
    pub fn run_unread(&self, arguments: &[&str]) -> Finished {
        let (reader, output) = std::io::pipe().unwrap();
        drop(reader);
        self.finish(arguments, output.into())
    }

    fn finish(&self, arguments: &[&str], output: Stdio) -> Finished {
        let mut command = self.command(arguments);
        command.stdout(output).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let process = processes::handle(&child);
        let watch = std::thread::spawn(move || processes::kill_after(&process, PATIENCE));
        let output = child.wait_with_output().unwrap();
        watch.join().unwrap();
        output.into()
    }

    /// Starts the program with these arguments and holds its three streams.
    pub fn piped(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts the server and waits until it listens.
    pub fn start(self) -> Server {
        self.serving(&["serve", "--bind", "127.0.0.1:0"])
    }

    /// Starts the program with these arguments and waits until it listens.
    pub fn serving(self, arguments: &[&str]) -> Server {
        assert!(
            self.timings == Timings::STANDARD,
            "a process has its own timings"
        );
        Server::spawn(self, arguments)
    }

    /// The server's routes in this process, for what needs no process of its own.
    pub fn app(self) -> TestApp {
        TestApp::open(self)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let program = program().into_os_string().into_string().unwrap();
        let mut words = self.launcher.iter().chain([&program]);
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .args(arguments)
            .args(&self.flags)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }
}

/// The address of a database of its own, where the tests are to run on PostgreSQL.
fn registry() -> Option<String> {
    let kind = std::env::var("FILESHED_TEST_REGISTRY").ok()?;
    assert_eq!(kind, "postgres", "FILESHED_TEST_REGISTRY");
    let postgres = Postgres::shared().unwrap();
    Some(postgres.database())
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
