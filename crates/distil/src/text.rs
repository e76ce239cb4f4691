//! Small, total operations on text: every one takes any string and none can panic.
//!
//! Lengths are counted in characters, because that is what a reader and a context budget see.

use std::collections::BTreeSet;

/// At most `chars_max` characters, cut between words, the cut marked by `…`.
pub(super) fn clip(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let Some((cut, _)) = text.char_indices().nth(chars_max) else {
        return text.to_owned();
    };
    let Some((room, _)) = text[..cut].char_indices().next_back() else {
        return String::new();
    };
    let head = &text[..room];
    let words = match head.rfind(char::is_whitespace) {
        // A single endless word is cut where the room ends.
        Some(space) if head[..space].chars().count() * 2 >= chars_max => &head[..space],
        _ => head,
    };
    let trimmed = words.trim_end_matches(|c: char| c.is_whitespace() || ",;:-–—(".contains(c));
    format!("{trimmed}…")
}

/// At most about `chars_max` characters of a line: its beginning and its end, because tools say at the end why
/// something failed.
pub(super) fn clip_middle(line: &str, chars_max: usize) -> String {
    let count = line.chars().count();
    if count <= chars_max {
        return line.to_owned();
    }
    let tail: String = line.chars().skip(count - chars_max / 2).collect();
    let tail = tail.split_once(' ').map_or(tail.as_str(), |(_, words)| words);
    format!("{} {tail}", clip(line, chars_max - chars_max / 2))
}

/// The same words on one line, without control characters and terminal colours.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            skip_escape(&mut chars);
        } else if c.is_whitespace() || c.is_control() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Passes over one terminal control sequence, whose introducer has been read.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if chars.peek() != Some(&'[') {
        return;
    }
    chars.next();
    while let Some(&c) = chars.peek() {
        if c == '\n' {
            return;
        }
        chars.next();
        if ('@'..='~').contains(&c) {
            return;
        }
    }
}

/// The text up to a byte limit, cut between characters.
pub(super) fn head(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The end of the text up to a byte limit, cut between characters.
pub(super) fn tail(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let mut start = text.len() - bytes_max;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// With a capital first letter, unless the first word is a name that has its own spelling, or a
/// scope (`store: …`).
pub(super) fn capitalised(text: &str) -> String {
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if c.is_lowercase() && !is_name(first_word) && !first_word.ends_with(':') => {
            c.to_uppercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// Whether a word looks like something from code: `snake_case`, `camelCase`, `a.b`, `f()`, a path
/// or a flag, or anything in backticks.
pub(super) fn is_name(word: &str) -> bool {
    if word.starts_with('`') {
        return true;
    }
    let word = word.trim_matches(|c: char| ",;:!?\"'“”‘’(".contains(c));
    let dotfile = word.starts_with('.') && word.len() > 2;
    let inner = word.trim_matches('.');
    let mut chars = inner.chars();
    let Some(first) = chars.next() else {
        return false;
    };
    let rest = chars.as_str();
    let hump = first.is_lowercase()
        && rest.chars().any(char::is_uppercase)
        && inner.chars().all(char::is_alphanumeric);
    let camel = first.is_uppercase()
        && rest.chars().skip_while(|c| c.is_uppercase()).any(char::is_uppercase)
        && rest.chars().any(char::is_lowercase)
        && inner.chars().all(char::is_alphanumeric);
    let snake = inner.contains('_') && inner.chars().any(char::is_alphanumeric);
    let abbreviated = inner.split('.').all(|part| part.chars().count() < 2);
    let dotted =
        has_inner(inner, '.') && !abbreviated && !inner.chars().all(|c| c.is_ascii_digit() || c == '.');
    let path = has_inner(inner, '/') && inner.len() > 4;
    let flag = inner.starts_with("--") && inner.len() > 3;
    (dotfile && first.is_alphanumeric())
        || hump
        || camel
        || snake
        || dotted
        || path
        || flag
        || inner.ends_with("()")
        || inner.contains("::")
}

/// Whether `mark` stands between two letters or digits.
fn has_inner(word: &str, mark: char) -> bool {
    let mut before = false;
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().is_some_and(|next| next.is_alphanumeric());
        if c == mark && before && after {
            return true;
        }
        before = c.is_alphanumeric();
    }
    false
}

const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}')
}

/// The words that carry meaning, lower-cased: no function words; pairs of characters where a
/// script writes no spaces.
pub(super) fn content_words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for run in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        if run.chars().any(is_ideograph) {
            let chars: Vec<char> = run.chars().collect();
            words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
            continue;
        }
        let word = run.to_lowercase();
        let number = word.chars().any(|c| c.is_ascii_digit());
        if number || (word.chars().count() > 2 && !FUNCTION_WORDS.contains(&word.as_str())) {
            words.insert(stem(&word));
        }
    }
    words
}

/// Off with the commonest English endings, so that "keys" and "key" meet.
fn stem(word: &str) -> String {
    for (ending, left) in [("ing", 4), ("ed", 4), ("es", 4), ("s", 3)] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.chars().count() >= left
        {
            return stem.to_owned();
        }
    }
    word.to_owned()
}

