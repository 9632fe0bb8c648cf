//! The lists of connections that Open WebUI keeps.

use serde_json::{Map, Value, json};

use super::{Client, RegisterError, asked};

/// One of the lists.
#[derive(Debug)]
pub(super) struct ConnectionList {
    path: &'static str,
    field: &'static str,
}

impl ConnectionList {
    /// Servers whose OpenAPI documents are tools.
    pub(super) const TOOL_SERVER: Self = Self {
        path: "/api/v1/configs/tool_servers",
        field: "TOOL_SERVER_CONNECTIONS",
    };

    /// Servers of files and commands.
    pub(super) const TERMINAL: Self = Self {
        path: "/api/v1/configs/terminal_servers",
        field: "TERMINAL_SERVER_CONNECTIONS",
    };

    /// The list as it is now.
    pub(super) fn read(&self, client: &Client, token: &str) -> Result<Vec<Value>, RegisterError> {
        self.list(client.get(token, self.path).map_err(asked)?)
    }

    /// Replaces the list; what is there afterwards.
    pub(super) fn write(
        &self,
        client: &Client,
        token: &str,
        list: &[Value],
    ) -> Result<Vec<Value>, RegisterError> {
        let answer = client.post(token, self.path, &json!({self.field: list}));
        self.list(answer.map_err(asked)?)
    }

    /// Has Open WebUI itself look at a connection; what it found.
    pub(super) fn verify(
        &self,
        client: &Client,
        token: &str,
        connection: &Value,
    ) -> Result<Value, super::CallError> {
        client.post(token, &format!("{}/verify", self.path), connection)
    }

    fn list(&self, mut answer: Map<String, Value>) -> Result<Vec<Value>, RegisterError> {
        match answer.remove(self.field) {
            Some(Value::Array(list)) => Ok(list),
            Some(Value::Null) => Ok(Vec::new()),
            _ => Err(RegisterError::NotOpenWebUi),
        }
    }
}
