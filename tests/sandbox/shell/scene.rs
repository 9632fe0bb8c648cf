//! A store in this process whose users run lines of the shell.

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use fileshed_core::sandbox::{JobHandle, StandardStreams};
use fileshed_core::terminal::{ShellRequest, run_shell};
use fileshed_core::view::{View, ViewPath};
use fileshed_core::{Caller, Core, Error, Settings, UserId};
use fileshed_test_support::comes;
use tempfile::TempDir;

/// A data directory with a store.
pub(super) struct Scene {
    pub(super) core: Arc<Core>,
    pub(super) directory: TempDir,
}

/// The result of a line.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) status: i32,
    pub(super) output: String,
    pub(super) refused: Option<Error>,
    pub(super) remarks: Vec<String>,
}

/// A caller of this name.
pub(super) fn caller(user: &str) -> Caller {
    Caller {
        user: Some(UserId::parse(user).expect("a user")),
        ..Caller::default()
    }
}

impl Scene {
    pub(super) fn new() -> Self {
        Self::with(|_usual| ())
    }

    pub(super) fn with(configure: impl FnOnce(&mut Settings)) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut settings = Settings::new(directory.path());
        settings.helper = fileshed_test_support::program();
        configure(&mut settings);
        let core = Arc::new(Core::open(settings).expect("a store"));
        Self { core, directory }
    }

    /// Runs a line of alice in her home.
    pub(super) fn line(&self, line: &str) -> Ran {
        self.run(&caller("alice"), "/storage", line, &[])
            .unwrap_or_else(|error| panic!("{line}: {error:?}"))
    }

    pub(super) fn run(
        &self,
        caller: &Caller,
        cwd: &str,
        line: &str,
        environment: &[(&str, &str)],
    ) -> Result<Ran, Error> {
        self.attend(caller, cwd, line, environment, |_job| ())
    }

    /// Runs a line; `begun` is called when it runs.
    pub(super) fn attend(
        &self,
        caller: &Caller,
        cwd: &str,
        line: &str,
        environment: &[(&str, &str)],
        begun: impl FnOnce(JobHandle),
    ) -> Result<Ran, Error> {
        let (output, ours) = reader();
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let request = ShellRequest {
            cwd: ViewPath::parse("cwd", cwd, &ViewPath::home())?,
            command: Some(line.to_owned()),
            environment: environment.iter().map(own).collect(),
            streams: StandardStreams {
                input: std::fs::File::open("/dev/null").expect("opened").into(),
                error: ours.try_clone().expect("cloned"),
                output: ours,
            },
        };
        let view = View::of(&self.core.store, caller);
        let outcome = run_shell(&self.core.runs, view, request, |job, watch| {
            begun(job.handle());
            let ended = comes(|| {
                if watch.must_stop(job) {
                    job.kill();
                }
                job.wait(Duration::ZERO).transpose()
            });
            if ended.is_none() {
                job.kill();
                panic!("`{line}` does not end");
            }
            ended.transpose()?;
            Ok(())
        });
        let output = output.join().expect("read");
        let outcome = outcome?;
        Ok(Ran {
            status: outcome.status,
            output,
            refused: outcome.refused,
            remarks: outcome.remarks,
        })
    }

    /// Returns `true` if lines see the tree.
    pub(super) fn has_tree(&self) -> bool {
        self.core.runs.has_tree()
    }
}

/// Returns a pipe, and the thread that returns all that was written to it.
pub(super) fn reader() -> (JoinHandle<String>, OwnedFd) {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let read = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _cut_off = reader.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    (read, writer.into())
}
