//! Names as they are compared, and written where umlauts and accents cannot be.

use unicode_normalization::UnicodeNormalization as _;

/// Returns a name with plain letters in place of those with Latin accents. Names in its order have letters
/// with accents beside those without.
pub fn without_accents(name: &str) -> String {
    let is_accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    if name.is_ascii() {
        return name.to_owned();
    }
    name.nfd().filter(|c| !is_accent(c)).nfc().collect()
}

/// Returns a name as it is searched for: in small letters without accents.
pub fn folded(name: &str) -> String {
    let name = name.to_lowercase();
    if name.is_ascii() {
        return name;
    }
    without_accents(&name).replace('ß', "ss")
}

/// Returns a name as German is written without umlauts: `ä` is `ae`, `ß` is `ss`, and other letters lose
/// their accents.
pub fn transliterated(name: &str) -> String {
    let letters = ["ae", "oe", "ue", "Ae", "Oe", "Ue", "ss"];
    let pairs = "äöüÄÖÜß".chars().zip(letters);
    let composed: String = name.nfc().collect();
    without_accents(&pairs.fold(composed, |name, (umlaut, two)| name.replace(umlaut, two)))
}
