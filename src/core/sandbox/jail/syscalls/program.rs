//! Programs of the kernel's filter machine (classic BPF, seccomp(2)): what the crate for them
//! cannot say, one block for each call.

use seccompiler::{BpfProgram, sock_filter};

const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_GREATER: u16 = 0x25;
const JUMP_IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Where things are in `struct seccomp_data`.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const THIS_MACHINE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const THIS_MACHINE: u32 = 0xc000_00b7;

/// A condition on the low half of an argument, by its place.
#[derive(Clone, Copy)]
pub(super) enum Test {
    /// One of these bits is set.
    Any(u32, u32),
    /// None of these bits is set.
    NotAny(u32, u32),
}

/// The action that answers a call with this error.
pub(super) fn refuse(error: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | error as u32
}

/// A program under construction: what no block decides is left to what follows.
pub(super) struct Builder(BpfProgram);

fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

impl Builder {
    /// Ends a process that calls by the numbers of another machine: they mean other calls.
    pub(super) fn new() -> Self {
        Self(vec![
            step(LOAD, 0, 0, MACHINE),
            step(JUMP_IF_EQUAL, 1, 0, THIS_MACHINE),
            step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        ])
    }

    /// One action for every call whose number is higher.
    pub(super) fn newer_than(&mut self, call: i64, action: u32) {
        self.0.extend([
            step(LOAD, 0, 0, NUMBER),
            step(JUMP_IF_GREATER, 0, 1, call as u32),
            step(RETURN, 0, 0, action),
        ]);
    }

    /// An action for a call, where all tests hold.
    pub(super) fn on(&mut self, call: i64, tests: &[Test], action: u32) {
        let rest = |done: usize| (2 * (tests.len() - done) + 1) as u8;
        self.0.extend([
            step(LOAD, 0, 0, NUMBER),
            step(JUMP_IF_EQUAL, 0, rest(0), call as u32),
        ]);
        for (index, test) in tests.iter().enumerate() {
            let past = rest(index + 1);
            let (argument, bits, jt, jf) = match *test {
                Test::Any(argument, bits) => (argument, bits, 0, past),
                Test::NotAny(argument, bits) => (argument, bits, past, 0),
            };
            self.0.extend([
                step(LOAD, 0, 0, ARGUMENTS + 8 * argument),
                step(JUMP_IF_ANY_BIT, jt, jf, bits),
            ]);
        }
        self.0.push(step(RETURN, 0, 0, action));
    }

    pub(super) fn followed_by(mut self, rest: BpfProgram) -> Program {
        self.0.extend(rest);
        Program(self.0)
    }
}

/// A whole program.
pub(super) struct Program(BpfProgram);

impl Program {
    /// Applies it to this process, which can gain no privilege any more; what the kernel answers.
    pub(super) fn apply(&self, flags: libc::c_ulong) -> std::io::Result<i32> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.0.len()).map_err(std::io::Error::other)?,
            filter: self.0.as_ptr().cast::<libc::sock_filter>().cast_mut(),
        };
        // SAFETY: the program lives through the call, which only reads it; its steps have the
        // kernel's layout.
        #[expect(unsafe_code, reason = "the crate for filters makes no listeners")]
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                std::ptr::from_ref(&program),
            )
        };
        if result < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(result as i32)
    }
}

const _: () = assert!(size_of::<sock_filter>() == size_of::<libc::sock_filter>());
