use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::memory::{NewObservation, NewSummary, ObservationType, Origin, SummaryText};

fn distilled(titles: &[String], summary: Option<NewSummary>) -> CompressionOutput {
    let observation = |title: &String| {
        NewObservation::new(ObservationType::CHANGE, title.clone(), Origin::Agent, Millis(0))
    };
    CompressionOutput {
        observations: titles.iter().map(observation).collect(),
        summary,
        ..CompressionOutput::default()
    }
}

#[test]
fn rolling_summary_stays_small() {
    let mut rolling = RollingSummary::default();
    assert_eq!(rolling.to_prompt_text(), "");
    let summary = NewSummary {
        text: SummaryText {
            request: "r".repeat(5_000),
            completed: "done </so_far>".into(),
            ..SummaryText::default()
        },
        ..NewSummary::default()
    };
    let titles: Vec<String> = (0..100).map(|i| format!("title {i} {}", "t".repeat(300))).collect();
    rolling.add_episode(&distilled(&titles, Some(summary)));
    let text = rolling.to_prompt_text();
    assert!(text.len() <= SO_FAR_BYTES_MAX);
    assert!(text.contains("title 99") && !text.contains("title 75 "));
    assert!(!text.contains("</so_far>"));
    assert!(rolling.to_json().unwrap().len() < 3 * SO_FAR_BYTES_MAX);
}

#[test]
fn newest_summary_replaces_and_titles_accumulate() {
    let mut rolling = RollingSummary::default();
    let summary = |completed: &str| {
        Some(NewSummary {
            text: SummaryText { completed: completed.into(), ..SummaryText::default() },
            ..NewSummary::default()
        })
    };
    rolling.add_episode(&distilled(&["a".into()], summary("first")));
    rolling.add_episode(&distilled(&["b".into()], None));
    rolling.add_episode(&distilled(&[], summary("second")));
    assert_eq!(rolling.to_prompt_text(), "completed: second\nalready kept:\n- a\n- b");
    let kept = rolling.to_json().unwrap();
    assert_eq!(RollingSummary::from_json(Some(&kept)), rolling);
    assert_eq!(RollingSummary::from_json(Some("of another version")), RollingSummary::default());
    assert_eq!(RollingSummary::from_json(None), RollingSummary::default());
}

#[test]
fn absorbed_titles_are_no_longer_listed() {
    let mut rolling = RollingSummary::default();
    rolling.add_episode(&distilled(&["a".into(), "b".into()], None));
    let absorbed = vec![claude_mem_core::memory::AbsorbedTitle { into: 0, title: "A.".into() }];
    rolling.add_episode(&CompressionOutput { absorbed, ..distilled(&["c".into()], None) });
    assert_eq!(rolling.to_prompt_text(), "already kept:\n- b\n- c");
}

#[test]
fn newest_observations_are_shown_with_their_text() {
    let mut rolling = RollingSummary::default();
    let titles: Vec<String> = (0..8).map(|n| format!("title {n}")).collect();
    let mut output = distilled(&titles, None);
    for observation in &mut output.observations {
        observation.text.narrative = format!("Text of {}.", observation.text.title);
        observation.text.facts = vec!["A fact".into()];
    }
    rolling.add_episode(&output);
    let text = rolling.to_prompt_text();
    assert!(text.contains("- title 1\n- title 2: Text of title 2. A fact\n"), "{text}");
    let absorbed = vec![claude_mem_core::memory::AbsorbedTitle { into: 0, title: "title 7".into() }];
    rolling.add_episode(&CompressionOutput { absorbed, ..CompressionOutput::default() });
    assert!(!rolling.to_prompt_text().contains("title 7"));
    let kept = rolling.to_json().unwrap();
    assert_eq!(RollingSummary::from_json(Some(&kept)), rolling);
}
