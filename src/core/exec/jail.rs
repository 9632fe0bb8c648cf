//! The helper that restricts itself and then becomes the command.
//!
//! The server never forks: it starts its own binary anew with `jail` as its only argument and
//! sends an [`Order`] through its standard input. The helper is one fresh thread without the
//! server's memory, descriptors or secrets; what it takes away from itself, the command never has.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use rustix::process::{Resource, Rlimit};
use serde::{Deserialize, Serialize};

/// The argument that turns the server's binary into the helper.
pub const ARGUMENT: &str = "jail";

/// Exit status of a helper that could not become the command.
pub(super) const FAILED: u8 = 125;

/// What such a helper's standard error begins with.
pub(super) const COMPLAINT: &str = "fileshed jail: ";

/// What to become, and within which limits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) program: PathBuf,
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) limits: Limits,
}

/// Bounds of one process, enforced by the kernel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Address space in bytes.
    pub(super) memory: u64,
    /// Seconds of CPU; one second later the process is killed.
    pub(super) cpu_seconds: u64,
    /// Largest file in bytes.
    pub(super) file_size: u64,
    /// Open files.
    pub(super) open_files: u64,
}

/// Reads the order from standard input and becomes the command. Comes back only in failure, with
/// the text for standard error and the status to exit with.
#[must_use]
pub fn become_command() -> (String, u8) {
    match obey() {
        Ok(never) => match never {},
        Err(error) => (format!("{COMPLAINT}{error}"), FAILED),
    }
}

fn obey() -> Result<std::convert::Infallible, std::io::Error> {
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text)?;
    let order: Order = serde_json::from_slice(&text)?;
    rustix::process::setsid()?;
    restrict(order.limits)?;
    let nothing = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the command"
    )]
    let mut command = std::process::Command::new(&order.program);
    Err(command
        .arg0(&order.name)
        .args(&order.arguments)
        .env_clear()
        .envs(order.environment)
        .exec())
}

fn restrict(limits: Limits) -> Result<(), std::io::Error> {
    let set = |resource, soft: u64, hard: u64| {
        rustix::process::setrlimit(
            resource,
            Rlimit {
                current: Some(soft),
                maximum: Some(hard),
            },
        )
    };
    let cpu = limits.cpu_seconds;
    set(Resource::As, limits.memory, limits.memory)?;
    set(Resource::Cpu, cpu, cpu.saturating_add(1))?;
    set(Resource::Fsize, limits.file_size, limits.file_size)?;
    set(Resource::Nofile, limits.open_files, limits.open_files)?;
    set(Resource::Core, 0, 0)?;
    Ok(())
}
