//! References of HTML pages to files beside them.

use std::sync::LazyLock;

use fancy_regex::{Captures, Regex};

/// The reference of an element that a browser loads without being asked.
static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let element = r"<(?:img|link|script|source|audio|video)\b[^>]*?\s(?:src|href)\s*=\s*";
    Regex::new(&format!(
        r#"(?is)({element})(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"#
    ))
    .ok()
});

/// Returns a page with other references: of each that `replacement` gives one for.
#[must_use]
pub fn with_references(
    html: &str,
    mut replacement: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    let replaced = |found: &Captures<'_, str>| {
        let reference = (2..5).find_map(|group| found.get(group));
        match reference.and_then(|reference| replacement(reference.as_str())) {
            Some(other) => format!("{}\"{other}\"", &found[1]),
            None => found[0].to_owned(),
        }
    };
    let page = REFERENCE.as_ref()?.try_replacen(html, 0, replaced);
    page.ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::with_references;

    #[test]
    fn only_what_is_loaded_is_replaced() {
        let html = "<IMG alt=x\n src='a b.png'><a href=\"a.png\">a.png</a><link rel=stylesheet href=s.css>\
            <script src = \"x.js\"></script><img data-src=\"n\" src=\"\"><p src=\"p\">";
        let expected = "<IMG alt=x\n src=\"[a b.png]\"><a href=\"a.png\">a.png</a><link rel=stylesheet \
            href=\"[s.css]\"><script src = \"x.js\"></script><img data-src=\"n\" src=\"\"><p src=\"p\">";
        let page = with_references(html, |reference| {
            (reference.contains('.') && reference != "x.js").then(|| format!("[{reference}]"))
        });
        assert_eq!(page.as_deref(), Some(expected));
    }
}
