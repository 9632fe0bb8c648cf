//! Words that people read on pages, in each language that the server has.
//!
//! A language is one file below `words/` and its line in [`LANGUAGES`]. An entry that its file lacks is shown
//! in English. `{0}` and `{1}` in an entry stand for values.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;
use serde::Deserialize;

/// Tag and file of each language. The first one is for browsers that ask for none of them.
const LANGUAGES: &[(&str, &str)] = &[
    ("en", include_str!("words/en.json")),
    ("de", include_str!("words/de.json")),
];

/// The words of one language.
#[derive(Debug, Default, Deserialize)]
struct Words {
    #[serde(skip)]
    tag: &'static str,
    /// Those of the file manager, which browsers get as a module.
    page: BTreeMap<String, String>,
    /// Those of the pages that links open.
    links: BTreeMap<String, String>,
}

static WORDS: LazyLock<Vec<Words>> = LazyLock::new(|| {
    let mut all: Vec<Words> = Vec::new();
    for (tag, text) in LANGUAGES {
        // Tests read every file.
        let own: Words = serde_json::from_str(text).unwrap_or_default();
        let mut words = Words {
            tag,
            ..Words::default()
        };
        if let Some(first) = all.first() {
            words.page.clone_from(&first.page);
            words.links.clone_from(&first.links);
        }
        words.page.extend(own.page);
        words.links.extend(own.links);
        all.push(words);
    }
    all
});

/// The language of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Language(&'static Words);

impl Language {
    /// All of them; the default is the first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        LazyLock::force(&WORDS).iter().map(Self)
    }

    /// The one of programs, and of browsers that ask for no other.
    pub(super) fn english() -> Self {
        Self(&LazyLock::force(&WORDS)[0])
    }

    /// Returns the one of those that the server has that a browser prefers: the highest weight above 0, and
    /// of equal ones the first (RFC 9110, section 12.5.4).
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let asked = headers.get_all(ACCEPT_LANGUAGE).into_iter();
        let asked = asked.filter_map(|asked| asked.to_str().ok());
        let (mut best, mut most) = (Self::english(), 0.0);
        for range in asked.flat_map(|asked| asked.split(',')) {
            let (tag, weight) = range.split_once(';').unwrap_or((range, "q=1"));
            let primary = tag.trim().split('-').next().unwrap_or_default();
            let weight = weight.trim_matches(['q', 'Q', '=', ' ', '\t']);
            let weight: f32 = weight.parse().unwrap_or(0.0);
            let known = Self::all().find(|language| primary.eq_ignore_ascii_case(language.tag()));
            if let Some(language) = known.filter(|_| weight > most) {
                (best, most) = (language, weight);
            }
        }
        best
    }

    /// Returns its tag, as `en`.
    pub(super) fn tag(self) -> &'static str {
        self.0.tag
    }

    /// Returns the entries of the pages that links open.
    pub(super) fn entries(self) -> &'static BTreeMap<String, String> {
        &self.0.links
    }

    /// Returns one of them.
    pub(super) fn say(self, key: &str) -> &'static str {
        self.0.links.get(key).map_or("", String::as_str)
    }

    /// Returns the entry for one thing or for `count` of them, which end in `_one` and `_many`.
    pub(super) fn say_count(self, key: &str, count: usize) -> String {
        let number = if count == 1 { "one" } else { "many" };
        self.say(&format!("{key}_{number}"))
            .replace("{0}", &count.to_string())
    }

    /// Returns an entry of the file manager.
    pub(super) fn say_on_page(self, key: &str) -> &'static str {
        self.0.page.get(key).map_or("", String::as_str)
    }

    /// Returns the module that brings the words to the file manager.
    pub(super) fn module(self) -> String {
        let words = serde_json::to_string(&self.0.page).unwrap_or_default();
        format!("import {{ speak }} from \"../words.js\";\nspeak({words});\n")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_gets_the_language_that_it_prefers() {
        for (asked, expected) in [
            ("de-DE,de;q=0.9,en;q=0.8", "de"),
            ("fr, EN-gb;q=0.9, de;q=0.8", "en"),
            ("den, fr", "en"),
            ("DE;q=0.5", "de"),
            ("de;q=0, en", "en"),
            ("de; q=0.000", "en"),
            ("en;q=0, de;q=0.1", "de"),
            ("de;q=0.5, en", "en"),
            ("en;q=0.5, de;q=0.5", "en"),
            ("de;q=many", "en"),
            ("", "en"),
        ] {
            let asked = HeaderValue::from_static(asked);
            let headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, asked)]);
            assert_eq!(Language::of(&headers).tag(), expected, "{headers:?}");
        }
        assert_eq!(Language::of(&HeaderMap::new()).tag(), "en");
    }

    /// An entry that is missing would be shown in English, and a value would be left out.
    #[test]
    fn every_language_has_every_entry_with_the_same_values() {
        let values = |text: &str| -> BTreeSet<String> {
            let parts = text.split('{').skip(1);
            let names = parts.filter_map(|part| part.split_once('}'));
            names.map(|(name, _)| name.to_owned()).collect()
        };
        let entries = |text: &str| -> BTreeMap<String, BTreeSet<String>> {
            let words: Words = serde_json::from_str(text).expect("a file of words");
            let links = words
                .links
                .into_iter()
                .map(|(key, text)| (format!("links.{key}"), text));
            let page = words
                .page
                .into_iter()
                .map(|(key, text)| (format!("page.{key}"), text));
            let all = links.chain(page);
            all.map(|(key, text)| (key, values(&text))).collect()
        };
        let english = entries(LANGUAGES[0].1);
        assert!(english.len() > 300, "{}", english.len());
        for (tag, text) in LANGUAGES {
            let own = entries(text);
            for (key, expected) in &english {
                assert_eq!(own.get(key), Some(expected), "{tag}: {key}");
            }
            assert_eq!(own.len(), english.len(), "{tag} has more");
        }
    }
}
