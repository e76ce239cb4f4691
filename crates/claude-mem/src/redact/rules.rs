//! The rules of `rules.txt` as tables, and how a place in a text finds its rules.

use super::class::{self, Class};

/// A rule by its place in `RULES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RuleId(pub u16);

/// A kind of secret and its shape: the anchor, what stands before it, what follows.
#[derive(Debug)]
pub(super) struct Rule {
    name: Text,
    /// A word must begin at the anchor: `task-…` is not `sk-…`.
    pub edge: bool,
    /// What follows the anchor must have a digit in it.
    pub digit: bool,
    /// Bits of entropy per byte that what follows must have, times ten.
    pub floor_tenths: u8,
    pub before: Option<Run>,
    first: u16,
    pieces: u8,
}

/// A part of `TEXTS`. The tables hold no pointers, so that the loader has nothing to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    start: u16,
    length: u8,
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(Text),
    Run(Run),
}

/// Bytes of one alphabet. `u16::MAX` is "as many as there are".
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub class: Class,
    pub min: u16,
    pub max: u16,
}

/// Who looks at a place where an anchor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scanner {
    /// The rule's own shape begins here.
    Shape,
    /// The name of a service: a value of the rule's shape may be assigned to it.
    Named,
    /// A word that names of secrets have in them.
    Name,
    /// The word for a password in another language.
    Word,
    /// `://`
    Url,
    /// `-----`
    Pem,
    /// `Bearer`, `Basic`, `Authorization`
    Scheme,
    /// `Cookie`
    Cookie,
    /// `kind: Secret`
    Manifest,
    /// Programs that take a password in an option without a telling name.
    Command,
}

#[derive(Debug)]
pub(super) struct Anchor {
    key: u32,
    text: Text,
    pub scanner: Scanner,
    any_case: bool,
    pub rule: RuleId,
}

#[allow(clippy::unreadable_literal, reason = "generated")]
mod tables {
    use super::{Anchor, Piece, Rule, RuleId, Run, Scanner, Text, class};

    include!(concat!(env!("OUT_DIR"), "/redact_rules.rs"));
}

pub(super) use tables::RULES;
use tables::{ANCHORS, FILTER, FILTER_BITS_LOG2, FILTER_FACTOR, PIECES, SLOTS, SLOTS_LOG2, TEXTS};

impl RuleId {
    pub(super) fn rule(self) -> &'static Rule {
        &RULES[usize::from(self.0)]
    }

    pub(super) fn name(self) -> &'static str {
        self.rule().name()
    }

    /// The rule of this name. For scanners written by hand, when the crate is compiled.
    pub(super) const fn named(name: &str) -> Self {
        let mut i = 0;
        while i < RULES.len() {
            if RULES[i].name.is(name.as_bytes()) {
                return Self(i as u16);
            }
            i += 1;
        }
        panic!("rules.txt has no such rule")
    }
}

impl Rule {
    pub(super) fn name(&self) -> &'static str {
        self.name.get()
    }

    /// What follows the anchor.
    pub(super) fn after(&self) -> &'static [Piece] {
        &PIECES[usize::from(self.first)..][..usize::from(self.pieces)]
    }
}

impl Text {
    pub(super) fn get(self) -> &'static str {
        &TEXTS[usize::from(self.start)..][..usize::from(self.length)]
    }

    const fn is(self, text: &[u8]) -> bool {
        let mut i = 0;
        while i < text.len() && TEXTS.as_bytes()[self.start as usize + i] == text[i] {
            i += 1;
        }
        i == text.len() && i == self.length as usize
    }
}

/// Three bytes of a text, one after the other, in either case.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key(u32);

impl Key {
    pub(super) fn of(bytes: &[u8]) -> Self {
        bytes
            .iter()
            .fold(Self::default(), |key, &byte| key.next(byte))
    }

    /// The key one byte further on.
    pub(super) const fn next(self, byte: u8) -> Self {
        Self((self.0 << 8 | (byte | 0x20) as u32) & 0x00FF_FFFF)
    }

    /// Whether an anchor may begin with these bytes. Mostly `false`, and fast.
    pub(super) fn may_anchor(self) -> bool {
        let bit = self.0.wrapping_mul(FILTER_FACTOR) >> (32 - FILTER_BITS_LOG2);
        FILTER[bit as usize / 64] >> (bit % 64) & 1 != 0
    }

    /// The anchors that begin with these bytes and stand at the start of `bytes`, longest first.
    pub(super) fn anchors(self, bytes: &[u8]) -> impl Iterator<Item = &'static Anchor> {
        ANCHORS[self.first()..]
            .iter()
            .take_while(move |anchor| anchor.key == self.0)
            .filter(move |anchor| anchor.stands_at(bytes))
    }

    /// The index of the first anchor with this key; behind all of them if there is none.
    fn first(self) -> usize {
        let mut slot = (self.0.wrapping_mul(FILTER_FACTOR) >> (32 - SLOTS_LOG2)) as usize;
        loop {
            match SLOTS[slot] {
                0 => return ANCHORS.len(),
                found if ANCHORS[usize::from(found) - 1].key == self.0 => {
                    return usize::from(found) - 1;
                }
                _ => slot = (slot + 1) % SLOTS.len(),
            }
        }
    }
}

impl Anchor {
    pub(super) const fn len(&self) -> usize {
        self.text.length as usize
    }

    fn stands_at(&self, bytes: &[u8]) -> bool {
        let text = self.text.get().as_bytes();
        // Three bytes are known to agree; the fourth tells most words apart.
        let fourth = |text: &[u8]| text.get(3).map(|b| b | 0x20);
        if text.len() > 3 && fourth(bytes) != fourth(text) {
            return false;
        }
        bytes.get(..text.len()).is_some_and(|start| {
            if self.any_case {
                start.eq_ignore_ascii_case(text)
            } else {
                start == text
            }
        })
    }
}
