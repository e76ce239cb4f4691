use insta::assert_snapshot;
use rig::tui::TuiSession;
use rig::{ProcessOutput, Sandbox};

use crate::common::{NOW, sandbox, shown};

fn with_memory() -> Sandbox {
    let home = sandbox();
    home.mem(&["save", "--title", "Retries stop at 6", "The 7th trips the limiter."]).ok();
    home
}

#[test]
fn edited_text_is_searchable() {
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
    let piped = home.mem_with(&["edit", "1", "--text", "-"], "The key is AKIAQ3EGRJ7HZ5XN2M4P.\n");
    assert_eq!(piped.code, Some(0), "{piped}");
    let shown = home.mem(&["show", "1"]).ok().stdout;
    assert!(shown.contains("[redacted:"), "{shown}");
}

#[test]
fn rejected_edits_say_why() {
    let home = with_memory();
    for (args, want) in [
        (&["edit", "1"][..], "nothing to change"),
        (&["edit", "1", "--title", " "], "a memory needs a title"),
        (&["edit", "S1", "--title", "x"], "S1 is not a memory"),
        (&["edit", "1", "--text", "<private>x</private>"], "the whole text is private"),
        (&["pin", "P1"], "P1 is not a memory"),
    ] {
        let output = home.mem(args);
        assert_eq!(output.code, Some(64), "{args:?}: {output}");
        assert!(output.stderr.contains(want), "{args:?}: {output}");
    }
}

#[test]
fn pinned_observation_comes_first() {
    // As long as the others, so that it does not fit into the remaining budget.
    const TITLE: &str =
        "Retries stop at 6, since the seventh trips the limiter that the provider has put up there";
    let mut home = sandbox();
    let long_ago = NOW - 400 * 86_400_000;
    home.set_env("CLAUDE_MEM_NOW", long_ago.to_string());
    home.mem(&["save", "--type", "decision", "--title", TITLE, "The 7th trips the limiter."]).ok();
    home.set_env("CLAUDE_MEM_NOW", NOW.to_string());
    for number in 0..60 {
        let title =
            format!("A newer remark, number {number}, on something else entirely, told at some length");
        home.mem(&["save", "--type", "decision", "--title", &title, "More."]).ok();
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

/// Runs `claude-mem edit 1` in a terminal until it prints `last_words`. `answers` are typed when it
/// asks whether to edit again. `None` if no terminal is available.
fn in_editor(home: &Sandbox, answers: &str, last_words: &str) -> Option<ProcessOutput> {
    let mut screen = match TuiSession::run(home, &home.mem_command(&["edit", "1"])) {
        Ok(screen) => screen,
        Err(missing) => {
            rig::skip(missing);
            return None;
        }
    };
    for answer in answers.split_inclusive('\r') {
        screen.wait_for("Edit again? [Y/n]");
        screen.press(answer);
    }
    screen.wait_for(last_words);
    let output = screen.wait_for_exit();
    let left = std::fs::read_dir(home.data_dir()).expect("data").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    let is_sheet = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("edit-");
    assert!(!left.iter().any(is_sheet), "{left:?}");
    Some(output)
}

/// Sets a shell script as the editor. `$1` is the file.
fn editor(home: &mut Sandbox, script: &str) {
    let path = home.write(home.home().join("editor.sh"), script);
    home.set_env("EDITOR", format!("sh {}", path.display()));
}

#[test]
fn editor_changes_are_stored() {
    let mut home = with_memory();
    editor(
        &mut home,
        r#"cp "$1" ~/sheet; sed -i 's/at 6/at 7/; s/^Type: .*/Type: decision/; $a - The 8th is refused.' "$1""#,
    );
    let Some(output) = in_editor(&home, "", "edited #1  Retries stop at 7") else {
        return;
    };
    output.ok();
    assert_snapshot!(home.read(home.home().join("sheet")), @"
    Title: Retries stop at 6
    Type: discovery

    The 7th trips the limiter.

    Facts:
    ");
    assert_snapshot!(shown(&home, &home.mem(&["show", "1"])), @"
    #1 Retries stop at 7
    decision · 2026-01-31 10:00 · project

      The 7th trips the limiter.

    facts
      - The 8th is refused.
    [exit 0]
    ");
}

#[test]
fn unchanged_or_emptied_file_changes_nothing() {
    for script in ["true", r#": > "$1""#] {
        let mut home = with_memory();
        editor(&mut home, script);
        let before = home.mem(&["show", "1", "--json"]).ok().stdout;
        let said = "unchanged: #1  Retries stop at 6";
        let Some(output) = in_editor(&home, "", said) else {
            return;
        };
        output.ok();
        assert_eq!(home.mem(&["show", "1", "--json"]).ok().stdout, before);
    }
}

#[test]
fn invalid_file_can_be_edited_again() {
    const SPOIL: &str =
        r#"grep -q ^Title "$1" && sed -i '/^Title/d' "$1" || sed -i '1i Title: Retries stop at 9' "$1""#;
    let mut home = with_memory();
    editor(&mut home, SPOIL);
    let Some(output) = in_editor(&home, "\r", "edited #1  Retries stop at 9") else {
        return;
    };
    let told = output.ok().stdout;
    assert!(told.contains("the line `Title: …` is missing"), "{told}");
    let Some(output) = in_editor(&home, "n\r", "is missing; nothing was changed") else {
        return;
    };
    assert_eq!(output.code, Some(64), "{output}");
    let kept = home.mem(&["show", "1"]).ok().stdout;
    assert!(kept.contains("Retries stop at 9"), "{kept}");
}

#[test]
fn failing_editor_changes_nothing() {
    for (editor, want) in [
        ("false", "false failed with exit status: 1; nothing was changed"),
        ("/nowhere/vi", "failed to start /nowhere/vi; set EDITOR"),
    ] {
        let mut home = with_memory();
        home.set_env("VISUAL", editor);
        home.set_env("EDITOR", "true");
        let Some(output) = in_editor(&home, "", want) else {
            return;
        };
        assert_eq!(output.code, Some(1), "{output}");
    }
}
