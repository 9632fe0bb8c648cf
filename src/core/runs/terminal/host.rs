//! Terminal host: the server that has the processes and shells of a user, if several share the data.
//!
//! Pipes and terminals are of one machine. So all of one user are on one server: the first that starts
//! one has them until none is left, and calls about them that come to another one are sent on to it.

use std::net::SocketAddr;

use crate::processes::StartingProcess;
use crate::runs::Runs;
use fileshed_types::{Caller, Error};
use fileshed_zones::process_identity::host_name;

/// Kind of access that a call needs to the processes and shells of its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessUse {
    /// It looks for one.
    Finds,
    /// It may start one.
    Starts,
}

/// Server that handles a call about processes and shells.
#[derive(Debug)]
pub enum TerminalPlace {
    /// Here. As long as this is kept, no other server takes over.
    Here(Option<StartingProcess>),
    /// At the server that is reached there, as `host:port`.
    At(String),
    /// Here they were, as the server believed that sent the call on: it has to look again.
    Moved,
}

impl Runs {
    /// Says where the other servers and commands reach this one, which listens at `address`. Blocks.
    pub fn receives_calls_at(&self, address: SocketAddr) -> Result<(), Error> {
        if !self.store.registry.holds_leases() {
            self.store.instance.listens_at(address);
            return Ok(());
        }
        let reached = match self.store.settings.instance_address.as_str() {
            "" if address.ip().is_unspecified() => format!("{}:{}", host_name(), address.port()),
            "" => address.to_string(),
            named => named.to_owned(),
        };
        self.store
            .registry
            .set_instance_address(&self.store.instance.name, &reached)?;
        let _first_counts = self.store.peer_address.set(reached);
        Ok(())
    }

    /// Returns `true` if processes and shells of a user may be on another server.
    #[must_use]
    pub fn shares_terminals(&self) -> bool {
        self.store.peer_address.get().is_some()
    }

    /// Returns the secret by which servers on the same data know each other, made from the pepper; `None` if
    /// there is no other server.
    #[must_use]
    pub fn peer_secret(&self) -> Option<[u8; 32]> {
        self.shares_terminals()
            .then(|| self.store.pepper.key("peers"))
    }

    /// Returns the server that handles a call of a caller; `sent_on` is `true` if another server forwarded
    /// it. Blocks.
    pub fn terminal_place(
        &self,
        caller: &Caller,
        r#use: ProcessUse,
        sent_on: bool,
    ) -> Result<TerminalPlace, Error> {
        if !self.shares_terminals() {
            return Ok(TerminalPlace::Here(None));
        }
        let key = self.store.tenant_key(caller)?;
        let known = self.processes.logs_of(&key);
        let hosting = known.hosting();
        let found = if r#use == ProcessUse::Starts && !sent_on {
            self.store
                .registry
                .claim_terminal(&key, &self.store.instance.name)?
        } else {
            self.store.registry.terminal_hosting(&key)?
        };
        if let Some(host) = found
            .host
            .filter(|host| host.instance != self.store.instance.name)
        {
            known.state().known = false;
            return Ok(if sent_on {
                TerminalPlace::Moved
            } else {
                TerminalPlace::At(host.address)
            });
        }
        known.state().seen_among(found.members);
        let is_in_use = || known.state().is_starting() || self.processes.has_any_of(&key);
        if sent_on && !is_in_use() {
            self.store
                .registry
                .release_terminal(&key, &self.store.instance.name)?;
            return Ok(TerminalPlace::Moved);
        }
        let starting = r#use == ProcessUse::Starts;
        let place = TerminalPlace::Here(starting.then(|| known.begin_start()));
        drop(hosting);
        Ok(place)
    }

    /// Returns the address of the server that has the shell of this id; `None` if it is this server, or there
    /// is none. Blocks.
    pub fn address_of_shell(&self, id: &str) -> Result<Option<String>, Error> {
        let instance = id.rsplit_once('-').map(|(_, instance)| instance);
        let Some(instance) = instance.filter(|name| *name != self.store.instance.name) else {
            return Ok(None);
        };
        if !self.shares_terminals() {
            return Ok(None);
        }
        Ok(self.store.registry.instance_address(instance)?)
    }
}
