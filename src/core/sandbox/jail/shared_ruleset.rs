//! A ruleset of Landlock by its descriptor, which may have come from another process.
//!
//! The crate makes rulesets; it takes none that was made elsewhere.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Rules that are made, and not yet in force. Whoever holds a copy of the descriptor adds to the same.
pub(super) struct SharedRuleset(pub(super) OwnedFd);

/// `struct landlock_path_beneath_attr`
#[repr(C, packed)]
struct PathBeneathAttribute {
    allowed_access: u64,
    parent_fd: i32,
}

/// `LANDLOCK_RULE_PATH_BENEATH`
const PATH_BENEATH: libc::c_int = 1;

/// `LANDLOCK_CREATE_RULESET_VERSION`
const ASKS_FOR_VERSION: u32 = 1;

impl SharedRuleset {
    /// Allows `rights`, which the ruleset handles, on what a handle leads to and all below it.
    pub(super) fn allow(&self, handle: BorrowedFd<'_>, rights: u64) -> io::Result<()> {
        let rule = PathBeneathAttribute {
            allowed_access: rights,
            parent_fd: handle.as_raw_fd(),
        };
        // SAFETY: the rule is the structure of this call, and lives through it.
        #[expect(unsafe_code, reason = "the crate adds to its own rulesets alone")]
        let result = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.0.as_raw_fd(),
                PATH_BENEATH,
                std::ptr::from_ref(&rule),
                0_u32,
            )
        };
        done(result).map(|_zero| ())
    }

    /// Puts the rules in force for this process, which can gain no privilege any more.
    pub(super) fn restrict(&self) -> io::Result<()> {
        let ruleset = self.0.as_raw_fd();
        // SAFETY: takes no pointers.
        #[expect(unsafe_code, reason = "the crate enforces its own rulesets alone")]
        let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0_u32) };
        done(result).map(|_zero| ())
    }
}

/// The version that the kernel offers; `ENOSYS` where it has none, `EOPNOTSUPP` where it is not in use.
pub(super) fn offered_version() -> io::Result<i32> {
    // SAFETY: the kernel asks for these arguments, and reads nothing.
    #[expect(unsafe_code, reason = "the crate tells it with rules in force")]
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            ASKS_FOR_VERSION,
        )
    };
    done(result)
}

fn done(result: libc::c_long) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result as i32)
    }
}
