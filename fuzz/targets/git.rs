//! The arguments of git: subcommands, global options, options that take a value.
#![no_main]

const SUBCOMMANDS: &[&str] = &[
    "log",
    "show",
    "diff",
    "status",
    "branch",
    "tag",
    "blame",
    "grep",
    "commit",
    "checkout",
    "clone",
    "fetch",
    "pull",
    "push",
    "remote",
    "submodule",
    "stash",
    "clean",
    "config",
    "init",
];

libfuzzer_sys::fuzz_target!(|input: (u8, u8, &[u8])| {
    let (subcommand, circumstances, words) = input;
    let mut line = Vec::new();
    // Sometimes the subcommand itself is strange.
    if let Some(known) = SUBCOMMANDS.get(usize::from(subcommand) % (SUBCOMMANDS.len() + 4)) {
        line.extend_from_slice(known.as_bytes());
        line.push(0);
    }
    line.extend_from_slice(words);
    fileshed_fuzz::judge("git", circumstances, &line);
});
