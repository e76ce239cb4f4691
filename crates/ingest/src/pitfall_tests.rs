//! Tests of `pitfall`.

use super::*;
use claude_mem_core::memory::ObservationType;

fn pitfall(title: &str, narrative: &str) -> Option<Pitfall> {
    let text = ObservationText::new(ObservationType::DISCOVERY, title);
    Pitfall::from_text(&ObservationText {
        narrative: narrative.into(),
        concepts: vec![CONCEPT.into()],
        ..text
    })
}

#[test]
fn same_place_and_trouble_are_one_pitfall() {
    let first = pitfall(
        "The hook picks up tests of old snapshots in `build/snapshots/`",
        "The commit went through after `rm -rf build/snapshots/run-7f3a` removed what was left there.",
    );
    let again = pitfall(
        "All failures are tests from `build/snapshots`, not our code",
        "The commit went through after `rm -rf build/snapshots/run-91bc` removed what was left there.",
    );
    assert!(first.unwrap().is_same(&again.unwrap()));
}

#[test]
fn another_place_or_trouble_is_another_pitfall() {
    let first = pitfall("The hook picks up tests of old snapshots in `build/snapshots/`", "").unwrap();
    let elsewhere = pitfall("The hook picks up tests of old snapshots in `var/cache/`", "").unwrap();
    let other = pitfall("`build/snapshots/` fills the disk", "").unwrap();
    assert!(!first.is_same(&elsewhere));
    assert!(!first.is_same(&other));
}

#[test]
fn row_without_the_concept_or_a_place_is_none() {
    assert_eq!(pitfall("The mail server refuses long subjects", ""), None);
    let text = ObservationText::new(ObservationType::DISCOVERY, "The hook reads `a/b`");
    assert_eq!(Pitfall::from_text(&text), None);
}
