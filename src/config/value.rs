//! The types that settings have: how they are read, shown and explained.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;

use axum::http::HeaderName;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fileshed_core::settings::{
    Destination, Durability, FilesUrl, GroupSource, IpNetwork, LinkHost, MimePrefix,
    NamespacePolicy, NamespaceStyle, NetworkMode, PeerAddress, ProgramName, PublicUrl, RegistryUrl,
    SandboxPolicy, WriteMode,
};
use fileshed_core::{Secret, ZonePath, files};
use tracing::Level;

use super::{FailureEnvelope, LogFormat, Origin};

/// Most that a number may be: large enough for every limit, small enough that mebibytes of it can
/// be counted in bytes.
const NUMBER_MAX: u64 = 1_000_000_000;

/// A value that can be read from text.
pub trait SettingValue {
    /// Takes `text`, or says what is allowed: "must be …".
    fn read(&mut self, text: &str) -> Result<(), String>;

    /// Takes a TOML array.
    fn read_list(&mut self, _items: &[String]) -> Result<(), String> {
        Err("must be one value, not a list".to_owned())
    }

    /// The value as TOML.
    fn show(&self) -> String;

    /// The values that there are, if these are few.
    fn names(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Reads a number that is not too small or large.
fn number(text: &str, least: u64) -> Result<u64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (least..=NUMBER_MAX).contains(number));
    number.ok_or_else(|| format!("must be a whole number from {least} to {NUMBER_MAX}"))
}

impl SettingValue for u64 {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = number(text, 1)?;
        Ok(())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for Option<NonZeroU64> {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = NonZeroU64::new(number(text, 0)?);
        Ok(())
    }

    fn show(&self) -> String {
        self.map_or(0, NonZeroU64::get).to_string()
    }
}

impl SettingValue for bool {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = text
            .parse()
            .map_err(|_| "must be true or false".to_owned())?;
        Ok(())
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn names(&self) -> &'static [&'static str] {
        &["true", "false"]
    }
}

impl SettingValue for String {
    fn read(&mut self, text: &str) -> Result<(), String> {
        if text.trim() != text || text.chars().any(char::is_control) {
            return Err(
                "must be text without control characters, and without blanks at its \
                 ends"
                    .to_owned(),
            );
        }
        text.clone_into(self);
        Ok(())
    }

    fn show(&self) -> String {
        quoted(self)
    }
}

impl SettingValue for PathBuf {
    fn read(&mut self, text: &str) -> Result<(), String> {
        if text.contains('\0') {
            return Err("must be a path".to_owned());
        }
        if text.contains([',', '\n']) {
            return self.read_list(&[]);
        }
        *self = Self::from(text);
        Ok(())
    }

    fn read_list(&mut self, _items: &[String]) -> Result<(), String> {
        Err(ONE_DIRECTORY.to_owned())
    }

    fn show(&self) -> String {
        quoted(&self.to_string_lossy())
    }
}

/// Message for a list of directories, which version 0.1.0 took for volumes.
const ONE_DIRECTORY: &str = "must be one directory: only version 0.1.0 had several volumes; move \
                             all users and groups there with its `fileshed tenant move --to \
                             volume-1`, then name the directory of `volume-1` alone";

impl SettingValue for SocketAddr {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let numeric = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => text.to_owned(),
        };
        *self = numeric.parse().map_err(|_| {
            "must be an address with a port, like 127.0.0.1:8000 or [::1]:8000".to_owned()
        })?;
        Ok(())
    }

    fn show(&self) -> String {
        quoted(&self.to_string())
    }
}

impl SettingValue for HeaderName {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = text
            .parse()
            .map_err(|_| "must be a header name, like X-User-Id".to_owned())?;
        Ok(())
    }

    fn show(&self) -> String {
        quoted(self.as_str())
    }
}

/// Reads a value that has a form of its own, and shows it by a method of its own.
macro_rules! parsed {
    ($type:ty, $text:ident) => {
        impl SettingValue for $type {
            fn read(&mut self, text: &str) -> Result<(), String> {
                *self = text.parse()?;
                Ok(())
            }

            fn show(&self) -> String {
                quoted(AsRef::<str>::as_ref(&self.$text()))
            }
        }
    };
}

parsed!(PublicUrl, as_str);
parsed!(PeerAddress, as_str);
parsed!(FilesUrl, to_string);

