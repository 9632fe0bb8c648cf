//! What a kind of connection is to a registration.

use serde_json::Value;

use super::auth::Auth;
use super::list::ConnectionList;
use super::{Client, RegisterError};

/// Our connection of one kind: what it should be, among those that are there.
pub(super) trait RegisteredConnection {
    /// The list that has it.
    fn list(&self) -> &'static ConnectionList;

    /// Whether it is a terminal, whose calls name the user in their own way.
    fn is_terminal(&self) -> bool {
        false
    }

    /// With what Open WebUI calls.
    fn auth(&self) -> Auth;

    /// Where it looks for the server.
    fn url(&self) -> &str;

    /// Where ours is in the list.
    fn find(&self, list: &[Value]) -> Option<usize>;

    /// Others that lead to this server, as people know them.
    fn rivals(&self, list: &[Value]) -> Vec<String>;

    /// What it should be where there is this one, or none. What is not ours to say stays.
    fn connection(&self, existing: Option<&Value>) -> Value;

    /// Has Open WebUI look at it; a line about what it found.
    fn verify(
        &self,
        client: &Client,
        token: &str,
        connection: &Value,
    ) -> Result<String, RegisterError>;

    /// Where people import the file of the connection, or what to do with it instead.
    fn next_step(&self) -> String;
}
