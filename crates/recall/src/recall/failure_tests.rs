use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::failure_cases::{REMEDIES, StoredRemedy, UNKNOWN_FAILURES};
use super::second_failure_cases::{SECOND_REMEDIES, SECOND_UNKNOWN_FAILURES};
use super::third_failure_cases::{
    FOURTH_FAILURES, FOURTH_UNKNOWN_FAILURES, ReturningFailure, THIRD_FAILURES, THIRD_UNKNOWN_FAILURES,
};
use super::{EvidenceThreshold, RecallQuery};
use crate::recall_request::{RecallOccasion, RecallRequest};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_distil::telling_error_lines;
use claude_mem_store::{NewRowContext, Store};

fn store_of(rows: &[(&str, &str, &str)]) -> (tempfile::TempDir, Store, ProjectId) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
    let write = store.write(|tx| {
        let hint =
            ProjectHint { name: "p".into(), keys: vec!["path:/p".into()], root: "/p".into(), branch: None };
        let project = tx.ensure_project(&hint, Millis(1))?;
        for (at, (kind, title, narrative)) in rows.iter().enumerate() {
            let new = NewObservation::from_text(
                ObservationText {
                    narrative: (*narrative).into(),
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
    let project = write.unwrap();
    (dir, store, project)
}

fn told(store: &Store, project: ProjectId, output: &str) -> Vec<String> {
    let Some(text) = RecallRequest::text_of(RecallOccasion::Failure, output) else {
        return Vec::new();
    };
    let ask = RecallQuery {
        project,
        own: None,
        prompt: &text,
        shown: &HashSet::new(),
        budget_tokens: 400,
        zone: &TimeZone::UTC,
        threshold: EvidenceThreshold::Failure,
    };
    let recalled = super::recall_for_prompt(&store.read(), &ask, None).unwrap();
    recalled.items.into_iter().map(|item| item.title).collect()
}

const TABLES: [(&[StoredRemedy], &[&str]); 2] =
    [(REMEDIES, UNKNOWN_FAILURES), (SECOND_REMEDIES, SECOND_UNKNOWN_FAILURES)];

fn rows_of(remedies: &[StoredRemedy]) -> Vec<(&'static str, &'static str, &'static str)> {
    remedies.iter().map(|one| ("bugfix", one.title, one.narrative)).collect()
}

#[test]
fn same_error_brings_what_worked() {
    for (remedies, _) in TABLES {
        let (_dir, store, project) = store_of(&rows_of(remedies));
        let missed: Vec<_> = remedies
            .iter()
            .map(|one| (one, told(&store, project, one.output)))
            .filter(|(one, told)| *told != [one.title])
            .map(|(one, told)| (one.title, told, RecallRequest::text_of(RecallOccasion::Failure, one.output)))
            .collect();
        println!("{} of {} right: {missed:#?}", remedies.len() - missed.len(), remedies.len());
        assert!(missed.len() * 100 <= remedies.len() * 15, "{missed:#?}");
    }
}

#[test]
fn other_errors_of_the_same_tools_bring_nothing() {
    for (remedies, unknown) in TABLES {
        let (_dir, store, project) = store_of(&rows_of(remedies));
        for output in unknown {
            assert_eq!(told(&store, project, output), Vec::<String>::new(), "{output}");
        }
    }
}

const RETURNING: [(&[ReturningFailure], &[&str]); 2] =
    [(THIRD_FAILURES, THIRD_UNKNOWN_FAILURES), (FOURTH_FAILURES, FOURTH_UNKNOWN_FAILURES)];

/// The narrative of a stored remedy that quotes the lines which the distiller selects.
fn narrative_of(failure: &ReturningFailure) -> String {
    let lines = telling_error_lines(failure.output).join("” and “");
    format!("`{}` failed with “{lines}”. {}", failure.command, failure.remedy)
}

#[test]
fn returning_failure_brings_its_remedy_and_another_one_none() {
    for (failures, unknown) in RETURNING {
        let narratives: Vec<String> = failures.iter().map(narrative_of).collect();
        let each = failures.iter().zip(&narratives);
        let rows: Vec<_> = each.map(|(one, narrative)| ("bugfix", one.remedy, narrative.as_str())).collect();
        let (_dir, store, project) = store_of(&rows);
        let is_missed = |one: &&ReturningFailure| told(&store, project, one.later_output) != [one.remedy];
        let missed: Vec<&str> = failures.iter().filter(is_missed).map(|one| one.later_output).collect();
        println!("{} of {} right: {missed:#?}", failures.len() - missed.len(), failures.len());
        assert!(missed.len() * 100 <= failures.len() * 15, "{missed:#?}");
        for output in unknown {
            assert_eq!(told(&store, project, output), Vec::<String>::new(), "{output}");
        }
    }
}

#[test]
fn failure_without_a_remedy_and_decisions_with_the_same_words_stay_out() {
    let rows = [
        ("discovery", "error: canceling statement due to lock timeout in `make migrate`", ""),
        ("decision", "The lock timeout of migrations is 5 seconds", "A statement is cancelled then."),
    ];
    let (_dir, store, project) = store_of(&rows);
    let output = "error: canceling statement due to lock timeout\nmake: *** [migrate] Error 1";
    assert_eq!(told(&store, project, output), Vec::<String>::new());
}

#[test]
fn names_of_the_command_that_helped_are_no_error() {
    let title = "Connect over TCP instead of the socket: `psql -h localhost -U app books_dev`.";
    let rows = [("bugfix", title, "psql failed with “Peer authentication failed for user \"app\"”.")];
    let (_dir, store, project) = store_of(&rows);
    let other = "psql: error: connection to server at \"localhost\", port 5432 failed: FATAL: database \"books_dev\" \
                 does not exist for app";
    assert_eq!(told(&store, project, other), Vec::<String>::new());
    let same = "psql: error: connection to server failed: FATAL: Peer authentication failed for user \"app\"";
    assert_eq!(told(&store, project, same), [title]);
}
