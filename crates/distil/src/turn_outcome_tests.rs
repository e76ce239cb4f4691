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

#[test]
fn work_after_a_plan_carries_it_out() {
    let plan = Some(PendingPlan { title: "Cache the tokens".into(), at: Millis(1) });
    let mut ended = TurnOutcome { plan, ..TurnOutcome::default() };
    ended.join(&TurnOutcome::default());
    assert!(ended.plan.is_some());
    ended.join(&TurnOutcome { uncommitted: vec!["tokens.rs".into()], ..TurnOutcome::default() });
    assert_eq!(ended.plan, None);
}

#[test]
fn turn_is_answered_if_one_of_its_parts_is() {
    let mut turn = TurnOutcome { unanswered: true, ..TurnOutcome::default() };
    turn.join(&TurnOutcome::default());
    assert!(!turn.unanswered);
}

#[test]
fn plans_of_the_client_lie_outside_the_project() {
    assert!(is_plan_file("/home/user/.agent/plans/quiet-river.md"));
    assert!(!is_plan_file("docs/plans/cache.md"));
    assert!(!is_plan_file("/home/user/plans/cache.rs"));
}

#[test]
fn files_below_output_folders_are_build_output() {
    for (path, is_output) in [
        ("web/dist/style.css", true),
        ("node_modules/desk/index.js", true),
        ("web/dist.ts", false),
        ("src/distance/table.rs", false),
    ] {
        assert_eq!(is_build_output(path), is_output, "{path}");
    }
}
