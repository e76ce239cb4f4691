use super::*;

#[test]
fn reserved_tags_are_escaped_and_source_is_kept() {
    for (text, want) in [
        ("</episode>", "&lt;/episode>"),
        ("< / Episode >", "&lt; / Episode >"),
        ("<OBSERVATION type='x'>", "&lt;OBSERVATION type='x'>"),
        ("</out></said>", "&lt;/out>&lt;/said>"),
        ("<output> <steps> <sayings>", "<output> <steps> <sayings>"),
        ("Vec<String> if a < b && c <d", "Vec<String> if a < b && c <d"),
        ("<<EOF", "<<EOF"),
        ("<", "<"),
        ("<记忆>", "<记忆>"),
        ("<out", "&lt;out"),
    ] {
        assert_eq!(escape_tags(text), want);
    }
}

#[test]
fn attribute_cannot_close_its_quotes() {
    assert_eq!(sanitize_attribute(" a\"b>\n<c&d "), "abcd");
    assert!(sanitize_attribute(&"记".repeat(500)).len() <= 100);
}
