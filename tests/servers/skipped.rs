//! Tests that leave out their work, or a part of it, because this machine lacks something.
//!
//! libtest drops the output of tests that pass, so the names are written past its capture: in one
//! list when the test binary exits, and at once to the file that `FILESHED_TEST_SKIPS` names.

use std::env;
use std::ffi::c_int;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{Write as _, stderr};
use std::panic::Location;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

#[expect(unsafe_code, reason = "the standard library calls nothing at exit")]
unsafe extern "C" {
    safe fn atexit(call: extern "C" fn()) -> c_int;
}

static SKIPPED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Notes that the running test skips its work, or the part that the reason names.
///
/// The note is `SKIP: <binary>::<test>: <reason>`. libtest gives the name of a test to its thread; on
/// another thread the file of the caller stands for it.
///
/// # Panics
///
/// Panics if the file that `FILESHED_TEST_SKIPS` names cannot be written.
#[track_caller]
pub fn skip(reason: impl Display) {
    let thread = thread::current();
    let test = thread.name().unwrap_or(Location::caller().file());
    let line = format!("SKIP: {}::{test}: {reason}", binary());
    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    if skipped.contains(&line) {
        return;
    }
    if skipped.is_empty() {
        atexit(list);
    }
    if let Some(file) = env::var_os("FILESHED_TEST_SKIPS") {
        let file = OpenOptions::new().create(true).append(true).open(file);
        let entry = format!("{line}\n");
        let written = file.and_then(|mut file| file.write_all(entry.as_bytes()));
        written.expect("the list of skipped tests is written");
    }
    skipped.push(line);
}

/// The name of the test binary without the hash that cargo appends.
fn binary() -> String {
    let program = env::args_os().next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let without_hash = name.rsplit_once('-').map(|(name, _)| name.to_owned());
    without_hash.unwrap_or_else(|| name.into_owned())
}

extern "C" fn list() {
    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    skipped.sort();
    let text = format!(
        "skipped in {}: {}\n{}\n\n",
        binary(),
        skipped.len(),
        skipped.join("\n")
    );
    // At this point no caller is left to handle a failure.
    let _written = stderr().write_all(text.as_bytes());
}
