use super::private;

/// The stripped text, and whether a private block was removed.
fn strip(text: &str) -> (String, bool) {
    let stripped = private(text);
    (stripped.text.into_owned(), stripped.private)
}

#[test]
fn private_blocks_are_removed_entirely() {
    for (text, want) in [
        ("a <private>x</private> b", "a  b"),
        ("<private>x</private>", ""),
        ("<PRIVATE>x</PRIVATE>", ""),
        ("<Private>x</pRIVATE>", ""),
        ("<private>x\ny\n\nz</private>!", "!"),
        ("a<private>x</private>b<private>y</private>c", "abc"),
        ("über<private>ß</private>ö", "überö"),
        // Unusual spellings.
        ("< private >x</ private >b", "b"),
        ("<private\n>x</private\n>b", "b"),
        ("<\tprivate>x< / private>b", "b"),
        ("<private\r\n  >x</\r\nprivate>b", "b"),
        ("<private/>x</private>b", "b"),
        ("<private />x</private>b", "b"),
        // Attributes.
        ("<private reason=\"tax\">x</private>b", "b"),
        ("<private a='>' b=\"</private>\">x</private>b", "b"),
        ("<private it's mine>x</private>b", "b"),
        ("<private a = \"</private>\" >x</private>b", "b"),
        // Nested.
        ("<private>a<private>b</private>c</private>d", "d"),
        ("<private>a<PRIVATE k=v>b</private>c</Private>d", "d"),
        ("<private><private><private>x</private></private></private>d", "d"),
        // Escaped by an editor, a browser, a JSON writer; full-width; with zero-width characters.
        ("&lt;private&gt;x&lt;/private&gt;b", "b"),
        ("&#60;private&#62;x&#x3C;&#47;private&#x3E;b", "b"),
        ("\\u003cprivate\\u003ex\\u003C/private\\u003Eb", "b"),
        ("\\x3cprivate\\x3ex<\\/private>b", "b"),
        ("%3Cprivate%3Ex%3C%2Fprivate%3Eb", "b"),
        ("＜private＞x＜／private＞b", "b"),
        ("＜ｐｒｉｖａｔｅ＞x</private>b", "b"),
        ("<pri\u{200B}vate>x</pri\u{AD}vate>b", "b"),
        ("<private>x&lt;/private>b", "b"),
    ] {
        assert_eq!(strip(text), (want.to_owned(), true), "text {text:?}");
    }
}

#[test]
fn unclosed_private_block_hides_the_rest() {
    for (text, want) in [
        ("a <private>x", "a "),
        ("a <private", "a "),
        ("a <private ", "a "),
        ("a <private x y z", "a "),
        ("a <private k=\"v", "a "),
        ("a <private>x</privat>y", "a "),
        ("a <private>x</private y", "a "),
        ("a <private>x</private foo>y", "a "),
        ("a <private>x<private>y", "a "),
        ("a <private>x<private>y</private>z", "a "),
        ("a <private>x<\\private>y", "a "),
        ("a <private>x&lt;/private", "a "),
        ("a <private/>x", "a "),
        ("a <Private>x", "a "),
        ("<private>x</private>b<private>y", "b"),
        ("a <private>x <system-reminder>y</system-reminder> z", "a "),
    ] {
        assert_eq!(strip(text), (want.to_owned(), true), "text {text:?}");
    }
}

#[test]
fn open_block_makes_following_text_private() {
    for (text, want) in [
        ("a", false),
        ("<private>a</private>", false),
        ("<private>a", true),
        ("<private>a</private> b <private> c", true),
        ("<private>a<private>b</private>", true),
        ("<system-reminder>a", false),
        ("</private>", false),
    ] {
        assert_eq!(private(text).open, want, "text {text:?}");
    }
}

#[test]
fn orphan_closing_tag_hides_from_the_start() {
    for (text, want) in [
        ("a </private> b", " b"),
        ("</private>a", "a"),
        ("<private>x</private> a </private> b", " b"),
        ("x\n</private>\nafter", "\nafter"),
        ("<private>x \"</private>\" y</private>b", "b"),
        ("line\nsecret\n&lt;/private&gt; after", " after"),
        ("a </private> b </private> c", " c"),
    ] {
        assert_eq!(strip(text), (want.to_owned(), true), "text {text:?}");
    }
}

