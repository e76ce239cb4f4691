//! What people say when they decide, correct, conclude or give up: phrases as data, one table per
//! language, and the scanner that finds them.
//!
//! A phrase ending in `*` may go on (`mandat*`). In languages that write spaces a phrase counts
//! only between word boundaries. To teach the distiller a language, add a table; no code changes.

mod de;
mod en;
mod es;
mod fr;
mod ja;
mod zh;

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// What a phrase is a sign of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum CueKind {
    /// It binds: must, never, always, exactly.
    Rule,
    /// It narrows: only, exactly, unless.
    Limit,
    /// It leans: should, wants, counts as.
    Should,
    /// One thing over another: use, keep, instead of.
    Choice,
    Reason,
    /// Somebody looked: measured, benchmark.
    Measure,
    /// It replaces what held before.
    Amend,
    /// The agent is about to do something: "let me", "I'll start".
    Plan,
    /// The agent offers something: "I'd", "my default would be".
    Propose,
    Hedge,
    /// Politeness and praise, which say nothing.
    Filler,
    /// Something was found out: root cause, turns out.
    Cause,
    /// Work that is finished: fixed, added, renamed.
    Done,
    Next,
    Caveat,
    Tried,
    /// It did not help.
    Fruitless,
    /// It holds beyond this task: from now on, whenever.
    General,
    /// It is about how work is done: commits, formatting, answers.
    Working,
    /// It is the speaker's wish: I prefer, please.
    Personal,
    /// Checks that went well: tests pass.
    Verified,
    /// Something is wrong: broken, fails, complain.
    Problem,
    /// Another subject starts here.
    Topic,
    /// At the start: no, careful, hold on.
    Disagree,
    /// At the start: yes, right, ship it.
    Agree,
    /// At the start: the agent has taken it in.
    Ack,
    /// At the start: what was settled is said again.
    Recap,
    /// At the start: somebody asks for work.
    Request,
    /// At the start: and, but, so.
    Connective,
    /// The whole of it may be missing: a bare pronoun as subject.
    Pronoun,
}

const CUES: usize = CueKind::Pronoun as usize + 1;

/// The phrases of one language.
pub(super) struct CueTable {
    /// Whether words are set apart by spaces.
    spaced: bool,
    phrases: &'static [(CueKind, &'static [&'static str])],
    /// Frequent small words by which the language is told from others.
    telltales: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    English,
    German,
    Spanish,
    French,
    Chinese,
    Japanese,
}

/// What was found in one sentence.
#[derive(Clone, Debug)]
pub(super) struct CueMarks {
    counts: [u8; CUES],
    opening: u32,
    /// Where each was found, in order.
    found: Vec<(usize, CueKind)>,
}

impl CueMarks {
    pub(super) const fn count(&self, cue: CueKind) -> u8 {
        self.counts[cue as usize]
    }

    pub(super) const fn has(&self, cue: CueKind) -> bool {
        self.count(cue) > 0
    }

    /// How many phrases of one cue stand before the first of another; all of them if it has none.
    pub(super) fn before(&self, cue: CueKind, first_of: CueKind) -> usize {
        let end = self.found.iter().find(|(_, found)| *found == first_of);
        let end = end.map_or(usize::MAX, |(start, _)| *start);
        let earlier = self.found.iter().filter(|(start, _)| *start < end);
        earlier.filter(|(_, found)| *found == cue).count()
    }

    /// Whether the sentence starts with such a phrase.
    pub(super) const fn opens(&self, cue: CueKind) -> bool {
        self.opening & (1 << cue as u32) != 0
    }
}

const _: () = assert!(CUES <= 32, "the openings of a sentence are kept in 32 bits");

struct CueScanner {
    automaton: AhoCorasick,
    entries: Vec<(CueKind, bool)>,
    spaced: bool,
}

impl CueScanner {
    fn new(table: &CueTable) -> Option<Self> {
        let (mut patterns, mut entries) = (Vec::new(), Vec::new());
        for (cue, phrases) in table.phrases {
            for phrase in *phrases {
                let stem = phrase.strip_suffix('*');
                entries.push((*cue, stem.is_some() || !table.spaced));
                patterns.push(stem.unwrap_or(phrase));
            }
        }
        // The tables are constants, so this cannot fail; without it no cue would be found.
        let automaton = AhoCorasick::new(&patterns).ok()?;
        Some(Self { automaton, entries, spaced: table.spaced })
    }

