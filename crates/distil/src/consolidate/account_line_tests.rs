use super::*;

#[test]
fn long_line_ends_with_a_sentence_or_a_clause() {
    for (text, max, want) in [
        ("The list keeps its place. The row keeps its number.", 30, Some("The list keeps its place.")),
        (
            "The list keeps its place; the row keeps its number and the page its height",
            40,
            Some("The list keeps its place."),
        ),
        ("The list keeps “its place; the row” keeps its number and its height", 32, None),
        ("The list keeps its place and the row keeps its number without any pause", 32, None),
        ("The hook picks up tests in `tmp/` (a cloned…", 300, None),
    ] {
        assert_eq!(whole_line(text, max).as_deref(), want, "{text}");
    }
}

#[test]
fn openings_in_the_middle_of_an_argument_do_not_stand_alone() {
    for text in [
        "The answer is: because keys are random.",
        "The only cost is a larger row.",
        "When the list is empty (your screenshot case) nothing is shown.",
    ] {
        assert!(!stands_alone(text), "{text}");
    }
    assert!(stands_alone("Folder keys are random, because they must be shared."));
}
