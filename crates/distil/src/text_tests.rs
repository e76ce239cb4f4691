use super::*;

#[test]
fn a_clipped_text_ends_between_words_and_says_so() {
    for (text, max, want) in [
        ("short", 10, "short"),
        ("one two three four", 12, "one two…"),
        ("one two, three", 11, "one two…"),
        ("abcdefghijklmnop", 6, "abcde…"),
        ("日本語のとても長い文章です", 6, "日本語のと…"),
        ("", 3, ""),
        ("x", 0, ""),
    ] {
        assert_eq!(clip(text, max), want, "{text:?} at {max}");
    }
}

#[test]
fn colours_and_line_breaks_are_no_part_of_a_line() {
    assert_eq!(one_line("\u{1b}[31merror\u{1b}[0m:\n  no\tsuch  file\u{7}"), "error: no such file");
}

#[test]
fn names_from_code_keep_their_spelling() {
    for name in
        ["max_attempts", "mergeRecords", "HttpClient", "a.example.com", "src/lib.rs", "`x`", "run()", "--all"]
    {
        assert!(is_name(name), "{name}");
    }
    for word in ["keep", "I", "NOT", "12.7", "e.g.", "end.", "HTTP"] {
        assert!(!is_name(word), "{word}");
    }
    assert_eq!(capitalised("keep it"), "Keep it");
    assert_eq!(capitalised("merge_records keys on email"), "merge_records keys on email");
}

#[test]
fn words_without_meaning_are_left_out() {
    let words = content_words("The retries and the keys: 7 of them");
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["7", "key", "retri"]);
    assert!(content_words("绝不使用").contains("不使"));
}

#[test]
fn cuts_fall_between_characters() {
    assert_eq!(head("äöü", 3), "ä");
    assert_eq!(tail("äöü", 3), "ü");
}

#[test]
fn bold_marks_are_removed_outside_code_only() {
    assert_eq!(without_bold("**Fix**: match `src/**/*.md` now"), "Fix: match `src/**/*.md` now");
    assert_eq!(without_bold("a ** b"), "a  b");
}
