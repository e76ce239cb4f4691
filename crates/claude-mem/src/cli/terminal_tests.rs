use super::*;

fn shown(text: &str, at_once: usize) -> String {
    let mut out = Vec::new();
    let mut terminal = SanitizingWriter::new(&mut out);
    for piece in text.as_bytes().chunks(at_once) {
        terminal.write_all(piece).unwrap();
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn text_and_colours_pass() {
    for text in ["plain\twords\nand more", "\u{1b}[1;31mred\u{1b}[0m", "Grüße, 日本語, 🦀, £ and ©"]
    {
        for at_once in 1..text.len() {
            assert_eq!(shown(text, at_once), text, "in pieces of {at_once}");
        }
    }
}

#[test]
fn control_sequences_are_stripped() {
    for (text, want) in [
        ("\u{1b}]52;c;ZXZpbA==\u{7}copied", "]52;c;ZXZpbA==copied"),
        ("\u{1b}]0;title\u{1b}\\", "]0;title\\"),
        ("\u{1b}[2J\u{1b}[Hgone", "[2J[Hgone"),
        ("\u{9b}2Jgone", "2Jgone"),
        ("one\rtwo\u{8}\u{7f}", "onetwo"),
        ("\u{1b}\u{1b}[31K", "[31K"),
        ("\u{1b}[1;1;1;1;1;1;1;1;1;1;1m", "[1;1;1;1;1;1;1;1;1;1;1m"),
    ] {
        for at_once in 1..=text.len() {
            assert_eq!(shown(text, at_once), want, "in pieces of {at_once}");
        }
    }
}

#[test]
fn stored_text_has_no_colours() {
    assert_eq!(sanitize("a\u{1b}[31mb\nc\u{202e}d"), "a[31mb cd");
}
