use super::*;

/// A text of one token.
fn word() -> String {
    "four".to_owned()
}

#[test]
fn reading_tokens_count_every_field() {
    // Each field is a token and a line break.
    let observation = ObservationText {
        subtitle: word(),
        narrative: word(),
        facts: vec![word()],
        concepts: vec![word()],
        files_read: vec![word()],
        files_modified: vec![word(), word()],
        ..ObservationText::new(ObservationType::BUGFIX, word())
    };
    assert_eq!(observation.read_tokens(), 16);
    let mut summary =
        SummaryText { files_read: vec![word()], files_edited: vec![word()], ..Default::default() };
    for text in summary.texts_mut() {
        *text = word();
    }
    assert_eq!(summary.read_tokens(), 16);
    let mut account = AccountText { purpose: word(), files_edited: vec![word()], ..Default::default() };
    for list in account.lists_mut() {
        list.push(word());
    }
    assert_eq!(account.read_tokens(), 14);
}

#[test]
fn empty_fields_cost_nothing() {
    assert_eq!(ObservationText::new(ObservationType::BUGFIX, "").read_tokens(), 0);
    assert_eq!(SummaryText::default().read_tokens() + AccountText::default().read_tokens(), 0);
}

#[test]
fn texts_are_flat_in_json() {
    let observation = NewObservation::new(ObservationType::BUGFIX, "Fixed", Origin::Agent, Millis(7));
    let json = serde_json::to_value(&observation).unwrap();
    assert_eq!(
        (&json["type"], &json["title"], &json["created_at"]),
        (&"bugfix".into(), &"Fixed".into(), &7.into())
    );
    assert_eq!(serde_json::from_value::<NewObservation>(json).unwrap(), observation);
}
