//! Splits Markdown and plain text into blocks, and blocks into sentences.
//!
//! Fenced code is skipped, so that nothing inside it becomes a claim.

use super::text::{head, is_name, one_line};
use crate::limits::DISTIL_TEXT_BYTES_MAX;

/// Maximum sentences of one text that are read.
const DISTIL_SENTENCES_MAX: usize = 400;

/// The kind of block that a sentence is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextBlock {
    Prose,
    Item,
    /// A list item with an empty box before it.
    Todo,
    Heading,
    /// A quoted line.
    Quote,
    Row,
}

/// One sentence with its place in the text.
#[derive(Clone, Debug)]
pub(super) struct TextSentence {
    /// One line, without emphasis marks; code keeps its backticks.
    pub text: String,
    pub block: TextBlock,
    /// The heading above it, or the line that introduces its list.
    pub section: String,
    /// Sentences of one paragraph or one list item share a number.
    pub paragraph: usize,
}

/// A text as sentences.
#[derive(Clone, Debug, Default)]
pub(super) struct TextDocument {
    pub sentences: Vec<TextSentence>,
    /// Code or output stands in it, in a fence.
    pub has_fence: bool,
}

impl TextDocument {
    pub(super) fn read(text: &str) -> Self {
        let mut reader = BlockReader::default();
        for line in head(text, DISTIL_TEXT_BYTES_MAX).lines() {
            reader.line(line);
            if reader.document.sentences.len() >= DISTIL_SENTENCES_MAX {
                break;
            }
        }
        reader.flush();
        reader.document.sentences.truncate(DISTIL_SENTENCES_MAX);
        reader.document
    }
}

/// Reads a text line by line.
#[derive(Default)]
struct BlockReader {
    document: TextDocument,
    open: Option<(TextBlock, String)>,
    /// The mark that closes the fence that is being read.
    fence: Option<&'static str>,
    section: String,
    /// The last paragraph ended in a colon: it introduces the list that follows.
    intro: Option<String>,
    paragraph: usize,
}

impl BlockReader {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some(mark) = self.fence {
            if trimmed.starts_with(mark) {
                self.fence = None;
            }
            return;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            self.flush();
            self.fence = Some(mark);
            self.document.has_fence = true;
        } else if trimmed.is_empty() || is_rule(trimmed) {
            self.flush();
        } else if let Some(title) = heading(trimmed) {
            self.flush();
            self.intro = None;
            self.push(TextBlock::Heading, title);
            self.flush();
            self.section = one_line(&unmark(title));
        } else if let Some(quoted) = trimmed.strip_prefix('>') {
            self.start_or_join(TextBlock::Quote, quoted.trim());
        } else if trimmed.starts_with('|') {
            self.flush();
            let cells: Vec<&str> = trimmed.trim_matches('|').split('|').map(str::trim).collect();
            if !cells.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c))) {
                self.push(TextBlock::Row, &cells.join(" — "));
                self.flush();
            }
        } else if let Some((block, item)) = item(trimmed) {
            self.flush();
            self.push(block, item);
        } else {
            self.prose(line, trimmed);
        }
    }

    fn prose(&mut self, line: &str, trimmed: &str) {
        let indented = line.starts_with([' ', '\t']);
        match &self.open {
            Some((TextBlock::Item | TextBlock::Todo, _)) if indented => self.join(trimmed),
            Some((TextBlock::Item | TextBlock::Todo | TextBlock::Quote, _)) => {
                self.flush();
                self.push(TextBlock::Prose, trimmed);
            }
            Some((TextBlock::Prose, so_far)) if breaks_here(so_far) => {
                // A short line is a statement of its own, though no full stop says so.
                let paragraph = self.paragraph;
                self.flush();
                self.paragraph = paragraph;
                self.push(TextBlock::Prose, trimmed);
            }
            Some(_) => self.join(trimmed),
            None => self.push(TextBlock::Prose, trimmed),
        }
    }

    fn start_or_join(&mut self, block: TextBlock, text: &str) {
        match &self.open {
            Some((open, _)) if *open == block => self.join(text),
            _ => {
                self.flush();
                self.push(block, text);
            }
        }
    }

    fn push(&mut self, block: TextBlock, text: &str) {
        self.open = Some((block, text.to_owned()));
    }

    fn join(&mut self, text: &str) {
        if let Some((_, so_far)) = &mut self.open {
            so_far.push('\n');
            so_far.push_str(text);
        }
    }

    fn flush(&mut self) {
        let Some((block, text)) = self.open.take() else {
            return;
        };
        let text = one_line(&unmark(&text));
        if text.is_empty() {
            return;
        }
        self.paragraph += 1;
        if block == TextBlock::Prose {
            self.intro = text.ends_with([':', '：']).then(|| text.clone());
        }
        let section = match (&self.intro, block) {
            (Some(intro), TextBlock::Item | TextBlock::Todo | TextBlock::Row) => intro.clone(),
            _ => self.section.clone(),
        };
        let whole = matches!(block, TextBlock::Heading | TextBlock::Row);
        let pieces = if whole { vec![text.as_str()] } else { split(&text) };
        for piece in pieces {
            self.document.sentences.push(TextSentence {
                text: piece.to_owned(),
                block,
                section: section.clone(),
                paragraph: self.paragraph,
            });
        }
    }
}

