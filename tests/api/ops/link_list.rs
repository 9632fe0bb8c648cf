//! `shed_link_list`

use serde_json::{Value, json};

use crate::ops::stage::{Provoked, done, file};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[];

#[test]
fn links_are_listed_as_they_are_now() {
    let server = TestApp::start();
    let client = server.client();
    let empty = done(&client, "shed_link_list", &json!({}));
    assert_eq!(empty, json!({"files": [], "count": 0}));
    file(&client, "storage", "a.png", "1");
    file(&client, "documents", "d/b.md", "22");
    let png = done(
        &client,
        "shed_link_create",
        &json!({"zone": "storage", "path": "a.png"}),
    );
    done(
        &client,
        "shed_link_create",
        &json!({"zone": "documents", "path": "d"}),
    );
    done(&client, "shed_link_create", &json!({"upload": true}));
    file(&client, "storage", "a.png", "12345");

    let mut list = done(&client, "shed_link_list", &json!({}));
    assert_eq!(list["count"], 3);
    let first = list["files"][0].as_object_mut().unwrap();
    assert!(first.remove("created_at").unwrap().is_string());
    assert!(first.remove("expires_at").unwrap().is_string());
    let expected = json!({
        "file_id": png["file_id"],
        "filename": "a.png",
        "download_url": png["download_url"],
        "clickable_link": png["clickable_link"],
        "size_bytes": 5,
        "content_type": "image/png",
        "source_zone": "storage",
        "source_path": "a.png",
        "upload": false,
    });
    assert_eq!(Value::Object(first.clone()), expected);
    let types = [1, 2].map(|number| list["files"][number]["content_type"].clone());
    assert_eq!(types, ["application/zip", "inode/directory"]);
    done(
        &client,
        "shed_delete",
        &json!({"zone": "storage", "path": "a.png"}),
    );
    let list = done(&client, "shed_link_list", &json!({}));
    assert_eq!(list["files"][0]["size_bytes"], Value::Null);
}