impl SettingValue for ZonePath {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let wrong = |error: String| format!("must be a directory below the workspace: {error}");
        let path = files::path::parse(text).map_err(|error| wrong(error.to_string()))?;
        if !path.is_root() {
            let checked = path.check_new_names("fs.workspace", 0);
            checked.map_err(|error| wrong(error.to_string()))?;
        }
        *self = path;
        Ok(())
    }

    fn show(&self) -> String {
        quoted(self.as_str())
    }
}

/// A comma-separated list of what has its own form; an empty one is none.
macro_rules! list {
    ($type:ty) => {
        impl SettingValue for Vec<$type> {
            fn read(&mut self, text: &str) -> Result<(), String> {
                self.read_list(&items(text))
            }

            fn read_list(&mut self, items: &[String]) -> Result<(), String> {
                let items = items.iter().map(|item| item.trim());
                let items = items.filter(|item| !item.is_empty());
                *self = items.map(str::parse).collect::<Result<_, _>>()?;
                Ok(())
            }

            fn show(&self) -> String {
                let items: Vec<String> = self.iter().map(ToString::to_string).collect();
                quoted(&items.join(", "))
            }
        }
    };
}

list!(Destination);
list!(MimePrefix);
list!(IpNetwork);
list!(ProgramName);
list!(Origin);

impl SettingValue for Vec<Secret> {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.read_list(&items(text))
    }

    fn read_list(&mut self, items: &[String]) -> Result<(), String> {
        let keys: Vec<&str> = items.iter().map(|item| item.trim()).collect();
        if keys.iter().any(|key| key.is_empty()) {
            return Err("has an empty key, which would let everybody in: remove it".to_owned());
        }
        if !keys
            .iter()
            .all(|key| key.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err("must be keys of visible ASCII characters without blanks".to_owned());
        }
        *self = keys.into_iter().map(Secret::new).collect();
        Ok(())
    }

    fn show(&self) -> String {
        let masked: Vec<String> = self.iter().map(|_| quoted(Secret::MASK)).collect();
        format!("[{}]", masked.join(", "))
    }
}

impl SettingValue for Option<RegistryUrl> {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = Some(text.trim().parse()?);
        Ok(())
    }

    fn show(&self) -> String {
        quoted(self.as_ref().map_or("", |_| Secret::MASK))
    }
}

impl SettingValue for Option<Secret> {
    fn read(&mut self, text: &str) -> Result<(), String> {
        if text.trim().is_empty() {
            return Err("is empty: remove the setting, or give the secret".to_owned());
        }
        *self = Some(Secret::new(text.trim()));
        Ok(())
    }

    fn show(&self) -> String {
        quoted(self.as_ref().map_or("", |_| Secret::MASK))
    }
}

/// A setting that is one of a few names.
macro_rules! named {
    ($($type:ty),+ $(,)?) => {$(
        impl SettingValue for $type {
            fn read(&mut self, text: &str) -> Result<(), String> {
                let fault = || format!("must be one of {}", Self::NAMES.join(", "));
                *self = Self::parse(text).ok_or_else(fault)?;
                Ok(())
            }

            fn show(&self) -> String {
                quoted(self.as_str())
            }

            fn names(&self) -> &'static [&'static str] {
                Self::NAMES
            }
        }
    )+};
}

named! {
    NamespaceStyle, Durability, SandboxPolicy, NamespacePolicy, NetworkMode, WriteMode, GroupSource,
    LinkHost, FailureEnvelope, LogFormat,
}

impl SettingValue for Level {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let named = |level: &Self| level.as_str().to_lowercase() == text;
        let level = text.parse().ok().filter(named);
        *self = level.ok_or("must be one of error, warn, info, debug, trace")?;
        Ok(())
    }

    fn show(&self) -> String {
        quoted(&self.as_str().to_lowercase())
    }

    fn names(&self) -> &'static [&'static str] {
        &["error", "warn", "info", "debug", "trace"]
    }
}

/// Makes a parser of options of a command that have one of these names.
pub(crate) fn one_of<T: Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |name| parse(&name).ok_or("is not one of them"))
}

fn items(text: &str) -> Vec<String> {
    text.split([',', '\n']).map(str::to_owned).collect()
}

/// A TOML string; JSON's escapes are a subset of TOML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_may_be_none_is_0_then() {
        let mut number = NonZeroU64::new(512);
        assert_eq!(number.show(), "512");
        number.read("0").expect("a number");
        assert_eq!((number, number.show()), (None, "0".to_owned()));
        let refused = number.read("-1").expect_err("no number");
        assert_eq!(refused, "must be a whole number from 0 to 1000000000");
        0_u64.read("0").expect_err("0 is none of the other numbers");
    }
}
