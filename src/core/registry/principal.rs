//! Whom a page session or a sign-in link stands for.

use super::database::{DatabaseError, Row, ToValue as _, Value};

use fileshed_types::{Caller, Role, Scope, UserId};

/// The columns of a principal, as both tables have them.
pub(super) const COLUMNS: &str = "user_id, name, email, role, scope, token_id";

/// That the personal token behind a row still works, at the Unix second `?2`.
pub(super) const TOKEN_WORKS: &str = "(token_id IS NULL OR EXISTS (
     SELECT 1 FROM tokens WHERE tokens.id = token_id AND tokens.revoked_at IS NULL
     AND (tokens.expires_at IS NULL OR tokens.expires_at > ?2)))";

/// A user who signed in, with what the credential allowed that was shown for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The user.
    pub user: UserId,
    /// Display name.
    pub name: Option<String>,
    /// Mail address.
    pub email: Option<String>,
    /// What the user may do beyond the own workspace.
    pub role: Role,
    /// What the credential allows.
    pub scope: Scope,
    /// The id of the personal token behind it: what was made with a token ends with it.
    pub token: Option<String>,
}

impl Principal {
    /// A user of whom nothing else is known.
    #[must_use]
    pub fn of(user: UserId) -> Self {
        Self {
            user,
            name: None,
            email: None,
            role: Role::User,
            scope: Scope::Write,
            token: None,
        }
    }

    /// Who makes a call; nobody in shared mode.
    #[must_use]
    pub fn of_caller(caller: &Caller) -> Option<Self> {
        Some(Self {
            user: caller.user.clone()?,
            name: caller.name.clone(),
            email: caller.email.clone(),
            role: caller.role,
            scope: caller.scope,
            token: caller.token.clone(),
        })
    }

    /// Says of a caller what is known of the same user.
    pub fn describe(self, caller: &mut Caller) {
        caller.name = self.name;
        caller.email = self.email;
        caller.role = self.role;
        caller.scope = self.scope;
        caller.token = self.token;
    }

    /// The values of [`COLUMNS`].
    pub(super) fn values(&self) -> [Value<'_>; 6] {
        [
            Value::Text(self.user.as_str()),
            self.name.to_value(),
            self.email.to_value(),
            Value::Text(self.role.as_str()),
            Value::Text(self.scope.as_str()),
            self.token.to_value(),
        ]
    }

    /// Reads [`COLUMNS`] from the beginning of a row; nothing for one that no version of this program
    /// writes.
    pub(super) fn read(row: &Row<'_>) -> Result<Option<Self>, DatabaseError> {
        let (user, role, scope): (String, String, String) = (row.get(0)?, row.get(3)?, row.get(4)?);
        let (Ok(user), Some(role), Some(scope)) = (
            UserId::parse(&user),
            Role::parse(&role),
            Scope::parse(&scope),
        ) else {
            return Ok(None);
        };
        Ok(Some(Self {
            user,
            name: row.get(1)?,
            email: row.get(2)?,
            role,
            scope,
            token: row.get(5)?,
        }))
    }
}
