//! Paths inside a zone: whatever is accepted stays inside, and means the same when read again.
#![no_main]

use fileshed_core::{Diagnostic, ZonePath};

libfuzzer_sys::fuzz_target!(|text: &str| match ZonePath::parse("path", text) {
    Ok(path) => {
        assert!(!path.as_str().starts_with('/') && !path.as_str().contains('\0'));
        assert!(
            path.segments()
                .all(|segment| !matches!(segment, "" | "." | ".."))
        );
        let whole = format!("/{}", path.as_str());
        let again = ZonePath::parse("path", &whole).map(|path| path.as_str().to_owned());
        assert_eq!(again.ok().as_deref(), Some(path.as_str()));
        let _judged = path.check_new_names("path", 0);
    }
    Err(error) => assert!(!error.hint().to_string().is_empty() && !error.to_string().is_empty()),
});
