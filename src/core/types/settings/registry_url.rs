//! Where the registry is, if it is no file beside the data.

use std::str::FromStr;

use crate::Secret;

/// The address of a PostgreSQL database, with its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryUrl(Secret);

impl RegistryUrl {
    /// The address itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }
}

impl FromStr for RegistryUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let schemes = ["postgres://", "postgresql://"];
        if schemes.iter().any(|scheme| text.starts_with(scheme)) {
            Ok(Self(Secret::new(text)))
        } else {
            Err("must be like postgres://user:password@host:5432/database".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_postgresql_and_is_not_shown() {
        let url: RegistryUrl = "postgres://ada:secret@db/fileshed".parse().expect("one");
        assert!(!format!("{url:?}").contains("secret"));
        assert!("postgresql://db/fileshed".parse::<RegistryUrl>().is_ok());
        for other in ["", "sqlite:registry", "postgres", "mysql://db/fileshed"] {
            assert!(other.parse::<RegistryUrl>().is_err(), "{other}");
        }
    }
}
