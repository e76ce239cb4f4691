//! Finds the cues of a sentence with one automaton per language.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::language::Language;
use super::table::{CUES, CueKind, CueTable};
use super::{de, en, es, fr, ja, ru, zh};

/// The cues of one sentence.
#[derive(Clone, Debug)]
pub(crate) struct CueMarks {
    counts: [u8; CUES],
    opening: u32,
    /// Each cue with its position, in order.
    found: Vec<(usize, CueKind)>,
}

impl CueMarks {
    pub(crate) const fn count(&self, cue: CueKind) -> u8 {
        self.counts[cue as usize]
    }

    pub(crate) const fn has(&self, cue: CueKind) -> bool {
        self.count(cue) > 0
    }

    /// The number of phrases of one cue before the first of another; all of them if there is none.
    pub(crate) fn before(&self, cue: CueKind, first_of: CueKind) -> usize {
        let end = self.found.iter().find(|(_, found)| *found == first_of);
        let end = end.map_or(usize::MAX, |(start, _)| *start);
        let earlier = self.found.iter().filter(|(start, _)| *start < end);
        earlier.filter(|(_, found)| *found == cue).count()
    }

    /// Whether the sentence starts with such a phrase.
    pub(crate) const fn opens(&self, cue: CueKind) -> bool {
        self.opening & (1 << cue as u32) != 0
    }
}

const _: () = assert!(CUES <= 32, "the openings of a sentence are kept in 32 bits");

pub(super) struct CueScanner {
    automaton: AhoCorasick,
    entries: Vec<(CueKind, bool)>,
    spaced: bool,
}

impl CueScanner {
    pub(super) fn new(table: &CueTable) -> Option<Self> {
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

static SCANNERS: LazyLock<[Option<CueScanner>; 7]> = LazyLock::new(|| {
    [en::TABLE, de::TABLE, es::TABLE, fr::TABLE, zh::TABLE, ja::TABLE, ru::TABLE]
        .each_ref()
        .map(CueScanner::new)
});

fn scanner(language: Language) -> Option<&'static CueScanner> {
    let index = match language {
        Language::English => 0,
        Language::German => 1,
        Language::Spanish => 2,
        Language::French => 3,
        Language::Chinese => 4,
        Language::Japanese => 5,
        Language::Russian => 6,
    };
    SCANNERS[index].as_ref()
}

/// Lower case with the same byte positions.
pub(super) fn fold(text: &str) -> String {
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

pub(crate) fn mark(text: &str, language: Language) -> CueMarks {
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
pub(crate) fn after_opening<'t>(text: &'t str, language: Language, cues: &[CueKind]) -> Option<&'t str> {
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
