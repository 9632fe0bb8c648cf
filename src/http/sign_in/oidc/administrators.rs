//! Who administers this server, as the provider says it: a claim that holds a certain value.

use fileshed_core::Role;
use serde_json::{Map, Value};

use crate::config::Config;

/// The claim and the value of administrators.
pub(super) struct Administrators {
    /// Empty where the provider makes nobody an administrator.
    claim: String,
    value: String,
}

impl Administrators {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            claim: config.oidc_admin_claim.clone(),
            value: config.oidc_admin_value.clone(),
        }
    }

    /// Whether nothing more has to be asked.
    pub(super) fn are_said_in(&self, claims: &Map<String, Value>) -> bool {
        self.claim.is_empty() || self.found(claims).is_some()
    }

    /// The role of somebody with these claims.
    pub(super) fn role(&self, claims: &Map<String, Value>) -> Role {
        let is_value = |found: &Value| found.as_str() == Some(self.value.as_str());
        let is_admin = match self.found(claims) {
            _ if self.claim.is_empty() || self.value.is_empty() => false,
            Some(Value::Array(values)) => values.iter().any(is_value),
            Some(Value::Bool(said)) => *said && self.value == "true",
            Some(found) => is_value(found),
            None => false,
        };
        if is_admin { Role::Admin } else { Role::User }
    }

    /// The claim of this name, or of this path of names: some providers nest roles.
    fn found<'c>(&self, claims: &'c Map<String, Value>) -> Option<&'c Value> {
        if let Some(found) = claims.get(&self.claim) {
            return Some(found);
        }
        let mut names = self.claim.split('.');
        let first = claims.get(names.next()?)?;
        names.try_fold(first, |found, name| found.get(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_makes_an_administrator_if_it_holds_the_value() {
        for (claim, value, claims, role) in [
            ("", "admin", json!({"": "admin"}), Role::User),
            ("role", "", json!({"role": ""}), Role::User),
            ("role", "admin", json!({}), Role::User),
            ("role", "admin", json!({"role": "admin"}), Role::Admin),
            ("role", "admin", json!({"role": "Admin"}), Role::User),
            ("role", "admin", json!({"role": "user admin"}), Role::User),
            (
                "role",
                "admin",
                json!({"role": ["user", "admin"]}),
                Role::Admin,
            ),
            (
                "role",
                "admin",
                json!({"role": {"admin": true}}),
                Role::User,
            ),
            ("role", "true", json!({"role": true}), Role::Admin),
            ("role", "admin", json!({"role": true}), Role::User),
            ("a.roles", "x", json!({"a": {"roles": ["x"]}}), Role::Admin),
            ("a.roles", "x", json!({"a.roles": "x"}), Role::Admin),
            ("a.roles", "x", json!({"a": ["x"]}), Role::User),
        ] {
            let administrators = Administrators {
                claim: claim.to_owned(),
                value: value.to_owned(),
            };
            let found = administrators.role(claims.as_object().expect("an object"));
            assert_eq!(found, role, "{claim} {value} {claims}");
        }
    }
}
