//! Addresses of places in parameters: `storage/notes/a.md`, `group/Team`.

use fileshed_core::nearest::nearest;
use fileshed_core::{Hint, Repeat, Zone, ZoneAddress, ZonePath, diagnostics};

use super::prelude::*;

/// The caller of an operation that takes addresses: each names its zone, so its path may begin with the
/// name of another one.
pub(super) fn naming_zones(caller: &Caller) -> Caller {
    Caller {
        names_zones: true,
        ..caller.clone()
    }
}

/// Reads the value of `parameter`. An address without a path is the whole zone.
pub(super) fn address_in<'t>(
    parameter: &'static str,
    text: &'t str,
) -> Result<ZoneAddress<'t>, ZoneAddressError> {
    if text.trim().is_empty() {
        return Err(ZoneAddressError::Missing { parameter });
    }
    let address = ZoneAddress::parse(text).ok_or_else(|| ZoneAddressError::NoZone {
        parameter,
        text: text.to_owned(),
    })?;
    let path = if address.path.is_empty() {
        "."
    } else {
        address.path
    };
    Ok(ZoneAddress { path, ..address })
}

/// Opens the zone of the address in `parameter`. A failure about the group shows the address that was
/// probably meant.
pub(super) fn zone_of<'a>(
    core: &'a Core,
    caller: &'a Caller,
    parameter: &'static str,
    address: &ZoneAddress<'_>,
) -> Result<Zone<'a>, Error> {
    let opened = core.open_zone(caller, address.zone, address.group);
    opened.map_err(|error| {
        let own = error.details().get("your_groups").and_then(Value::as_array);
        let names = own.into_iter().flatten().filter_map(Value::as_str);
        let meant = nearest(address.group.unwrap_or_default(), names).map(|name| {
            let group = Some(name);
            ZoneAddress { group, ..*address }.to_string()
        });
        match meant {
            Some(meant) => error.with_hint(Repeat::with(parameter, meant)),
            None => error,
        }
    })
}

/// Returns the address of a path of a zone.
pub(super) fn address(zone: ZoneName, group: Option<&str>, path: &ZonePath) -> String {
    let path = path.display();
    ZoneAddress { zone, group, path }.to_string()
}

diagnostics! {
    /// A place that no address names.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum ZoneAddressError {
        /// The parameter is empty or missing.
        #[error("parameter `{parameter}` is required")]
        Missing {
            /// Which parameter.
            parameter: &'static str = "from",
        } => {
            code: MissingParameter,
            hint: format!("give a place in `{parameter}`, for instance \"storage/notes/todo.md\""),
            details: { "parameter": parameter },
        },
        /// It does not begin with a zone.
        #[error(
            "`{parameter}` must begin with storage/, documents/, uploads/ or group/<name>/, got: `{text}`"
        )]
        NoZone {
            /// Which parameter.
            parameter: &'static str = "from",
            /// The value received.
            text: String = "notes/a.md".to_owned(),
        } => {
            code: InvalidZone,
            hint: meant(parameter, text),
            details: { "parameter": parameter, "received": text },
        },
    }
}

/// Returns the address that was probably meant.
fn meant(parameter: &'static str, text: &str) -> Hint {
    let text = text.trim_start_matches('/');
    let (first, rest) = text.split_once('/').unwrap_or((text, ""));
    match nearest(first, ZoneName::ALL.iter().map(|zone| zone.as_str())) {
        Some("group") => {
            format!("give `{parameter}` as group/<name>/<path>, with the name of the group").into()
        }
        Some(zone) => Repeat::with(parameter, format!("{zone}/{rest}")).into(),
        None => Repeat::with(parameter, format!("storage/{text}")).into(),
    }
}
