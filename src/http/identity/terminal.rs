//! Who calls the terminal: Open WebUI's proxy in front of it names the user in one header, which it
//! cannot sign, and passes nothing else that says who it is.
//!
//! So that header counts only beside a key that is meant for it. A service key names its users here
//! as everywhere else: one that leaked, where gateways sign their users, opens nothing.

use axum::http::HeaderMap;
use axum::http::request::Parts;
use fileshed_core::Caller;

use super::headers::{credential, filled, single};
use super::{Authenticator, Credential, CredentialKind, IdentityError, X_USER_ID, is_among};

impl Authenticator {
    /// Reads the credential of a request to the terminal, without disk, registry or network.
    pub(super) fn read_for_terminal(&self, request: &Parts) -> Result<Credential, IdentityError> {
        let headers = &request.headers;
        let accepted = self.accepted_by_terminal();
        let caller = match credential(headers, accepted)? {
            Some(secret) if is_among(&self.terminal_keys, &secret) => {
                self.terminal_user(headers)?
            }
            Some(secret) if is_among(&self.keys, &secret) => {
                if !self.names_a_user(headers)? {
                    return Err(IdentityError::NotForTerminals);
                }
                self.gateway(headers)?
            }
            _ => return self.read_where(request, accepted),
        };
        Ok(Credential(CredentialKind::Resolved(caller)))
    }

    /// The user whom the proxy names. What a call carries besides must be about the same one.
    fn terminal_user(&self, headers: &HeaderMap) -> Result<Caller, IdentityError> {
        if filled(headers, &X_USER_ID)?.is_none_or(str::is_empty) {
            return Err(IdentityError::NoTerminalUser);
        }
        let mut caller = match &self.signatures {
            Some(signatures) if single(headers, signatures.header())?.is_some() => {
                self.signed_user(signatures, headers)?
            }
            Some(_) => {
                let user = self.user(headers)?.ok_or(IdentityError::NoTerminalUser)?;
                Caller::known(user, self.chat(headers)?)
            }
            None => self.plain_user(headers)?,
        };
        caller.chat = self.chat(headers)?;
        caller.message = self.message(headers)?;
        let ids = self.groups.as_ref().map(|(ids, _)| ids);
        match ids {
            Some(ids) if single(headers, ids)?.is_some() => {
                caller.groups = self.group_claims(headers)?;
            }
            _ => caller.recalls_groups = true,
        }
        caller.client.gateway = true;
        Ok(caller)
    }

    /// Whether the request names its user in a way that counts beside a service key.
    fn names_a_user(&self, headers: &HeaderMap) -> Result<bool, IdentityError> {
        Ok(match &self.signatures {
            Some(signatures) => single(headers, signatures.header())?.is_some(),
            None => self.user_id != X_USER_ID && filled(headers, &self.user_id)?.is_some(),
        })
    }
}
