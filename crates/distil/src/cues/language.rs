//! The language of a text, by its script and its most frequent small words.

use super::{de, en, es, fr};

/// A language with a table of cues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    English,
    German,
    Spanish,
    French,
    Chinese,
    Japanese,
    Russian,
}

impl Language {
    /// The language of a text, by its script and its smallest words. English where nothing tells.
    pub(crate) fn detect(text: &str) -> Self {
        let (mut kana, mut han, mut cyrillic, mut letters) = (0_usize, 0_usize, 0_usize, 0_usize);
        for c in text.chars().take(4_000) {
            match c {
                '\u{3040}'..='\u{30ff}' => kana += 1,
                '\u{3400}'..='\u{9fff}' => han += 1,
                '\u{0400}'..='\u{04ff}' => cyrillic += 1,
                _ if c.is_alphabetic() => letters += 1,
                _ => {}
            }
        }
        // Names from code are Latin everywhere; a few ideographs outweigh many of their letters.
        if (kana + han) * 6 > letters + cyrillic {
            return if kana * 5 > han { Self::Japanese } else { Self::Chinese };
        }
        // Other languages of this script have no table; they are not ranked as English either.
        if cyrillic * 3 > letters {
            return Self::Russian;
        }
        Self::by_small_words(text)
    }

    fn by_small_words(text: &str) -> Self {
        let candidates = [
            (Self::English, en::TABLE.telltales),
            (Self::German, de::TABLE.telltales),
            (Self::Spanish, es::TABLE.telltales),
            (Self::French, fr::TABLE.telltales),
        ];
        let mut seen = [0_u32; 4];
        for word in text.split(|c: char| !c.is_alphabetic()).take(400) {
            let word = word.to_lowercase();
            for (count, (_, telltales)) in seen.iter_mut().zip(&candidates) {
                *count += u32::from(telltales.contains(&word.as_str()));
            }
        }
        let mut best = 0;
        for index in 1..seen.len() {
            if seen[index] > seen[best] {
                best = index;
            }
        }
        candidates[best].0
    }
}
