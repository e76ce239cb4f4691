use super::*;
use crate::clock::Millis;
use crate::memory::{NewObservation, NewSummary, ObservationType, Origin};

fn distilled(titles: &[String], summary: Option<NewSummary>) -> Distilled {
    let observation = |title: &String| NewObservation {
        kind: ObservationType::CHANGE,
        title: title.clone(),
        subtitle: String::new(),
        narrative: String::new(),
        facts: vec![],
        concepts: vec![],
        files_read: vec![],
        files_modified: vec![],
        origin: Origin::Agent,
        created_at: Millis(0),
        discovery_tokens: 0,
    };
    Distilled {
        observations: titles.iter().map(observation).collect(),
        summary,
    }
}

#[test]
fn what_is_known_of_the_session_stays_small() {
    let mut rolling = Rolling::default();
    assert_eq!(rolling.text(), "");
    let summary = NewSummary {
        request: "r".repeat(5_000),
        completed: "done </so_far>".into(),
        ..NewSummary::default()
    };
    let titles: Vec<String> = (0..100)
        .map(|i| format!("title {i} {}", "t".repeat(300)))
        .collect();
    rolling.add(&distilled(&titles, Some(summary)));
    let text = rolling.text();
    assert!(text.len() <= SO_FAR_BYTES_MAX);
    assert!(text.contains("title 99") && !text.contains("title 75 "));
    assert!(!text.contains("</so_far>"));
    assert!(rolling.to_json().unwrap().len() < 3 * SO_FAR_BYTES_MAX);
}

#[test]
fn the_newest_summary_is_told_and_titles_add_up() {
    let mut rolling = Rolling::default();
    let summary = |completed: &str| {
        Some(NewSummary {
            completed: completed.into(),
            ..NewSummary::default()
        })
    };
    rolling.add(&distilled(&["a".into()], summary("first")));
    rolling.add(&distilled(&["b".into()], None));
    rolling.add(&distilled(&[], summary("second")));
    assert_eq!(rolling.text(), "completed: second\nalready kept:\n- a\n- b");
    let kept = rolling.to_json().unwrap();
    assert_eq!(Rolling::read(Some(&kept)), rolling);
    assert_eq!(
        Rolling::read(Some("of another version")),
        Rolling::default()
    );
    assert_eq!(Rolling::read(None), Rolling::default());
}
