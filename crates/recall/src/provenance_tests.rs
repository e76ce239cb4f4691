use super::*;

/// A claim of a prompt.
fn claim(title: &str, text: &str) -> Claim {
    let mut claim = Claim::new(ClaimKind::Rule, TextSource::Prompt, text.to_owned(), Millis(0));
    title.clone_into(&mut claim.title);
    claim
}

#[test]
fn quote_does_not_repeat_its_title_nor_name_the_speaker() {
    for (title, text, want) in [
        ("", "Boats moor at the quay.", "Boats moor at the quay."),
        ("Boats moor", "Boats moor at the quay.", "Boats moor at the quay."),
        ("Boats moor at…", "User: “boats moor at the quay”", "boats moor at the quay"),
        (
            "The quay",
            "Asked “Where?”, the user chose “The quay”.",
            "Asked “Where?”, the user chose “The quay”.",
        ),
        ("Move the boats", "They are in the way.", "Move the boats\nThey are in the way."),
        ("The quay", "User: “The quay” Agent: “Done”", "User: “The quay” Agent: “Done”"),
    ] {
        assert_eq!(quoted_text(&claim(title, text)), want, "{text}");
    }
}