    /// Every phrase in the folded text: its cue, where it starts and where it ends.
    fn hits<'t>(&'t self, folded: &'t str) -> impl Iterator<Item = (CueKind, usize, usize)> + 't {
        self.automaton.find_overlapping_iter(folded).filter_map(|hit| {
            let (cue, open_ended) = self.entries[hit.pattern().as_usize()];
            let (before, after) = (&folded[..hit.start()], &folded[hit.end()..]);
            let starts = !self.spaced || !before.ends_with(in_word);
            let ends = open_ended || !after.starts_with(in_word);
            (starts && ends).then_some((cue, hit.start(), hit.end()))
        })
    }
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

static SCANNERS: LazyLock<[Option<CueScanner>; 6]> = LazyLock::new(|| {
    [en::TABLE, de::TABLE, es::TABLE, fr::TABLE, zh::TABLE, ja::TABLE].each_ref().map(CueScanner::new)
});

fn scanner(language: Language) -> Option<&'static CueScanner> {
    let index = match language {
        Language::English => 0,
        Language::German => 1,
        Language::Spanish => 2,
        Language::French => 3,
        Language::Chinese => 4,
        Language::Japanese => 5,
    };
    SCANNERS[index].as_ref()
}

/// Lower-cased, character by character, so that every byte keeps its place.
fn fold(text: &str) -> String {
    let lower = |c: char| {
        let mut lowered = c.to_lowercase();
        match (lowered.next(), lowered.next()) {
            (Some(low), None) if low.len_utf8() == c.len_utf8() => low,
            _ => c,
        }
    };
    text.chars().map(lower).collect()
}

/// Where the first word of a sentence starts, past quotes and list marks.
fn first_word(folded: &str) -> usize {
    folded.find(|c: char| c.is_alphanumeric() || c == '`').unwrap_or(folded.len())
}

pub(super) fn mark(text: &str, language: Language) -> CueMarks {
    let mut marks = CueMarks { counts: [0; CUES], opening: 0, found: Vec::new() };
    let Some(scanner) = scanner(language) else {
        return marks;
    };
    let folded = fold(text);
    let first = first_word(&folded);
    for (cue, start, _) in scanner.hits(&folded) {
        let count = &mut marks.counts[cue as usize];
        *count = count.saturating_add(1);
        marks.found.push((start, cue));
        if start == first {
            marks.opening |= 1 << cue as u32;
        }
    }
    marks.found.sort_unstable_by_key(|(start, _)| *start);
    marks
}

/// The text after an opening phrase of one of these cues, or nothing where none opens it.
pub(super) fn after_opening<'t>(text: &'t str, language: Language, cues: &[CueKind]) -> Option<&'t str> {
    let folded = fold(text);
    let first = first_word(&folded);
    let opening = scanner(language)?
        .hits(&folded)
        .take_while(|(_, start, _)| *start <= first + 40)
        .filter(|(cue, start, _)| *start == first && cues.contains(cue))
        .map(|(_, _, end)| end)
        .max()?;
    text.get(opening..)
}

impl Language {
    /// The language of a text, by its script and its smallest words. English where nothing tells.
    pub(super) fn detect(text: &str) -> Self {
        let (mut kana, mut han, mut letters) = (0_usize, 0_usize, 0_usize);
        for c in text.chars().take(4_000) {
            match c {
                '\u{3040}'..='\u{30ff}' => kana += 1,
                '\u{3400}'..='\u{9fff}' => han += 1,
                _ if c.is_alphabetic() => letters += 1,
                _ => {}
            }
        }
        // Names from code are Latin everywhere; a few ideographs outweigh many of their letters.
        if (kana + han) * 6 > letters {
            return if kana * 5 > han { Self::Japanese } else { Self::Chinese };
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

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
