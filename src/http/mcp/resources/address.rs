//! URIs of resources.

use fileshed_core::storage::Entry;
use fileshed_core::{Caller, Core, Error, Zone, ZoneName, ZonePath, diagnostics};
use percent_encoding::{percent_decode_str, utf8_percent_encode};

use crate::http::header::UNRESERVED;

/// Scheme of every URI.
const SCHEME: &str = "fileshed://";

/// The template of files in the zones of one user.
pub(super) const ZONE_TEMPLATE: &str = "fileshed://{zone}/{+path}";

/// The template of files in the zones of groups.
pub(super) const GROUP_TEMPLATE: &str = "fileshed://group/{group}/{+path}";

/// Most bytes of a URI.
const ADDRESS_MAX_BYTES: usize = 12 * 1024;

/// The file or directory that a URI names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::http::mcp) struct Address {
    pub(in crate::http::mcp) zone: ZoneName,
    pub(in crate::http::mcp) group: Option<String>,
    /// Path in the zone; empty for its root.
    pub(super) path: String,
}

impl Address {
    /// Parses a URI.
    pub(in crate::http::mcp) fn parse(text: &str) -> Result<Self, Error> {
        let fault = || -> Error {
            let address = text.chars().take(200).collect();
            AddressError { address }.into()
        };
        if text.len() > ADDRESS_MAX_BYTES {
            return Err(fault());
        }
        let rest = text.strip_prefix(SCHEME).ok_or_else(fault)?;
        let (zone, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let zone = ZoneName::parse_parameter("uri", zone).map_err(|_| fault())?;
        let decoded = |text: &str| {
            let text = percent_decode_str(text).decode_utf8();
            text.map(String::from).map_err(|_| fault())
        };
        let (group, path) = if zone == ZoneName::Group {
            let (group, path) = rest.split_once('/').unwrap_or((rest, ""));
            (Some(decoded(group)?), path)
        } else {
            (None, rest)
        };
        Ok(Self {
            zone,
            group,
            path: decoded(path)?.trim_end_matches('/').to_owned(),
        })
    }

    /// The address of the root of a zone, which is a group's where it is named.
    pub(super) fn root(zone: ZoneName, group: Option<&str>) -> Self {
        Self {
            zone,
            group: group.map(str::to_owned),
            path: String::new(),
        }
    }

    /// The address of another path of the zone.
    pub(super) fn at(&self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self.clone()
        }
    }

    /// The text of it; that of a directory ends with a slash.
    pub(super) fn text(&self, is_directory: bool) -> String {
        let escaped = |text: &str| utf8_percent_encode(text, UNRESERVED).to_string();
        let mut text = format!("{SCHEME}{}/", self.zone);
        if let Some(group) = &self.group {
            text.push_str(&escaped(group));
            text.push('/');
        }
        let path: Vec<String> = self.path.split('/').map(escaped).collect();
        text.push_str(&path.join("/"));
        if is_directory && !text.ends_with('/') {
            text.push('/');
        }
        text
    }

    /// Opens its zone, without importing attachments into uploads.
    pub(in crate::http::mcp) fn zone<'a>(
        &self,
        core: &'a Core,
        caller: &'a Caller,
    ) -> Result<Zone<'a>, Error> {
        match self.zone {
            ZoneName::Group => core.open_zone(caller, self.zone, self.group.as_deref()),
            personal => core.store.zone_as_it_is(caller, personal),
        }
    }

    /// Its path in the zone.
    pub(super) fn path(&self, zone: &Zone<'_>) -> Result<ZonePath, Error> {
        if self.path.is_empty() {
            return Ok(ZonePath::root());
        }
        zone.path("uri", &self.path)
    }

    /// Returns the entry.
    pub(in crate::http::mcp) fn entry(&self, zone: &Zone<'_>) -> Result<Entry, Error> {
        zone.entry(&self.path(zone)?)
    }
}

diagnostics! {
    /// An address that is not a URI of this server.
    #[derive(Debug, thiserror::Error)]
    #[error("`{address}` is not the address of a file on this server")]
    struct AddressError { address: String = "file:///etc/passwd".to_owned() } => {
        code: InvalidPath,
        hint: "addresses are fileshed://storage/path, also with uploads or documents, and \
            fileshed://group/name/path; resources/list lists them",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_name_a_zone_and_a_path() {
        for (text, zone, group, path) in [
            (
                "fileshed://storage/a/b.md",
                ZoneName::Storage,
                None,
                "a/b.md",
            ),
            ("fileshed://documents/", ZoneName::Documents, None, ""),
            ("fileshed://uploads", ZoneName::Uploads, None, ""),
            (
                "fileshed://storage/a%20b%2Fc/",
                ZoneName::Storage,
                None,
                "a b/c",
            ),
            (
                "fileshed://group/team/x.md",
                ZoneName::Group,
                Some("team"),
                "x.md",
            ),
            ("fileshed://group/a%20b", ZoneName::Group, Some("a b"), ""),
        ] {
            let address = Address::parse(text).expect(text);
            assert_eq!(address.zone, zone, "{text}");
            assert_eq!(address.group.as_deref(), group, "{text}");
            assert_eq!(address.path, path, "{text}");
        }
        for text in [
            "",
            "file:///etc/passwd",
            "fileshed:/storage/a",
            "fileshed://attic/a",
            "fileshed://storage/%ff",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(path in "[^/\\x00-\\x1f]{1,8}(/[^/\\x00-\\x1f]{1,8}){0,3}") {
            let address = Address::root(ZoneName::Storage, None).at(&path);
            prop_assert_eq!(Address::parse(&address.text(false)).expect("an address"), address);
        }
    }
}