/// Whether the last line of the paragraph ends a statement rather than being wrapped.
fn breaks_here(so_far: &str) -> bool {
    let last = so_far.lines().next_back().unwrap_or_default();
    last.ends_with(['.', '!', '?', ':', ';', '。', '！', '？']) || last.chars().count() < 56
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '*' | '_' | '='))
}

/// The text of a heading: `## so`, or a whole line in bold.
fn heading(line: &str) -> Option<&str> {
    let hashes = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        return Some(line[hashes..].trim());
    }
    let bold = line.strip_prefix("**")?.trim_end_matches(':').strip_suffix("**")?;
    (!bold.contains("**") && bold.chars().count() <= 80).then_some(bold.trim_end_matches(':'))
}

/// Whether a line starts an item of a list.
pub(super) fn is_item(line: &str) -> bool {
    item(line).is_some()
}

/// The text of a list item, its mark taken off.
fn item(line: &str) -> Option<(TextBlock, &str)> {
    let rest = match line.strip_prefix(['-', '*', '+', '•', '✓', '✔', '✅', '☐']) {
        Some(rest) if rest.starts_with(' ') => rest.trim_start(),
        _ => {
            let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits == 0 || digits > 3 {
                return None;
            }
            let rest = line[digits..].strip_prefix(['.', ')'])?;
            rest.starts_with(' ').then(|| rest.trim_start())?
        }
    };
    if line.starts_with('☐') {
        return Some((TextBlock::Todo, rest));
    }
    for (boxed, block) in [("[ ]", TextBlock::Todo), ("[x]", TextBlock::Item), ("[X]", TextBlock::Item)] {
        if let Some(text) = rest.strip_prefix(boxed) {
            return Some((block, text.trim_start()));
        }
    }
    Some((TextBlock::Item, rest))
}

/// Removes emphasis and link targets. Code stays as it is.
pub(super) fn unmark(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            out.push('`');
        }
        if index % 2 == 1 {
            out.push_str(part);
        } else {
            out.push_str(&emphasis_off(&links_off(part)));
        }
    }
    out
}

const LINK_BYTES_MAX: usize = 600;

