//! The instance that has the background processes and the shells of a user, if several machines have the
//! data. The first that starts one has all of them, until it has none left or ends.

use super::database::{Engine, Statements};
use super::{Registry, RegistryError};

/// The instance that has the processes of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalHost {
    /// Its name.
    pub instance: String,
    /// Its address, as `host:port`.
    pub address: String,
}

/// What is known of the processes of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalHosting {
    /// The instance that has them; `None` if there is none.
    pub host: Option<TerminalHost>,
    /// A number that changes with the instances that live, and makes observations of their processes
    /// invalid.
    pub members: i64,
}

impl Registry {
    /// Enters the address at which the others reach an instance.
    pub fn set_instance_address(&self, name: &str, address: &str) -> Result<(), RegistryError> {
        let set = "UPDATE instances SET address = ?2 WHERE name = ?1";
        self.run(set, [name, address])
    }

    /// Returns the address of an instance that lives.
    pub fn instance_address(&self, name: &str) -> Result<Option<String>, RegistryError> {
        let address = "SELECT address FROM instances WHERE name = ?1 AND address <> ''";
        self.first(address, [name])
    }

    /// Returns the instance that has the processes of a user.
    pub fn terminal_hosting(&self, tenant: &str) -> Result<TerminalHosting, RegistryError> {
        hosting(self, tenant)
    }

    /// Gives an instance the processes of a user, unless another one that lives has them; returns the
    /// one that has them then.
    pub fn claim_terminal(
        &self,
        tenant: &str,
        instance: &str,
    ) -> Result<TerminalHosting, RegistryError> {
        let connection = self.connection()?;
        connection.run(
            "INSERT INTO terminal_hosts (tenant, instance) VALUES (?1, ?2)
             ON CONFLICT (tenant) DO UPDATE SET instance = excluded.instance
             WHERE NOT EXISTS (
                 SELECT 1 FROM instances WHERE instances.name = terminal_hosts.instance
             )",
            [tenant, instance],
        )?;
        hosting(&connection, tenant)
    }

    /// Enters that an instance has no processes of a user any more.
    pub fn release_terminal(&self, tenant: &str, instance: &str) -> Result<(), RegistryError> {
        self.run(
            "DELETE FROM terminal_hosts WHERE tenant = ?1 AND instance = ?2",
            [tenant, instance],
        )
    }
}

fn hosting(statements: &impl Statements, tenant: &str) -> Result<TerminalHosting, RegistryError> {
    let (instance, address, members): (Option<String>, Option<String>, i64) = statements.value(
        "SELECT host.name, host.address,
                (SELECT coalesce(CAST(sum(number) AS BIGINT), 0) FROM instances)
         FROM (SELECT 1) AS asked
         LEFT JOIN terminal_hosts ON terminal_hosts.tenant = ?1
         LEFT JOIN instances AS host ON host.name = terminal_hosts.instance",
        [tenant],
    )?;
    Ok(TerminalHosting {
        host: instance.map(|instance| TerminalHost {
            instance,
            address: address.unwrap_or_default(),
        }),
        members,
    })
}

/// Forgets the processes of an instance that is gone.
pub(super) fn forget(transaction: &Engine<'_>, instance: &str) -> Result<(), RegistryError> {
    transaction.run("DELETE FROM terminal_hosts WHERE instance = ?1", [instance])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewInstance;
    use crate::testing::on_each_database;

    const TENANT: &str = "users/emmy";

    fn host(registry: &Registry) -> Option<String> {
        let hosting = registry.terminal_hosting(TENANT).expect("asked");
        hosting.host.map(|host| host.instance)
    }

    fn claim(registry: &Registry, instance: &str) -> Option<TerminalHost> {
        let hosting = registry.claim_terminal(TENANT, instance);
        hosting.expect("asked").host
    }

    #[test]
    fn the_first_has_the_processes_of_a_user_until_it_has_none_or_is_gone() {
        on_each_database(|registry| {
            if !registry.holds_leases() {
                return;
            }
            for name in ["ada", "bob"] {
                let new = NewInstance {
                    name,
                    label: "",
                    process: name,
                };
                let lease = fileshed_types::timings::minutes(1);
                registry.enter_instance(&new, lease).expect("entered");
            }
            registry
                .set_instance_address("ada", "ada:8000")
                .expect("said");
            assert_eq!(host(registry), None);
            let both = registry.terminal_hosting(TENANT).expect("asked").members;
            let ada = Some(TerminalHost {
                instance: "ada".to_owned(),
                address: "ada:8000".to_owned(),
            });
            assert_eq!(claim(registry, "ada"), ada);
            assert_eq!(claim(registry, "bob"), ada);
            registry.release_terminal(TENANT, "bob").expect("asked");
            assert_eq!(host(registry).as_deref(), Some("ada"));
            registry.release_terminal(TENANT, "ada").expect("asked");
            assert_eq!(host(registry), None);
            assert_eq!(claim(registry, "ada"), ada);
            registry.leave_instance("ada").expect("left");
            assert_eq!(host(registry), None);
            assert_eq!(registry.instance_address("ada").expect("asked"), None);
            // One that was gone already when it asked has nothing.
            assert_eq!(claim(registry, "ada"), None);
            let bob = claim(registry, "bob").map(|host| host.instance);
            assert_eq!(bob.as_deref(), Some("bob"));
            let one = registry.terminal_hosting(TENANT).expect("asked").members;
            assert_ne!(one, both);
        });
    }
}
