//! Promises of every judged command line, whatever the arguments.

use fileshed_core::rules::{CommandContext, plan};
use fileshed_core::settings::NetworkMode;
use fileshed_core::{Diagnostic, ZoneName};

/// One call: context in the first byte, then words that a NUL byte ends.
///
/// # Panics
/// Where a promise of the argument context is broken.
pub fn judge(command: &str, circumstances: u8, words: &[u8]) {
    let has = |bit: u8| circumstances & (1 << bit) != 0;
    let context = CommandContext {
        zone: if has(0) {
            ZoneName::Uploads
        } else if has(1) {
            ZoneName::Documents
        } else {
            ZoneName::Storage
        },
        group: None,
        network: if has(2) {
            NetworkMode::All
        } else if has(3) {
            NetworkMode::Safe
        } else {
            NetworkMode::Disabled
        },
        confined: has(4),
        allow_zone_in_path: has(5),
        stdout_file: has(6),
        file_being_edited: has(7).then_some("notes.md"),
    };
    let arguments: Vec<String> = words
        .split(|byte| *byte == 0)
        .take(12)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let plan = match plan(command, &arguments, &context) {
        Ok(plan) => plan,
        Err(error) => {
            assert!(!error.hint().to_string().is_empty() && !error.to_string().is_empty());
            return;
        }
    };
    assert!(
        plan.args.iter().all(|argument| !argument.contains('\0')),
        "{plan:?}"
    );
    assert!(
        context.zone != ZoneName::Uploads || !plan.changes,
        "{plan:?}"
    );
    for path in &plan.paths {
        assert!(!path.text.starts_with('/'), "{plan:?}");
        assert!(
            path.text.split('/').all(|segment| segment != ".."),
            "{plan:?}"
        );
        assert!(
            path.position.is_none_or(|at| at < plan.args.len()),
            "{plan:?}"
        );
        assert!(
            context.zone != ZoneName::Uploads || !path.writes,
            "{plan:?}"
        );
    }
    if !context.confined {
        for token in [";", "|", "&", ">", "`", "$("] {
            assert!(
                !plan.args.iter().any(|argument| argument.contains(token)),
                "{plan:?}"
            );
        }
    }
}
