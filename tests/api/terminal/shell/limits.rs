//! Limits on the number and the lifetime of shells.

use fileshed_test_support::wait_until;

use super::{connect, entry, open, proxy, setup, shell, start};

#[test]
fn a_user_has_so_many_and_others_have_theirs() {
    let app = setup().env("FILESHED_TERMINAL_MAX_SHELLS", "2").start();
    let (_, mut first) = shell(&app, "ada", "c1");
    let (_, _second) = shell(&app, "ada", "c2");
    let refused = proxy(&app, "ada", "c3").send("POST", "/terminal/api/terminals", b"");
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert!(
        refused.body["detail"]
            .as_str()
            .is_some_and(|text| text.contains('2'))
    );
    let (_, _other) = shell(&app, "bob", "c1");
    first.type_in("exit\n");
    assert_eq!(first.close_code(), 1000);
    shell(&app, "ada", "c3");
}

#[test]
fn all_together_have_so_many() {
    let app = setup()
        .env("FILESHED_TERMINAL_MAX_SHELLS", "2")
        .env("FILESHED_TERMINAL_MAX_SHELLS_TOTAL", "2")
        .start();
    let (_, _first) = shell(&app, "ada", "c1");
    let (_, _second) = shell(&app, "bob", "c1");
    let refused = proxy(&app, "eve", "c1").send("POST", "/terminal/api/terminals", b"");
    assert_eq!(refused.status, 503, "{}", refused.text);
}

#[test]
fn one_that_was_left_at_its_prompt_makes_room() {
    let app = setup().env("FILESHED_TERMINAL_MAX_SHELLS", "2").start();
    let (busy, mut works) = shell(&app, "ada", "c1");
    start(&mut works, "cat");
    works.type_in("at work\n");
    works.until("at work\r\nat work\r\n");
    drop(works);
    let (left, rests) = shell(&app, "ada", "c2");
    drop(rests);
    wait_until("there is room", || {
        let answer = proxy(&app, "ada", "c3").send("POST", "/terminal/api/terminals", b"");
        answer.status == 200
    });
    assert_eq!(connect(&app, "ada", &left).close_code(), 4004);
    let mut back = connect(&app, "ada", &busy);
    back.type_in("still\n");
    back.until("still\r\nstill\r\n");
}

#[test]
fn one_that_is_left_alone_too_long_ends() {
    let app = setup().app();
    let id = open(&app, "ada", "c1");
    let client = proxy(&app, "ada", "c1");
    app.advance(29 * 60);
    assert_eq!(client.get(&entry(&id)).status, 200);
    app.advance(61);
    wait_until("it is gone", || client.get(&entry(&id)).status == 404);
}
