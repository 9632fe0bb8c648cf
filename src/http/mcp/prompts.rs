//! The guides of `shed_help` as prompts.

use fileshed_core::{CallerView, Error};
use rmcp::model::{GetPromptResult, Prompt, PromptMessage, Role};
use serde_json::{Map, json};

use crate::http::envelope;
use crate::ops::{Operation as _, find, help};

/// Every guide.
pub(super) fn list() -> Vec<Prompt> {
    help::topics()
        .into_iter()
        .map(|(topic, line)| Prompt::new(topic, Some(line), None))
        .collect()
}

/// The guide of a topic, which fails as the operation does.
pub(super) fn get(view: CallerView<'_>, topic: &str) -> Result<GetPromptResult, Error> {
    let mut arguments = Map::new();
    arguments.insert("howto".to_owned(), topic.into());
    let call = find(help::Help::ID).map(|entry| entry.call.run);
    let answer = match call {
        Some(call) => envelope::value(&*call(view.core, view.caller, arguments)?.data)?,
        None => json!({}),
    };
    let text = answer["data"]["help"].as_str().or(answer["help"].as_str());
    let message = PromptMessage::new_text(Role::User, text.unwrap_or_default());
    let line = help::topics().remove(topic);
    let result = GetPromptResult::new(vec![message]);
    Ok(match line {
        Some(line) => result.with_description(line),
        None => result,
    })
}
