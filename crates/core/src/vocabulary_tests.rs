use super::*;

#[test]
fn standard_types_are_the_constants() {
    let vocabulary = Vocabulary::default();
    for kind in [
        ObservationType::DECISION,
        ObservationType::BUGFIX,
        ObservationType::FEATURE,
        ObservationType::REFACTOR,
        ObservationType::DISCOVERY,
        ObservationType::CHANGE,
    ] {
        assert_eq!(vocabulary.resolve_type(kind.as_str()), kind);
    }
    assert_eq!(vocabulary.types.len(), 6);
}

#[test]
fn any_model_word_maps_to_the_vocabulary() {
    for (said, want) in [
        ("bugfix", "bugfix"),
        ("BugFix", "bugfix"),
        (" Bug Fix ", "bugfix"),
        ("bug_fix", "bugfix"),
        ("fix", "bugfix"),
        ("feat", "feature"),
        ("bugfix|feature", "bugfix"),
        ("feature, refactor", "feature"),
        ("nonsense, refactor", "refactor"),
        ("documentation", "change"),
        ("finding", "discovery"),
        ("`decision`", "decision"),
        ("feature (new)", "feature"),
        ("", "discovery"),
        ("???", "discovery"),
        ("banana", "discovery"),
        ("修复", "discovery"),
    ] {
        assert_eq!(Vocabulary::default().resolve_type(said).as_str(), want, "said {said:?}");
    }
}

#[test]
fn unknown_concept_is_none() {
    let vocabulary = Vocabulary::default();
    assert_eq!(vocabulary.find_concept("How it works"), Some("how-it-works"));
    assert_eq!(vocabulary.find_concept("tradeoff"), Some("trade-off"));
    assert_eq!(vocabulary.find_concept("pitfall"), Some("gotcha"));
    assert_eq!(vocabulary.find_concept("blockchain"), None);
    assert_eq!(vocabulary.find_concept(""), None);
}

#[test]
fn file_replaces_standard_vocabulary() {
    let file = r#"{
        "types": [
            {"name": "finding", "meaning": "what the reading showed", "also": ["result"]},
            {"name": "note", "meaning": "anything else"}
        ],
        "concepts": []
    }"#;
    let vocabulary = Vocabulary::from_json(file).unwrap();
    assert_eq!(vocabulary.resolve_type("Result").as_str(), "finding");
    assert_eq!(vocabulary.resolve_type("bugfix").as_str(), "note");
    assert_eq!(vocabulary.find_concept("gotcha"), None);
    assert_eq!(vocabulary.find_concept("Preference"), Some(PREFERENCE));
    let concepts: Vec<&str> = vocabulary.all_concepts().map(|(name, _)| name).collect();
    assert_eq!(concepts, [PREFERENCE, AMENDMENT]);
}

#[test]
fn invalid_file_is_rejected() {
    let many = format!(
        r#"{{"types": [{}], "concepts": []}}"#,
        vec![r#"{"name": "a", "meaning": ""}"#; 65].join(",")
    );
    for bad in [
        "",
        "[]",
        r#"{"types": [], "concepts": []}"#,
        r#"{"types": [{"name": "A b", "meaning": ""}], "concepts": []}"#,
        r#"{"types": [{"name": "<x>", "meaning": ""}], "concepts": []}"#,
        r#"{"types": [{"name": "a", "meaning": ""}], "concepts": [], "typos": []}"#,
        &many,
        &" ".repeat(70_000),
    ] {
        assert!(Vocabulary::from_json(bad).is_err(), "{bad:.60}");
    }
}

#[test]
fn vocabulary_round_trips() {
    let text = serde_json::to_string(&Vocabulary::default()).unwrap();
    assert_eq!(Vocabulary::from_json(&text).unwrap(), Vocabulary::default());
}

#[test]
fn documented_example_is_valid() {
    let document = include_str!("../../../docs/vocabulary.md");
    let example = document.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let vocabulary = Vocabulary::from_json(example).unwrap();
    assert_eq!(vocabulary.find_type("verdict").unwrap().as_str(), "ruling");
    assert_eq!(vocabulary.resolve_type("unheard of").as_str(), "note");
}