/// `[text](target)` → `text`.
fn links_off(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        // A link that is longer than this is text with brackets in it.
        let window = head(&rest[open..], LINK_BYTES_MAX);
        let link = window.find("](").and_then(|middle| {
            let close = window[middle + 2..].find(')')?;
            Some((&window[1..middle], open + middle + 2 + close + 1))
        });
        match link {
            Some((label, end)) if !label.contains('[') => {
                out.push_str(&rest[..open]);
                out.push_str(label);
                rest = &rest[end..];
            }
            _ => {
                out.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// `**bold**` and `*stressed*` → their words. A star that is no mark (`*.example.com`, `a * b`)
/// stays.
fn emphasis_off(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut keep = vec![true; chars.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        if chars[i] != '*' {
            i += 1;
            continue;
        }
        let run = chars[i..].iter().take_while(|c| **c == '*').count();
        let before = i.checked_sub(1).and_then(|b| chars.get(b)).copied();
        let after = chars.get(i + run).copied();
        let closes = before.is_some_and(|c| !c.is_whitespace()) && after.is_none_or(|c| !c.is_alphanumeric());
        let opens = before.is_none_or(|c| !c.is_alphanumeric())
            && after.is_some_and(|c| c.is_alphanumeric() || "`\"'“(_[".contains(c));
        match open.last() {
            Some(&(at, width)) if closes && width == run => {
                open.pop();
                keep[at..at + run].fill(false);
                keep[i..i + run].fill(false);
            }
            _ if opens && run <= 3 => open.push((i, run)),
            _ => {}
        }
        i += run;
    }
    let kept = chars.iter().zip(&keep).filter(|(_, keep)| **keep);
    kept.map(|(c, _)| *c).collect()
}

/// The sentences of one line of running text.
pub(super) fn split(text: &str) -> Vec<&str> {
    let informal = is_informal(text);
    let mut pieces = Vec::new();
    let (mut start, mut in_code) = (0, false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => in_code = !in_code,
            '。' | '！' | '？' if !in_code => {
                let mut end = at + c.len_utf8();
                while let Some((next, _)) = chars.next_if(|(_, c)| "」』”’）".contains(*c)) {
                    end = next + text[next..].chars().next().map_or(0, char::len_utf8);
                }
                pieces.push(text[start..end].trim());
                start = end;
            }
            '.' | '!' | '?' | '…' if !in_code => {
                let mut end = at + c.len_utf8();
                while let Some((next, closer)) = chars.next_if(|(_, c)| "\"'”’)*_!?.…".contains(*c)) {
                    end = next + closer.len_utf8();
                }
                if ends_here(&text[start..at], c, &text[end..], informal) {
                    pieces.push(text[start..end].trim());
                    start = end;
                }
            }
            _ => {}
        }
    }
    pieces.push(text[start..].trim());
    pieces.retain(|piece| piece.chars().any(char::is_alphanumeric));
    pieces
}

/// Whether a punctuation mark ends its sentence.
fn ends_here(before: &str, mark: char, after: &str, informal: bool) -> bool {
    if after.is_empty() {
        return true;
    }
    if !after.starts_with(char::is_whitespace) {
        return false;
    }
    if mark == '.' && is_abbreviation(before) {
        return false;
    }
    let next = after.split_whitespace().next().unwrap_or_default();
    let starts_low = next.chars().next().is_some_and(char::is_lowercase);
    !starts_low || mark == '!' || mark == '?' || informal || is_name(next) || parts_clauses(before, after)
}

/// Words before and after a full stop that make each side a sentence, although the second begins small.
const WORDS_BEFORE_MIN: usize = 4;
const WORDS_AFTER_MIN: usize = 3;

/// "… are consistent. the schema is …": whole words before and after, and enough of them.
fn parts_clauses(before: &str, after: &str) -> bool {
    let is_word = |word: &str| word.chars().count() > 3 && word.chars().all(char::is_alphabetic);
    let last = before.split_whitespace().next_back();
    last.is_some_and(is_word)
        && before.split_whitespace().count() >= WORDS_BEFORE_MIN
        && after.split_whitespace().count() >= WORDS_AFTER_MIN
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '"', '\'', '„', '“']);
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
    initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "eg", "ie", "vs", "etc", "cf", "ca", "approx", "nr", "fig", "z.b", "d.h", "bzw", "usw",
    "evtl", "ggf", "u.a", "incl", "excl", "resp", "p.ej", "c.-à-d", "mr", "ms", "dr", "st",
];

/// Whether a text uses no capitals, so that each full stop ends a sentence.
fn is_informal(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_lowercase)
        && !text.as_bytes().windows(3).any(|w| w[0] == b'.' && w[1] == b' ' && w[2].is_ascii_uppercase())
}

/// The sentences from the beginning that fit, joined by spaces.
pub(crate) fn join_fitting<'t>(sentences: impl Iterator<Item = &'t str>, chars_max: usize) -> String {
    let mut text = String::new();
    for sentence in sentences {
        if text.chars().count() + sentence.chars().count() + 1 > chars_max {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(sentence);
    }
    text
}

#[cfg(test)]
#[path = "sentences_tests.rs"]
mod tests;
