//! The way to the network: requests through the proxy, and that no connection goes around it.
//!
//! `proxy` speaks to the proxy as a hostile command would, `jailed` attacks the confinement that
//! leaves no other way, `commands` runs real commands through the whole server. Everything is on
//! loopback: the one destination that is opened is an [`Origin`], every other must stay unseen.

mod commands;
mod jailed;
mod origin;
mod proxy;
mod refused;
mod terminal;

use fileshed_core::sandbox::egress::Egress;
use fileshed_core::settings::NetworkMode;
use fileshed_core::{Clock, Settings};
use origin::{Origin, Unseen};

/// A proxy that lets these destinations through, and answers of at most one mebibyte.
fn proxy(allow: &[String]) -> Egress {
    proxy_in(NetworkMode::Safe, allow)
}

/// The same in another network mode.
fn proxy_in(mode: NetworkMode, allow: &[String]) -> Egress {
    let mut settings = Settings::new("unused");
    settings.network_mode = mode;
    settings.max_file_size_mb = 1;
    settings.network_allow = allow
        .iter()
        .map(|text| text.parse().expect("a destination"))
        .collect();
    Egress::new(&settings, &Clock::SYSTEM)
}
