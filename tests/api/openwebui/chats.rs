//! A chat and the files that are attached to it, in the place of Open WebUI's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Client, Setup, TestApp};

/// Owner and content, by id.
type Owned<T> = Arc<Mutex<BTreeMap<String, (&'static str, T)>>>;

/// A chat and its files, as Open WebUI has them.
#[derive(Clone, Default)]
pub(crate) struct Chats {
    chats: Owned<Value>,
    files: Owned<Vec<u8>>,
}

impl Chats {
    /// A chat of `owner` in whose first message these files are.
    pub(crate) fn chat(&self, id: &str, owner: &'static str, items: &Value) -> &Self {
        let content = json!({
            "history": {"currentId": "m-2", "messages": {
                "m-1": {"id": "m-1", "role": "user", "timestamp": 1, "files": items},
                "m-2": {"id": "m-2", "role": "assistant", "timestamp": 2, "parentId": "m-1"},
            }},
            "messages": [],
            "files": items,
        });
        let mut chats = self.chats.lock().unwrap();
        chats.insert(id.to_owned(), (owner, content));
        drop(chats);
        self
    }

    pub(crate) fn file(&self, id: &str, owner: &'static str, content: impl Into<Vec<u8>>) -> &Self {
        let mut files = self.files.lock().unwrap();
        files.insert(id.to_owned(), (owner, content.into()));
        drop(files);
        self
    }

    /// Answers as Open WebUI does to the key `sk-<user>`; an administrator sees everything.
    pub(crate) fn answer(&self, asked: &Asked) -> Answer {
        let user = asked.bearer().strip_prefix("sk-").unwrap_or_default();
        if asked.path == "/api/v1/users/user/status" {
            return Answer::json(&json!({"id": user, "role": "user"}));
        }
        let sees = |owner: &str| user == "admin" || user == owner;
        let path: Vec<&str> = asked
            .path
            .trim_start_matches("/api/v1/")
            .split('/')
            .collect();
        let none = || Answer::status(404, &json!({"detail": "Not Found"}));
        let files = self.files.lock().unwrap();
        let file = |id: &str| files.get(id).filter(|(owner, _)| sees(owner));
        match path.as_slice() {
            ["chats", id] => match self.chats.lock().unwrap().get(*id) {
                Some((owner, chat)) if sees(owner) => {
                    Answer::json(&json!({"id": id, "user_id": owner, "title": "x", "chat": chat}))
                }
                _ => Answer::refused(),
            },
            ["files", id] => file(id).map_or_else(none, |(owner, content)| {
                let meta = json!({"name": id, "size": content.len(), "data": {}});
                Answer::json(&json!({"id": id, "user_id": owner, "filename": id, "meta": meta}))
            }),
            ["files", id, "content"] => {
                file(id).map_or_else(none, |(_, content)| Answer::bytes(content.clone()))
            }
            _ => none(),
        }
    }

    pub(crate) fn serve(&self) -> StandIn {
        let chats = self.clone();
        StandIn::answering(move |asked| chats.answer(asked))
    }
}

/// An entry as a browser writes it.
pub(crate) fn item(id: &str, name: &str) -> Value {
    json!({"type": "file", "id": id, "url": id, "name": name, "size": 1, "status": "uploaded",
        "content_type": "text/plain", "collection_name": "", "file": {"id": id, "user_id": "ada"}})
}

pub(crate) fn setup(url: &str) -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_QUOTA_PER_USER_MB", "3")
        .env("FILESHED_MAX_FILE_SIZE_MB", "1")
        .env("FILESHED_OPENWEBUI_API_URL", url)
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
}

/// Everything in the uploads of this client's chat, with its content.
pub(crate) fn uploads(client: &Client<'_>) -> BTreeMap<String, String> {
    let find = json!({"zone": "uploads", "cmd": "find", "args": [".", "-type", "f"]});
    let found = client.call("shed_exec", &find);
    let found = found.data()["stdout"].as_str().unwrap().to_owned();
    let content = |path: &str| {
        let cat = json!({"zone": "uploads", "cmd": "cat", "args": ["--", path]});
        let answer = client.call("shed_exec", &cat);
        answer.data()["stdout"].as_str().unwrap().to_owned()
    };
    let path = |path: &str| (path.trim_start_matches("./").to_owned(), content(path));
    found.lines().map(path).collect()
}

pub(crate) fn are(expected: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pair = |(path, content): &(&str, &str)| ((*path).to_owned(), (*content).to_owned());
    expected.iter().map(pair).collect()
}
