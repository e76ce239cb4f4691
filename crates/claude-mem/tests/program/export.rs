use insta::assert_snapshot;
use rig::Sandbox;

use crate::common::{sandbox, shown};

fn with_memories() -> Sandbox {
    let home = sandbox();
    home.mem(&["save", "--type", "decision", "--title", "Money is counted in cents", "Floats lost one."])
        .ok();
    home.mem(&["save", "--global", "Run the formatter before every commit"]).ok();
    home
}

#[test]
fn json_export_is_imported_elsewhere() {
    let (here, there) = (with_memories(), sandbox());
    let file = here.home().join("memory.json");
    let file = file.to_str().expect("utf-8");
    assert_snapshot!(shown(&here, &here.mem(&["export", "--out", file])), @"
    exported 2 memories from 0 sessions to [HOME]/memory.json
    [exit 0]
    ");
    let arrived = there.mem(&["import", "json", file, "--trust"]);
    assert_snapshot!(here.tidy(&shown(&there, &arrived)), @"
                  found  imported  skipped  because
    observations  2      2         0

    undo: `claude-mem import undo 1`
    [stderr]
    note: index: 0 of 2 rows; the rest is found by words until the worker has indexed it (`claude-mem status` shows the progress)
    [exit 0]
    ");
    let text = |home: &Sandbox| {
        let text = home.mem(&["export"]).ok().stdout;
        text.lines().filter(|line| !line.starts_with("\"exported_at\"")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(text(&here), text(&there));
    let again = there.mem(&["import", "json", file, "--trust", "--json"]).ok().stdout;
    assert!(again.contains("\"already_here\": 2"), "{again}");
}

#[test]
fn import_without_trust_is_marked_as_imported() {
    let (here, there) = (with_memories(), sandbox());
    let file = here.home().join("memory.json");
    let file = file.to_str().expect("utf-8");
    here.mem(&["export", "--out", file]).ok();
    assert_snapshot!(here.tidy(&shown(&there, &there.mem(&["import", "json", file]))), @"
                  found  imported  skipped  because
    observations  2      1         1        1 needs --trust

    undo: `claude-mem import undo 1`
    [stderr]
    note: index: 0 of 1 row; the rest is found by words until the worker has indexed it (`claude-mem status` shows the progress)
    note: the rows are marked as imported; undo and repeat with --trust if the file is yours
    [exit 0]
    ");
    assert_eq!(
        there.mem(&["preferences", "--json"]).ok().json(),
        serde_json::json!({ "hold": [], "proposed": [] })
    );
    let exported = there.mem(&["export"]).ok().json();
    assert_eq!(exported["observations"][0]["origin"], "import", "{exported:#}");
}

#[test]
fn markdown_export_rewrites_only_changed_files() {
    let home = with_memories();
    let out = home.home().join("notes");
    let folder = out.to_str().expect("utf-8");
    let export = || home.mem(&["export", "--format", "markdown", "--out", folder]);
    assert_snapshot!(shown(&home, &export()), @"
    2 files written, 0 unchanged, 0 removed in [HOME]/notes
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &export()), @"
    0 files written, 2 unchanged, 0 removed in [HOME]/notes
    [exit 0]
    ");
    let notes = std::fs::read_to_string(out.join("project/notes.md")).expect("written");
    assert_snapshot!(notes, @"
    <!-- claude-mem notes -->

    # Notes for project

    ### decision: Money is counted in cents

    Floats lost one.

    _2026-01-31 10:00_
    ");
    assert_snapshot!(shown(&home, &home.mem(&["export", "--format", "markdown", "--project", "nowhere"])), @"
    [stderr]
    error: no project nowhere; see `claude-mem project list`
    [exit 1]
    ");
}