#[test]
fn tags_are_read_as_a_person_sees_them() {
    for (open, close) in [
        ("<\u{1b}[31mprivate\u{1b}[0m>", "</\u{1b}[31mprivate\u{1b}[0m>"),
        ("<pri\u{1b}[01;31m\u{1b}[Kvate\u{1b}[m\u{1b}[K>", "</private>"),
        ("\\u001b[31m<private>", "</private>"),
        ("<pri\\u001b[31mvate>", "</private>"),
        ("<\u{202a}private\u{202c}>", "</private>"),
        ("<pri\u{2063}vate>", "</private\u{fe0f}>"),
        ("<\u{7}private>", "</private>"),
        ("<pr\u{180e}iv\u{e0061}ate>", "</private>"),
        ("&#060;private&#062;", "&#060;/private&#062;"),
        ("&amp;lt;private&amp;gt;", "&amp;lt;/private&amp;gt;"),
        ("&amp;amp;lt;private&amp;amp;gt;", "</private>"),
        ("\\\\u003cprivate\\\\u003e", "\\\\u003c/private\\\\u003e"),
        ("%253Cprivate%253E", "%253C%252Fprivate%253E"),
        ("\\<private\\>", "\\</private\\>"),
        ("\\u{3c}private\\u{3e}", "</private>"),
        ("\\u003c\\u0070rivate>", "</private>"),
    ] {
        let text = format!("a {open}canary{close} b");
        let (left, private) = strip(&text);
        assert!(private && !left.contains("canary") && left.ends_with(" b"), "{text:?} -> {left:?}");
    }
}

#[test]
fn tags_joined_by_removal_are_removed() {
    for text in [
        "<pri<private>x</private>vate>secret</private>",
        "<<private>x</private>private>secret</private>",
        "<private<system-reminder>x</system-reminder>>secret</private>",
    ] {
        assert!(!strip(text).0.contains("secret"), "text {text:?}");
    }
}

#[test]
fn endlessly_joining_tags_make_the_text_private() {
    let text = format!("{}x{}", "<pri".repeat(50), "vate></private>".repeat(50));
    assert!(!strip(&text).0.contains('x'));
}

#[test]
fn memory_and_reminders_are_stripped_but_are_not_private() {
    for (text, want) in [
        ("a<claude-mem-context>x</claude-mem-context>b", "ab"),
        ("a<CLAUDE-MEM-CONTEXT project=\"p\">x</claude-mem-context>b", "ab"),
        ("a<hook_context>x</hook_context>b", "ab"),
        ("a<system-reminder>x\ny</system-reminder>b", "ab"),
        ("a<session-start-hook>x</session-start-hook>b", "ab"),
        ("a<system-reminder>x<system-reminder>y</system-reminder>z</system-reminder>b", "ab"),
        // Not closed: a mention, not a block.
        ("what does <system-reminder> do?", "what does  do?"),
        ("a</system-reminder>b", "ab"),
        // A mention of the private tag inside a reminder hides nothing outside it.
        ("<system-reminder>write <private> around it</system-reminder>do it", "do it"),
    ] {
        assert_eq!(strip(text), (want.to_owned(), false), "text {text:?}");
    }
}

#[test]
fn private_block_crossing_a_reminder_is_removed() {
    let crossing = "a<system-reminder>x<private>y</system-reminder>secret</private>b";
    assert_eq!(strip(crossing), ("ab".to_owned(), true));
    let other_way = "a<private>x<system-reminder>y</private>b</system-reminder>c";
    assert_eq!(strip(other_way), ("abc".to_owned(), true));
}

#[test]
fn other_tags_and_types_are_unchanged() {
    for text in [
        "",
        "no tags",
        "a < b && c > d",
        "<privateer>x</privateer>",
        "<private-key>",
        "<private_type>",
        "#include <private/header.h>",
        "<p>private</p>",
        "fn f(key: &PKey<Private>) -> PKey<Private> {}",
        "PKey::<Private>::new()",
        "&ltprivate&gt",
        "100% private",
        "C:\\private\\x",
        "<",
        "</",
        "<\u{FEFF}",
        "日本語＜",
        "<privateprivateprivateprivateprivate>",
    ] {
        let stripped = private(text);
        assert_eq!(stripped.text, text);
        assert!(matches!(stripped.text, std::borrow::Cow::Borrowed(_)), "copied {text:?}");
        assert!(!stripped.private, "text {text:?}");
    }
}

#[test]
fn private_type_is_a_tag_if_closed() {
    assert_eq!(strip("key<Private>x</private>b"), ("keyb".to_owned(), true));
}

#[test]
fn fully_private_means_nothing_else_remains() {
    for (text, want) in [
        ("<private>x</private>", true),
        (" \n<private>x</private>\t\n", true),
        ("<private>x", true),
        ("<private>x</private><system-reminder>y</system-reminder>", true),
        ("<private></private>", true),
        ("<private>x</private> go on", false),
        ("", false),
        ("  ", false),
        ("<system-reminder>y</system-reminder>", false),
        ("</private>", true),
        ("x</private>", true),
        ("x</private> go on", false),
    ] {
        assert_eq!(private(text).is_fully_private(), want, "text {text:?}");
    }
}
