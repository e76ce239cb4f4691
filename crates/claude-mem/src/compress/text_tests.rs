use super::*;

#[test]
fn a_cut_never_falls_inside_a_character() {
    assert_eq!(cut("记忆".into(), 2), "记忆");
    assert_eq!(cut("记忆体".into(), 2), "记…");
    assert_eq!(cut("a b".into(), 2), "a…");
    assert_eq!(cut(String::new(), 0), "");
    assert_eq!(cut("abc".into(), 1), "…");
}

#[test]
fn a_sentence_ends_where_a_reader_would_end_it() {
    for (text, want) in [
        ("One. Two.", "One."),
        ("See a.rs for more", "See a.rs for more"),
        ("v1.2 is out! Really?", "v1.2 is out!"),
        ("一。二。", "一。"),
        ("line one\nline two", "line one"),
        ("", ""),
    ] {
        assert_eq!(first_sentence(text), want, "{text:?}");
    }
}
