//! Tests of `sentence_context`.

use super::*;

fn document(text: &str) -> TextDocument {
    TextDocument::read(text)
}

#[test]
fn sentence_is_told_with_the_one_it_refers_to() {
    let text = document("The relay drops frames over 4 kB. It never reports them. Want me to look?");
    assert_eq!(sentence_before(&text, 0).as_deref(), Some(""));
    assert_eq!(sentence_before(&text, 1).as_deref(), Some("The relay drops frames over 4 kB."));
    assert_eq!(sentences_after(&text, 0), "It never reports them.");
    assert_eq!(sentences_after(&text, 1), "", "a question is not told");
}

#[test]
fn reference_to_another_paragraph_cannot_be_told() {
    let text = document("The relay drops frames.\n\nThis happens at night.");
    assert_eq!(sentence_before(&text, 1), None);
}

#[test]
fn label_is_removed_and_a_negation_is_kept() {
    for (text, want) in [
        ("Yes — turn the cache off for these pages", "turn the cache off for these pages"),
        ("No, the mail service was never wired", "the mail service was never wired"),
        ("No backup exists, and none is planned", "No backup exists, and none is planned"),
        ("Conclusion: the audit log is complete", "the audit log is complete"),
        ("Done.", "Done."),
    ] {
        assert_eq!(without_label(text), want);
    }
}

#[test]
fn status_report_is_told_from_a_report() {
    let status = "## Current Position\n\nPhase 4 of 6.\n\n## Recent Work\n\n- The importer is done.";
    assert!(is_status_report(&document(status)));
    let report = "## Progress bar\n\nThe bar counts rows.\n\n## Status\n\nAll tests pass.";
    assert!(!is_status_report(&document(report)));
}
