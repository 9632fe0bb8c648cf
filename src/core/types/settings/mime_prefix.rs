//! The beginning of a media type.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// Prefix of media types: `image`, or `image/png` for one type alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MimePrefix(String);

impl MimePrefix {
    /// Returns the prefix of all images.
    pub fn image() -> Self {
        Self("image".to_owned())
    }

    /// Returns `true` if a media type begins with this prefix; case does not count.
    pub fn is_of(&self, media_type: &str) -> bool {
        let beginning = media_type.get(..self.0.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(&self.0))
    }
}

impl FromStr for MimePrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.+-_".contains(&byte);
        if text.is_empty() || !text.bytes().all(is_plain) {
            return Err("must be beginnings of media types, like image or application/pdf".into());
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl Display for MimePrefix {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_begins_as_it_does() {
        let prefix: MimePrefix = "Image/p".parse().expect("a prefix");
        assert!(prefix.is_of("image/png"));
        assert!(!prefix.is_of("image/jpeg"));
        assert!(!prefix.is_of("ima"));
        assert!("a b".parse::<MimePrefix>().is_err());
    }
}
