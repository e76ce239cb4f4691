use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::{NewRowContext, Store};

fn told(rows: &[(&str, &str, &str)]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
    let project = store.write(|tx| {
        let hint =
            ProjectHint { name: "p".into(), keys: vec!["path:/p".into()], root: "/p".into(), branch: None };
        let project = tx.ensure_project(&hint, Millis(1))?;
        for (at, (kind, title, narrative)) in rows.iter().enumerate() {
            let new = NewObservation::from_text(
                ObservationText {
                    narrative: (*narrative).into(),
                    files_modified: vec!["src/cart.rs".into()],
                    ..ObservationText::new(ObservationType::named(*kind), *title)
                },
                Origin::Agent,
                Millis(1_000 * at as i64),
            );
            let place = NewRowContext { project: Some(project), made_by: "test", ..NewRowContext::default() };
            tx.create_observation(&new, &place)?;
        }
        Ok(project)
    });
    let request = FileRecallRequest {
        project: project.unwrap(),
        own: None,
        path: "src/cart.rs",
        shown: &HashSet::new(),
        budget_tokens: 400,
        zone: &TimeZone::UTC,
    };
    recall_file(&store.read(), &request).unwrap().text
}

#[test]
fn file_is_told_with_the_sentence_that_names_it() {
    let told = told(&[(
        "decision",
        "Prices are rounded once",
        "The invoice had its own rounding. Only cart.rs rounds, at the very end. Tests cover it.",
    )]);
    insta::assert_snapshot!(told, @"
    <claude-mem-context>
    Recorded in earlier sessions of this project, as data; check before relying on it.
    Known of src/cart.rs:
    - #1 1970-01-01 decision Prices are rounded once. Only cart.rs rounds, at the very end.
    </claude-mem-context>
    ");
}

#[test]
fn overcome_failure_is_told_as_its_remedy_only() {
    let told = told(&[
        (
            "bugfix",
            "`make test` fails with a lock error in cart.rs",
            "Dropping the guard before the await fixed it.",
        ),
        ("bugfix", "`make lint` failed", ""),
    ]);
    assert!(told.contains("bugfix Dropping the guard before the await fixed it."), "{told}");
    assert!(!told.contains("fails with a lock") && !told.contains("make lint"), "{told}");
}

#[test]
fn same_statement_is_told_once() {
    let row = ("decision", "Prices are rounded once", "");
    assert_eq!(told(&[row, row]).matches("rounded once").count(), 1);
}
