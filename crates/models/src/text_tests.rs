use super::*;

#[test]
fn truncation_respects_characters() {
    assert_eq!(truncate_chars("记忆".into(), 2), "记忆");
    assert_eq!(truncate_chars("记忆体".into(), 2), "记…");
    assert_eq!(truncate_chars("a b".into(), 2), "a…");
    assert_eq!(truncate_chars(String::new(), 0), "");
    assert_eq!(truncate_chars("abc".into(), 1), "…");
}
