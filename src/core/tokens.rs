//! Personal tokens. Provisional.

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shed::ShedError;
use crate::{Error, Scope, Shed, UserId};

/// The tokens of a shed.
#[derive(Debug)]
pub struct Tokens<'a>(&'a Shed);

/// A token that was just made.
#[derive(Debug)]
pub struct NewToken {
    /// Its name.
    pub id: String,
    /// Shown once.
    pub secret: String,
}

/// A token without its secret.
#[derive(Clone, Debug)]
pub struct Token {
    /// Its name.
    pub id: String,
    /// Whose it is.
    pub user: UserId,
    /// What it allows.
    pub scope: Scope,
    /// What it is for.
    pub label: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// Whether it was taken back.
    pub revoked: bool,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(shed: &'a Shed) -> Self {
        Self(shed)
    }

    fn rows(&self) -> Result<Vec<Value>, ShedError> {
        match std::fs::read(self.0.token_file()) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn save(&self, rows: &[Value]) -> Result<(), ShedError> {
        Ok(std::fs::write(
            self.0.token_file(),
            serde_json::to_vec(rows)?,
        )?)
    }

    /// Makes a token.
    pub fn create(
        &self,
        user: &UserId,
        scope: Scope,
        expires_at: Option<Timestamp>,
        label: &str,
    ) -> Result<NewToken, Error> {
        let secret = uuid::Uuid::new_v4().simple().to_string();
        let id = uuid::Uuid::new_v4().simple().to_string();
        let mut rows = self.rows()?;
        rows.push(json!({
            "id": id, "user": user.as_str(), "scope": scope.as_str(), "label": label,
            "created_at": self.0.clock().now().to_string(),
            "expires_at": expires_at.map(|at| at.to_string()),
            "revoked": false, "hash": hash(&secret),
        }));
        self.save(&rows)?;
        Ok(NewToken { id, secret })
    }

    /// All tokens.
    pub fn list(&self) -> Result<Vec<Token>, Error> {
        Ok(self.rows()?.iter().filter_map(token).collect())
    }

    /// Takes a token back; false if there is none.
    pub fn revoke(&self, id: &str) -> Result<bool, Error> {
        let mut rows = self.rows()?;
        let Some(row) = rows.iter_mut().find(|row| row["id"] == id) else {
            return Ok(false);
        };
        row["revoked"] = true.into();
        self.save(&rows)?;
        Ok(true)
    }

    /// The token with that secret, if it counts.
    pub fn verify(&self, secret: &str) -> Result<Option<Token>, Error> {
        let hash = hash(secret);
        let now = self.0.clock().now();
        Ok(self
            .rows()?
            .iter()
            .find(|row| row["hash"] == hash.as_str())
            .and_then(token)
            .filter(|token| !token.revoked && token.expires_at.is_none_or(|at| at > now)))
    }
}

fn hash(secret: &str) -> String {
    hex::encode(Sha256::digest(secret))
}

fn token(row: &Value) -> Option<Token> {
    Some(Token {
        id: row["id"].as_str()?.to_owned(),
        user: UserId::parse(row["user"].as_str()?).ok()?,
        scope: Scope::parse(row["scope"].as_str()?)?,
        label: row["label"].as_str()?.to_owned(),
        created_at: row["created_at"].as_str()?.parse().ok()?,
        expires_at: row["expires_at"].as_str().and_then(|at| at.parse().ok()),
        revoked: row["revoked"].as_bool()?,
    })
}
