//! Places on disk in what a terminal shows, where a shell has no tree of its own: they are called
//! as in the tree.

/// Replaces places as they come, in whatever pieces.
#[derive(Debug)]
pub(super) struct HiddenPlaces {
    /// What is replaced by what; a place before those that it lies in.
    names: Vec<(Vec<u8>, Vec<u8>)>,
    /// The end of what came, which may be the beginning of a place.
    held: Vec<u8>,
}

impl HiddenPlaces {
    pub(super) fn new(names: &[(String, String)]) -> Self {
        let names = names.iter();
        Self {
            names: names
                .map(|(place, name)| (place.clone().into_bytes(), name.clone().into_bytes()))
                .collect(),
            held: Vec::new(),
        }
    }

    /// Whether something is held back.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// What is shown of it by now.
    pub(super) fn shown(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.names.is_empty() {
            return bytes.to_vec();
        }
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(bytes);
        let (shown, held) = self.replaced(&text, true);
        self.held = held.to_vec();
        shown
    }

    /// What was held back, when nothing follows.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.replaced(&held, false).0
    }

    /// The text with the names of its places, and what of it waits where more may follow.
    fn replaced<'t>(&self, text: &'t [u8], may_follow: bool) -> (Vec<u8>, &'t [u8]) {
        let mut shown = Vec::with_capacity(text.len());
        let mut rest = text;
        // Every place begins so.
        while let Some(at) = rest.iter().position(|byte| *byte == b'/') {
            let (before, from) = rest.split_at(at);
            shown.extend_from_slice(before);
            rest = from;
            let begins = |place: &[u8]| place.len() > rest.len() && place.starts_with(rest);
            if may_follow && self.names.iter().any(|(place, _)| begins(place)) {
                return (shown, rest);
            }
            let is_here = |(place, _): &&(Vec<u8>, Vec<u8>)| rest.starts_with(place);
            let (taken, name) = match self.names.iter().find(is_here) {
                Some((place, name)) => (place.len(), name.as_slice()),
                None => (1, b"/".as_slice()),
            };
            shown.extend_from_slice(name);
            rest = &rest[taken..];
        }
        shown.extend_from_slice(rest);
        (shown, &[])
    }
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
            let mut places = HiddenPlaces::new(&names);
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
