//! The compiled rules of `rules.txt`, and the lookup from three bytes to anchors.
//!
//! `build/redact_rules.rs` generates the tables and names the types of this file.

use super::class::{self, ByteClass};
use super::password_form::PasswordForm;
use super::secrecy::OutputSecrecy;

/// A rule, as its index in `RULES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RuleId(pub u16);

/// Where a secret starts and ends, and the rule that found it.
pub(super) type SecretMatch = (usize, usize, RuleId);

/// One kind of secret and its shape: a run before the anchor, the anchor, and the pieces after it.
#[derive(Debug)]
pub(super) struct SecretRule {
    name: TextSlice,
    /// Whether a word must start at the anchor: `task-…` is not `sk-…`.
    pub edge: bool,
    /// Whether the part after the anchor must contain a digit.
    pub digit: bool,
    /// Minimum entropy of the part after the anchor, in tenths of a bit per byte.
    pub floor_tenths: u8,
    pub before: Option<ClassRun>,
    first: u16,
    pieces: u8,
}

/// A slice of `TEXTS`. The tables hold no pointers, so the loader has nothing to relocate.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextSlice {
    start: u16,
    length: u8,
}

/// One piece of a shape.
#[derive(Debug)]
pub(super) enum ShapePiece {
    Text(TextSlice),
    Run(ClassRun),
}

/// A run of bytes of one class; a `max` of `u16::MAX` means unbounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassRun {
    pub class: ByteClass,
    pub min: u16,
    pub max: u16,
}

/// The scanner that examines an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnchorScanner {
    /// The rule's shape starts here.
    Shape,
    /// A service's name, to which a value of the rule's shape may be assigned.
    Named,
    /// A word that occurs in names of secrets.
    Name,
    /// The word for password in another language.
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
    /// A program or function of `commands.txt`.
    Command,
    /// `my seed phrase`, `recovery words`
    SeedPhrase,
    /// A word for a short number that grants access: a PIN, a one-time code.
    AccessCode,
    /// A card or an account by its number.
    PaymentNumber,
    /// `log in with`
    Login,
    /// `backup codes`, a key in groups of digits
    CodeList,
    /// A connection string or line with a password in a fixed place.
    Connection,
    /// A field that says of its neighbours that one is secret: `"sensitive": true`.
    Neighbour,
    /// A character that may hide something from the other scanners.
    Obscuring,
}

/// A text that may mark a secret, and the scanner to run there.
#[derive(Debug)]
pub(super) struct RuleAnchor {
    key: u32,
    /// The fourth byte, case-folded; zero if there is none.
    fourth: u8,
    text: TextSlice,
    pub scanner: AnchorScanner,
    any_case: bool,
    pub rule: RuleId,
}

/// A secret that a program takes.
#[derive(Debug)]
pub(super) struct CommandOption {
    pub program: TextSlice,
    /// Whether the name may continue with letters: `mysql` is also `mysqldump`.
    pub open_end: bool,
    pub option: TextSlice,
    pub form: PasswordForm,
}

/// A command or file whose output is secret.
#[derive(Debug)]
pub(super) struct SecretSource {
    pub secrecy: OutputSecrecy,
    /// Whether the pattern is one of paths, not of commands.
    pub is_file: bool,
    pub pattern: TextSlice,
}

/// The options of the program of this name.
pub(super) fn command_options(program: &str) -> &'static [CommandOption] {
    let first = COMMANDS.partition_point(|entry| entry.program.get() < program);
    let length = COMMANDS[first..].iter().take_while(|entry| entry.program.get() == program).count();
    &COMMANDS[first..first + length]
}

#[allow(clippy::unreadable_literal, reason = "generated")]
mod tables {
    use super::{
        AnchorScanner, ClassRun, CommandOption, OutputSecrecy, PasswordForm, RuleAnchor, RuleId, SecretRule,
        SecretSource, ShapePiece, TextSlice, class,
    };

    include!(concat!(env!("OUT_DIR"), "/redact_rules.rs"));
}

use tables::{ANCHORS, COMMANDS, FILTER, FILTER_FACTOR, FILTER_LOG2, PIECES, SLOTS, SLOTS_LOG2, TEXTS};
pub(super) use tables::{RULES, SOURCES};

impl RuleId {
    pub(super) fn rule(self) -> &'static SecretRule {
        &RULES[usize::from(self.0)]
    }

    pub(super) fn name(self) -> &'static str {
        self.rule().name()
    }

    /// The rule of this name.
    pub(super) fn find(name: &str) -> Option<Self> {
        RULES.iter().position(|rule| rule.name() == name).map(|i| Self(i as u16))
    }

    /// The rule of this name, at compile time, for hand-written scanners.
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

impl SecretRule {
    pub(super) fn name(&self) -> &'static str {
        self.name.get()
    }

    /// The pieces after the anchor.
    pub(super) fn after(&self) -> &'static [ShapePiece] {
        &PIECES[usize::from(self.first)..][..usize::from(self.pieces)]
    }
}

impl TextSlice {
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

/// Three consecutive bytes, case-folded: the key of the anchor tables.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AnchorKey(u32);

impl AnchorKey {
    /// Bytes of a key.
    pub(super) const BYTES: usize = 3;

    /// The key of the first three bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.iter().take(Self::BYTES).fold(0, |key, &byte| key << 8 | u32::from(byte | 0x20)))
    }

    /// Whether an anchor may start with this window of four bytes. One look into a table, usually false.
    #[inline]
    pub(super) fn may_anchor(window: [u8; 4]) -> bool {
        let key = u32::from_le_bytes(window) | 0x2020_2020;
        let slot = (key & 0x00FF_FFFF).wrapping_mul(FILTER_FACTOR) >> (32 - FILTER_LOG2);
        FILTER[slot as usize] >> (key >> 24 & 7) & 1 != 0
    }

    /// The anchors at the start of `bytes`, longest first.
    pub(super) fn anchors(self, bytes: &[u8]) -> impl Iterator<Item = &'static RuleAnchor> {
        // Three bytes already agree; the fourth rejects most other words.
        let fourth = bytes.get(3).map_or(0, |b| b | 0x20);
        ANCHORS[self.first()..]
            .iter()
            .take_while(move |anchor| anchor.key == self.0)
            .filter(move |anchor| (anchor.fourth == 0 || anchor.fourth == fourth) && anchor.matches_at(bytes))
    }

    /// The index of the first anchor with this key, or `ANCHORS.len()`.
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

impl RuleAnchor {
    pub(super) fn text(&self) -> &'static str {
        self.text.get()
    }

    pub(super) const fn len(&self) -> usize {
        self.text.length as usize
    }

    fn matches_at(&self, bytes: &[u8]) -> bool {
        let text = self.text.get().as_bytes();
        let Some(start) = bytes.get(..text.len()) else {
            return false;
        };
        // The first bytes are known to agree, so the comparison starts at the end. A loop, because the
        // texts are too short for the chunked comparison of the standard library.
        start
            .iter()
            .zip(text)
            .rev()
            .all(|(byte, of_text)| byte == of_text || (self.any_case && byte.eq_ignore_ascii_case(of_text)))
    }
}
