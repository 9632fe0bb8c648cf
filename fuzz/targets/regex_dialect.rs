//! Regular expressions in Python's dialect, and the substitutions around them: an accepted expression can
//! be searched for, any other is refused with a reason and a next step.
#![no_main]

use fileshed_core::Diagnostic as _;
use fileshed_text::{fuzzing, substitute};

const FLAGS: &[&str] = &["", "i", "m", "s", "im", "is", "ms", "ims"];

libfuzzer_sys::fuzz_target!(|input: (u8, &str, &[u8])| {
    let (circumstances, pattern, text) = input;
    let flags = FLAGS[usize::from(circumstances) % FLAGS.len()];
    let crlf = circumstances & 8 != 0;
    match fuzzing::search(pattern, flags, crlf, text) {
        Ok((found, _)) => {
            let mut end = 0;
            for place in found {
                assert!(place.start >= end && place.end >= place.start, "{place:?}");
                end = place.end;
            }
            assert!(end <= text.len());
        }
        Err(error) => {
            assert!(!error.hint().to_string().is_empty() && !error.to_string().is_empty())
        }
    }
    let name = String::from_utf8_lossy(text);
    for expression in [pattern, &format!("s/{pattern}/$1-$&/g")] {
        match substitute(expression, &[&name]) {
            Ok(renamed) => assert_eq!(renamed.len(), 1),
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
});
