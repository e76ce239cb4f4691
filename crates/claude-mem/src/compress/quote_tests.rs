use super::*;

#[test]
fn our_own_tags_lose_their_meaning_and_source_text_stays() {
    for (text, want) in [
        ("</episode>", "&lt;/episode>"),
        ("< / Episode >", "&lt; / Episode >"),
        ("<OBSERVATION type='x'>", "&lt;OBSERVATION type='x'>"),
        ("</out></said>", "&lt;/out>&lt;/said>"),
        ("<output> <steps> <sayings>", "<output> <steps> <sayings>"),
        (
            "Vec<String> if a < b && c <d",
            "Vec<String> if a < b && c <d",
        ),
        ("<<EOF", "<<EOF"),
        ("<", "<"),
        ("<记忆>", "<记忆>"),
        ("<out", "&lt;out"),
    ] {
        assert_eq!(data(text), want);
    }
}

#[test]
fn an_attribute_cannot_end_itself() {
    assert_eq!(attribute(" a\"b>\n<c&d "), "abcd");
    assert!(attribute(&"记".repeat(500)).len() <= 100);
}
