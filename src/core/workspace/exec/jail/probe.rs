//! What a supervised process finds, tried by one: a supervisor that may not look at it (a kernel
//! without `/proc`, or a security module between processes) can judge nothing.

use super::supervisor::{MACHINE_NAME, names};

/// Whether the supervisor of this process is asked, reads its descriptors and writes its memory.
pub(super) fn is_supervised(program: i32) -> bool {
    tells_another_name() && maps(program)
}

fn tells_another_name() -> bool {
    names().is_some_and(|names| {
        let name = names.nodename.map(|character| character as u8);
        name.starts_with(MACHINE_NAME.as_bytes())
    })
}

/// Maps the program of the probe as a loader does.
fn maps(program: i32) -> bool {
    // SAFETY: a new mapping, which nothing refers to.
    #[expect(unsafe_code, reason = "the call that is tried")]
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_EXEC,
            libc::MAP_PRIVATE,
            program,
            0,
        )
    };
    mapped != libc::MAP_FAILED
}
