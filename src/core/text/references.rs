//! References of HTML pages to files beside them.

use std::sync::LazyLock;

use fancy_regex::{Captures, Regex};

/// The reference of an element that a browser loads without being asked.
static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let attributes = r#"(?:"[^"]*"|'[^']*'|[^>"'])*?"#;
    let element =
        format!(r"<(?:img|link|script|source|audio|video)\b{attributes}\s(?:src|href)\s*=\s*");
    Regex::new(&format!(
        r#"(?is)({element})(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"#
    ))
    .ok()
});

/// The tag that begins a script, in which tags are text.
static SCRIPT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?is)<script\b(?:"[^"]*"|'[^']*'|[^>"'])*>"#).ok());

/// The tag that ends it.
static END: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("(?i)</script").ok());

/// Returns a page with other references: of each that `replacement` gives one for.
pub fn with_references(
    html: &str,
    mut replacement: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    let mut replaced = |found: &Captures<'_, str>| {
        let reference = (2..5).find_map(|group| found.get(group));
        match reference.and_then(|reference| replacement(reference.as_str())) {
            Some(other) => {
                // An address has no blank, so that it needs no more quotation than there was.
                let quotation = ["", "", "\"", "'", ""];
                let group = (2..5).find(|group| found.get(*group).is_some());
                let quotation = quotation[group.unwrap_or_default()];
                format!("{}{quotation}{other}{quotation}", &found[1])
            }
            None => found[0].to_owned(),
        }
    };
    let (mut page, mut rest) = (String::with_capacity(html.len()), html);
    while !rest.is_empty() {
        let script = SCRIPT.as_ref()?.find(rest).ok()?;
        let (tags, behind) = rest.split_at(script.map_or(rest.len(), |tag| tag.end()));
        page.push_str(
            &REFERENCE
                .as_ref()?
                .try_replacen(tags, 0, &mut replaced)
                .ok()?,
        );
        let end = END.as_ref()?.find(behind).ok()?;
        let (script, behind) = behind.split_at(end.map_or(behind.len(), |end| end.start()));
        page.push_str(script);
        rest = behind;
    }
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::with_references;

    #[test]
    fn only_what_is_loaded_is_replaced() {
        let html = "<IMG alt=x\n src='a b.png'><a href=\"a.png\">a.png</a><link rel=stylesheet href=s.css>\
            <script src = \"x.js\"></script><img data-src=\"n\" src=\"\"><p src=\"p\">";
        let expected = "<IMG alt=x\n src='[a b.png]'><a href=\"a.png\">a.png</a><link rel=stylesheet \
            href=[s.css]><script src = \"x.js\"></script><img data-src=\"n\" src=\"\"><p src=\"p\">";
        let page = with_references(html, |reference| {
            (reference.contains('.') && reference != "x.js").then(|| format!("[{reference}]"))
        });
        assert_eq!(page.as_deref(), Some(expected));
        let script = "<script src=a.js>x = \"<img src='a.png'>\";</SCRIPT><img title='photo src=c.png' src=d.png>";
        let page = with_references(script, |reference| Some(format!("[{reference}]")));
        let expected = script.replace("a.js", "[a.js]").replace("d.png", "[d.png]");
        assert_eq!(page.as_deref(), Some(&*expected));
    }
}
