use insta::assert_snapshot;
use rig::Sandbox;

use crate::common::{NOW, sandbox, shown};

fn with_memory() -> Sandbox {
    let home = sandbox();
    home.mem(&[
        "save",
        "--title",
        "Retries stop at 6",
        "The 7th trips the limiter.",
    ])
    .ok();
    home
}

#[test]
fn a_memory_is_put_right_and_found_by_its_new_words() {
    let home = with_memory();
    let edited = home.mem(&[
        "edit",
        "#1",
        "--title",
        "Retries stop at 7",
        "--type",
        "Decision",
        "--text",
        "The 8th trips it.",
    ]);
    assert_snapshot!(shown(&home, &edited), @"
    edited #1  Retries stop at 7
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["show", "1"])), @"
    #1 Retries stop at 7
    decision · 2026-01-31 10:00 · project

      The 8th trips it.
    [exit 0]
    ");
    let found = home.mem(&["search", "limiter"]).ok().stdout;
    assert!(!found.contains("limiter"), "{found}");
    let piped = home.mem_with(
        &["edit", "1", "--text", "-"],
        "The key is AKIAQ3EGRJ7HZ5XN2M4P.\n",
    );
    assert_eq!(piped.code, Some(0), "{piped}");
    let shown = home.mem(&["show", "1"]).ok().stdout;
    assert!(shown.contains("[redacted:"), "{shown}");
}

#[test]
fn what_cannot_be_edited_says_why() {
    let home = with_memory();
    for (args, want) in [
        (&["edit", "9", "--title", "x"][..], "there is no #9"),
        (&["edit", "1"], "say what to change"),
        (&["edit", "1", "--title", " "], "a memory needs a title"),
        (
            &["edit", "S1", "--title", "x"],
            "not a memory that can be changed",
        ),
        (
            &["edit", "1", "--text", "<private>x</private>"],
            "all of it is private",
        ),
        (&["pin", "P1"], "not a memory that can be changed"),
        (&["pin", "9"], "there is no #9"),
    ] {
        let output = home.mem(args);
        assert_eq!(output.code, Some(64), "{args:?}: {output}");
        assert!(output.stderr.contains(want), "{args:?}: {output}");
    }
}

#[test]
fn what_is_pinned_is_told_first() {
    // As long as the others, so that it does not slip into what room is left.
    const TITLE: &str =
        "Retries stop at 6, since the seventh trips the limiter that the provider has put up there";
    let mut home = sandbox();
    let long_ago = NOW - 400 * 86_400_000;
    home.set_env("CLAUDE_MEM_NOW", long_ago.to_string());
    home.mem(&["save", "--title", TITLE, "The 7th trips the limiter."])
        .ok();
    home.set_env("CLAUDE_MEM_NOW", NOW.to_string());
    for number in 0..60 {
        let title = format!(
            "A newer remark, number {number}, on something else entirely, told at some length"
        );
        home.mem(&["save", "--type", "decision", "--title", &title, "More."])
            .ok();
    }
    let told = || home.mem(&["context"]).ok().stdout;
    assert!(!told().contains("Retries stop at 6"), "{}", told());
    assert_snapshot!(shown(&home, &home.mem(&["pin", "1"])), @"
    pinned #1  Retries stop at 6, since the seventh trips the limiter that the provider has put up there
    [exit 0]
    ");
    assert!(told().contains("Retries stop at 6"), "{}", told());
    assert_snapshot!(shown(&home, &home.mem(&["unpin", "1"])), @"
    unpinned #1  Retries stop at 6, since the seventh trips the limiter that the provider has put up there
    [exit 0]
    ");
    assert!(!told().contains("Retries stop at 6"), "{}", told());
}
