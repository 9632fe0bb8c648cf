//! The known name nearest to a misspelt one, for "did you mean".

/// Returns the candidate that `written` most likely means; `None` if all are too different.
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    const LONGEST: usize = 64;
    let written: String = written.to_lowercase().chars().take(LONGEST).collect();
    let tolerated = (written.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|name| (strsim::levenshtein(&written, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_understood_and_a_stranger_is_not() {
        let names = ["file_rename", "file_delete", "file_stats"];
        for (written, meant) in [
            ("file_renam", Some("file_rename")),
            ("FILE_STATS", Some("file_stats")),
            ("file_delet_file", Some("file_delete")),
            ("favicon.ico", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, names), meant, "{written}");
        }
    }
}
