use super::*;

#[test]
fn commit_clears_what_was_not_committed() {
    let mut ended = TurnOutcome { uncommitted: vec!["a.rs".into()], ..TurnOutcome::default() };
    ended.join(&TurnOutcome { committed: true, uncommitted: vec!["b.rs".into()], ..TurnOutcome::default() });
    assert_eq!(ended.uncommitted, ["b.rs"]);
    ended.join(&TurnOutcome { uncommitted: vec!["c.rs".into()], ..TurnOutcome::default() });
    assert_eq!(ended.uncommitted, ["b.rs", "c.rs"]);
}

#[test]
fn refusal_ends_with_the_next_commit() {
    let refused = Some(RefusedCommit { title: "Add a cursor".into(), ..RefusedCommit::default() });
    let mut ended = TurnOutcome { refused, ..TurnOutcome::default() };
    ended.join(&TurnOutcome::default());
    assert!(ended.refused.is_some());
    ended.join(&TurnOutcome { committed: true, ..TurnOutcome::default() });
    assert_eq!(ended.refused, None);
}

#[test]
fn only_open_notes_in_work_folders_count() {
    for (path, counts) in [
        ("notes/todos/pending/cursor.md", true),
        ("notes/debug/stuck-list.md", true),
        ("notes/todos/done/cursor.md", false),
        ("src/debug/printer.rs", false),
        ("docs/todo.md", false),
    ] {
        assert_eq!(is_work_note(path), counts, "{path}");
    }
}

#[test]
fn note_is_named_by_its_title_field_or_heading() {
    assert_eq!(
        note_title("---\ntitle: Move the cursor\n---\n# Todo".lines()).as_deref(),
        Some("Move the cursor")
    );
    assert_eq!(note_title("# Debug: List stays empty\n\nText".lines()).as_deref(), Some("List stays empty"));
    assert_eq!(note_title("no heading".lines()), None);
}
