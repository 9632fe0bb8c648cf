//! The known name nearest to a misspelt one, for "did you mean".

/// The candidate that `written` most likely means; `None` when all are too far away to be meant.
#[must_use]
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    const LONGEST: usize = 64;
    let written: Vec<char> = written.to_lowercase().chars().take(LONGEST).collect();
    let tolerated = (written.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|name| (distance(&written, name), name))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Characters to insert, remove or replace (Levenshtein).
fn distance(written: &[char], name: &str) -> usize {
    let mut row: Vec<usize> = (0..=written.len()).collect();
    for (line, letter) in name.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in written.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[written.len()]
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
