//! The argument rules of every command.
#![no_main]

use fileshed_core::rules::commands;

libfuzzer_sys::fuzz_target!(|input: (u8, u8, &[u8])| {
    let (command, circumstances, words) = input;
    let rule = &commands()[usize::from(command) % commands().len()];
    fileshed_fuzz::judge(rule.name, circumstances, words);
});
