//! The first sentence of a text, as a title.

/// The first sentence of the first line: up to a full stop, question or exclamation mark before a blank, or
/// to one of their East Asian forms.
pub fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    let ends = |(i, c): (usize, char)| {
        let after = line[i + c.len_utf8()..].chars().next();
        match c {
            '.' | '!' | '?' => after.is_none_or(char::is_whitespace).then_some(i + 1),
            '。' | '！' | '？' => Some(i + c.len_utf8()),
            _ => None,
        }
    };
    line.char_indices().find_map(ends).map_or(line, |end| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn first_sentence_ends_at_punctuation() {
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
}
