//! Words of an undo: what every surface says of it, and why files stay.

use serde_json::{Value, json};

use super::{missing, named, undone, writes};
use crate::mcp::client::Peer;
use crate::ops::stage::{content, done, file, small};
use fileshed_test_support::{Client, TestApp, within};

/// The words that keep a model from making the same changes again.
const ASKED: &str = "the user asked for this, so do not make the changes again";

#[track_caller]
fn post(client: &Client<'_>, address: &str) -> String {
    let answer = client.post(address, br#"{"answer": "last"}"#);
    assert_eq!(answer.status, 200, "{address}: {}", answer.text);
    answer.text
}

/// A way to take the last answer back, by name.
type Way<'w> = (&'static str, &'w dyn Fn() -> String);

#[test]
fn every_surface_takes_back_and_says_that_the_user_asked_for_it() {
    let app = TestApp::start();
    let client = app.client();
    let short = client.clone().header("Prefer", "return=minimal");
    let call = |path| {
        let peer = Peer::of_model(client.clone()).at(path);
        let tool = if path == "/mcp" { "shed_undo" } else { "undo" };
        peer.call(tool, &json!({"answer": "last"})).to_string()
    };
    let ways: [Way<'_>; 6] = [
        ("operation", &|| post(&client, "shed_undo")),
        ("short", &|| post(&short, "shed_undo")),
        ("fs", &|| post(&client, "fs/undo")),
        ("terminal", &|| post(&client, "terminal/undo")),
        ("mcp", &|| call("/mcp")),
        ("mcp of fs", &|| call("/mcp/fs")),
    ];
    for (way, undo) in ways {
        for zone in ["storage", "documents"] {
            file(&client, zone, "a.md", "old\n");
            file(&client, zone, "a.md", "new\n");
            let said = undo();
            assert!(said.contains(ASKED), "{way}: {said}");
            assert_eq!(content(&client, zone, "a.md"), "old\n", "{way}");
        }
    }
}

#[test]
fn changes_in_a_group_that_was_left_stay() {
    let app = small().app();
    let member = app.as_member("ada", "t").chat("one");
    let plan = within("group", json!({"path": "plan.md", "content": "x\n"}));
    done(&writes(&member, "answer"), "shed_create_file", &plan);
    file(&writes(&member, "answer"), "storage", "a.md", "x\n");
    // In no group of that name any more.
    let ada = app.as_user("ada").chat("one");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    assert_ne!(refused.status, 200, "{}", refused.text);
    let said = "is in a group that is not yours any more";
    assert!(refused.text.contains(said), "{}", refused.text);
    assert_eq!(content(&ada, "storage", "a.md"), "x\n");

    let part = json!({"answer": "answer", "partial": true});
    let data = done(&ada, "shed_undo", &part);
    assert!(data["kept"].to_string().contains(said), "{data}");
    assert!(missing(&ada, "storage", "a.md"));
    let read = within("group", json!({"path": "plan.md"}));
    assert_eq!(member.call("shed_read", &read).status, 200);
    undone(&member, &json!({"answer": "answer"}));
    assert_eq!(member.call("shed_read", &read).status, 404);
}

#[test]
fn an_answer_of_which_a_part_stands_again_is_taken_back_again() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for zone in ["storage", "documents"] {
        for path in ["a.md", "b.md"] {
            file(&writes(&ada, "before"), zone, path, "old\n");
        }
        let edit = ["-i", "s/old/newer/", "a.md", "b.md"];
        crate::ops::stage::ran(&writes(&ada, zone), zone, "sed", &edit);
        let undo = json!({"answer": zone});
        let undone = done(&ada, "shed_undo", &undo);
        let listed = json!({"path": zone, "limit": 1});
        let change = done(&ada, "shed_history", &listed)["changes"][0]["change"].clone();
        assert_eq!(undone["count"], 2, "{zone}");
        let part = json!({"change": change, "path": format!("{zone}/a.md")});
        done(&ada, "shed_undo", &part);
        assert_eq!(content(&ada, zone, "a.md"), "newer\n", "{zone}");
        assert_eq!(content(&ada, zone, "b.md"), "old\n", "{zone}");
        done(&ada, "shed_undo", &undo);
        assert_eq!(content(&ada, zone, "a.md"), "old\n", "{zone}");
        ada.call("shed_undo", &undo).refused(409, "FILE_EXISTS");
    }
}

#[test]
fn undos_of_undos_of_which_nothing_is_left_change_nothing() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for (zone, is_part) in [
        ("storage", false),
        ("documents", false),
        ("documents", true),
    ] {
        for path in ["a.md", "b.md"] {
            file(&writes(&ada, "before"), zone, path, "old\n");
        }
        let answer = format!("{zone} {is_part}");
        let edit = ["-i", "s/old/newer/", "a.md", "b.md"];
        crate::ops::stage::ran(&writes(&ada, &answer), zone, "sed", &edit);
        let undo = json!({"answer": answer});
        let first = if is_part {
            json!({"path": format!("{zone}/a.md")})
        } else {
            undo.clone()
        };
        let id = |call: &Value| done(&ada, "shed_undo", call)["undo"].clone();
        let first = id(&first);
        let second = id(&json!({"answer": first}));
        let third = id(&undo);
        // The third one took back what the second one brought back.
        done(&ada, "shed_undo", &json!({"answer": second}));
        assert_eq!(content(&ada, zone, "a.md"), "old\n", "{zone}");
        done(&ada, "shed_undo", &json!({"answer": third}));
        assert_eq!(content(&ada, zone, "a.md"), "newer\n", "{zone}");
        done(&ada, "shed_undo", &undo);
        assert_eq!(content(&ada, zone, "a.md"), "old\n", "{zone}");
        assert_eq!(content(&ada, zone, "b.md"), "old\n", "{zone}");
    }
}

#[test]
fn a_file_that_would_be_too_large_stays() {
    let app = small().app();
    let ada = app.as_user("ada").chat("one");
    let lines = |text: &str| format!("{text}\n").repeat(600 * 1024 / (text.len() + 1));
    let (first, last) = (lines("first"), lines("last"));
    file(
        &writes(&ada, "before"),
        "storage",
        "a.md",
        &format!("{first}middle\n"),
    );
    file(&writes(&ada, "before"), "storage", "b.md", "old\n");
    file(&writes(&ada, "answer"), "storage", "a.md", "middle\n");
    file(&writes(&ada, "answer"), "storage", "b.md", "new\n");
    // Both parts together are more than a file may have.
    file(
        &writes(&ada, "after"),
        "storage",
        "a.md",
        &format!("middle\n{last}"),
    );
    ada.call("shed_undo", &json!({"answer": "answer"}))
        .refused(409, "FILE_EXISTS");
    assert_eq!(content(&ada, "storage", "b.md"), "new\n");
    let part = json!({"answer": "answer", "partial": true});
    let data = done(&ada, "shed_undo", &part);
    assert_eq!(named(&data["kept"]), ["storage/a.md"], "{data}");
    let said = "has no room in the bin or the quota";
    assert!(data["kept"].to_string().contains(said), "{data}");
    assert_eq!(content(&ada, "storage", "b.md"), "old\n");
}
