//! `shed_help`: guides for a model, longer than a tool description may be.
//!
//! The guides say what holds on this server. Every call in them is run by a test.

use std::collections::BTreeMap;

use fileshed_core::Toolset;
use fileshed_core::nearest::nearest;
use serde_json::json;

use super::arguments::{ArgumentError, ReceivedValue};
use super::prelude::*;

mod offered;

/// `shed_help`
pub struct Help;

/// A guide: topic, one line, text.
type Guide = (&'static str, &'static str, &'static str);

/// The guide of a topic, whose text is in the file of that name.
macro_rules! guide {
    ($topic:literal, $line:literal) => {
        ($topic, $line, include_str!(concat!("help/", $topic, ".md")))
    };
}

/// All guides but `full`, which is all of them.
const GUIDES: &[Guide] = &[
    guide!("edit", "Create, change and version files"),
    guide!("paths", "Zones and paths in them"),
    guide!("commands", "Run commands without a shell"),
    guide!("large_files", "Read and write large files"),
    guide!("network", "Network access of commands"),
    guide!("csv_to_sqlite", "Ask a table questions with SQL"),
    guide!("upload", "Files that a person brings"),
    guide!("download", "Give a file to a person"),
    guide!("share", "Share files with groups and by links"),
];

const FULL: &str = "full";

/// The guide.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Topic; default the list
    howto: Option<String>,
}

/// A guide.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// The guide in Markdown; without a topic, an overview.
    help: String,
    /// Every topic with its subject.
    howtos: BTreeMap<&'static str, &'static str>,
}

impl Operation for Help {
    const ID: &str = "shed_help";
    const SUMMARY: &str = "Read a guide";
    const DOC: &str = "Guides with examples.";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = &[];
    const EXAMPLES: &[&str] = &["{}", r#"{"howto": "edit"}"#];
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("help"), Keep::Unusual("howtos")];
    type Request = Request;
    type Response = Response;

    /// The topics are told with the overview only: a caller who reads a guide has them.
    fn shorten(data: &mut Map<String, Value>) {
        let help = data.get("help").and_then(Value::as_str);
        let title = include_str!("help/overview.md").lines().next();
        let is_overview = help.and_then(|help| help.lines().next()) == title;
        let Some(Value::Object(howtos)) = data.shift_remove("howtos").filter(|_| is_overview)
        else {
            return;
        };
        let topic = |(name, line): (&String, &Value)| {
            format!("{name}: {}", line.as_str().unwrap_or_default())
        };
        let topics: Vec<String> = howtos.iter().map(topic).collect();
        data.insert("howtos".to_owned(), topics.join("\n").into());
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let topic = request.howto.map(|topic| topic.trim().to_lowercase());
        let text = match topic.as_deref() {
            None => include_str!("help/overview.md").to_owned(),
            Some(FULL) => full(),
            Some(topic) => {
                let found = GUIDES.iter().find(|(name, ..)| *name == topic);
                let (_, _, text) = found.ok_or_else(|| {
                    let unknown = ArgumentError::Topic {
                        meant: nearest(topic, topics().into_keys()).map(str::to_owned),
                        received: ReceivedValue::of(&topic.into()),
                    };
                    Error::from(unknown).with_detail("howtos", json!(topics()))
                })?;
                (*text).to_owned()
            }
        };
        let text = match caller.client.toolset {
            Toolset::All => text,
            toolset @ Toolset::Core => offered::guide(&text, toolset),
        };
        let settings = &core.store.settings;
        let values = [
            ("{timeout}", settings.exec_timeout_default),
            ("{timeout_max}", settings.exec_timeout_max),
            ("{max_output}", settings.output_of(caller.client)),
            ("{max_output_absolute}", settings.max_output_absolute),
            ("{max_file_size_mb}", settings.max_file_size_mb),
            ("{quota_per_user_mb}", core.store.quota_mb(caller)?),
            ("{link_expiry_hours}", settings.link_expiry_hours),
            ("{lock_max_age_hours}", settings.lock_max_age_hours),
        ];
        let text = text
            .replace("{network_mode}", settings.network_mode.as_str())
            .replace("{group_default_mode}", settings.group_default_mode.as_str());
        let help = values.iter().fold(text, |text, (name, value)| {
            text.replace(name, &value.to_string())
        });
        let response = Response {
            help,
            howtos: topics(),
        };
        let message = match topic {
            None => "Topics are in howtos".to_owned(),
            Some(topic) => format!("Guide {topic}"),
        };
        Ok(Reply::new(response, message))
    }
}

/// Every topic with its subject.
pub(crate) fn topics() -> BTreeMap<&'static str, &'static str> {
    GUIDES
        .iter()
        .map(|(name, line, _)| (*name, *line))
        .chain([(FULL, "All guides in one")])
        .collect()
}

fn full() -> String {
    let texts: Vec<&str> = GUIDES.iter().map(|(_, _, text)| *text).collect();
    format!("{}\n{}", include_str!("help/overview.md"), texts.join("\n"))
}
