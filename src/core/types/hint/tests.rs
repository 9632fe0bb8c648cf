use serde_json::json;

use super::*;

fn look() -> NextCall {
    NextCall::here("shed_tree").with("path", "notes \"a\"")
}

#[test]
fn calls_are_written_out_in_one_form() {
    let hint = Hint::new("look with ")
        .call(look())
        .or("")
        .again(Repeat::with("args", json!(["-l", "a"])).and_without("line"));
    assert_eq!(
        hint.to_string(),
        r#"look with shed_tree(path="notes \"a\""); repeat the call with args=["-l", "a"], without line"#
    );
    let both = Repeat::without("line").and_without("end_line");
    assert_eq!(
        both.to_string(),
        "repeat the call without line and end_line"
    );
    assert_eq!(Repeat::default().to_string(), "repeat the call");
}

#[test]
fn the_zone_and_group_of_the_failure_are_added_where_they_belong() {
    let mut hint = Hint::from(look()).or("").call(NextCall::new("shed_stats"));
    hint.in_zone("group");
    hint.in_group("team");
    hint.in_zone("storage");
    assert_eq!(
        hint.to_string(),
        r#"shed_tree(zone="group", group="team", path="notes \"a\""); shed_stats()"#
    );
    let mut hint = Hint::from(look());
    hint.in_zone("storage");
    hint.in_group("team");
    assert_eq!(
        hint.to_string(),
        r#"shed_tree(zone="storage", path="notes \"a\"")"#
    );
}

#[test]
fn what_the_failed_call_has_is_taken_from_it() {
    let shown = Argument::List(vec!["-n".into(), Argument::Given("path")]);
    let mut hint = Hint::from(
        NextCall::here("shed_exec")
            .with("cmd", "cat")
            .with("args", shown),
    )
    .instead("see yourself");
    assert_eq!(hint.told(&Tools(|_| true)), "see yourself");
    let given = json!({"zone": "documents", "path": "a.md", "group": "team"});
    hint.complete(given.as_object().unwrap_or(&Map::new()));
    assert_eq!(
        hint.told(&Tools(|_| true)),
        r#"shed_exec(zone="documents", cmd="cat", args=["-n", "a.md"])"#
    );
}

#[test]
fn only_what_is_offered_is_told() {
    let hint = Hint::from("make room with shed_delete; shed_stats() shows the space of each zone")
        .instead("or with shed_exec");
    let all = "make room with shed_delete; shed_stats() shows the space of each zone";
    assert_eq!(hint.told(&Tools(|_| true)), all);
    assert_eq!(hint.to_string(), all);
    assert_eq!(
        hint.told(&Tools(|operation| operation != "shed_stats")),
        "make room with shed_delete; or with shed_exec"
    );
    assert_eq!(hint.told(&Tools(|_| false)), NOTHING_OFFERED);
    assert_eq!(Hint::from(look()).told(&Tools(|_| true)), NOTHING_OFFERED);
    let long = Repeat::with("cmd", "x".repeat(CLAUSE_MAX_BYTES));
    assert_eq!(Hint::from(long).told(&Tools(|_| true)), NOTHING_OFFERED);
}

/// A surface that calls operations by their addresses.
struct Addresses;

impl HintSurface for Addresses {
    fn is_offered(&self, operation: &str) -> bool {
        operation == "shed_tree"
    }

    fn call(&self, call: &NextCall) -> String {
        let arguments = call.arguments.iter();
        let arguments: Vec<String> = arguments
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!("GET /{}?{}", call.operation, arguments.join("&"))
    }
}

#[test]
fn a_surface_has_words_of_its_own() {
    let look = NextCall::new("shed_tree").with("depth", 2);
    let hint = Hint::new("look with ").call(look).or("shed_stats counts");
    assert_eq!(hint.told(&Addresses), "look with GET /shed_tree?depth=2");
}

#[test]
fn clauses_that_need_a_missing_command_are_left_out() {
    let without = |mut hint: Hint, missing: &[&str]| {
        let given = serde_json::json!({"cmd": "jq"});
        let given = given.as_object().expect("an object");
        hint.without_commands(given, |command| missing.contains(&command));
        hint.to_string()
    };
    let any = || {
        Hint::new("use ")
            .commands(["awk", "sed", "jq"])
            .say(" here")
    };
    assert_eq!(without(any(), &[]), "use awk, sed or jq here");
    assert_eq!(without(any(), &["jq"]), "use awk or sed here");
    let file = NextCall::new("shed_exec").with("cmd", "file");
    let look = || Hint::from(file.clone()).instead("look at it");
    assert_eq!(without(look(), &[]), "shed_exec(cmd=\"file\")");
    assert_eq!(without(look(), &["file"]), "look at it");
    let convert = NextCall::new("shed_convert").needing(&["pandoc", "weasyprint"]);
    let print = || Hint::new("write it").or("print it: ").call(convert.clone());
    assert_eq!(without(print(), &[]), "write it; print it: shed_convert()");
    assert_eq!(without(print(), &["weasyprint"]), "write it");
    // The failed call again runs the same command.
    let list = "shed_allowed_commands() lists the commands that are installed";
    let again = || Hint::from(Repeat::with("args", "."));
    assert_eq!(without(again(), &["jq"]), list);
    assert_ne!(without(again(), &["sed"]), list);
}