/// Sentences as running text; scripts that write no spaces get none.
pub(super) fn run_on<'a>(sentences: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let unspaced = text.ends_with(['。', '！', '？', '」', '）']);
        if !text.is_empty() && !unspaced {
            text.push(' ');
        }
        text.push_str(sentence);
    }
    text
}

/// With a full stop of its script, unless it ends already.
pub(super) fn full_stop(text: &str) -> String {
    let text = capitalised(text.trim());
    match text.chars().next_back() {
        Some('.' | '!' | '?' | '”' | '…' | '。' | '！' | '？' | ':' | '：') | None => text,
        Some(last) if is_ideograph(last) => format!("{text}。"),
        Some(_) => format!("{text}."),
    }
}

/// Negations that people type without their apostrophe.
#[rustfmt::skip]
const NEGATIONS: &[(&str, &str)] = &[
    ("dont", "don't"), ("doesnt", "doesn't"), ("didnt", "didn't"), ("shouldnt", "shouldn't"), ("mustnt", "mustn't"),
    ("cant", "can't"), ("isnt", "isn't"), ("arent", "aren't"), ("wouldnt", "wouldn't"),
];

/// The text with the apostrophes that were left out of negations.
pub(super) fn with_apostrophes(text: &str) -> String {
    let meant = |word: &str| {
        let lower = word.to_lowercase();
        let found = NEGATIONS.iter().find(|(typed, _)| *typed == lower).map(|(_, meant)| *meant);
        let is_capital = word.starts_with(char::is_uppercase);
        found.map_or(word.to_owned(), |found| if is_capital { capitalised(found) } else { found.to_owned() })
    };
    text.split(' ').map(meant).collect::<Vec<_>>().join(" ")
}

/// Openers that say nothing: "ok", "hmm", "I think".
#[rustfmt::skip]
const OPENERS: &[&str] = &[
    "ok ", "okay ", "ok, ", "yeah ", "yeah, ", "yes ", "yes, ", "hmm ", "hmm, ", "hmmm, ", "hmmm ", "well ",
    "well, ", "so ", "and ", "but ", "also ", "also, ", "i think ", "i guess ", "actually ", "actually, ",
    "no, ", "right, ", "btw ", "btw, ", "oh ", "oh, ", "please ", "then ", "just ", "lets ", "let's ",
    "remember: ", "note: ", "important: ",
];

/// The sentence without the words that only lead into it.
pub(super) fn without_openers(text: &str) -> String {
    let mut rest = one_line(text);
    for _ in 0..3 {
        let lower = rest.to_lowercase();
        let Some(opener) = OPENERS.iter().find(|opener| lower.starts_with(**opener)) else {
            break;
        };
        let Some(after) = rest.get(opener.len()..).filter(|after| after.split_whitespace().count() >= 3)
        else {
            break;
        };
        rest = after.trim_start().to_owned();
    }
    rest
}

/// A text without the marks of bold type. Inside code, `**` is part of a pattern.
pub(super) fn without_bold(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts: Vec<String> =
        parts.map(|(at, part)| if at % 2 == 0 { part.replace("**", "") } else { part.to_owned() }).collect();
    parts.join("`")
}

/// How many words two sets share.
pub(super) fn shared(a: &BTreeSet<String>, b: &BTreeSet<String>) -> usize {
    a.intersection(b).count()
}

/// The statement with a small first letter, unless its first word is a name.
pub(super) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), text.split_whitespace().next()) {
        (Some(first), Some(word)) if !is_name(word) && word.chars().skip(1).all(char::is_lowercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// The share of the smaller set that the other one holds too.
pub(super) fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    let smaller = a.len().min(b.len());
    if smaller == 0 {
        return 0.0;
    }
    shared(a, b) as f32 / smaller as f32
}

#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "the", "and", "for", "that", "this", "with", "are", "was", "were", "will", "would", "should", "can",
    "could", "has", "have", "had", "not", "but", "you", "your", "our", "ours", "they", "them", "their",
    "its", "it's", "from", "into", "onto", "than", "then", "when", "where", "which", "while", "what", "who",
    "why", "how", "all", "any", "both", "each", "some", "such", "only", "own", "same", "too", "very", "just",
    "also", "about", "after", "before", "been", "being", "did", "does", "doing", "don", "let", "may",
    "might", "must", "now", "off", "out", "over", "per", "she", "him", "her", "his", "there", "these",
    "those", "through", "under", "until", "upon", "via", "got", "get", "gets", "yes", "one", "more", "most",
    "other", "like", "und", "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "ist",
    "sind", "nicht", "mit", "auf", "für", "von", "wir", "ich", "sie", "wird", "werden", "les", "des", "une",
    "est", "pas", "pour", "dans", "que", "qui", "sur", "avec", "los", "las", "una", "por", "para", "con",
    "del", "como", "esta", "este", "pero",
];

/// Words that mean something in a text and not in its title.
pub(crate) fn new_words(title: &str, text: &str) -> usize {
    let known = content_words(title);
    content_words(text).difference(&known).count()
}

/// The sentence in lower case between spaces, without marks that end words.
pub(crate) fn padded(text: &str) -> String {
    let mark = |c: char| if ",;:!()".contains(c) { ' ' } else { c };
    let plain: String = text.to_lowercase().replace('’', "'").chars().map(mark).collect();
    let words: Vec<&str> = plain.trim_end_matches('.').split_whitespace().collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
