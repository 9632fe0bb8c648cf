//! Models that have a connection switched on in a new chat. Open WebUI keeps for each model what is on with
//! it, and a default for those of which it keeps nothing.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::connection::{ConnectionKind, RegisteredConnection, object};
use super::{OpenWebUiClient, RegisterError, asked, printable, text};

/// Path and field of the default.
const DEFAULT: (&str, &str) = ("/api/v1/configs/models", "DEFAULT_MODEL_METADATA");

/// Models with which a connection is to be switched on.
pub(super) struct DefaultModels<'a> {
    client: &'a OpenWebUiClient,
    token: &'a str,
    /// Those that Open WebUI does not have yet are meant, too.
    all: bool,
    models: Vec<Value>,
}

impl<'a> DefaultModels<'a> {
    /// Finds models by their ids; `all` is every one.
    pub(super) fn find(
        client: &'a OpenWebUiClient,
        token: &'a str,
        ids: &[String],
    ) -> Result<Self, RegisterError> {
        let all = ids == ["all"];
        let mut models: Vec<Value> = Vec::new();
        if !ids.is_empty() {
            let answer: Map<_, _> = client.get(token, "/api/models").map_err(asked)?;
            let list = answer.get("data").and_then(Value::as_array);
            models = list.cloned().unwrap_or_default();
        }
        let is_known = |id: &String| models.iter().any(|model| model["id"] == **id);
        if let Some(id) = ids.iter().find(|id| !all && !is_known(id)) {
            let known: Vec<_> = models.iter().map(|model| text(model, "id")).collect();
            return Err(RegisterError::Refused(format!(
                "Open WebUI has no model with the id `{id}`; it has: {}",
                printable(&known.join(", "))
            )));
        }
        models.retain(|model| all || ids.iter().any(|id| model["id"] == **id));
        Ok(Self {
            client,
            token,
            all,
            models,
        })
    }

    /// Switches the connection on; the line says with which models.
    pub(super) fn switch_on(
        &self,
        ours: &RegisteredConnection,
        dry_run: bool,
    ) -> Result<String, RegisterError> {
        if !self.all && self.models.is_empty() {
            return Ok(ours.switched_on_by_hand().to_owned());
        }
        let field = ours.default_field();
        let (mut names, mut changed, mut usual) = (Vec::new(), Vec::new(), Value::Null);
        if self.all {
            let settings = self.client.get(self.token, DEFAULT.0);
            let mut settings: Map<String, Value> = settings.map_err(asked)?;
            let mut metadata = object(settings.get(DEFAULT.1));
            let wanted = ours.switched_on(metadata.get(field).unwrap_or(&Value::Null));
            usual = metadata
                .insert(field.to_owned(), wanted.clone())
                .unwrap_or_default();
            settings.insert(DEFAULT.1.to_owned(), metadata.into());
            if wanted != usual {
                names.push("all models".to_owned());
                if !dry_run {
                    let kept = self.client.post::<Value>(self.token, DEFAULT.0, &settings);
                    kept.map_err(asked)?;
                }
            }
        }
        for model in &self.models {
            let before = &model["info"]["meta"][field];
            let wanted = ours.switched_on(before);
            let has_default = self.all && (before.is_null() || *before == usual);
            if !has_default && wanted != *before {
                names.push(printable(text(model, "id")));
                changed.push(self.entry(model, field, wanted)?);
            }
        }
        if !dry_run && !changed.is_empty() {
            let message = json!({"models": changed});
            let kept = self
                .client
                .post::<Value>(self.token, "/api/v1/models/import", &message);
            kept.map_err(asked)?;
        }
        Ok(match (names.is_empty(), dry_run) {
            (true, _) => "it is on in new chats with these models already".to_owned(),
            (_, true) => format!("would switch it on in new chats with {}", names.join(", ")),
            (_, false) => format!("switched it on in new chats with {}", names.join(", ")),
        })
    }

    /// Returns what Open WebUI keeps of a model, or shall keep, with this value.
    fn entry(&self, model: &Value, field: &str, value: Value) -> Result<Value, RegisterError> {
        let id = text(model, "id");
        let query = utf8_percent_encode(id, NON_ALPHANUMERIC);
        let path = format!("/api/v1/models/model?id={query}");
        let mut entry = match self.client.get(self.token, &path) {
            Ok(Value::Object(entry)) => entry,
            Err(error) if !error.is_absence() => return Err(asked(error)),
            _ => object(Some(
                &json!({"id": id, "name": text(model, "name"), "params": {}}),
            )),
        };
        let mut metadata = object(entry.get("meta"));
        metadata.insert(field.to_owned(), value);
        entry.insert("meta".to_owned(), metadata.into());
        Ok(entry.into())
    }
}

impl RegisteredConnection {
    /// Field of a model that has what is on with it.
    fn default_field(&self) -> &'static str {
        match self.kind {
            ConnectionKind::ToolServer => "toolIds",
            ConnectionKind::Terminal => "terminalId",
        }
    }

    /// Returns the value of that field with which this is on, too.
    fn switched_on(&self, before: &Value) -> Value {
        if self.kind == ConnectionKind::Terminal {
            return json!(self.id);
        }
        let tool = json!(format!("server:{}", self.id));
        let mut tools = before.as_array().cloned().unwrap_or_default();
        if !tools.contains(&tool) {
            tools.push(tool);
        }
        tools.into()
    }
}
