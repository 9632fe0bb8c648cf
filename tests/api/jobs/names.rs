//! Files of every kind under names of every kind.

use serde_json::json;

use crate::jobs::desk::{Desk, ZONES, text};
use fileshed_test_support::Server;

/// As people name files; the last holds what a shell would act on.
const NAMES: [&str; 9] = [
    "with blanks  inside.txt",
    "données/été à Zürich.txt",
    "日本語/メモ.md",
    "🦀 emoji 👩‍🔬/🎉.txt",
    "עברית.txt",
    "-begins-with-a-dash",
    ".hidden/.file",
    "UPPER and upper/A",
    "R&D 'quoted' #1 (x) [y] {z} 100% = ~.txt",
];

#[test]
fn names_of_all_peoples_reach_their_files() {
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "names");
    for zone in ZONES {
        for name in NAMES {
            let content = format!("this is {name}\n");
            desk.create(zone, name, content.as_bytes());
            let read = match name.strip_prefix('-') {
                Some(_) => desk.exec(zone, "cat", &["--", name]),
                None => desk.exec(zone, "cat", &[name]),
            };
            assert_eq!(read, content);
            desk.append(zone, name, "and more\n");
        }
        for (number, name) in NAMES.into_iter().enumerate() {
            desk.rename(zone, name, &format!("moved/{number}/{name}"));
        }
        desk.delete(zone, &format!("moved/8/{}", NAMES[8]));
    }
    desk.assert_in_order();
}

#[test]
fn both_spellings_of_a_name_are_one_file() {
    let (composed, decomposed) = ("caf\u{e9}/na\u{ef}ve.txt", "cafe\u{301}/nai\u{308}ve.txt");
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "spelling");
    for zone in ZONES {
        desk.create(zone, composed, b"one\n");
        let call = json!({"zone": zone, "path": decomposed, "content": "two\n"});
        let data = desk.wire.data("shed_patch_text", &call);
        assert_eq!(
            (text(&data, "path"), &data["created"]),
            (composed, &false.into())
        );
        desk.changed(zone);
        desk.files(zone)
            .insert(composed.to_owned(), b"one\ntwo\n".to_vec());
        assert_eq!(desk.exec(zone, "cat", &[composed]), "one\ntwo\n");
        assert_eq!(desk.exec(zone, "cat", &[decomposed]), "one\ntwo\n");
        let call =
            json!({"zone": zone, "old_path": decomposed, "new_path": "re\u{301}sume\u{301}"});
        desk.wire.data("shed_rename", &call);
        desk.changed(zone);
        let content = desk.files(zone).remove(composed).unwrap();
        desk.files(zone)
            .insert("r\u{e9}sum\u{e9}".to_owned(), content);
    }
    desk.assert_in_order();
}

#[test]
fn every_byte_survives() {
    let bytes: Vec<u8> = (0..=255_u8).cycle().take(256 * 64).collect();
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "bytes");
    for zone in ZONES {
        let hex = hex::encode(&bytes);
        let call = json!({"zone": zone, "path": "all.bin", "content": hex, "overwrite": true});
        desk.wire.data("shed_patch_bytes", &call);
        desk.changed(zone);
        // 255, 0, 1 in base64, in front of the rest and then over its end.
        for (position, offset) in [("start", None), ("replace", Some(256 * 64))] {
            let mut call = json!({"zone": zone, "path": "all.bin", "content": "/wAB",
                "content_format": "base64", "position": position});
            if let Some(offset) = offset {
                call["offset"] = offset.into();
            }
            desk.wire.data("shed_patch_bytes", &call);
            desk.changed(zone);
        }
        let mut expected = [&[255, 0, 1], bytes.as_slice()].concat();
        expected.splice(256 * 64.., [255, 0, 1]);
        desk.files(zone).insert("all.bin".to_owned(), expected);
        desk.copy_by_output(zone, "all.bin", "copy.bin");
        desk.exec(zone, "cmp", &["all.bin", "copy.bin"]);
        let text = "text after bytes\n";
        let call =
            json!({"zone": zone, "path": "copy.bin", "content": text, "content_format": "raw"});
        desk.wire.data("shed_patch_bytes", &call);
        desk.changed(zone);
        let copy = desk.files(zone).get_mut("copy.bin").expect("the copy");
        copy.extend_from_slice(text.as_bytes());
        desk.rename(zone, "copy.bin", "appended.bin");

        desk.create(zone, "empty", b"");
        assert_eq!(desk.exec(zone, "cat", &["empty"]), "");
        desk.create(zone, "windows.txt", b"one\r\ntwo\r\nthree\r\n");
        let call = json!({"zone": zone, "path": "windows.txt", "content": "TWO", "position":
            "replace", "pattern": "two"});
        desk.wire.data("shed_patch_text", &call);
        desk.changed(zone);
        desk.files(zone).insert(
            "windows.txt".to_owned(),
            b"one\r\nTWO\r\nthree\r\n".to_vec(),
        );
    }
    desk.assert_in_order();
}
