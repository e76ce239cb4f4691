use super::{ascii_escape, is_invisible, terminal_sequence};

#[test]
fn escapes_are_undone_however_often_they_were_made() {
    for spelling in [
        "&lt;",
        "&LT;",
        "&#60;",
        "&#060;",
        "&#x3c;",
        "&#x003C;",
        "&amp;lt;",
        "&amp;amp;#60;",
        "\\u003c",
        "\\\\u003C",
        "\\\\\\\\u003c",
        "\\x3c",
        "\\u{3c}",
        "%3C",
        "%253c",
        "%25253C",
        "\\<",
    ] {
        assert_eq!(ascii_escape(spelling.as_bytes()), Some((b'<', spelling.len())), "{spelling}");
    }
    for text in
        ["&", "&lt", "&ltprivate", "&#;", "\\n", "\\u12", "\\ud83d", "%", "%zz", "100%", "\\", "%0a", "a"]
    {
        assert_eq!(ascii_escape(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn terminal_sequences_are_measured() {
    for sequence in [
        "\x1b[0m",
        "\x1b[1;31m",
        "\x1b[K",
        "\x1b[?25l",
        "\x1b]0;title\x07",
        "\x1b]8;;http://x\x1b\\",
        "\x1bM",
        "\x1b(B",
        "\\x1b[31m",
        "\\u001b[0m",
        "\\\\u001b[0m",
        "\\033[1m",
        "\\e[0m",
    ] {
        let text = format!("{sequence}private");
        assert_eq!(terminal_sequence(text.as_bytes()), Some(sequence.len()), "{sequence:?}");
    }
    for text in ["", "a", "\x1b", "\x1b[", "[0m", "\\n[0m", "\x1b[é"] {
        assert_eq!(terminal_sequence(text.as_bytes()), None, "{text:?}");
    }
}

#[test]
fn what_shows_nothing_is_invisible() {
    for c in
        ['\u{200b}', '\u{202e}', '\u{2063}', '\u{fe0f}', '\u{180e}', '\u{e0070}', '\u{7}', '\0', '\u{ad}']
    {
        assert!(is_invisible(c), "{c:?}");
    }
    for c in ['a', ' ', 'é', '漢', '…'] {
        assert!(!is_invisible(c), "{c:?}");
    }
}
