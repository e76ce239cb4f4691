//! Splits stored text into sentences.

/// The sentences of a text: they end at a line break, or at `.`, `!` or `?` before a blank.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line.trim();
        std::iter::from_fn(move || {
            let sentence = claude_mem_core::first_sentence(rest);
            if sentence.is_empty() {
                return None;
            }
            rest = rest[sentence.len()..].trim_start();
            Some(sentence)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn lines_and_full_stops_separate_sentences() {
        let text = "Uses v1.2 of a.rs. It is slow!\n\nSecond line";
        let found: Vec<&str> = sentences(text).collect();
        assert_eq!(found, ["Uses v1.2 of a.rs.", "It is slow!", "Second line"]);
    }
}
