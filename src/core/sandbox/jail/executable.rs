//! The program that a process becomes, opened before that is forbidden.

use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::process::{Resource, Rlimit};

use super::process::checked;

/// Everything that the exec needs.
pub(super) struct Executable {
    arguments: Vec<CString>,
    environment: Vec<CString>,
    /// The number that the filter lets through.
    pub(super) descriptor: i32,
}

/// The highest number that the program's descriptor gets. A command can open no file under it:
/// its limit of open files is lower.
const HIGHEST_DESCRIPTOR: u64 = 900;

impl Executable {
    pub(super) fn new(
        file: &Path,
        name: &str,
        arguments: &[String],
        environment: &[(String, String)],
    ) -> io::Result<Self> {
        let text = |value: String| CString::new(value);
        let arguments = std::iter::once(name).chain(arguments.iter().map(String::as_str));
        let environment = environment.iter();
        let environment = environment.map(|(name, value)| format!("{name}={value}"));
        let file = std::fs::File::open(file)?;
        let descriptor = highest_descriptor()?;
        // SAFETY: duplicates an open descriptor to a number that nothing in this fresh process
        // uses; no memory is involved.
        #[expect(unsafe_code, reason = "the filter knows the program by this number")]
        let duplicate = unsafe { libc::dup3(file.as_raw_fd(), descriptor, libc::O_CLOEXEC) };
        checked(duplicate.into())?;
        Ok(Self {
            arguments: arguments
                .map(str::to_owned)
                .map(text)
                .collect::<Result<_, _>>()?,
            environment: environment.map(text).collect::<Result<_, _>>()?,
            descriptor,
        })
    }

    /// Becomes the program, which has its limits from the start. Comes back only in failure.
    pub(super) fn execute(&self, limited: impl Fn() -> io::Result<()>) -> io::Error {
        let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
            texts
                .iter()
                .map(|text| text.as_ptr())
                .chain([std::ptr::null()])
                .collect()
        };
        let (arguments, environment) = (pointers(&self.arguments), pointers(&self.environment));
        if let Err(error) = limited() {
            return error;
        }
        // SAFETY: both lists end with a null pointer and point into strings that live in `self`;
        // the path is empty and static, the descriptor is open.
        #[expect(unsafe_code, reason = "no safe crate has execveat")]
        unsafe {
            libc::syscall(
                libc::SYS_execveat,
                self.descriptor,
                c"".as_ptr(),
                arguments.as_ptr(),
                environment.as_ptr(),
                libc::AT_EMPTY_PATH,
            );
        }
        io::Error::last_os_error()
    }
}

/// The number for the program: the highest that this machine allows a process to have.
fn highest_descriptor() -> Result<i32, io::Error> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let highest = HIGHEST_DESCRIPTOR.min(most.saturating_sub(1));
    if limit.current.is_some_and(|current| current <= highest) {
        let raised = Rlimit {
            current: Some(highest + 1),
            ..limit
        };
        rustix::process::setrlimit(Resource::Nofile, raised)?;
    }
    i32::try_from(highest).map_err(io::Error::other)
}
