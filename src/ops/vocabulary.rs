//! Schemas of parameters that many operations share. Requests hold the text as it came, because
//! the core reads it with its own codes; these types only say what to offer. And the form in which
//! they show a link.

use fileshed_core::link::Purpose;
use serde::Deserialize;
use utoipa::ToSchema;

/// uploads: this chat's files, read and delete only; storage: scratch; documents: kept, every change a commit; group: shared, needs group
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum ZoneParameter {
    Uploads,
    Storage,
    Documents,
    Group,
}

/// storage: scratch; documents: kept, every change a commit; group: shared, needs group
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum WritableZoneParameter {
    Storage,
    Documents,
    Group,
}

/// A zone of the caller's own.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum PersonalZoneParameter {
    Uploads,
    Storage,
    Documents,
}

/// The parameter `mode`.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum ModeParameter {
    Owner,
    Group,
    OwnerRo,
}

/// The parameter `content_format`.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum ContentFormatParameter {
    Hex,
    Base64,
    Raw,
}

/// The default of parameters that are true unless said otherwise.
pub(super) fn yes() -> bool {
    true
}

/// An operation without parameters.
#[derive(Deserialize, ToSchema)]
pub struct Nothing {}

/// A link in Markdown. A file name may hold what Markdown reads as more than text.
pub(super) fn clickable(purpose: Purpose, url: &str, name: &str) -> String {
    let text = match purpose {
        Purpose::Download => escaped(name),
        Purpose::Upload => format!("Send files to {}", escaped(name)),
    };
    format!("[{text}]({url})")
}

/// A picture in Markdown, which shows where it is pasted.
pub(super) fn picture(url: &str, name: &str) -> String {
    format!("![{}]({url})", escaped(name))
}

/// Text that Markdown shows as it is: every punctuation mark may be escaped.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, character| {
        if character.is_ascii_punctuation() && !".-,".contains(character) {
            escaped.push('\\');
        }
        escaped.push(if character.is_control() {
            ' '
        } else {
            character
        });
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_are_text_in_markdown() {
        for (name, shown) in [
            ("a-b.txt", "a-b.txt"),
            ("[x](http://evil)", r"\[x\]\(http\:\/\/evil\)"),
            ("a_b*c`d<e>", r"a\_b\*c\`d\<e\>"),
            ("a\nb", "a b"),
        ] {
            assert_eq!(escaped(name), shown);
        }
    }
}
