//! Pages that show at an answer.
//!
//! Open WebUI shows them in a frame that is kept apart from its own page. They are part of the
//! message: what is shown is the page as it was then.

use fileshed_core::Caller;
use serde_json::{Value, json};

use super::OpenWebUi;
use super::chat::events;

impl OpenWebUi {
    pub(super) fn embed(&self, caller: &Caller, source: &str, html: &str) -> bool {
        let (Some(path), Some(key)) = (events(caller), self.key(caller)) else {
            return false;
        };
        let mark = mark(source);
        let page = Value::from(format!("{mark}{html}"));
        let mut pages = self.pages_of_message(caller, key.reveal());
        if pages.contains(&page) {
            return true;
        }
        pages.retain(|other| !other.as_str().is_some_and(|html| html.starts_with(&mark)));
        pages.push(page);
        let event = json!({"type": "embeds", "data": {"embeds": pages, "replace": true}});
        let told = self
            .client
            .post::<Option<bool>>(key.reveal(), &path, &event);
        let told = told.inspect_err(|error| tracing::debug!(%error, "no page on the message"));
        matches!(told, Ok(Some(true)))
    }
}

/// What a page begins with, by which it is found again.
fn mark(source: &str) -> String {
    let source = source.replace(['<', '>'], "").replace("--", "- -");
    format!("<!-- fileshed {source} -->\n")
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn a_mark_stays_a_comment() {
        assert_eq!(mark("storage:a.html"), "<!-- fileshed storage:a.html -->\n");
        assert_eq!(mark("x--><script>"), "<!-- fileshed x- -script -->\n");
    }
}
