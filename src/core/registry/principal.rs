//! Whom a page session or a sign-in link stands for.

use super::database::{DatabaseError, Row, ToValue as _, Value};

use fileshed_types::{Caller, Role, Scope, UserId};

/// The columns of a principal, read at the Unix second `?2`: a role that has ended is that of a user.
pub(super) const READ_COLUMNS: &str = "user_id, name, email,
     CASE WHEN role_ends_at <= ?2 THEN 'user' ELSE role END,
     scope, token_id, role_ends_at, delegated";

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
    /// Unix seconds from which the role is that of a user, until its source is asked again; `None` if
    /// it lasts as long as the session.
    pub role_ends_at: Option<i64>,
    /// `true` if a link of an operation began the session, which a model may have made: such a session
    /// makes no tokens.
    pub delegated: bool,
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
            role_ends_at: None,
            delegated: false,
        }
    }

    /// The caller of an operation, for a link that others may get hold of: without the role of an
    /// administrator and without the right to make tokens. Nobody in shared mode.
    #[must_use]
    pub fn delegated_by(caller: &Caller) -> Option<Self> {
        Some(Self {
            name: caller.name.clone(),
            email: caller.email.clone(),
            scope: caller.scope,
            token: caller.token.clone(),
            delegated: true,
            ..Self::of(caller.user.clone()?)
        })
    }

    /// Says of a caller what is known of the same user.
    pub fn describe(self, caller: &mut Caller) {
        caller.name = self.name;
        caller.email = self.email;
        caller.role = self.role;
        caller.scope = self.scope;
        caller.token = self.token;
        caller.delegated = self.delegated;
    }

    /// Its columns and their values.
    pub(super) fn columns(&self) -> [(&'static str, Value<'_>); 8] {
        [
            ("user_id", Value::Text(self.user.as_str())),
            ("name", self.name.to_value()),
            ("email", self.email.to_value()),
            ("role", Value::Text(self.role.as_str())),
            ("scope", Value::Text(self.scope.as_str())),
            ("token_id", self.token.to_value()),
            ("role_ends_at", self.role_ends_at.to_value()),
            ("delegated", Value::Integer(self.delegated.into())),
        ]
    }

    /// Reads [`READ_COLUMNS`] from the beginning of a row; nothing for one that no version of this program
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
            role_ends_at: row.get(6)?,
            delegated: row.get::<i64>(7)? != 0,
        }))
    }
}
