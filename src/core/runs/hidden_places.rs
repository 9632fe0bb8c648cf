//! Places on disk in what programs write: they are called as the tree or the command itself calls them.

use std::cmp::Reverse;

use memchr::memmem;

/// Replaces places in a text, as a whole or in whatever pieces it comes.
#[derive(Clone, Debug)]
pub(crate) struct HiddenPlaces {
    /// Pairs of a path and its replacement; a path comes before the directories that contain it.
    names: Vec<(String, String)>,
    /// The end of what came, which may be the beginning of a place.
    held: Vec<u8>,
}

impl HiddenPlaces {
    /// Calls each place by the name beside it.
    pub(crate) fn new(mut names: Vec<(String, String)>) -> Self {
        names.sort_by_key(|(place, _)| Reverse(place.len()));
        let held = Vec::new();
        Self { names, held }
    }

    /// Returns `true` if something is held back.
    pub(crate) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns what is shown of it by now.
    pub(crate) fn shown(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.names.is_empty() {
            return bytes.to_vec();
        }
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(bytes);
        let (shown, held) = self.replaced(&text, true);
        self.held = held.to_vec();
        shown
    }

    /// Returns what was held back, when nothing follows.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.replaced(&held, false).0
    }

    /// Returns how many bytes to read beyond a limit, so that a place cut by the limit is still
    /// recognised.
    pub(crate) fn slack(&self) -> usize {
        self.names.first().map_or(0, |(place, _)| place.len() + 1)
    }

    /// Returns a whole text, which is not copied if it names no place.
    pub(crate) fn whole(&self, text: String) -> String {
        let bytes = text.as_bytes();
        let is_named = |(place, _): &(String, String)| memmem::find(bytes, place.as_bytes());
        if self.names.iter().find_map(is_named).is_none() {
            return text;
        }
        text_of(self.replaced(bytes, false).0)
    }

    /// Returns the beginning of a text that was cut at its end, without what may begin a place there.
    pub(crate) fn beginning(&self, text: &str) -> String {
        text_of(self.replaced(text.as_bytes(), true).0)
    }

    /// Returns the end of a text that was cut at its start, without what may end a place there.
    pub(crate) fn ending(&self, text: String) -> String {
        let text = self.whole(text);
        let text = text.trim_start_matches(char::REPLACEMENT_CHARACTER);
        let lengths = self.names.iter().flat_map(|(place, _)| {
            let starts = (1..place.len()).filter_map(|start| place.get(start..));
            starts.filter(|rest| text.starts_with(rest)).map(str::len)
        });
        text[lengths.max().unwrap_or(0)..].to_owned()
    }

    /// Returns the text with the names of its places, and what of it waits if more may follow.
    fn replaced<'t>(&self, text: &'t [u8], may_follow: bool) -> (Vec<u8>, &'t [u8]) {
        let mut shown = Vec::with_capacity(text.len());
        let mut rest = text;
        // Every place begins so.
        while let Some(at) = memchr::memchr(b'/', rest) {
            let (before, from) = rest.split_at(at);
            shown.extend_from_slice(before);
            rest = from;
            let begins = |place: &[u8]| place.len() > rest.len() && place.starts_with(rest);
            if may_follow && self.names.iter().any(|(place, _)| begins(place.as_bytes())) {
                return (shown, rest);
            }
            let mut names = self.names.iter();
            let found = names.find_map(|(place, name)| {
                let behind = rest.strip_prefix(place.as_bytes())?;
                Some((behind, name.as_str()))
            });
            let (behind, name) = found.unwrap_or((&rest[1..], "/"));
            let is_below = found.is_some() && behind.starts_with(b"/");
            let name = if is_below {
                name.trim_end_matches('/')
            } else {
                name
            };
            shown.extend_from_slice(name.as_bytes());
            rest = behind;
        }
        shown.extend_from_slice(rest);
        (shown, &[])
    }
}

/// Returns bytes as text; what is no UTF-8 is replaced.
pub(crate) fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_replaced_in_whatever_pieces_they_come() {
        let names = [
            ("/data/u/Storage/data", "/storage"),
            ("/data/u/Storage", "/storage"),
        ];
        let names = names.map(|(place, name)| (place.to_owned(), name.to_owned()));
        let text = b"in /data/u/Storage/data/a and /data/u/Storage/b, /data/u/x //data/u/Storage";
        for size in 1..text.len() {
            let mut places = HiddenPlaces::new(names.to_vec());
            let mut shown = Vec::new();
            for piece in text.chunks(size) {
                shown.extend(places.shown(piece));
            }
            assert!(places.holds());
            shown.extend(places.rest());
            assert!(!places.holds());
            assert_eq!(
                String::from_utf8_lossy(&shown),
                "in /storage/a and /storage/b, /data/u/x //storage",
                "{size}"
            );
        }
    }
}
