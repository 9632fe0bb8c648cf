//! What a command wrote, as an answer shows it.

use super::child::Stream;

/// Places on disk that output must not show, and what stands for them.
#[derive(Debug)]
pub(super) struct Mask {
    places: Vec<(String, &'static str)>,
}

impl Mask {
    /// Longer places first: one may lie inside another.
    pub(super) fn new(mut places: Vec<(String, &'static str)>) -> Self {
        places.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        Self { places }
    }

    /// Bytes to read beyond a limit, so that a place cut by the limit is still recognised.
    pub(super) fn slack(&self) -> usize {
        self.places
            .iter()
            .map(|(place, _)| place.len() + 1)
            .max()
            .unwrap_or(0)
    }

    /// The stream as text of at most `limit` bytes, twice as many as JSON, and whether something is missing. What is not
    /// UTF-8 is replaced.
    pub(super) fn show(&self, stream: &Stream, limit: usize) -> (String, bool) {
        let mut text = String::from_utf8_lossy(&stream.bytes).into_owned();
        for (place, stand_in) in &self.places {
            if text.contains(place.as_str()) {
                let below = format!("{}/", stand_in.trim_end_matches('/'));
                text = text
                    .replace(&format!("{place}/"), &below)
                    .replace(place.as_str(), stand_in);
            }
        }
        let mut truncated = stream.truncated;
        if let Some(end) = end(&text, limit) {
            truncated = true;
            text.truncate(end);
        }
        (text, truncated)
    }
}

/// Where a text has to be cut: behind `limit` bytes, or where it has twice as many as JSON, which
/// writes some control characters with six.
fn end(text: &str, limit: usize) -> Option<usize> {
    let mut left = limit.saturating_mul(2);
    for (place, character) in text.char_indices() {
        let written = match character {
            '"' | '\\' | '\n' | '\t' | '\r' | '\u{8}' | '\u{c}' => 2,
            '\0'..'\u{20}' => 6,
            _ => character.len_utf8(),
        };
        if place + character.len_utf8() > limit || written > left {
            return Some(place);
        }
        left -= written;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_disk_never_show() {
        let mask = Mask::new(vec![
            ("/srv/data".to_owned(), "/"),
            ("/srv/data/tmp".to_owned(), "/tmp"),
        ]);
        for (written, shown) in [
            ("/srv/data\n", "/\n"),
            ("/srv/data/a/b", "/a/b"),
            ("at /srv/data/tmp/x and /srv/data", "at /tmp/x and /"),
            ("nothing", "nothing"),
        ] {
            let stream = Stream {
                bytes: written.as_bytes().to_vec(),
                truncated: false,
            };
            assert_eq!(mask.show(&stream, 100), (shown.to_owned(), false));
        }
        let cut = Stream {
            bytes: b"12345/srv/data/rest".to_vec(),
            truncated: true,
        };
        assert_eq!(mask.show(&cut, 8), ("12345/re".to_owned(), true));
    }

    #[test]
    fn what_is_not_text_is_replaced() {
        let mask = Mask::new(Vec::new());
        let stream = Stream {
            bytes: b"a\xffb\xc3".to_vec(),
            truncated: false,
        };
        assert_eq!(mask.show(&stream, 100).0, "a\u{fffd}b\u{fffd}");
        let stream = Stream {
            bytes: "ééé".as_bytes().to_vec(),
            truncated: false,
        };
        assert_eq!(mask.show(&stream, 3), ("é".to_owned(), true));
    }

    #[test]
    fn what_json_makes_long_is_cut_earlier() {
        let mask = Mask::new(Vec::new());
        for (written, expected) in [("\"\n\\\t\"\n", 6), ("\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}", 2)] {
            let stream = Stream {
                bytes: written.as_bytes().to_vec(),
                truncated: false,
            };
            let (shown, truncated) = mask.show(&stream, 6);
            assert_eq!((shown.len(), truncated), (expected, expected < 6));
        }
    }
}
