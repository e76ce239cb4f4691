//! The rules of `rules.txt` as tables, and how a place in a text finds its rules.

use super::class::{self, Class};

/// A rule by its place in `RULES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RuleId(pub u16);

/// A kind of secret and its shape: the anchor, what stands before it, what follows.
#[derive(Debug)]
pub(super) struct Rule {
    pub name: &'static str,
    /// A word must begin at the anchor: `task-…` is not `sk-…`.
    pub edge: bool,
    /// What follows the anchor must have a digit in it.
    pub digit: bool,
    /// Bits of entropy per byte that what follows must have, times ten.
    pub floor_tenths: u8,
    pub before: Option<Run>,
    pub after: &'static [Piece],
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(&'static str),
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
    /// `://`
    Url,
    /// `-----`
    Pem,
    /// `Bearer`, `Basic`
    Scheme,
}

#[derive(Debug)]
pub(super) struct Anchor {
    key: u32,
    text: &'static str,
    pub scanner: Scanner,
    any_case: bool,
    pub rule: RuleId,
}

include!(concat!(env!("OUT_DIR"), "/redact_rules.rs"));

impl RuleId {
    pub(super) fn rule(self) -> &'static Rule {
        &RULES[usize::from(self.0)]
    }

    pub(super) fn name(self) -> &'static str {
        self.rule().name
    }

    /// The rule of this name. For scanners written by hand, when the crate is compiled.
    pub(super) const fn named(name: &str) -> Self {
        let mut i = 0;
        while i < RULES.len() {
            if same(RULES[i].name, name) {
                return Self(i as u16);
            }
            i += 1;
        }
        panic!("rules.txt has no such rule")
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Three bytes of a text, one after the other, in either case.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key(u32);

impl Key {
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
        let first = ANCHORS.partition_point(|anchor| anchor.key < self.0);
        ANCHORS[first..]
            .iter()
            .take_while(move |anchor| anchor.key == self.0)
            .filter(move |anchor| anchor.stands_at(bytes))
    }
}

impl Anchor {
    pub(super) const fn len(&self) -> usize {
        self.text.len()
    }

    fn stands_at(&self, bytes: &[u8]) -> bool {
        bytes.get(..self.text.len()).is_some_and(|start| {
            if self.any_case {
                start.eq_ignore_ascii_case(self.text.as_bytes())
            } else {
                start == self.text.as_bytes()
            }
        })
    }
}
