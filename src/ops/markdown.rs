//! Links and pictures in Markdown, for a model to pass on.

use fileshed_core::link::Purpose;

/// A link in Markdown, or a picture, which shows where it is pasted. A file name may hold what Markdown
/// reads as more than text.
pub(super) fn link(purpose: Purpose, url: &str, name: &str, is_picture: bool) -> String {
    let name = escaped(name);
    match purpose {
        Purpose::Download if is_picture => format!("![{name}]({url})"),
        Purpose::Download => format!("[{name}]({url})"),
        Purpose::Upload => format!("[Send files to {name}]({url})"),
    }
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
