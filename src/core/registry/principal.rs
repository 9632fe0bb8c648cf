//! The account that a page session or a sign-in link authenticates.

use super::RegistryError;
use super::database::{FromRow, Row, Statements, ToValue as _, Value};
use super::rows::insertion;

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

    /// Adds it to a table, with the values of `more` columns.
    pub(super) fn insert(
        &self,
        statements: &impl Statements,
        table: &str,
        more: &[(&str, Value<'_>)],
    ) -> Result<(), RegistryError> {
        let own = [
            ("user_id", Value::Text(self.user.as_str())),
            ("name", self.name.to_value()),
            ("email", self.email.to_value()),
            ("role", Value::Text(self.role.as_str())),
            ("scope", Value::Text(self.scope.as_str())),
            ("token_id", self.token.to_value()),
            ("role_ends_at", self.role_ends_at.to_value()),
            ("delegated", self.delegated.to_value()),
        ];
        let row = own.iter().chain(more).copied();
        let (columns, values): (Vec<&str>, Vec<Value<'_>>) = row.unzip();
        let insert = insertion(table, &columns.join(", "), values.len(), "");
        statements.run(&insert, values.as_slice())
    }
}

/// Reads [`READ_COLUMNS`]; `None` for a row that no version of this program writes.
impl FromRow for Option<Principal> {
    fn read(row: &mut Row<'_>) -> Result<Self, RegistryError> {
        let (user, name, email): (String, _, _) = row.next()?;
        let (role, scope): (String, String) = row.next()?;
        let (token, role_ends_at, delegated) = row.next()?;
        let (Ok(user), Some(role), Some(scope)) = (
            UserId::parse(&user),
            Role::parse(&role),
            Scope::parse(&scope),
        ) else {
            return Ok(None);
        };
        Ok(Some(Principal {
            user,
            name,
            email,
            role,
            scope,
            token,
            role_ends_at,
            delegated,
        }))
    }
}
